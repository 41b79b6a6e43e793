"""Tests of many cases that take long: every nth case runs by default, all in the slow sweep.

What they have in common is that each case proves the same of another program. Those that find
most, or are quick, are not here.
"""

from __future__ import annotations

EVERY = {
    "unit/codegen/test_c_for_cpu.py::test_bit_identical_to_the_c_program": 4,
    "unit/recipes/test_every_function.py::test_tiled_or_refused": 3,
    "unit/recipes/test_program.py::test_the_program_means_the_same": 2,
    "unit/recipes/test_tile.py::test_every_step_of_the_corpus_means_the_same": 3,
    "unit/recipes/test_tile_as_c.py::test_every_step_compiled_computes_the_same": 3,
    "unit/recipes/test_own_arrays.py::test_each_iteration_has_its_own": 3,
    "unit/verify/test_semantics.py::test_random_expressions": 2,
    "unit/frontend/test_frontend_meaning.py::test_random_programs_mean_the_same": 2,
    "property/test_step_mutations.py::test_a_planted_bug_is_caught": 4,
    "property/test_mutations.py::test_a_planted_bug_is_caught": 3,
    "property/test_corpus.py::test_runs_agree": 3,
    "property/test_verdicts.py::test_random_c": 3,
    "device/test_corpus_nests.py::test_runs_like_the_c_program": 3,
    "device/test_corpus_nests.py::test_a_screen_says_what_was_done": 4,
    "device/test_corpus_nests.py::test_recipes": 3,
    "device/test_corpus_nests.py::test_touches_only_what_the_c_program_touches": 3,
    "device/test_corpus_simulated.py::test_a_partial_tile_in_every_dimension": 3,
    "device/test_edges.py::test_runs_like_the_c_program": 3,
    "device/test_edges.py::test_touches_only_what_the_c_program_touches": 4,
    "device/test_hidden_state.py::test_the_offloaded_program_prints_the_same": 2,
    "device/test_kernels_as_c.py::test_every_size_of_table_4": 3,
    "device/test_late_copies.py::test_late_copies": 3,
    "device/test_loop_forms.py::test_runs_like_the_c_program": 3,
    "device/test_loops_on_data.py::test_bit_identical_to_the_c_program": 2,
    "device/test_packed.py::test_bit_identical_to_the_c_program": 2,
    "device/test_packed.py::test_nothing_is_added_to_minus_zeros": 4,
    "device/test_packed.py::test_something_is_packed": 3,
    "device/test_padding.py::test_runs_like_the_c_program": 4,
    "device/test_padding.py::test_touches_only_what_the_c_program_touches": 4,
    "device/test_programs.py::test_bit_identical_to_the_c_program": 2,
    "device/test_programs.py::test_work_items_meet_no_bounds_check_between_barriers": 3,
    "device/test_spliced_files.py::test_the_program_prints_the_same": 2,
    "device/test_structs.py::test_structs_under_oclgrind": 2,
    "device/test_table45.py::test_residuals_in_all_dimensions_under_the_simulator": 4,
    "device/test_traffic.py::test_the_naive_kernel_accesses_what_was_predicted": 4,
    "device/test_traffic.py::test_the_tiled_kernel_accesses_what_was_predicted": 3,
    "device/test_vectors.py::test_no_race_and_nothing_out_of_bounds": 2,
    "device/test_whole_functions.py::test_bit_identical_to_the_c_program": 2,
    "device/test_whole_functions.py::test_no_finding_in_the_simulator": 3,
    "device/test_whole_tiles.py::test_touches_only_what_the_c_program_touches": 4,
    "cli/test_docs.py::test_the_tables_of_timing_are_real": 4,
    "cli/test_macros.py::test_a_drop_in_is_right_or_no_program": 3,
    "cli/test_tiling_options.py::test_runs_like_the_c_program": 2,
    "cli/test_offload_report.py::test_report": 2,
}
"""By how many cases there is one that runs by default: the first, and every nth after it."""
