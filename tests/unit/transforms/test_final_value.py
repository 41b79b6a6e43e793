"""Final values: what a loop leaves in its variable."""

from __future__ import annotations

import pytest
from conftest import Golden
from deriving import assert_step, c, refusal

UP = c("int k; for (k = m; k < n; k++) a[k] = k; a[0] += k;", "int n, int m, int a[n + 2]")
DOWN = c("int k; for (k = n; k >= m; k--) a[k] = k; a[0] += k;", "int n, int m, int a[n + 2]")
LISTINGS = {
    "up": (UP, "final-value k"),
    "down": (DOWN, "final-value k l"),
    "never-beyond-where-it-begins": (UP.replace("k < n", "k < n - m"), "final-value k"),
    "in-a-loop": (
        c(
            "int k; for (int i = 0; i < n; i++) { for (k = 0; k < i; k++) a[k] = k; a[i] += k; }",
            "int n, int a[n]",
        ),
        "final-value k",
    ),
    "in-an-else-branch": (UP.replace("for", "if (n > 6) k = 3; else for"), "final-value k"),
    "used-again": (
        UP.replace("a[0] += k;", "a[0] += k; for (k = 0; k < n; k++) a[k] += 2; a[1] = k;"),
        "final-value k#1",
        "final-value k",
    ),
    "unsigned": (
        c("unsigned k; for (k = 0; k < n; k++) a[k] = 2; a[n] = k;", "unsigned n, int a[n + 1]"),
        "final-value k",
    ),
}
REFUSALS = {
    "not-read": (c("for (int k = 0; k < n; k++) a[k] = k;"), "final-value k"),
    "by-two": (UP.replace("k++", "k += 2"), "final-value k"),
    "a-bound-that-changes": (UP.replace("a[k] = k", "a[n - 1 - k] = n--"), "final-value k"),
    "of-another-sign": (
        c("int k; for (k = m; k < n; k++) a[k] = 2; a[0] = k;", "unsigned n, int m, int a[n]"),
        "final-value k",
    ),
    "left-early": (UP.replace("a[k] = k", "{ if (a[k]) break; a[k] = k; }"), "final-value k"),
    "name": (UP, "final-value k n"),
    "unknown": (UP, "final-value q"),
}


@pytest.mark.parametrize("case", LISTINGS)
def test_listing(case: str, golden: Golden) -> None:
    golden.check(assert_step(*LISTINGS[case]))


@pytest.mark.parametrize("case", REFUSALS)
def test_refusal(case: str, golden: Golden) -> None:
    golden.check(refusal(*REFUSALS[case]))
