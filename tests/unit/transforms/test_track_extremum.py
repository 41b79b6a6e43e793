"""Track-extremum: the value at the place that a loop keeps."""

from __future__ import annotations

import pytest
from conftest import Golden
from deriving import assert_step, c, refusal

ROWS = c(
    "for (int i = 0; i < n; i++) { int p = 0; for (int k = 1; k < m; k++) "
    "if (a[i][k] > a[i][p]) p = k; y[i] = p; }",
    "int n, int m, const float a[restrict n][m], int y[restrict n]",
)
PIVOT = c(
    "int p = r; for (int k = r + 1; k < n; k++) if (fabsf(a[k][r]) > fabsf(a[p][r])) p = k; "
    "y[0] = p;",
    "int n, int r, const float a[restrict n][n], int y[restrict 1]",
)
LISTINGS = {"rows": (ROWS, "track-extremum k")}
REFUSALS = {
    "no-place": (ROWS.replace("p = k;", "p = k - 1;"), "track-extremum k"),
    "condition": (ROWS.replace("if (", "if (k & 1) if ("), "track-extremum k"),
}


@pytest.mark.parametrize("case", LISTINGS)
def test_listing(case: str, golden: Golden) -> None:
    text, *steps = LISTINGS[case]
    golden.check(assert_step(text, *steps))


@pytest.mark.parametrize("case", REFUSALS)
def test_refusal(case: str, golden: Golden) -> None:
    text, *steps = REFUSALS[case]
    golden.check(refusal(text, *steps))


def test_absolute_values() -> None:
    assert "p_value" in assert_step(PIVOT, "track-extremum k", sizes=())
