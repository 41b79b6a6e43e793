"""Functions that reduce real numbers, in another order: what the user's C computes, but for
rounding; and the same numbers every time."""

from __future__ import annotations

from functools import cache

import pytest
from harness import CORPUS

import loopxform as lx
from loopxform.codegen import emit
from loopxform.codegen.plan import Plan
from loopxform.floating_point import PERMITTED
from loopxform.runtime.selection import choose
from loopxform.verify.check_run import run
from loopxform.verify.cref import CSource

FOLDER = CORPUS / "programs"


@cache
def plan(name: str) -> Plan:
    routine = lx.load(FOLDER / f"{name}.c")[name]
    return emit.kernel(
        routine.offload(contract=False, reassociate=True).derivation, fp=PERMITTED["reassociate"]
    )


@pytest.mark.device
@pytest.mark.parametrize(
    ("name", "sizes", "kernels"),
    [
        ("c89_filter", {"n": 40000, "rounds": 2, "weight": 0.5}, 8),
        ("orthogonal", {"m": 300, "n": 5}, 6),
    ],
)
def test_close_to_the_c_program(name: str, sizes: dict[str, int | float], kernels: int) -> None:
    source = CSource(str(FOLDER / f"{name}.c"))
    found = run(plan(name), source, choose(), sizes, 5)
    assert found.ok, found.mismatches[0]
    assert len(plan(name).kernels) == kernels
