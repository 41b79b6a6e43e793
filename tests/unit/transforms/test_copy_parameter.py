"""CopyParameter: a variable of the function in place of a parameter."""

from __future__ import annotations

import pytest
from conftest import Golden
from deriving import assert_step, c, refusal

HALVES = c(
    "for (int i = 0; i < n; i++) a[i] = n; n = n / 2; for (int i = 0; i < n; i++) { a[i] += n; }",
    "int n, int m, int a[restrict m + 2]",
)
LISTINGS = {
    "bound-and-shape": (HALVES, "copy-parameter n"),
    "sum": (
        c(
            "for (int i = 0; i < n; i++) s += a[i]; a[n] = s;",
            "int n, float s, float a[n + 1]",
        ),
        "copy-parameter s",
    ),
    "counter": (
        c("for (i = 0; i < n; i++) a[i] = i; a[n] = i;", "int n, int i, int a[n + 1]"),
        "copy-parameter i",
    ),
    "not-set": (HALVES.replace("n = n / 2;", ""), "copy-parameter n"),
    "in-a-local-array": (
        c(
            "n = n / 2; int t[n]; for (int i = 0; i < n; i++) { t[i] = n; a[i] = t[i]; }",
            "int n, int m, int a[m + 2]",
        ),
        "copy-parameter n",
    ),
}
REFUSALS = {
    "array": (HALVES, "copy-parameter a"),
    "unknown": (HALVES, "copy-parameter q"),
    "global": (
        "int g; void f(int n, int a[n]) { for (; n > 0; n--) g += a[n - 1]; }",
        "copy-parameter g",
    ),
    "not-modelled": (c("n = 1; unknown(&n); a[0] = n;"), "copy-parameter n"),
}


@pytest.mark.parametrize("case", LISTINGS)
def test_listing(case: str, golden: Golden) -> None:
    golden.check(assert_step(*LISTINGS[case]))


@pytest.mark.parametrize("case", REFUSALS)
def test_refusal(case: str, golden: Golden) -> None:
    golden.check(refusal(*REFUSALS[case]))
