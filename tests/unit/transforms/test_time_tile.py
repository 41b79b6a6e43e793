"""TimeTile: several steps of a stencil in a pass over the arrays."""

from __future__ import annotations

import pytest
from c_texts import COPY
from conftest import Golden
from deriving import assert_step, c, refusal

ARRAYS = "int T, int n, int m, double A[n][m], double B[n][m]"
JACOBI = c(
    "for (int t = 0; t < T; t++) {"
    " for (int i = 1; i < n - 1; i++) for (int j = 1; j < m - 1; j++)"
    "  B[i][j] = A[i][j - 1] + A[i][j + 1] + A[i - 1][j] + A[i + 1][j];"
    " for (int i = 1; i < n - 1; i++) for (int j = 1; j < m - 1; j++) A[i][j] = B[i][j]; }",
    ARRAYS,
)
PLANES = c(
    "for (int t = 0; t < T; t++)"
    " for (int i = 1; i < n - 1; i++) for (int j = 1; j < m - 1; j++)"
    "  A[(t + 1) % 2][i][j] = A[t % 2][i - 1][j - 1] + A[t % 2][i + 1][j + 1];",
    "int T, int n, int m, float A[2][n][m]",
)
PLACE = c(
    "for (int t = 0; t < T; t++)"
    " for (int i = 1; i < n - 1; i++) for (int j = 1; j < m - 1; j++)"
    "  A[i][j] = A[i][j - 1] + A[i][j + 1];",
    ARRAYS,
)
TURNED = c(
    "for (int t = 0; t < T; t++) {"
    " for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) B[i][j] = A[j][i];"
    " for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) A[i][j] = B[i][j]; }",
    "int T, int n, double A[n][n], double B[n][n]",
)
ONE = c(
    "for (int t = 0; t < T; t++) {"
    " for (int i = 1; i < n - 1; i++) B[i] = A[i - 1] + A[i + 1];"
    " for (int i = 1; i < n - 1; i++) A[i] = B[i]; }",
    "int T, int n, double A[n], double B[n]",
)
LISTINGS = {
    "arrays": (JACOBI, "time-tile t 1 8 16"),
    "planes": (PLANES, "time-tile t 2 4 8 1 4"),
    "elements": (JACOBI, "time-tile t 1 4 8 3"),
}
REFUSALS = {
    "no-nest": (COPY, "time-tile i 2 8 16"),
    "in-place": (PLACE, "time-tile t 2 8 16"),
    "turned": (TURNED, "time-tile t 2 8 16"),
    "one-dimension": (ONE, "time-tile t 2 8 16"),
    "halo": (JACOBI, "time-tile t 4 8 8"),
    "odd-planes": (PLANES, "time-tile t 3 8 16"),
    "items": (JACOBI, "time-tile t 2 8 8,16"),
    "no-size": (JACOBI, "time-tile t 2 0 16"),
}


@pytest.mark.parametrize("case", LISTINGS)
def test_listing(case: str, golden: Golden) -> None:
    golden.check(assert_step(*LISTINGS[case]))


@pytest.mark.parametrize("case", REFUSALS)
def test_refusal(case: str, golden: Golden) -> None:
    golden.check(refusal(*REFUSALS[case]))
