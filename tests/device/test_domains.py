"""Register tiles of triangles: conditions on the domain go where nobody can tell, and stay where
an element is used outside of it."""

from __future__ import annotations

import pytest
from harness import CORPUS, arrays_after, assert_runs_agree, simulate

import loopxform as lx
from loopxform.api.tile import TiledRoutine
from loopxform.codegen import emit
from loopxform.floating_point import SEPARATE
from loopxform.ir.nodes import Assign, For, If
from loopxform.ir.visit import enclosing, walk
from loopxform.verify.check_run import arguments
from loopxform.verify.compare import compare
from loopxform.verify.cref import CSource
from loopxform.verify.interp import Program

FILE = CORPUS / "domains" / "triangles.c"
CONDITION_STAYS = {
    "cov": False,
    "scaled": False,
    "everywhere": True,
    "integers": True,
    "inner": True,
    "twice": False,
    "before": True,
}
TILES = {"Tx": 4, "Ty": 2, "Tk": 3, "Ry": 2, "Rx": 3}


def tiled(name: str) -> TiledRoutine:
    return lx.load(FILE)[name].tile(contract=False, recipe="register", **TILES)


@pytest.mark.parametrize("name", CONDITION_STAYS)
def test_conditions_around_the_inner_loop(name: str) -> None:
    fn = tiled(name).derivation.function
    sums = [p for p, s in walk(fn.body) if isinstance(s, Assign) and s.op == "+"]
    inside = [s for s in enclosing(fn, sums[0]) if isinstance(s, For | If)]
    around = next(n for n, s in enumerate(inside) if isinstance(s, For) and s.var == "kk")
    assert any(isinstance(s, If) for s in inside[around:]) == CONDITION_STAYS[name]


@pytest.mark.device
@pytest.mark.parametrize("name", CONDITION_STAYS)
def test_bit_identical_to_the_c_program(name: str) -> None:
    plan = emit.kernel(tiled(name).derivation, fp=SEPARATE)
    numbers = [p.name for p in plan.start.params if not p.array]
    every = ((7, 9, 5), (1, 1, 1), (13, 1, 4), (0, 8, 3), (6, 12, 24))
    assert_runs_agree(plan, CSource(str(FILE)), (dict(zip(numbers, sizes)) for sizes in every), 3)


@pytest.mark.oclgrind
@pytest.mark.parametrize("name", ["cov", "scaled", "twice"])
def test_in_the_simulator(name: str) -> None:
    plan = emit.kernel(tiled(name).derivation, fp=SEPARATE)
    numbers = [p.name for p in plan.start.params if not p.array]
    args = arguments(plan.start, dict(zip(numbers, (7, 9, 5))), 1)
    report = simulate(plan, args)
    assert report.clean, report.findings
    found = arrays_after(plan, report)
    Program(plan.start).run(args)
    assert not compare({k: args[k] for k in found}, found)
