"""Tables 4 and 5 of Cholewa-Madsen and Holst: 13 sizes by 7 tile combinations, for three programs.

A float product; a product with integer division for multiplication, which would divide by any
padding value; and int16 x double -> bool reduced with &&, whose accumulators start at 1. Results
are compared bit by bit with the user's C. Each kernel is built once and serves its 13 sizes.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from harness import Sizes, check_on_device, check_under_oclgrind, given, run_c, simulate, sizes_of
from harness import plan as plan_of

from loopxform.schedule.params import Tiles

SEED = 45
PROGRAMS = ("mm", "mm_int_div", "mm_bool_and")

NICE = Tiles(16, 16, 32, 8, 4)
TILES = (
    NICE,
    Tiles(13, 16, 16, 8, 4),
    Tiles(16, 13, 16, 8, 4),
    Tiles(13, 13, 16, 8, 4),
    Tiles(19, 16, 16, 8, 4),
    Tiles(16, 19, 16, 8, 4),
    Tiles(19, 19, 16, 8, 4),
)
"""Table 5: whether Ty and Tx divide Tk, and whether they exceed it."""

SIZES: tuple[Sizes, ...] = (
    (2, 3, 4),
    (15, 29, 27),
    (128, 32, 64),
    (128, 103, 64),
    (512, 32, 1024),
    (512, 128, 1024),
    (513, 128, 1024),
    (512, 129, 1024),
    (512, 128, 1025),
    (513, 129, 1024),
    (513, 128, 1025),
    (512, 129, 1025),
    (513, 129, 1025),
)
"""Table 4, (M, U, N): with the nice tiles, every combination of residuals."""

ENDS = (*SIZES[:4], SIZES[-1])
"""The small ones, and residuals in all dimensions: the combinations are tried with small tiles."""

SMALL_TILES = (
    Tiles(4, 4, 8, 3, 2),
    Tiles(3, 4, 4, 3, 2),
    Tiles(4, 3, 4, 3, 2),
    Tiles(3, 3, 4, 3, 2),
    Tiles(5, 4, 4, 3, 2),
    Tiles(4, 5, 4, 3, 2),
    Tiles(5, 5, 4, 3, 2),
)
"""Table 5 made small for the simulator: the same relations between Ty, Tx and Tk."""

SMALL_SIZES: tuple[Sizes, ...] = (
    (1, 2, 1),
    (9, 7, 5),
    (12, 8, 8),
    (12, 26, 8),
    (24, 8, 16),
    (24, 16, 16),
    (25, 16, 16),
    (24, 17, 16),
    (24, 16, 17),
    (25, 17, 16),
    (25, 16, 17),
    (24, 17, 17),
    (25, 17, 17),
)
"""Table 4 made small: with the first of the small tiles, the same residuals."""


def label(value: object) -> str:
    if isinstance(value, Tiles):
        return "_".join(str(n) for n in (value.Ty, value.Tx, value.Tk, value.Ry, value.Rx))
    return "x".join(map(str, value)) if isinstance(value, tuple) else str(value)


QUICK = {"mm": (0,), "mm_int_div": (), "mm_bool_and": ()}
"""The tiles each program runs with by default: PoCL compiles them in 2 to 30 seconds each. As C
(test_kernels_as_c.py) each program runs with some."""


def _cases() -> Iterator[object]:
    for name in PROGRAMS:
        for n, tiles in enumerate(TILES):
            if name != "mm" and n % 3:
                continue  # one program has all tiles, the others how each kind ends
            named = f"{name}-{label(tiles)}"
            if n in QUICK[name]:
                yield pytest.param(name, tiles, ENDS, id=f"{named}-ends")
            marks = [pytest.mark.slow, pytest.mark.optimised]
            yield pytest.param(name, tiles, SIZES, marks=marks, id=named)


@pytest.mark.device
@pytest.mark.parametrize(("name", "tiles", "sizes"), list(_cases()))
def test_every_size_on_a_device(name: str, tiles: Tiles, sizes: tuple[Sizes, ...]) -> None:
    for size in sizes:
        check_on_device(name, tiles, "register", sizes_of(name, *size), SEED)


OTHERS = [
    *(("mm", tiles) for tiles in SMALL_TILES),
    *((name, tiles) for name in PROGRAMS[1:] for tiles in SMALL_TILES[::3]),
]
"""Which elements are touched is a matter of the tiles: one program has them all."""


@pytest.mark.oclgrind
@pytest.mark.parametrize(("name", "tiles"), OTHERS, ids=label)
def test_residuals_in_all_dimensions_under_the_simulator(name: str, tiles: Tiles) -> None:
    check_under_oclgrind(name, tiles, "register", [sizes_of(name, *SMALL_SIZES[-1])], SEED)


@pytest.mark.slow
@pytest.mark.oclgrind
@pytest.mark.parametrize(("name", "tiles"), OTHERS, ids=label)
def test_the_other_residuals_under_the_simulator(name: str, tiles: Tiles) -> None:
    every = [sizes_of(name, *size) for size in SMALL_SIZES[:-1]]
    check_under_oclgrind(name, tiles, "register", every, SEED)


@pytest.mark.slow
@pytest.mark.oclgrind
@pytest.mark.parametrize(
    ("name", "tiles"),
    [*(("mm", TILES[n]) for n in (0, 3, 6)), *zip(PROGRAMS[1:], (TILES[3], TILES[6]))],
    ids=label,
)
def test_the_real_tiles_under_the_simulator(name: str, tiles: Tiles) -> None:
    every = [sizes_of(name, *size) for size in SIZES[:2]]
    check_under_oclgrind(name, tiles, "register", every, SEED)


def test_the_inputs_tell_right_from_wrong() -> None:
    """No element of B is zero, so that only padding could divide by it; both truth values occur,
    so that an accumulator that starts at 0 is seen."""
    for size in SIZES[:3]:
        sizes = sizes_of("mm_bool_and", *size)
        result = run_c("mm_bool_and", given("mm_bool_and", sizes, SEED))["C"]
        assert 0 < result.sum() < result.size
        assert given("mm_int_div", sizes, SEED)["B"].all()


@pytest.mark.oclgrind
def test_the_simulator_sees_what_could_go_wrong() -> None:
    """Without barriers there is a race; without the clamped subscript a read out of bounds;
    without one of the copies an unset value."""
    p = plan_of("mm", SMALL_TILES[1])
    args = given("mm", sizes_of("mm", 10, 7, 5), SEED)

    def kinds(old: str, new: str) -> set[str]:
        assert old in p.source
        return {f.kind for f in simulate(p, args, lambda x: x.replace(old, new)).findings}

    assert not simulate(p, args).findings
    assert "race" in kinds("barrier(CLK_LOCAL_MEM_FENCE);", "")
    assert "invalid-read" in kinds("min(iii + c0, M - 1)", "(iii + c0)")
    assert "uninitialized" in kinds("B_loc[c0][c1] = B", "if (c1 > 0) B_loc[c0][c1] = B")
