"""Interleave: partial results that take every C-th iteration."""

from __future__ import annotations

import numpy as np
import pytest
from c_texts import MM
from conftest import Golden
from deriving import assert_step, c, refusal
from reducing import REAL, loop, results, shown_where_rounding_differs

LISTINGS = {
    "sum": (loop("t += a[k];"), "interleave k 4"),
    "named": (loop("t ^= a[k];"), "interleave k Ty*Tx"),
    "any": (
        c(
            "int t = s[0] > 1; for (int k = 0; k < n; k++) t = a[k] > 3 || t; s[0] = t;",
            "int n, int a[n], int s[1]",
        ),
        "interleave k 4",
    ),
    "minimum": (loop("t = a[k] <= t ? a[k] : t;"), "interleave k 4"),
    "fmax": (loop("t = fmaxf(t, a[k]);", REAL), "interleave k 3"),
    "real-sum": (loop("t += a[k];", REAL), "interleave k 4 reassociate"),
    "real-maximum": (loop("if (a[k] > t) t = a[k];", REAL), "interleave k 4 reassociate"),
    "strided": (
        c(
            "int t = 0; for (int k = 2; k < n; k += 3) t += a[k]; s[0] = t;",
            "int n, int a[n], int s[1]",
        ),
        "interleave k 2",
    ),
    "narrow-counter": (
        c(
            "int t = 0; for (unsigned char k = 0; k < 200; k++) t += k; s[0] = t;",
            "int n, int a[n], int s[1]",
        ),
        "interleave k 3",
    ),
    "chunks-of-chunks": (
        loop("t += a[k];"),
        "rfactor k Ty*Tk",
        "interleave k Ty",
        "interleave kk_c 2",
    ),
    "of-what-is-combined": (loop("t += a[k];"), "interleave k 9", "interleave k_t_c 3"),
    "inner": (MM, "parallelise i", "interleave k 4 reassociate"),
}

REFUSALS = {
    "real-sum": (loop("t += a[k];", REAL), "interleave k 4"),
    "zeros": (loop("if (a[k] > t) t = a[k];", REAL), "interleave k 4"),
    "no-truth": (loop("t = a[k] > 3 || t;"), "interleave k 4"),
    "place": (
        c(
            "int m = a[0], p = 0; for (int k = 0; k < n; k++) if (a[k] > m) { m = a[k]; p = k; } "
            "a[0] = p;",
            "int n, int a[n]",
        ),
        "interleave k 4",
    ),
    "begins-anywhere": (
        c(
            "int t = 0; for (int k = m; k < n; k++) t += a[k]; s[0] = t;",
            "int n, int m, int a[n], int s[1]",
        ),
        "interleave k 4",
    ),
    "ends-anywhere": (
        c(
            "for (int i = 0; i < n; i++) { int t = 0; for (int k = 0; k < a[i]; k++) t += k; "
            "s[i] = t; }",
            "int n, const int a[n], int s[n]",
        ),
        "interleave k 4",
    ),
    "downwards": (
        c(
            "int t = 0; for (int k = n - 1; k >= 0; k--) t += a[k]; s[0] = t;",
            "int n, int a[n], int s[1]",
        ),
        "interleave k 4",
    ),
    "no-reduction": (c("for (int k = 0; k < n; k++) b[k] = a[k];"), "interleave k 4"),
    "long-strides": (
        c(
            "int t = 0; for (int k = 0; k < n; k += 1000000) t += k; s[0] = t;",
            "int n, int s[1]",
        ),
        "interleave k 4000",
    ),
    "size": (loop("t += a[k];"), "interleave k n"),
}


@pytest.mark.parametrize("case", LISTINGS)
def test_listing(case: str, golden: Golden) -> None:
    text, *steps = LISTINGS[case]
    if "reassociate" in steps[-1]:
        golden.check(shown_where_rounding_differs(text, *steps))
    else:
        golden.check(assert_step(text, *steps, sizes=(0, 1, 3, 4, 9, 20)))


@pytest.mark.parametrize("case", REFUSALS)
def test_refusal(case: str, golden: Golden) -> None:
    text, *steps = REFUSALS[case]
    golden.check(refusal(text, *steps))


def test_partial_sums_may_leave_the_range() -> None:
    top = 2**31 - 1
    values = [-5, top, top, top, -top, -top, -top, 3]
    assert results(loop("t += a[k];"), values, 4, "interleave k 2") == (2, 2)


def test_of_equal_zeros_another_may_stay() -> None:
    """What the permission is asked for happens."""
    text = loop("if (a[k] >= t) t = a[k];", REAL)
    step = "interleave k 2 reassociate"
    before, after = results(text, [0.0, -0.0, 0.0], -1.0, step)
    assert before == after == 0
    assert np.signbit(before) != np.signbit(after)
