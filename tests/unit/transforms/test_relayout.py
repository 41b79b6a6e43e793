"""Relayout: nests read a copy of an array in another layout."""

from __future__ import annotations

import pytest
from c_texts import FLAT, MAPPED, MM
from conftest import Golden
from deriving import assert_step, c, refusal

ROWS = c(
    "for (int i = 0; i < n; i++) { b[i] = 0; for (int k = 0; k < m; k++) b[i] += a[i][k]; }",
    "int n, int m, float a[n][m], float b[n]",
)
CUBE = c(
    "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) { float s = 0; "
    "for (int k = 0; k < l; k++) s += a[i][k][j] - a[i][0][j]; b[i][j] = s; }",
    "int n, int m, int l, double a[n][l][m], float b[n][m]",
)
TRIANGLE = c(
    "for (int i = 0; i < n; i++) for (int k = 1; k <= i; k++) b[i] += a[i][k];",
    "int n, float a[n][n], float b[n]",
)

LISTINGS = {
    "rows": (ROWS, "relayout a 1,0"),
    "named": (ROWS, "relayout a 1,0 columns"),
    "product": (MM, "relayout A 1,0"),
    "both": (MM, "relayout A 1,0", "relayout B 1,0"),
    "flat": (FLAT, "relayout A 1,0"),
    "cube": (CUBE, "relayout a 2,0,1"),
    "cube-other": (CUBE, "relayout a 0,2,1"),
    "parallel": (ROWS, "parallelise i", "stripmine i 4", "relayout a 1,0"),
    "mapped": (MM, *MAPPED, "relayout A 1,0"),
    "triangle": (TRIANGLE, "relayout a 1,0"),
    "after-another-nest": (
        c(
            "for (int i = 0; i < n; i++) b[i] = 1; for (int i = 0; i < n; i++) "
            "for (int k = 0; k < 3; k++) b[i] += a[k][i];",
            "int n, float a[3][n], float b[n]",
        ),
        "relayout a 1,0",
    ),
    "written-before": (
        c(
            "for (int i = 0; i < n; i++) for (int k = 0; k < 3; k++) a[k][i] = i - k; "
            "for (int i = 0; i < n; i++) for (int k = 0; k < 3; k++) b[i] += a[k][i];",
            "int n, float a[3][n], float b[n]",
        ),
        "relayout a 1,0",
    ),
    "under-a-condition": (
        c(
            "for (int i = 0; i < n; i++) for (int k = 0; k < m; k++) if (on > 2) b[i] += a[i][k];",
            "int n, int m, int on, float a[n][m], float b[n]",
        ),
        "relayout a 1,0",
    ),
    "unsigned": (
        c(
            "for (unsigned long i = 0; i < n; i++) for (unsigned k = 0; k < m; k++) "
            "b[i] += a[i][k];",
            "unsigned long n, unsigned m, float a[n][m], float b[n]",
        ),
        "relayout a 1,0",
    ),
}

REFUSALS = {
    "written": (
        c(
            "for (int i = 0; i < n; i++) for (int k = 0; k < 3; k++) a[k][i] += 1;",
            "int n, float a[3][n]",
        ),
        "relayout a 1,0",
    ),
    "not-read": (MM, "relayout C 1,0"),
    "unknown": (MM, "relayout D 1,0"),
    "own": (c("float t[3][4]; for (int i = 0; i < 3; i++) b[i] = t[i][0];"), "relayout t 1,0"),
    "no-permutation": (MM, "relayout A 1,1"),
    "too-few": (CUBE, "relayout a 1,0"),
    "the-same": (MM, "relayout A 0,1"),
    "one-dimension": (c("for (int i = 0; i < n; i++) b[i] = a[i];"), "relayout a 0"),
    "taken": (MM, "relayout A 1,0 U"),
    "staged": (MM, *MAPPED, "copy-to-local A kk", "relayout A 1,0"),
    "indirect": (
        c(
            "for (int i = 0; i < n; i++) b[i] = a[k[i]][i];",
            "int n, float (*a)[9], float b[n], int k[n]",
        ),
        "relayout a 1,0",
    ),
    "no-corner": (
        c(
            "for (int i = 0; i < n; i++) for (int k = 0; k < n - i; k++) b[i] += a[i * n + k];",
            "int n, float *a, float *b",
        ),
        "relayout a 1,0",
    ),
    "not-modelled": (
        c(
            "for (int i = 0; i < n; i++) { b[i] = a[i][0]; if (b[i] > 3) break; }",
            "int n, float a[n][2], float b[n]",
        ),
        "relayout a 1,0",
    ),
}


@pytest.mark.parametrize("case", LISTINGS)
def test_listing(case: str, golden: Golden) -> None:
    text, *steps = LISTINGS[case]
    golden.check(assert_step(text, *steps))


@pytest.mark.parametrize("case", REFUSALS)
def test_refusal(case: str, golden: Golden) -> None:
    text, *steps = REFUSALS[case]
    golden.check(refusal(text, *steps))
