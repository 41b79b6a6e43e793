"""TimeBoxes: several steps of a stencil in boxes."""

from __future__ import annotations

import pytest
from conftest import Golden
from deriving import assert_step, c, refusal

LINE = c(
    "for (int t = 0; t < T; t++) {"
    " for (int i = 1; i < n - 1; i++) B[i] = A[i - 1] + A[i + 1];"
    " for (int i = 1; i < n - 1; i++) A[i] = B[i]; }",
    "int T, int n, double A[n], double B[n]",
)
BORDERS = c(
    "for (int t = 0; t < T; t++) {"
    " for (int i = 1; i < n; i++) for (int j = 0; j < m - 2; j++) B[i][j] = A[i - 1][j + 2] + t;"
    " for (int j = 0; j < m; j++) B[0][j] = B[1][j];"
    " A[n / 2][0] += 1;"
    " for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) A[i][j] = B[i][j]; }",
    "int T, int n, int m, float A[n + 2][m + 1], float B[n + 2][m + 1]",
)
POINTERS = c(
    "for (int t = 1; t <= T; t++) {"
    " for (int i = 1; i < n; i++) for (int j = 1; j < m; j++)"
    "  b[i * m + j] = a[(i - 1) * m + j] - a[i * m + j - 1];"
    " for (int i = 1; i < n; i++) for (int j = 1; j < m; j++) a[i * m + j] = b[i * m + j]; }",
    "int T, int n, int m, float *a, float *b",
)
LISTINGS = {
    "line": (LINE, "time-boxes t 2 5 1"),
    "group": (LINE, "time-boxes t 4,2 9 4 3"),
    "borders": (BORDERS, "time-boxes t 2 4,6 1"),
    "pointers": (POINTERS, "time-boxes t 1 3,4 2"),
}
TURNED = LINE.replace("A[i - 1]", "A[n - 1 - i]")
REFUSALS = {
    "sizes": (LINE, "time-boxes t 2 5,5 1"),
    "no-size": (LINE, "time-boxes t 2 0 1"),
    "longer-afterwards": (LINE, "time-boxes t 2,3 5 1"),
    "turned": (TURNED, "time-boxes t 2 5 1"),
    "no-loop": (LINE, "time-boxes k 2 5 1"),
}


@pytest.mark.parametrize("case", LISTINGS)
def test_listing(case: str, golden: Golden) -> None:
    golden.check(assert_step(*LISTINGS[case]))


@pytest.mark.parametrize("case", REFUSALS)
def test_refusal(case: str, golden: Golden) -> None:
    golden.check(refusal(*REFUSALS[case]))
