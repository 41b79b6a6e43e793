"""Unit loops: one iteration around statements, or around a loop and what stands beside it."""

from __future__ import annotations

import pytest
from conftest import Golden
from deriving import assert_step, c, refusal

STATEMENTS = c(
    "int t = 3; for (int k = 0; k < n; k++) t += a[k]; a[0] = t; "
    "for (int i = 0; i < n; i++) { a[i] = a[i] + 1; if (n > 2) a[0] = 2; else { a[0] = 3; "
    "a[n] = t; } }",
    "int n, int a[n + 1]",
)

SUM = c("int t = 3; for (int k = 0; k < n; k++) t += a[k]; a[0] = t;", "int n, int a[n + 1]")
TWO = "for (int i = 0; i < n; i++) b[i] = a[i]; {} for (int k = 0; k < n; k++) b[k] += 1;"

LISTINGS = {
    "one": (STATEMENTS, "unit-loop 2"),
    "several": (STATEMENTS, "unit-loop 2 3"),
    "declarations-stay-in-front": (STATEMENTS, "unit-loop 1 4 whole", "parallelise whole"),
    "in-a-loop": (STATEMENTS, "unit-loop 5.1 2"),
    "in-a-branch": (STATEMENTS, "unit-loop 5.2.1"),
    "in-an-else-branch": (STATEMENTS, "unit-loop 5.2.-1 2 other"),
    "beside-function": (SUM, "unit-loop k beside"),
    "beside-named": (SUM, "unit-loop k beside whole", "parallelise whole"),
    "beside-up-to-a-parallel-loop": (
        c(TWO.format("b[n] = 7;"), "int n, float a[n], float b[n + 1]"),
        "parallelise i",
        "unit-loop k beside",
    ),
    "beside-between-parallel-loops": (
        c(
            "for (int i = 0; i < n; i++) { for (int j = 0; j < n; j++) a[i][j] += 1; "
            "a[i][0] = 2; for (int k = 1; k < n; k++) a[i][k] += a[i][k - 1]; "
            "for (int l = 0; l < n; l++) a[i][l] *= 3; }",
            "int n, int a[n][n]",
        ),
        "parallelise j",
        "parallelise l",
        "unit-loop k beside",
    ),
    "beside-counters-stay-outside": (
        c("int k, t = 3; for (k = 0; k < n; k++) t += a[k]; a[0] = t;", "int n, int a[n + 1]"),
        "unit-loop k beside",
    ),
    "beside-return-stays-last": (
        c("int k = 0; for (int i = 0; i < n; i++) a[i] = k; return;", "int n, int a[n]"),
        "unit-loop i beside",
    ),
    "beside-in-a-branch": (
        c(
            "if (n > 2) a[0] = 1; else { a[n] = 2; for (int i = 0; i < n; i++) a[i] = 5; }",
            "int n, float a[n + 1]",
        ),
        "unit-loop i beside",
    ),
}

REFUSALS = {
    "no-such-place": (STATEMENTS, "unit-loop 9"),
    "no-such-statements": (STATEMENTS, "unit-loop 4 3"),
    "inside-an-assignment": (STATEMENTS, "unit-loop 4.1"),
    "no-place": (STATEMENTS, "unit-loop k"),
    "place-zero": (STATEMENTS, "unit-loop 5.0"),
    "no-count": (STATEMENTS, "unit-loop 2 0"),
    "taken": (STATEMENTS, "unit-loop 2 1 t"),
    "no-name": (STATEMENTS, "unit-loop 2 1 for"),
    "ends-the-function": (
        c("for (int k = 0; k < n; k++) a[k] = 1; return;", "int n, int a[n]"),
        "unit-loop 1 2",
    ),
    "not-modelled": (c("for (int i = 0; i < n; i++) a[i] = 1; unknown(a);"), "unit-loop 1 2"),
    "extent-changes": (
        c("int m; m = n + 1; int b[m]; b[0] = 1; a[0] = b[0];", "int n, int a[n + 1]"),
        "unit-loop 2 3",
    ),
    "beside-used-beyond": (
        c("int t = 1; for (int i = 0; i < n; i++) a[i] = t; for (int k = 0; k < n; k++) b[k] = t;"),
        "parallelise k",
        "unit-loop i beside",
    ),
    "beside-taken": (SUM, "unit-loop k beside t"),
    "beside-not-modelled": (
        c("for (int i = 0; i < n; i++) a[i] = 1; unknown(a);"),
        "unit-loop i beside",
    ),
    "beside-no-such-loop": (SUM, "unit-loop q beside"),
}


@pytest.mark.parametrize("case", LISTINGS)
def test_listing(case: str, golden: Golden) -> None:
    golden.check(assert_step(*LISTINGS[case]))


@pytest.mark.parametrize("case", REFUSALS)
def test_refusal(case: str, golden: Golden) -> None:
    golden.check(refusal(*REFUSALS[case]))
