"""Versions for whole tiles and for partial ones, with tiles of one kind or of both: on the device
and under Oclgrind, results are those of the user's C."""

from __future__ import annotations

import pytest
from harness import check_kernel, given, program, run_c, simulate, sizes_of
from tilings import Options, tile

from loopxform.codegen import emit
from loopxform.codegen.plan import Plan
from loopxform.floating_point import SEPARATE
from loopxform.runtime.kernel import CompiledKernel
from loopxform.runtime.selection import choose
from loopxform.schedule.params import Recipe, Tiles
from loopxform.verify.compare import compare

SEED = 31
BOTH = Options(pad=True, separate_full_tiles=True)
TILES = Tiles(Ty=2, Tx=4, Tk=3, Ry=3, Rx=2)
SIZES = ((13, 7, 17), (12, 9, 16), (5, 4, 7), (12, 5, 9), (1, 0, 8))
"""Groups of both kinds, only whole ones, only partial ones, partial in one dimension, no terms."""
PROGRAMS = ("mm", "gemm", "mm_bias", "batched", "distances", "mm_int_div", "cross_covariance")


def versions(name: str, recipe: Recipe) -> Plan:
    done = tile(program(name), TILES, recipe, strict=True, options=BOTH).derivation
    assert done.records[-1].step.verb == "separate-full-tiles"
    return emit.kernel(done, fp=SEPARATE)


@pytest.mark.device
@pytest.mark.parametrize("recipe", ["block", "register"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_runs_like_the_c_program(name: str, recipe: Recipe) -> None:
    kernel = CompiledKernel(versions(name, recipe), choose())
    for size in SIZES:
        check_kernel(kernel, name, sizes_of(name, *size), SEED)


@pytest.mark.oclgrind
@pytest.mark.parametrize("size", SIZES[:2], ids=str)
@pytest.mark.parametrize("name", PROGRAMS)
def test_touches_only_what_the_c_program_touches(name: str, size: tuple[int, int, int]) -> None:
    plan = versions(name, "register")
    args = given(name, sizes_of(name, *size), SEED)
    report = simulate(plan, args)
    assert report.clean, report.findings[0]
    after = dict(zip((b.param.name for b in plan.buffers), report.arrays))
    expected = run_c(name, args)
    assert not compare({n: expected[n] for n in after}, after)
