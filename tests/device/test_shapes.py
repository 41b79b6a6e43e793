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
from loopxform.transforms import Dispatch, Pad, RegisterPipeline, Serpentine, Split, Step
from loopxform.verify.compare import compare

SEED = 7
UNITS = 2
DEVICE = replace(PROFILES["h100"], compute_units=UNITS)
TILES = ((128, 128), (64, 128), (96, 96), (48, 96), (80, 64), (64, 64), (16, 32), (8, 32))
SHAPES, OF_VECTORS = (
    [
        Shape(tile, *times, resident=resident)
        for tile, (_, *times, resident) in zip(TILES, DEVICE.tile_times[first:])
    ]
    for first in (0, len(TILES))
)
OF_EACH = (
    (97, 4, 228),
    (115, 8, 100),
    (161, 36, 196),
    (81, 8, 36),
    (129, 4, 36),
    (98, 40, 36),
    (51, 4, 8),
    (9, 36, 16),
)
"""Sizes for which each of the shapes takes the least time where rows are vectors."""

UNEVEN = (
    (127, 101, 127),
    (161, 5, 34),
    (25, 5, 165),
    (130, 5, 33),
    (103, 5, 33),
    (17, 41, 17),
    (9, 37, 17),
)
"""The same for the shapes but the largest where rows are no vectors."""


@cache
def plan(name: str, pack: int | None = 0) -> Plan:
    options = Options(pack=pack)
    return emit.kernel(
        tile(program(name), {}, limits=DEVICE, options=options).derivation, fp=SEPARATE
    )


def test_the_sizes_are_of_each_shape() -> None:
    for shapes, sizes in ((OF_VECTORS, OF_EACH), (SHAPES[1:], UNEVEN)):
        best = [quickest(shapes, [m, n], UNITS, u) for m, u, n in sizes]
        assert best == list(range(len(shapes)))


def test_which_shape_is_launched() -> None:
    """Where rows are vectors, the kernel of the quickest shape; elsewhere tiles are smaller than
    the largest."""
    p = plan("mm")
    for m, u, n in product((16, 33, 64, 100, 128, 250, 500), (8, 9, 400), (40, 61, 128, 256, 301)):
        ((number, _),) = launched(p, {"M": m, "U": u, "N": n}, not_known)
        counts = p.kernels[number].groups({"M": m, "N": n})[:2]
        rows = u % 4 == 0 and n % 4 == 0
        last = len(TILES) - 1
        if rows:
            best = quickest(OF_VECTORS, [m, n], UNITS, u)
        else:
            best = 1 + quickest(SHAPES[1:], [m, n], UNITS, u)
        assert number == (last - best if rows else 2 * last + 1 - best), (m, u, n)
        down, across = TILES[best]
        assert counts == (-(-n // across), -(-m // down)), (m, u, n)


def test_each_shape_has_what_it_is_fastest_with() -> None:
    """Whole register tiles are walked column by column. What work-items of smaller tiles read they
    read ahead, where they have elements enough to do it; smaller tiles have no epilogue."""
    (dispatch,) = (
        r.step
        for r in tile(program("mm"), {}, limits=DEVICE, options=Options(pack=0)).derivation.records
        if isinstance(r.step, Dispatch)
    )
    of = {v.label.partition(",")[0]: v.steps for v in dispatch.variants}
    shapes = ["x".join(map(str, tile)) for tile in TILES]
    rows = [next(s.rows for s in of[x] if isinstance(s, Serpentine)) for x in shapes]
    assert "".join(rows) == "88422822"

    def having(kind: type[Step]) -> list[str]:
        return [x for x in shapes if any(isinstance(s, kind) for s in of[x])]

    assert having(RegisterPipeline) == shapes[1:-2]
    assert having(Split) == shapes[:1]
    assert having(Pad) == shapes[1:]


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
