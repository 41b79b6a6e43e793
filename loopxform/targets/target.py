"""What a plan has to fit into: the limits of a device.

Figures are per compute unit or per work-item as OpenCL sees them (what a kernel may use, which can
be less than what the chip has: NVIDIA's OpenCL gives a group 48 KiB of local memory).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from loopxform.records import record
from loopxform.targets.copies import Copies


@record
class Costs:
    """What the model of costs (`model/cost.py`) takes a device to do, where nothing is measured.

    Global memory: a transaction moves a `segment` (bytes; CUDA C best practices guide, coalesced
    access); caches serve `cached` segments in the time that memory serves one (an H100: 33 clock
    cycles of a unit for 32 of the former, 11 for 4 of the latter); a copy of an array pays where
    the nest asks for `copy_pays` times fewer segments, and each work-item of it moves a `word`
    (bytes) in the time of less. Where the rates are not known, a device does `balance` operations
    on floats in the time of a byte: the profiles have 10 to 29.
    A `line` of a cache has so many bytes where work-items run in turn.
    Local memory: a word that a work-item reads takes as long as `local_read` multiply-adds (an
    H100: 128 of these in a clock cycle of a unit, and some 49 words).
    Arithmetic: correctly rounded quotients and square roots of floats take so many operations, and
    as accurate as the device has them `native_quotient` and `native_square_root`, without rare
    operands `quick_quotient` and `quick_square_root`;
    `quotient_by_constant` where the divisor is known, which is a product where it may be less
    accurate; a function (`expf`) takes `function` (an H100: 16 results of the special units in a
    clock cycle of a unit, which does 256 operations meanwhile).
    Waves of tiles: the first takes longer by `fill` of the time of the largest tile, as nothing
    hides its latency. Packed operands take `packed_gain` off the time of the arithmetic,
    `turned_gain` where rows of an array are vectors already.
    `launch` is microseconds of a launch, 0 where unknown: then operands are copied where sums have
    `copied_iterations` (an H100, by what its launches take: 523). A kernel of a pipeline takes
    `start` microseconds besides, however little it does: it begins when the one before has ended
    (an H100: 3.9 to 4.6 for some thousand elements).
    Windows are staged from `window_reads` of each element on, `strip_reads` where work-items sum up
    strips of them: below that, caches serve as well. Of sums whose number of terms is known, those
    of `block_terms` and more are computed in blocks of two loops, shorter ones in strips of rows.
    Smaller tiles keep `least_warps` in a group, and `least_elements` of a work-item along a loop;
    packed ones `packed_elements` of a work-item. Groups of fewer than `many_warps` are padded, and
    read ahead where a work-item has more than `few_elements`: their warps are too few to hide what
    one waits for (docs/experiments.md). They read `read_latency` multiply-adds ahead, but only one
    iteration where the elements and what is read take more than `ahead_registers`. Warps read local
    memory once in the time of `local_access` multiply-adds of a work-item (an H100: 4 at best):
    where reads take longer than the arithmetic, `paired_lanes` are used. A tile of the sequential
    loop is `unrolled` up to so many operations.
    Reductions: a chunk of one that is split has `chunk_tiles` tiles of Tk terms where a group
    reduces it, `item_terms` terms where a work-item does; `combining_items` work-items of a group
    combine partial results each on its own, and one alone up to `combined_alone` of those of its
    group. Up to `group_results` results of a nest get a group each. One work-item runs a loop of
    `short_loop` iterations sooner than a group has shared them out. Where data say how many terms
    results have, tiles of them are computed from `stream_terms` terms on average on, smaller tiles
    from `long_rows` on, whose work-items sum up `row_unrolled` terms at a time (an H100, rows of
    very different lengths: 0.72 ms with 8, 0.77 with 32); results that cannot be tiled get as many
    work-items as run in lockstep from `lane_terms` on.
    Where a compiler has the sums of a work-item in vectors, so many `lane_bytes` of them wait for
    no other; where sums stay in order, those of `joint_rows` (0: one at a time), of which tiles are
    turned in registers, and fetched `rows_ahead` bytes ahead. What is read once is read
    `simd_bytes` at a time, and from `lane_rows` rows at the same time: a core fetches ahead what
    lies in a few places.
    From `several_chunks` chunks on a result is worth several groups. Running values are computed in
    chunks of `scan_terms` iterations: an odd number for each of 256 work-items has no bank
    conflicts; where a work-item runs a chunk, of `scan_item_terms`. What these make of them is
    combined in the same way, in `scan_levels` levels at most: results of the second are few. Groups
    that look back have chunks of `chained_terms` where they keep four bytes of each in local
    memory, and look at `look_back` chunks before.
    Where nothing is used again, a work-item computes so many `elements`. `busy_warps` keep the
    arithmetic of a unit busy: fewer than hide what one waits for in memory (an H100: n-body at 0.46
    of its rate with 4, 0.99 with 16).
    Where data end the loops of an iteration, groups have `uneven_items` work-items, a power of two:
    those that are done wait for the longest of a group, but hide little of each other's time. Where
    there are more iterations than the device runs at the same time, each takes
    `uneven_iterations` one after the other (1: never), and asks every `uneven_run` iterations of
    such a loop whether it is done.
    Batches of small products have about `coarsened_items` work-items in a group.
    A group that updates an array atomically has up to `update_copies` copies of each element in
    local memory, for neighbours that update the same one at the same time.
    Arrays of a group take at most its share of local memory when `resident_groups` run on a unit,
    `in_step_groups` where work-items sum up in step, `in_step_groups_at_most` of smaller arrays,
    `in_step_groups_at_least` of larger ones: what one waits for hides behind other groups, and
    behind the reads of the `in_step_unrolled` iterations that are unrolled; of rows that fit
    nowhere, the terms of `in_step_chunk` iterations at a time. Where each unit has `unit_rows` of
    them, long rows are summed up by a work-item each. An extremum that must
    be the first of its equals is found in chunks of `extremum_terms`, an odd number, as for running
    values.
    A unit has `unit_registers` of 32 bits, and `unit_local_bytes` of local memory for all of its
    groups, all units a cache of `cache_bytes` (0: not known). A row of a tile in time costs a
    work-item `row` multiply-adds whatever it computes, each word that it shares through local
    memory `shared_word`; a unit that waits for the next row of one element could do `row_wait` (an
    H100: 940 ns); a stencil on its own is computed a row at a time where each unit has
    `stream_groups` tiles; stencils that are not tiled get `stencil_bandwidth` of the memory's.
    One group of `step_items` work-items runs a loop of the host around nests where none of these
    has more than `step_iterations` iterations (0: never): it reaches a barrier sooner than the host
    launches a kernel. Where all of its work-items repeat loops in order, these are no more than
    `repeating_items`.
    `units` stands for the compute units of a device where their number is not known."""

    segment: int = 32
    line: int = 64
    cached: int = 3
    copy_pays: float = 1.5
    word: int = 4
    balance: float = 20
    local_read: float = 2.6
    quotient: float = 51
    quotient_by_constant: float = 51
    square_root: float = 51
    quick_quotient: float = 51
    quick_square_root: float = 51
    native_quotient: float = 16
    native_square_root: float = 16
    function: float = 24
    fill: float = 0.1685
    packed_gain: float = 0.0416667
    turned_gain: float = 0.0378788
    launch: float = 0
    copied_iterations: int = 512
    start: float = 0
    window_reads: int = 16
    strip_reads: int = 4
    block_terms: int = 16
    least_warps: int = 4
    least_elements: int = 4
    packed_elements: int = 64
    many_warps: int = 8
    few_elements: int = 16
    read_latency: int = 1
    ahead_registers: int = 70
    local_access: float = 5.5
    unrolled: int = 2048
    chunk_tiles: int = 256
    item_terms: int = 512
    combining_items: int = 256
    combined_alone: int = 16
    group_results: int = 1024
    short_loop: int = 32
    step_items: int = 1024
    repeating_items: int = 64
    step_iterations: int = 4096
    scan_terms: int = 2304
    scan_levels: int = 2
    chained_terms: int = 3840
    look_back: int = 256
    scan_item_terms: int = 64
    elements: int = 1
    lane_terms: int = 8
    stream_terms: int = 4
    long_rows: int = 64
    row_unrolled: int = 8
    lane_bytes: int = 128
    joint_rows: int = 0
    rows_ahead: int = 0
    lane_rows: int = 1
    simd_bytes: int = 64
    units: int = 32
    several_chunks: int = 2
    busy_warps: int = 16
    uneven_items: int = 256
    uneven_iterations: int = 1
    uneven_run: int = 64
    coarsened_items: int = 128
    update_copies: int = 1
    resident_groups: int = 2
    in_step_groups_at_least: int = 3
    in_step_groups: int = 3
    in_step_groups_at_most: int = 6
    in_step_unrolled: int = 16
    in_step_chunk: int = 512
    unit_rows: int = 16
    extremum_terms: int = 65
    row: float = 36
    shared_word: float = 2.7
    row_wait: float = 120000
    stream_groups: int = 4
    stencil_bandwidth: float = 0.6
    unit_local_bytes: int = 0
    cache_bytes: int = 0
    unit_registers: int = 65536


SMALLER_TILES = (
    "Ty*1/2 Tk*2",
    "Ty*1/2 Ry*3/2 Rx*3/4",
    "Ty*1/2 Ry*3/4 Rx*3/4 Tk*2",
    "Ty*1/2 Ry*5/4 Rx*1/2 Tk*2",
    "Ty*1/2 Rx*1/2 Tk*2",
    "Ty*1/2 Ry*3/4 Rx*1/2 Tk*2",
    "Ty*1/2 Ry*1/2 Rx*1/2 Tk*2",
)
SPLIT_TILES = (
    "Ty*1/2 Rx*1/2 Tk*2 Rk*64",
    "Ty*1/2 Rx*1/2 Tk*2 Rk*16",
    "Ty*1/2 Ry*1/2 Rx*1/4 Tk*4 Rk*4",
)
PACKED_TILES = ("Tk*2 buffers*2", "Ty*1/2 Ry*3/2 buffers*3", "Ty*1/2 Tk*2 buffers*2")


@record
class Limits:
    """What a plan has to fit into.

    `group_size` is in work-items, `local_bytes` the local memory of a group, `registers` the
    32-bit registers a work-item can have without spilling, `warp` the work-items that run in
    lockstep, `compute_units` 0 where unknown. `vector` is the bytes of a vector register where
    tiled C runs on a CPU: the elements of a work-item are its lanes, and `registers` counts its
    vector registers in words of 32 bits; 0 where every work-item has registers of its own.
    Permuted dimensions pass through `turned_tiles` of vectors in registers, whose rows are stored
    past the caches, where compilers have such stores; so do rows that are summed up together.
    There `core_cache` are the bytes of a core's cache that the boxes of a tile may fill, and a core
    does `core_balance` multiply-adds of floats in the time in which memory gives it a byte (3: two
    cores of a Xeon with AVX-512 that ran other work too, stencils of one to three dimensions).
    Where nothing else is asked, register tiles move `vector_width` elements at once, offsets have
    32 bits where the sizes allow it (`index32`), tiles have `stages` buffers and are read ahead
    (`register_pipeline`), and unrolled register tiles are walked there and back in `serpentine`
    rows (0: in the order of the program), by work-items that stand in a `warp_tile` (rows, columns;
    0 for rows of them), in two rows by turns with `paired_lanes`. Arrays whose rows are no vectors
    have tiles that `shift_inwards`, too, with copies between the iterations from
    `interleave_copies` terms on (0: never), and are copied into longer rows where each serves
    `pack` iterations (0: never). The device fills tiles on its own
    (`async_copies`) where each element of their arrays serves `pack_operands` iterations,
    `transpose_operands` of them where rows of the array are vectors, but lie across those of the
    tile. None of these three: as the model of costs has it.
    Groups that have begun go on, whatever others do, where the device is known for
    `forward_progress`: then one can wait for others that began before it.
    Arrays that all iterations of a loop have of their own take at most `expanded_mib` MiB, where it
    would do without them.
    Attention is one kernel for values of at most so many components (`attention_widths`), by the
    first of `attention_tiles` that fits: work-items along rows and keys, rows and keys of each.
    Searches are cut at so many iterations (`search_parts`): a device asks the first part in about
    the time of some launches, and each part in much less time than the next one.
    A row that a group works on lies in registers, where each work-item uses elements of its own, in
    groups of the first of `row_registers` (work-items, and words that each has of rows) that has
    room for it.
    Rows that fit the first of `row_tiles` (rows, and words of all arrays for each; work-items along
    rows and across) are copied through local memory where a work-item runs an iteration.
    Products are computed by tensor units in one of the `tensor_tiles` (by the names that
    `ir.tensor_tiles` has): work-items, elements of each, terms and buffers, some for operands alone
    whose rows are `vectors` that are copied as they are. The host tries whether the device has such
    units.
    `bandwidth` is that of global memory in GB/s, `peak` in GFLOP/s of floats, both 0 where unknown.
    `smaller_tiles` are the tiles that are tried where the largest make too few groups: what its
    sizes are multiplied by. `split_tiles` are those of sums that are split into chunks of Tk*Rk
    iterations. `packed_tiles` are those that the device fills on its own, with their
    buffers. `program_tiles` are those of `smaller_tiles` that the nests of a function of several
    may have: each is a kernel more to build. `costs` are the constants of the model of costs,
    `copies` the sizes of those that written C makes of arrays.
    `tile_times` are what register tiles take for 1024 iterations, what it takes to start them, and
    what their epilogue takes, in numbers that matter in proportion; and in rounds of how many waves
    they run.
    `architecture` is what the vendor calls that which a device has in common with others, ""
    where unknown: what was tuned for one of them serves all (`targets.database`).
    A device that is there has what was measured (`MEASURED`) of a profile of ours where its name
    contains one of `measured_on`; a profile that the user names counts as it is.
    """

    name: str
    group_size: int
    local_bytes: int
    registers: int
    warp: int
    compute_units: int = 0
    item_sizes: tuple[int, int, int] = (1024, 1024, 64)
    vector: int = 0
    core_cache: int = 0
    core_balance: float = 3
    vector_width: int = 1
    turned_tiles: bool = False
    index32: bool = False
    stages: int = 1
    register_pipeline: bool = False
    serpentine: int = 0
    shift_inwards: bool = False
    interleave_copies: int = 0
    pack: int | None = 0
    async_copies: bool = False
    forward_progress: bool = False
    pack_operands: int | None = 0
    transpose_operands: int | None = 0
    warp_tile: tuple[int, int] = (0, 0)
    paired_lanes: bool = False
    expanded_mib: int = 256
    attention_tiles: tuple[str, ...] = ("16x8 8x8", "16x16 8x4", "8x8 4x4")
    attention_widths: tuple[int, ...] = (64, 128)
    search_parts: tuple[int, ...] = (1 << 22, 1 << 26)
    row_registers: tuple[str, ...] = ()
    row_tiles: tuple[str, ...] = ()
    tensor_tiles: tuple[tuple[str, tuple[str, ...]], ...] = ()
    bandwidth: float = 0
    peak: float = 0
    smaller_tiles: tuple[str, ...] = SMALLER_TILES
    packed_tiles: tuple[str, ...] = PACKED_TILES
    split_tiles: tuple[str, ...] = SPLIT_TILES
    program_tiles: tuple[str, ...] = ()
    costs: Costs = Costs()
    copies: Copies = Copies()
    tile_times: tuple[tuple[str, int, int, int, int], ...] = ()
    measured_on: tuple[str, ...] = ()
    architecture: str = ""


KIB = 1024
GENERIC = Limits("generic", 1024, 48 * KIB, 128, 32)
"""Any GPU. Cholewa-Madsen and Holst, tables 1 and 2: 1024 work-items and 48 KiB a group. 128
registers: half of what current GPUs give a work-item in a group of 256."""

THRESHOLDS = ("pack", "pack_operands", "transpose_operands")
"""Iterations from which on copies pay: measured on a device, or as the model has them."""

MEASURED = (
    "tile_times",
    "measured_on",
    "architecture",
    "smaller_tiles",
    "packed_tiles",
    "split_tiles",
    "program_tiles",
    "row_registers",
    "row_tiles",
    "paired_lanes",
    "shift_inwards",
    "interleave_copies",
    "costs",
    "copies",
    *THRESHOLDS,
)
"""What belongs to the device that it was measured on, and to no other."""


def unmeasured(limits: Limits) -> Limits:
    """Another device of the same kind: without anything that was measured on this one. What it
    does at all (`pack` other than 0) it does from where the model says."""
    values: dict[str, Any] = {name: getattr(GENERIC, name) for name in MEASURED}
    values |= {name: None for name in THRESHOLDS if getattr(limits, name) != 0}
    return replace(limits, **values)
