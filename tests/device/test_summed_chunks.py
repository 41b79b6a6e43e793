"""Long rows that are summed up in order, in chunks of terms that the work-items of a group compute:
the sums are those of the C, to the last bit."""

from __future__ import annotations

from dataclasses import replace

import pytest
from deriving import c
from harness import assert_clean_and_right, assert_runs_agree

import loopxform as lx
from loopxform.codegen import emit
from loopxform.floating_point import SEPARATE
from loopxform.targets.profile import PROFILES
from loopxform.verify.check_run import arguments
from loopxform.verify.cref import CSource

ROWS = "int n, int m, const float x[restrict n][m], float y[restrict n][m]"
NORM = c(
    "for (int i = 0; i < n; i++) { float mean = 0, var = 0; "
    "for (int j = 0; j < m; j++) mean += x[i][j]; mean /= m; "
    "for (int j = 0; j < m; j++) var += (x[i][j] - mean) * (x[i][j] - mean); "
    "for (int j = 0; j < m; j++) y[i][j] = (x[i][j] - mean) / (var + 1); }",
    ROWS,
)
SOFTMAX = c(
    "for (int i = 0; i < n; i++) { float most = x[i][0], sum = 0; "
    "for (int j = 1; j < m; j++) if (x[i][j] > most) most = x[i][j]; "
    "for (int j = 0; j < m; j++) sum += 1 / (1 + most - x[i][j]); "
    "for (int j = 0; j < m; j++) y[i][j] = 1 / (1 + most - x[i][j]) / sum; }",
    ROWS,
)
CASES = {"norm": NORM, "softmax": SOFTMAX}
H100 = PROFILES["h100"]


@pytest.mark.parametrize("name", CASES)
def test_rows_of_any_length_have_a_version(name: str) -> None:
    (routine,) = lx.loads(CASES[name])
    assert "_term[512]" in routine.tile(limits="h100").kernel


@pytest.mark.device
@pytest.mark.parametrize("name", CASES)
def test_as_the_c_program(name: str) -> None:
    (routine,) = lx.loads(CASES[name])
    plan = emit.kernel(routine.tile(limits="h100", contract=False).derivation, fp=SEPARATE)
    rows = ((3, 513), (0, 600), (2, 1024), (5, 5001), (1, 15000))
    sizes = tuple({"n": n, "m": m} for n, m in rows)
    assert_runs_agree(plan, CSource(text=CASES[name]), sizes, 3)


@pytest.mark.oclgrind
@pytest.mark.parametrize("name", CASES)
def test_without_races(name: str) -> None:
    small = replace(H100, local_bytes=12288)
    (routine,) = lx.loads(CASES[name])
    p = emit.kernel(routine.tile(limits=small, contract=False).derivation, fp=SEPARATE)
    sizes = [{"n": n, "m": m} for n, m in ((0, 1300), (1, 1536), (2, 1301))]
    given = [arguments(p.start, s, 5) for s in sizes]
    assert_clean_and_right(p, given)
