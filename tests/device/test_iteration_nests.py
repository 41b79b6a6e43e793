"""Loops whose iterations fill arrays of their own: nests of parts of the iterations where there is
room for the arrays of all, a group for each iteration where there is not; what your C computes."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest
from deriving import c
from harness import assert_runs_agree

import loopxform as lx
from loopxform.codegen import emit
from loopxform.codegen.plan import Plan
from loopxform.floating_point import PERMITTED, SEPARATE
from loopxform.offload.program import offload
from loopxform.runtime.schedule import launched, not_known
from loopxform.schedule.params import Options
from loopxform.targets.profile import PROFILES
from loopxform.verify.cref import CSource

HEADS = (
    "int h, int n, int m, int d, const float q[restrict h][n][d], const float k[restrict h][m][d], "
    "const float v[restrict h][m][d], float y[restrict h][n][d]"
)
LOOP = "for (int b = 0; b < h; b++) for (int i = 0; i < n; i++) {{ float w[m], sum = 0; {} }}"
RATIO = "1 / (1 + (top - w[j]))"
LAST = "for (int c = 0; c < d; c++) { float t = 0; "
LAST += "for (int j = 0; j < m; j++) t += w[j] * v[b][j][c]; y[b][i][c] = t / sum; }"
DOT = "float t = 0; for (int c = 0; c < d; c++) t += q[b][i][c] * k[b][j][c]; "
WEIGHTS = f"for (int j = 0; j < m; j++) {{ w[j] = {RATIO}; sum += w[j]; }} "
CASES = {
    "extremum-with-scores": f"float top = -1e30f; for (int j = 0; j < m; j++) {{ {DOT} "
    f"w[j] = t * 0.5f; if (w[j] > top) top = w[j]; }} {WEIGHTS} {LAST}",
    "extremum-of-a-scalar": f"float top = -1e30f; for (int j = 0; j < m; j++) {{ {DOT} "
    f"t *= 0.5f; w[j] = t; if (t > top) top = t; }} {WEIGHTS} {LAST}",
    "extremum-apart": f"float top = -1e30f; for (int j = 0; j < m; j++) {{ {DOT} w[j] = t; }} "
    f"for (int j = 0; j < m; j++) top = fmaxf(top, w[j]); {WEIGHTS} {LAST}",
    "mask": f"float top = -1e30f; for (int j = 0; j < m; j++) {{ {DOT} "
    f"w[j] = j <= i ? t : -1e30f; top = fmaxf(top, w[j]); }} {WEIGHTS} {LAST}",
    "weights-divided": f"float top = -1e30f; for (int j = 0; j < m; j++) {{ {DOT} w[j] = t; }} "
    f"for (int j = 0; j < m; j++) top = fmaxf(top, w[j]); {WEIGHTS} "
    f"for (int j = 0; j < m; j++) w[j] /= sum; {LAST.replace('t / sum', 't')}",
}
SIZES = [
    {"h": 2, "n": 20, "m": 33, "d": 5},
    {"h": 1, "n": 1, "m": 1, "d": 1},
    {"h": 3, "n": 7, "m": 70, "d": 2},
    {"h": 2, "n": 600, "m": 301, "d": 2},
    {"h": 1, "n": 3, "m": 0, "d": 2},
    {"h": 0, "n": 3, "m": 4, "d": 2},
]
"""The fourth has more scores than there is room for."""
MARKS = {x: pytest.mark.slow for x in CASES if x != "mask"}
H100 = replace(PROFILES["h100"], expanded_mib=1)


def text(case: str) -> str:
    return "#include <math.h>\n" + c(LOOP.format(CASES[case]), HEADS)


@cache
def plan(case: str, *, reassociate: bool) -> Plan:
    (routine,) = lx.loads(text(case))
    done = offload(routine.function, {}, H100, Options(reassociate=reassociate))
    return emit.kernel(done.derivation, fp=PERMITTED["reassociate"] if reassociate else SEPARATE)


def loops(p: Plan, sizes: dict[str, int]) -> int:
    """How many kernels run."""
    return len([*launched(p, sizes, not_known)])


@pytest.mark.parametrize("case", [pytest.param(x, marks=MARKS.get(x, ())) for x in CASES])
@pytest.mark.parametrize("reassociate", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_there_is_room_for_scores_or_not(case: str, reassociate: bool) -> None:
    p = plan(case, reassociate=reassociate)
    assert loops(p, SIZES[0]) > 1
    assert loops(p, SIZES[3]) == 1


@pytest.mark.device
@pytest.mark.parametrize("case", [pytest.param(x, marks=MARKS.get(x, ())) for x in CASES])
def test_in_order(case: str) -> None:
    source = CSource(text=text(case))
    assert_runs_agree(plan(case, reassociate=False), source, SIZES, 3, None)
