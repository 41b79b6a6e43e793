"""Nests of unknown sizes in several shapes: large tiles for many, smaller ones for few; the host
asks."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from itertools import product

import pytest
from harness import check_kernel, given, program, run_c, simulate_all, sizes_of

from loopxform.codegen import emit
from loopxform.codegen.plan import Plan
from loopxform.floating_point import SEPARATE
from loopxform.model.tile_shapes import Shape, quickest
from loopxform.recipes.tile import tile
from loopxform.runtime.kernel import CompiledKernel
from loopxform.runtime.schedule import launched, not_known
from loopxform.runtime.selection import choose
from loopxform.schedule.params import Options
from loopxform.targets.profile import PROFILES
from loopxform.transforms import (
    BlockCyclic,
    Dispatch,
    Pad,
    RegisterPipeline,
    Serpentine,
    ShiftInwards,
    Split,
    Step,
    StoreVectors,
    WarpTile,
)
from loopxform.verify.compare import compare

SEED = 7
UNITS = 2
DEVICE = replace(PROFILES["h100"], compute_units=UNITS)
LARGE = ((128, 128), (64, 128), (96, 96), (48, 96), (80, 64))
TILES = (*LARGE, (64, 64), (48, 64), (32, 64), (16, 32), (8, 32))
SINGLE = ((64, 128), (64, 64), (32, 64))
"""Those of single columns, for rows that are no vectors."""


def shapes(tiles: tuple[tuple[int, int], ...], first: int) -> list[Shape]:
    """Tiles with the times of the profile from a row on."""
    rows = DEVICE.tile_times[first:]
    return [Shape(t, *times, resident=many) for t, (_, *times, many) in zip(tiles, rows)]


OTHERS = shapes(TILES + SINGLE, 0)[1:]
OF_VECTORS = shapes(TILES, len(TILES + SINGLE))
OF_EACH = (
    (195, 4, 104),
    (50, 16, 208),
    (257, 188, 296),
    (33, 4, 68),
    (129, 4, 36),
    (108, 232, 36),
    (80, 60, 36),
    (18, 4, 68),
    (125, 152, 4),
    (1, 4, 8),
)
"""Sizes for which each of the shapes takes the least time where rows are vectors."""

UNEVEN = (
    (125, 269, 65),
    (165, 1, 73),
    (34, 11, 129),
    (132, 27, 1),
    (193, 261, 37),
    (86, 19, 1),
    (39, 37, 1),
    (33, 83, 1),
    (2, 1, 3),
    (37, 1, 207),
    (108, 31, 1),
    (33, 1, 3),
)
"""The same for the others, without the largest, where rows are no vectors."""


@cache
def plan(name: str, pack: int | None = 0) -> Plan:
    options = Options(pack=pack)
    return emit.kernel(
        tile(program(name), {}, limits=DEVICE, options=options).derivation, fp=SEPARATE
    )


def test_the_sizes_are_of_each_shape() -> None:
    for tiles, sizes in ((OF_VECTORS, OF_EACH), (OTHERS, UNEVEN)):
        best = [quickest(tiles, [m, n], UNITS, u) for m, u, n in sizes]
        assert best == list(range(len(tiles)))


def test_which_shape_is_launched() -> None:
    """Where rows are vectors, the kernel of the quickest shape; elsewhere tiles are smaller than
    the largest."""
    p = plan("mm")
    for m, u, n in product((16, 33, 64, 100, 128, 250, 500), (8, 9, 400), (40, 61, 128, 256, 301)):
        ((number, _),) = launched(p, {"M": m, "U": u, "N": n}, not_known)
        counts = p.kernels[number].groups({"M": m, "N": n})[:2]
        rows = u % 4 == 0 and n % 4 == 0
        tiles = OF_VECTORS if rows else OTHERS
        best = quickest(tiles, [m, n], UNITS, u)
        before = len(tiles) if rows else len(OF_VECTORS) + len(tiles)
        assert number == before - 1 - best, (m, u, n)
        down, across = tiles[best].sizes
        assert counts == (-(-n // across), -(-m // down)), (m, u, n)


@pytest.mark.slow
def test_forms_come_in_front_of_the_tile_of_their_shape() -> None:
    """Of the quickest shape, whatever the forms are: that which is left takes what they cannot."""
    limits = replace(DEVICE, shift_inwards=True, interleave_copies=100)
    done = tile(program("mm"), {}, limits=limits, options=Options(pack=0))
    (dispatch,) = (r.step for r in done.derivation.records if isinstance(r.step, Dispatch))
    labels, p = [v.label for v in dispatch.variants], emit.kernel(done.derivation, fp=SEPARATE)
    for m, u, n in (
        (97, 201, 65),
        (97, 5, 65),
        (33, 701, 65),
        (65, 5, 129),
        (7, 5, 5),
        (64, 8, 64),
    ):
        ((number, _),) = launched(p, {"M": m, "U": u, "N": n}, not_known)
        label = labels[number]
        if u % 4 == 0 and n % 4 == 0:
            assert "vectors" in label
            assert "shifted" not in label
            continue
        high, wide = OTHERS[quickest(OTHERS, [m, n], UNITS, u)].sizes
        assert label.startswith(f"{high}x{wide}")
        assert ("shifted" in label) == (m >= high and n >= wide)
        assert ("between" in label) == ("shifted" in label and u >= 100)


def test_each_shape_has_what_it_is_fastest_with() -> None:
    """Whole register tiles are walked column by column. What work-items of smaller tiles read they
    read ahead, where they have elements enough to do it; smaller tiles have no epilogue."""
    (dispatch,) = (
        r.step
        for r in tile(program("mm"), {}, limits=DEVICE, options=Options(pack=0)).derivation.records
        if isinstance(r.step, Dispatch)
    )
    labels = {v.label: v.steps for v in dispatch.variants}
    single = [steps for label, steps in labels.items() if label.endswith("single columns")]
    of = {label.partition(",")[0]: s for label, s in labels.items() if s not in single}
    shapes = ["x".join(map(str, tile)) for tile in TILES]
    rows = [next(s.rows for s in of[x] if isinstance(s, Serpentine)) for x in shapes]
    assert "".join(rows) == "8842282222"

    def having(kind: type[Step]) -> list[str]:
        return [x for x in shapes if any(isinstance(s, kind) for s in of[x])]

    assert having(RegisterPipeline) == shapes[1:-2]
    assert having(Split) == shapes[:1]
    assert having(Pad) == shapes[1:]
    assert len(single) == len(SINGLE)
    for steps in single:
        dealt = [s.width for s in steps if isinstance(s, BlockCyclic)]
        assert dealt == ["4", "1"]
        assert [s.columns for s in steps if isinstance(s, WarpTile)] in (["16"], ["32"])
        assert not any(isinstance(s, StoreVectors) for s in steps)


@pytest.mark.device
@pytest.mark.parametrize("name", ["mm", "gemm"])
def test_single_columns_compute_what_the_c_does(name: str) -> None:
    options = Options(pack=0, single_columns=True)
    sizes = {"Ty": 2, "Tx": 8, "Tk": 4, "Ry": 4, "Rx": 4}
    done = tile(program(name), sizes, limits=DEVICE, options=options)
    compiled = CompiledKernel(emit.kernel(done.derivation, fp=SEPARATE), choose())
    for size in ((9, 7, 37), (8, 4, 32), (17, 1, 3)):
        check_kernel(compiled, name, sizes_of(name, *size), SEED)


SHIFTED = {"Ty": 2, "Tx": 2, "Tk": 4, "Ry": 4, "Rx": 4}
WAYS = {
    "mm": {},
    "gemm": {"register_pipeline": True, "stages": 2, "serpentine": 4, "interleave_copies": 12},
    "mm_at": {"stages": 3, "async_copies": True, "pad": True, "vector": 4},
    "mm_bt": {"single_columns": True, "index": 32, "vector": 1, "separate_full_tiles": True},
    "mm_bias": {"register_pipeline": True, "stages": 2, "pad": False, "interleave_copies": 1},
}
AROUND_A_TILE = (
    *((1, 3, 1), (7, 5, 9), (8, 4, 8), (9, 7, 8), (16, 12, 17), (19, 0, 12), (20, 16, 24)),
    *((10, 19, 11), (8, 33, 9)),
)


@cache
def shifted(name: str) -> Plan:
    """Tiles of 8 x 8, the last ones of which begin earlier where there is one."""
    options = Options(shift_inwards=True, **WAYS[name])
    done = tile(program(name), SHIFTED, limits=DEVICE, options=options)
    (dispatch,) = (r.step for r in done.derivation.records if isinstance(r.step, Dispatch))
    moved = [v for v in dispatch.variants if any(isinstance(s, ShiftInwards) for s in v.steps)]
    assert 0 < len(moved) < len(dispatch.variants)
    between = [str(s) for v in moved for s in v.steps if isinstance(s, RegisterPipeline)]
    assert any("interleaved" in s for s in between) == ("interleave_copies" in WAYS[name])
    assert all({"M>=8", "N>=8"} <= set(v.guard) for v in moved)
    return emit.kernel(done.derivation, fp=SEPARATE)


@pytest.mark.device
@pytest.mark.parametrize(
    "name", ["gemm", *(pytest.param(n, marks=pytest.mark.slow) for n in WAYS if n != "gemm")]
)
def test_tiles_that_begin_earlier_compute_what_the_c_does(name: str) -> None:
    compiled = CompiledKernel(shifted(name), choose())
    for size in AROUND_A_TILE:
        check_kernel(compiled, name, sizes_of(name, *size), SEED)


@pytest.mark.slow
@pytest.mark.oclgrind
@pytest.mark.parametrize("name", WAYS)
def test_tiles_that_begin_earlier_store_each_result_once(name: str) -> None:
    every = [given(name, sizes_of(name, *size), SEED) for size in AROUND_A_TILE if size[1]]
    report, found = simulate_all(shifted(name), every)
    assert report.clean, report.findings[0]
    for args, after in zip(every, found, strict=True):
        expected = run_c(name, args)
        assert not compare({n: expected[n] for n in after}, after)


@pytest.mark.slow
@pytest.mark.device
@pytest.mark.parametrize(
    ("name", "pack"),
    [pytest.param("mm", 0, marks=pytest.mark.optimised), ("mm", 8), ("gemm", 0), ("mm_at", 8)],
)
def test_all_shapes_compute_what_the_c_does(name: str, pack: int) -> None:
    compiled = CompiledKernel(plan(name, pack), choose())
    for size in (*OF_EACH, *UNEVEN):
        check_kernel(compiled, name, sizes_of(name, *size), SEED)


@pytest.mark.slow
@pytest.mark.oclgrind
@pytest.mark.parametrize("pack", [0, 8])
def test_no_race_and_nothing_out_of_bounds(pack: int) -> None:
    sizes = [(20, 18, 24), (65, 17, 9), (131, 4, 20), (65, 8, 132)]
    every = [given("mm", sizes_of("mm", *size), SEED) for size in sizes]
    report, found = simulate_all(plan("mm", pack), every)
    assert report.clean, report.findings[0]
    for args, after in zip(every, found, strict=True):
        expected = run_c("mm", args)
        assert not compare({n: expected[n] for n in after}, after)
