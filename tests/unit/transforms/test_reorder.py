"""Reordering: a statement that only computes a scalar moves behind those that follow it."""

from __future__ import annotations

import pytest
from conftest import Golden
from deriving import assert_step, c, refusal

ROWS = "int n, int a[n + 1], int b[n + 1]"
START = c("int s = 3, t = n; for (int i = 0; i < n; i++) a[i] = t; b[0] = s + t;", ROWS)
BRANCH = c("int s = 0; if (n < 3) a[0] = 1; else { s = n; a[0] = 2; b[0] = s; }", ROWS)
LISTINGS = {
    "past-a-loop": (START, "reorder 2 3"),
    "in-a-branch": (BRANCH, "reorder 3.-1"),
    "in-a-loop": (
        c("for (int i = 0; i < n; i++) { int s = i; a[i] = 1; b[i] = s; }", ROWS),
        "reorder 1.2",
    ),
}
REFUSALS = {
    "used": (START, "reorder 4 2"),
    "operand": (c("int s = 1, t = s; s = 2; a[0] = t;", ROWS), "reorder 4 1"),
    "memory": (c("int s; s = b[0]; a[0] = 1; b[1] = s;", ROWS), "reorder 2"),
    "element": (c("a[0] = 1; b[0] = 2;", ROWS), "reorder 1"),
    "global": (
        "int g; void f(int n, int a[restrict n]) { int s; s = g; g = 2; a[0] = s; }",
        "reorder 2",
    ),
    "declaration": (START, "reorder 1"),
    "too-far": (START, "reorder 2 9"),
    "no-number": (START, "reorder 2 x"),
}


@pytest.mark.parametrize("case", LISTINGS)
def test_listing(case: str, golden: Golden) -> None:
    golden.check(assert_step(*LISTINGS[case]))


@pytest.mark.parametrize("case", REFUSALS)
def test_refusal(case: str, golden: Golden) -> None:
    golden.check(refusal(*REFUSALS[case]))
