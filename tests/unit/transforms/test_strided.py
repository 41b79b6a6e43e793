"""Strided rfactor: partial results that take every C-th iteration."""

from __future__ import annotations

import numpy as np
import pytest
from c_texts import MM
from conftest import Golden
from deriving import assert_step, c, refusal
from reducing import REAL, loop, results, shown_where_rounding_differs

PLACE = c(
    "int m = -3, p = 7; for (int k = 0; k < n; k++) if (a[k] > m) { m = a[k]; p = k; } s[0] = p;",
    "int n, int a[n], int s[1]",
)
LISTINGS = {
    "place": (PLACE, "rfactor k 4 strided"),
    "place-by-a-key": (
        c(
            "float m = 2; int p = 0; if (n > 7) p = 1; else for (int k = 2; k < n; k += 3) "
            "if (b[k] <= m) { p = 2 * k; m = b[k]; } s[0] = p; s[1] = m;",
            "int n, const float b[n], float s[2]",
        ),
        "rfactor k 4 strided",
        "rfactor k_t_c 2 strided",
        "rfactor k_t_k 2 strided",
    ),
    "sum": (loop("t += a[k];"), "rfactor k 4 strided"),
    "named": (loop("t ^= a[k];"), "rfactor k Ty*Tx strided"),
    "any": (
        c(
            "int t = s[0] > 1; for (int k = 0; k < n; k++) t = a[k] > 3 || t; s[0] = t;",
            "int n, int a[n], int s[1]",
        ),
        "rfactor k 4 strided",
    ),
    "minimum": (loop("t = a[k] <= t ? a[k] : t;"), "rfactor k 4 strided"),
    "fmax": (loop("t = fmaxf(t, a[k]);", REAL), "rfactor k 3 strided"),
    "real-sum": (loop("t += a[k];", REAL), "rfactor k 4 reassociate strided"),
    "real-maximum": (loop("if (a[k] > t) t = a[k];", REAL), "rfactor k 4 reassociate strided"),
    "strided": (
        c(
            "int t = 0; for (int k = 2; k < n; k += 3) t += a[k]; s[0] = t;",
            "int n, int a[n], int s[1]",
        ),
        "rfactor k 2 strided",
    ),
    "narrow-counter": (
        c(
            "int t = 0; for (unsigned char k = 0; k < 200; k++) t += k; s[0] = t;",
            "int n, int a[n], int s[1]",
        ),
        "rfactor k 3 strided",
    ),
    "chunks-of-chunks": (
        loop("t += a[k];"),
        "rfactor k Ty*Tk",
        "rfactor k Ty strided",
        "rfactor kk_c 2 strided",
    ),
    "of-what-is-combined": (loop("t += a[k];"), "rfactor k 9 strided", "rfactor k_t_c 3 strided"),
    "inner": (MM, "parallelise i", "rfactor k 4 reassociate strided"),
}

REFUSALS = {
    "real-sum": (loop("t += a[k];", REAL), "rfactor k 4 strided"),
    "zeros": (loop("if (a[k] > t) t = a[k];", REAL), "rfactor k 4 strided"),
    "no-truth": (loop("t = a[k] > 3 || t;"), "rfactor k 4 strided"),
    "last-place-of-unsigned": (
        PLACE.replace(">", ">=").replace("int k", "unsigned k"),
        "rfactor k 4 strided",
    ),
    "begins-anywhere": (
        c(
            "int t = 0; for (int k = m; k < n; k++) t += a[k]; s[0] = t;",
            "int n, int m, int a[n], int s[1]",
        ),
        "rfactor k 4 strided",
    ),
    "ends-anywhere": (
        c(
            "for (int i = 0; i < n; i++) { int t = 0; for (long k = 0; k < a[i]; k++) t += k; "
            "s[i] = t; }",
            "int n, const long a[n], int s[n]",
        ),
        "rfactor k 4 strided",
    ),
    "downwards": (
        c(
            "int t = 0; for (int k = n - 1; k >= 0; k--) t += a[k]; s[0] = t;",
            "int n, int a[n], int s[1]",
        ),
        "rfactor k 4 strided",
    ),
    "no-reduction": (c("for (int k = 0; k < n; k++) b[k] = a[k];"), "rfactor k 4 strided"),
    "long-strides": (
        c(
            "int t = 0; for (int k = 0; k < n; k += 1000000) t += k; s[0] = t;",
            "int n, int s[1]",
        ),
        "rfactor k 4000 strided",
    ),
    "size": (loop("t += a[k];"), "rfactor k n strided"),
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
    assert results(loop("t += a[k];"), values, 4, "rfactor k 2 strided") == (2, 2)


def test_of_equal_zeros_another_may_stay() -> None:
    """What the permission is asked for happens."""
    text = loop("if (a[k] >= t) t = a[k];", REAL)
    step = "rfactor k 2 reassociate strided"
    before, after = results(text, [0.0, -0.0, 0.0], -1.0, step)
    assert before == after == 0
    assert np.signbit(before) != np.signbit(after)
