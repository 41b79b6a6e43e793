"""Reads of what later iterations write, from a copy made before."""

from __future__ import annotations

import pytest
from conftest import Golden
from deriving import assert_step, c, refusal

ROW = "int n, int a[n], const int b[n]"
MATRIX = "int n, int a[n][n], const int b[n][n]"

LISTINGS = {
    "next": (
        c("for (int i = 0; i < n - 1; i++) a[i] = a[i + 1] * b[i];", ROW),
        "node-split a i",
        "parallelise i",
    ),
    "named": (c("for (int i = 0; i + 2 < n; i++) a[i] += a[i + 2];", ROW), "node-split a i before"),
    "sums": (
        c(
            "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) {"
            " for (int k = i + 1; k < n; k++) a[i][j] += b[k][i] * a[k][j];"
            " a[i][j] = 3 * a[i][j]; }",
            MATRIX,
        ),
        "node-split a i",
        "parallelise i",
        "parallelise j",
    ),
    "some-reads": (
        c("for (int i = 1; i < n - 1; i++) a[i] = a[i - 1] + a[i] + a[i + 1];", ROW),
        "node-split a i",
    ),
    "backwards": (c("for (int i = n - 1; i > 0; i--) a[i] = a[i - 1] + 1;", ROW), "node-split a i"),
    "in-a-loop": (
        c(
            "for (int t = 0; t < n; t++) for (int i = 0; i < n - 1; i++) a[i] = a[i + 1] + t;",
            ROW,
        ),
        "node-split a i",
        "parallelise i",
    ),
    "under-a-condition": (
        c("if (b[0] > 0) for (int i = 0; i < n - 1; i++) if (a[i + 1]) a[i] = 1;", ROW),
        "node-split a i",
        "parallelise i",
    ),
}  # fmt: skip

REFUSALS = {
    "written-before": (
        c("for (int i = 1; i < n; i++) a[i] = a[i - 1] + b[i];", ROW), "node-split a i",
    ),
    "written-in-the-iteration": (
        c("for (int i = 1; i < n; i++) { a[i] = b[i]; a[i - 1] = a[i]; }", ROW), "node-split a i",
    ),
    "never-overwritten": (
        c("for (int i = 0; i < n / 2; i++) a[i] = a[n - 1 - i] + a[i];", ROW), "node-split a i",
    ),
    "by-data": (
        c("for (int i = 0; i < n - 1; i++) a[a[i + 1] * 0 + i] = b[i];", ROW), "node-split a i",
    ),
    "only-read": (c("for (int i = 0; i < n; i++) a[i] = b[i];", ROW), "node-split b i"),
    "parallel": (
        c("for (int i = 0; i < n; i++) a[i] = a[i] + 1;", ROW),
        "parallelise i",
        "node-split a i",
    ),
    "anywhere": (
        c("for (int i = 0; i < n; i++) a[i] = a[b[i]];", "int n, int *a, const int b[n]"),
        "node-split a i",
    ),
    "own": (
        c("int t[8]; for (int i = 0; i < 7; i++) t[i] = t[i + 1]; a[0] = t[0];", ROW),
        "node-split t i",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", LISTINGS)
def test_listing(name: str, golden: Golden) -> None:
    text, *steps = LISTINGS[name]
    golden.check(assert_step(text, *steps, sizes=(1, 2, 3, 6)))


@pytest.mark.parametrize("name", REFUSALS)
def test_refusal(name: str, golden: Golden) -> None:
    text, *steps = REFUSALS[name]
    golden.check(refusal(text, *steps))
