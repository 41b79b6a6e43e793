"""Vector accumulators: partial results of lanes, and what is left over, one after the other."""

from __future__ import annotations

import pytest
from conftest import Golden
from deriving import assert_step, c, corpus, refusal
from reducing import REAL, loop, shown_where_rounding_differs

PLACE = c(
    "int m = -2, p = 0; for (int k = 0; k < n; k++) if (a[k] > m) { m = a[k]; p = k; } s[0] = p;",
    "int n, int a[n], int s[1]",
)

LISTINGS = {
    "sum": (loop("t += a[k];"), "vector-accumulators k 4"),
    "product": (loop("t *= a[k];"), "vector-accumulators k 4"),
    "any": (
        c(
            "int t = 0; for (int k = 0; k < n; k++) t = a[k] > 3 || t; s[0] = t;",
            "int n, int a[n], int s[1]",
        ),
        "vector-accumulators k 4",
    ),
    "exclusive-or": (loop("t ^= a[k];"), "vector-accumulators k 4"),
    "minimum": (loop("t = a[k] <= t ? a[k] : t;"), "vector-accumulators k 4"),
    "narrow": (loop("t += a[k];", "int n, short a[n], short s[1]"), "vector-accumulators k 4"),
    "fmin": (loop("t = fminf(t, a[k]);", REAL), "vector-accumulators k 4"),
    "real-sum": (loop("t += a[k];", REAL), "vector-accumulators k 8 reassociate"),
    "conditional": (
        loop("{ int e = a[k] * 2; if (e != 4) { t += e; t += 1; } }"),
        "vector-accumulators k 4",
    ),
    "two-sums-by-threes": (
        c(
            "int t = s[0], u = 1; for (int k = 1; k < n; k += 3) { t += a[k]; u ^= a[k] + t0; }"
            " s[0] = t + u;".replace("t0", "k"),
            "int n, int a[n], int s[1]",
        ),
        "vector-accumulators k 4",
    ),
    "triangle": (
        c(
            "for (int i = 0; i < n; i++) { int t = 0; for (int k = i; k < n; k++)"
            " t += a[k]; s[i] = t; }",
            "int n, int a[n], int s[n]",
        ),
        "vector-accumulators k 2",
    ),
    "cut-short": (corpus("max_plus"), "vector-accumulators k 4"),
}

REFUSALS = {
    "real-sum": (loop("t += a[k];", REAL), "vector-accumulators k 4"),
    "compared": (loop("if (a[k] > t) t = a[k];", REAL), "vector-accumulators k 4"),
    "place": (PLACE, "vector-accumulators k 4"),
    "no-reduction": (c("for (int k = 0; k < n; k++) b[k] = a[k];"), "vector-accumulators k 4"),
    "size": (loop("t += a[k];"), "vector-accumulators k 0"),
    "element": (
        c("for (int k = 0; k < n; k++) s[0] += k;", "int n, int s[1]"),
        "vector-accumulators k 4",
    ),
    "wraps": (
        c(
            "unsigned t = 0; for (unsigned k = m; k < n; k++) t += a[k]; a[0] = t;",
            "unsigned m, unsigned n, unsigned a[n]",
        ),
        "vector-accumulators k 4",
    ),
    "far-below": (
        c("int t = 0; for (int k = m; k < n; k++) t ^= k; a[0] = t;", "int m, int n, int a[1]"),
        "vector-accumulators k 4",
    ),
    "read-later": (
        c("int k, t = 0; for (k = 0; k < n; k++) t += a[k]; a[0] = t + k;", "int n, int a[n]"),
        "vector-accumulators k 4",
    ),
}


@pytest.mark.parametrize("case", LISTINGS)
def test_listing(case: str, golden: Golden) -> None:
    text, *steps = LISTINGS[case]
    if "reassociate" in steps[-1]:
        golden.check(shown_where_rounding_differs(text, *steps))
    else:
        golden.check(assert_step(text, *steps, sizes=(0, 1, 3, 4, 5, 9)))


@pytest.mark.parametrize("case", REFUSALS)
def test_refusal(case: str, golden: Golden) -> None:
    text, *steps = REFUSALS[case]
    golden.check(refusal(text, *steps))
