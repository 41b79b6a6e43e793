"""Loops that reduce, or have running values, under conditions on data: in parts, where the host
reads what the condition says."""

from __future__ import annotations

import pytest
from deriving import c
from harness import assert_runs_agree

import loopxform as lx
from loopxform.codegen import emit
from loopxform.floating_point import SEPARATE
from loopxform.verify.cref import CSource

PARAMS = "int n, const int flag[2], int a[n], int out[2]"
CASES = {
    "both-ways": "int s = 3; if (flag[0] > flag[1]) for (int i = 0; i < n; i++) s += a[i];"
    " else for (int i = 0; i < n; i++) if (a[i] > s) s = a[i]; out[0] = s;",
    "changes-what-it-asks": "int s = 0; if (out[0] > 40) { for (int i = 0; i < n; i++) s += a[i];"
    " out[0] = 7; out[1] = s; }",
    "running": "int s = 0; if (flag[1] & 1) for (int i = 0; i < n; i++) { s += a[i]; a[i] = s; }",
}


@pytest.mark.device
@pytest.mark.parametrize("name", CASES)
def test_as_the_c_program(name: str) -> None:
    text = c(CASES[name], PARAMS)
    done = lx.loads(text)["f"].offload(contract=False)
    assert any("partial results" in p.why for p in done.parts)
    plan = emit.kernel(done.derivation, fp=SEPARATE)
    for seed in range(2):
        assert_runs_agree(plan, CSource(text=text), [{"n": n} for n in (0, 1, 3000)], seed)
