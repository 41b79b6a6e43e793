"""Nests of unknown sizes in two shapes: large tiles for many, small ones for few; the host asks."""

from __future__ import annotations

from dataclasses import replace

import pytest
from harness import given, program, run_c, run_on_device, simulate_launches, sizes_of

from loopxform.codegen import emit
from loopxform.codegen.plan import Plan
from loopxform.recipes.limits import PROFILES
from loopxform.recipes.tile import tile
from loopxform.runtime.device import choose
from loopxform.runtime.kernel import CompiledKernel
from loopxform.runtime.schedule import launched, not_known
from loopxform.verify.compare import compare

SEED = 7
DEVICE = replace(PROFILES["h100"], compute_units=2)
"""It runs four groups at once."""

FEW = ((130, 70, 66), (33, 37, 41), (257, 20, 130))
MANY = ((256, 24, 256), (250, 19, 130))


def plan(name: str) -> Plan:
    return emit.kernel(tile(program(name), {}, limits=DEVICE).derivation, contract=False)


def test_which_shape_is_launched() -> None:
    p = plan("mm")
    half = len(p.kernels) // 2
    found = {}
    for size in (*FEW, *MANY):
        ((number, _),) = launched(p, dict(zip("MUN", size)), not_known)
        found[size] = number < half
    assert found == {**dict.fromkeys(FEW, True), **dict.fromkeys(MANY, False)}


@pytest.mark.slow
@pytest.mark.device
@pytest.mark.parametrize("name", ["mm", "gemm", "mm_at"])
def test_both_shapes_compute_what_the_c_does(name: str) -> None:
    compiled = CompiledKernel(plan(name), choose())
    for size in (*FEW, *MANY):
        args = given(name, sizes_of(name, *size), SEED)
        found = compare(run_c(name, args), run_on_device(compiled, args))
        assert not found, (name, size, SEED, found[0])


@pytest.mark.slow
@pytest.mark.oclgrind
@pytest.mark.parametrize("size", [(20, 18, 24), (65, 17, 9)], ids=str)
def test_no_race_and_nothing_out_of_bounds(size: tuple[int, int, int]) -> None:
    args = given("mm", sizes_of("mm", *size), SEED)
    report, after = simulate_launches(plan("mm"), args)
    assert report.clean, (size, report.findings[0])
    assert not compare({n: run_c("mm", args)[n] for n in after}, after)
