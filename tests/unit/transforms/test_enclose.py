"""Enclose: a loop of one iteration around a loop and what stands beside it."""

from __future__ import annotations

import pytest
from conftest import Golden
from deriving import assert_step, c, refusal

SUM = c("int t = 3; for (int k = 0; k < n; k++) t += a[k]; a[0] = t;", "int n, int a[n + 1]")
TWO = "for (int i = 0; i < n; i++) b[i] = a[i]; {} for (int k = 0; k < n; k++) b[k] += 1;"

LISTINGS = {
    "function": (SUM, "enclose k"),
    "named": (SUM, "enclose k whole", "parallelise whole"),
    "up-to-a-parallel-loop": (
        c(TWO.format("b[n] = 7;"), "int n, float a[n], float b[n + 1]"),
        "parallelise i",
        "enclose k",
    ),
    "between-parallel-loops": (
        c(
            "for (int i = 0; i < n; i++) { for (int j = 0; j < n; j++) a[i][j] += 1; "
            "a[i][0] = 2; for (int k = 1; k < n; k++) a[i][k] += a[i][k - 1]; "
            "for (int l = 0; l < n; l++) a[i][l] *= 3; }",
            "int n, int a[n][n]",
        ),
        "parallelise j",
        "parallelise l",
        "enclose k",
    ),
    "counters-stay-outside": (
        c("int k, t = 3; for (k = 0; k < n; k++) t += a[k]; a[0] = t;", "int n, int a[n + 1]"),
        "enclose k",
    ),
    "return-stays-last": (
        c("int k = 0; for (int i = 0; i < n; i++) a[i] = k; return;", "int n, int a[n]"),
        "enclose i",
    ),
    "in-a-branch": (
        c(
            "if (n > 2) a[0] = 1; else { a[n] = 2; for (int i = 0; i < n; i++) a[i] = 5; }",
            "int n, float a[n + 1]",
        ),
        "enclose i",
    ),
}

REFUSALS = {
    "used-beyond": (
        c("int t = 1; for (int i = 0; i < n; i++) a[i] = t; for (int k = 0; k < n; k++) b[k] = t;"),
        "parallelise k",
        "enclose i",
    ),
    "taken": (SUM, "enclose k t"),
    "not-modelled": (
        c("for (int i = 0; i < n; i++) a[i] = 1; unknown(a);"),
        "enclose i",
    ),
    "no-such-loop": (SUM, "enclose q"),
}


@pytest.mark.parametrize("case", LISTINGS)
def test_listing(case: str, golden: Golden) -> None:
    golden.check(assert_step(*LISTINGS[case]))


@pytest.mark.parametrize("case", REFUSALS)
def test_refusal(case: str, golden: Golden) -> None:
    golden.check(refusal(*REFUSALS[case]))
