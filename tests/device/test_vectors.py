"""Vectors, narrow offsets, tiles fetched ahead and rectangles of work-items change no bit: alone,
together, and with the other options, where rows are vectors and where they are not.
"""

from __future__ import annotations

from dataclasses import replace

import pytest
from harness import PROGRAMS, check_kernel, given, program, run_c, simulate_launches, sizes_of
from tilings import ROOM, Options, Tiles, tile, with_limits

from loopxform.codegen import emit
from loopxform.codegen.plan import Plan
from loopxform.floating_point import SEPARATE
from loopxform.runtime.kernel import CompiledKernel
from loopxform.runtime.schedule import launched, not_known
from loopxform.runtime.selection import choose
from loopxform.verify.compare import compare

SEED = 6
TILES = Tiles(4, 2, 4, 4, 8)
ALL = Options(
    vector=4,
    index=32,
    warp_tile=(4, 2),
    stages=2,
    register_pipeline=True,
    swizzle_groups=2,
    serpentine=2,
    pack=8,
)
EACH = {
    "all": ALL,
    "vectors": Options(vector=4),
    "pairs": Options(vector=2),
    "in-copies": Options(vector=4, pack=4),
    "narrow-in-copies": Options(vector=2, index=32, pack=1),
    "narrow": Options(index=32),
    "bands": Options(swizzle_groups=2),
    "there-and-back": Options(serpentine=1),
    "there-and-back-in-pairs": Options(serpentine=2),
    "in-turns": Options(block_cyclic=2),
    "in-turns-of-vectors": Options(vector=2, block_cyclic=4),
    "vectors-all-at-once": Options(vector=4, block_cyclic=1),
    "lanes": Options(warp_tile=(2, 2)),
    "lanes-that-do-not-fit": Options(warp_tile=(3, 8)),
    "ahead": Options(stages=2, pad=False),
    "read-ahead": Options(stages=2, pad=False, register_pipeline=True),
    "vectors-read-ahead": Options(stages=2, register_pipeline=True, vector=4, block_cyclic=1),
    "read-ahead-in-turns": Options(
        stages=2, register_pipeline=True, vector=2, block_cyclic=2, serpentine=4
    ),
    "ahead-and-padded": Options(stages=2, pad=True),
    "ahead-and-whole-tiles": Options(stages=2, separate_full_tiles=True),
    "asynchronous": Options(async_copies=True, pad=False),
    "in-three-buffers": Options(stages=3, vector=4, pad=True),
    "in-four-buffers": Options(stages=4, vector=2, separate_full_tiles=True, block_cyclic=1),
    "asynchronous-and-read-ahead": Options(
        async_copies=True, register_pipeline=True, vector=4, pack=4
    ),
    "in-three-buffers-and-read-ahead": Options(
        stages=3, pad=True, register_pipeline=True, vector=2
    ),
    "padded": Options(vector=4, index=32, pad=True),
    "padded-in-copies": Options(vector=4, pack=2, stages=2, pad=True),
    "whole-tiles": Options(vector=4, index=32, separate_full_tiles=True),
    "everything": Options(
        True, True, vector=4, index=32, warp_tile=(2, 2), stages=2, register_pipeline=True
    ),
}
SIZES = ((24, 20, 28), (11, 7, 9), (16, 8, 16), (1, 4, 4))
"""Rows of vectors that end inside a tile, rows that are none, whole tiles, one row."""


def plan(name: str, tiles: Tiles, options: Options) -> Plan:
    done = tile(program(name), tiles, "register", strict=True, options=options)
    return emit.kernel(done.derivation, fp=SEPARATE)


def check(name: str, options: Options, tiles: Tiles = TILES) -> None:
    compiled = CompiledKernel(plan(name, tiles, options), choose())
    for size in SIZES:
        check_kernel(compiled, name, sizes_of(name, *size), SEED)


@pytest.mark.device
@pytest.mark.parametrize("case", ["ahead", "everything"])
def test_steps_alone_and_with_others(case: str) -> None:
    check("mm", EACH[case])


@pytest.mark.device
@pytest.mark.parametrize("name", ["mm_at", "covariance"])
def test_other_programs(name: str) -> None:
    check(name, ALL)


PAIRED = replace(ROOM, paired_lanes=True)


@pytest.mark.device
@pytest.mark.parametrize("ahead", [2, 3])
def test_pairs_that_read_some_iterations_ahead(ahead: int) -> None:
    costs = replace(PAIRED.costs, read_latency=32 * ahead, ahead_registers=255)
    limits, options = replace(PAIRED, costs=costs), replace(ALL, warp_tile=(2, 2))
    done = with_limits(
        program("mm"), TILES.numbers, "register", limits, strict=True, options=options
    )
    found = emit.kernel(done.derivation, fp=SEPARATE)
    assert f"k + {ahead}) % 4" in found.source
    assert "/ 2 % 2" in found.source
    compiled = CompiledKernel(found, choose())
    for size in SIZES:
        check_kernel(compiled, "mm", sizes_of("mm", *size), SEED)


OPTIMISED = ("all", "vectors", "read-ahead", "vectors-read-ahead", "in-four-buffers", "everything")


@pytest.mark.slow
@pytest.mark.device
@pytest.mark.parametrize(
    "case",
    [pytest.param(n, marks=[pytest.mark.optimised] * (n in OPTIMISED)) for n in EACH],
)
def test_each_step_alone_and_with_others(case: str) -> None:
    check("mm", EACH[case])


@pytest.mark.slow
@pytest.mark.device
@pytest.mark.parametrize("case", ["all", "padded"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_every_program(name: str, case: str) -> None:
    check(name, EACH[case], Tiles(2, 4, 8, 8, 4))


@pytest.mark.oclgrind
@pytest.mark.parametrize("size", SIZES[:2], ids=str)
@pytest.mark.parametrize("name", ["mm", "batched"])
def test_no_race_and_nothing_out_of_bounds(name: str, size: tuple[int, int, int]) -> None:
    p = plan(name, TILES, ALL)
    assert "LX_VECTOR(float4" in p.source
    assert "stage = 1 - stage;" in p.source
    args = given(name, sizes_of(name, *size), SEED)
    report, after = simulate_launches(p, args)
    assert report.clean, (name, size, report.findings[0])
    expected = run_c(name, args)
    assert not compare({n: expected[n] for n in after}, after)


def test_which_kernel_is_launched() -> None:
    """Rows of vectors, rows that are some in a copy, other rows, and arrays with more elements than
    an int counts."""
    p = plan("mm", TILES, ALL)
    sizes = {
        (16, 16, 16): [2],
        (16, 15, 16): [0, 2],
        (16, 16, 15): [1, 2],
        (16, 15, 15): [0, 1, 2],
        (7, 16, 15): [3],
        (1 << 16, 1 << 15, 4): [4],
    }
    for size, expected in sizes.items():
        given = dict(zip("MUN", size))
        found = [n for n, now in launched(p, given, not_known) if runs(p, n, {**given, **now})]
        assert found == expected, size


def runs(p: Plan, number: int, scalars: dict[str, int]) -> bool:
    return 0 not in p.kernels[number].groups(scalars)
