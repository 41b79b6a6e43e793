"""Passes of several steps of time do what the user's C does, to the last bit, however its loops are
written."""

from __future__ import annotations

import pytest
from harness import assert_runs_agree
from stencil_loops import FORMS, ROTATED

import loopxform as lx
from loopxform.codegen import emit
from loopxform.codegen.plan import Plan
from loopxform.floating_point import SEPARATE
from loopxform.verify.cref import CSource

SIZES = tuple({"steps": t, "n": n} for t, n in ((0, 9), (1, 5), (4, 1), (7, 6), (9, 21), (13, 30)))


def plan(text: str, steps: int) -> Plan:
    done = lx.loads(text)["f"].offload(contract=False, time_tile=(steps, 5, 24))
    assert any(f"{steps} steps of time a pass" in p.about for p in done.parts)
    return emit.kernel(done.derivation, fp=SEPARATE)


@pytest.mark.parametrize("name", FORMS)
def test_as_the_users_c(name: str) -> None:
    text = FORMS[name]
    assert_runs_agree(plan(text, 2), CSource(text=text), SIZES, 5)


@pytest.mark.parametrize("name", ROTATED)
def test_pointers_that_change_places(name: str) -> None:
    text = ROTATED[name]
    times = 3 if name == "three levels" else 2
    sizes = [{"steps": t, "n": n} for t, n in ((times, 9), (4, 1), (7, 6), (13, 21), (14, 30))]
    assert_runs_agree(plan(text, times), CSource(text=text), sizes, 5)
