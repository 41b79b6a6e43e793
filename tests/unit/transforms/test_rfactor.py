"""Rfactor: partial results of chunks, combined in order."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from c_texts import MM
from conftest import Golden
from deriving import assert_step, c, corpus, refusal
from reducing import REAL, loop, results, shown_where_rounding_differs

from loopxform.transforms.reductions.rfactor import Rfactor

PLACE = c(
    "int m = -2, p = 0; for (int k = 0; k < n; k++) if (a[k] > m) { m = a[k]; p = k; } s[0] = p;",
    "int n, int a[n], int s[1]",
)

LISTINGS = {
    "place": (PLACE, "rfactor k 4"),
    "last-place": (PLACE.replace(">", ">="), "rfactor k 4"),
    "last-place-if": (PLACE.replace(">", ">=").replace("if (", "if (k & 1) if ("), "rfactor k 4"),
    "last-place-of-numbers": (
        PLACE.replace(">", ">=")
        .replace("int m = -2, p", "float m = x; int p")
        .replace("int n, int a[n]", "int n, float x, float a[n]"),
        "rfactor k 4",
    ),
    "sum": (loop("t += a[k];"), "rfactor k 4"),
    "difference": (loop("t -= a[k];"), "rfactor k 4"),
    "chain": (loop("t = t + a[k] + k;"), "rfactor k 4"),
    "product": (loop("t *= a[k];"), "rfactor k 4"),
    "and": (loop("t &= a[k];"), "rfactor k 4"),
    "or": (loop("t |= a[k];"), "rfactor k 4"),
    "exclusive-or": (loop("t ^= a[k];"), "rfactor k 4"),
    "all": (loop("t = a[k] > 3 && t;"), "rfactor k 4"),
    "any": (loop("t = a[k] > 3 || t;"), "rfactor k 4"),
    "all-of-scalars": (loop("t = t && n > 3;"), "rfactor k 4"),
    "maximum": (loop("if (a[k] > t) t = a[k];"), "rfactor k 4"),
    "maximum-of-shorts": (
        loop("if (a[k] > t) t = a[k];", "int n, unsigned short a[n], long s[1]"),
        "rfactor k 4",
    ),
    "minimum": (loop("t = a[k] <= t ? a[k] : t;"), "rfactor k 4"),
    "narrow": (loop("t += a[k];", "int n, short a[n], short s[1]"), "rfactor k 4"),
    "wide": (loop("t += a[k];", "int n, long a[n], int s[1]"), "rfactor k 4"),
    "unsigned": (
        loop("if (a[k] < t) t = a[k];", "int n, unsigned a[n], unsigned s[1]"),
        "rfactor k 4",
    ),
    "real-maximum": (loop("if (a[k] > t) t = a[k];", REAL), "rfactor k 4"),
    "fmin": (loop("t = fminf(t, a[k]);", REAL), "rfactor k 4"),
    "real-sum": (loop("t += a[k];", REAL), "rfactor k Tk*Ry reassociate"),
    "beside-atomic-updates": (
        c(
            "int t = s[0]; for (int k = 0; k < n; k++)"
            " { int b = a[k] & 3; h[b] += k; if (b > t) t = b; } s[0] = t;",
            "int n, int a[restrict n], int s[restrict 1], int h[restrict 4]",
        ),
        "atomic-updates k",
        "rfactor k 4",
    ),
    "conditional-truth": (
        c(
            "int t = !s[0]; for (int k = 0; k < n; k++) if (k > 2) t = a[k] && t; s[0] = t;",
            "int n, int a[n], int s[1]",
        ),
        "rfactor k 2",
    ),
    "several": (
        c(
            "int m = 9, z = s[1]; for (int k = 0; k < n; k++) { z += a[k]; "
            "if (a[k] < m) m = a[k]; a[k] = k; } s[0] = m; s[1] = z;",
            "int n, int a[n], int s[2]",
        ),
        "rfactor k 4",
    ),
    "conditional": (loop("{ int e = a[k] * 2; if (e != 4) { t += e; t += 1; } }"), "rfactor k 4"),
    "strided": (
        c(
            "int t = 0; for (int k = 2; k < n; k += 3) t += a[k]; s[0] = t;",
            "int n, int a[n], int s[1]",
        ),
        "rfactor k 2",
    ),
    "inner": (MM, "rfactor k 4 reassociate"),
    "runs-before-what-it-needs-not": (
        loop("t += a[k] * w;", before="int w = n; s[0] = 7; t = t + 1;"),
        "rfactor k 4",
    ),
    "under-a-condition": (
        loop("t += a[k];").replace("for", "if (n > 3) {} else for"),
        "rfactor k 2",
    ),
    "bool": (loop("t ^= a[k];", "int n, _Bool a[n], _Bool s[1]"), "rfactor k 4"),
    "single-iterations": (
        c(
            "int t = s[0]; for (int k = 2; k < n; k += 2) for (int l = k; l < n; l++) "
            "t += a[l]; s[0] = t;",
            "int n, int a[n], int s[1]",
        ),
        "rfactor k 1",
    ),
    "inside-a-loop-that-bounds-it": (
        c(
            "for (int j = n - 1; j >= 0; j--) for (int i = 0; i < n; i++) { int t = 0; "
            "for (int k = i - j; k < i + 1; k++) t ^= k; a[i] += t; }",
            "int n, int a[n]",
        ),
        "rfactor k 2",
    ),
    "max-plus": (corpus("max_plus"), "rfactor k 4"),
    "max-if": (corpus("max_if"), "rfactor k 4"),
}

REFUSALS = {
    "real-sum": (loop("t += a[k];", REAL), "rfactor k 4"),
    "real-product": (loop("t = a[k] * t;", REAL), "rfactor k 4"),
    "element": (c("for (int k = 0; k < n; k++) s[0] += k;", "int n, int s[1]"), "rfactor k 4"),
    "histogram": (
        c("for (int k = 0; k < n; k++) s[a[k]] += 1;", "int n, int a[n], int s[9]"),
        "rfactor k 4",
    ),
    "no-reduction": (c("for (int k = 0; k < n; k++) b[k] = a[k];"), "rfactor k 4"),
    "parallel": (c("for (int k = 0; k < n; k++) b[k] = a[k];"), "parallelise k", "rfactor k 4"),
    "another-dependence": (
        c(
            "int t = 0; for (int k = 1; k < n; k++) { t += a[k]; a[k] = a[k - 1]; } a[0] = t;",
            "int n, int a[n]",
        ),
        "rfactor k 4",
    ),
    "skipped": (loop("t = t && 7 / a[k] > 3;"), "rfactor k 4"),
    "no-truth": (loop("if (k > 2) t = t && k < 9;"), "rfactor k 2"),
    "bool": (loop("t ^= a[k];", "int n, int a[n], _Bool s[1]"), "rfactor k 4"),
    "converted": (loop("if (a[k] > t) t = a[k];", "int n, int a[n], unsigned s[1]"), "rfactor k 4"),
    "wider": (loop("if (a[k] > t) t = a[k];", "int n, long a[n], int s[1]"), "rfactor k 4"),
    "nan": (loop("t = t < a[k] ? t : a[k];", REAL), "rfactor k 4"),
    "no-such-word": (loop("t += a[k];"), "rfactor k 4 yes"),
    "size": (loop("t += a[k];"), "rfactor k 0"),
    "read-later": (
        c("int k, t = 0; for (k = 0; k < n; k++) t += a[k]; a[0] = t + k;", "int n, int a[n]"),
        "rfactor k 4",
    ),
}


@pytest.mark.parametrize("case", LISTINGS)
def test_listing(case: str, golden: Golden) -> None:
    text, *steps = LISTINGS[case]
    if "reassociate" in steps[-1]:
        golden.check(shown_where_rounding_differs(text, *steps))
    else:
        golden.check(assert_step(text, *steps, sizes=(0, 1, 3, 4, 9)))


@pytest.mark.parametrize("case", REFUSALS)
def test_refusal(case: str, golden: Golden) -> None:
    text, *steps = REFUSALS[case]
    golden.check(refusal(text, *steps))


def test_partial_sums_may_leave_the_range() -> None:
    top = 2**31 - 1
    text = loop("t += a[k];")
    values = [-5, top, top, -top, -top, 3, top]
    assert results(text, [*values, -top], 4) == (2, 2)
    assert results(text, [2**30, 2**30], -(2**31)) == (0, 0)


@pytest.mark.parametrize(
    ("update", "first"),
    [
        ("if (a[k] < t) t = a[k];", np.inf),
        ("if (a[k] <= t) t = a[k];", 0.0),
        ("t = a[k] > t ? a[k] : t;", -0.0),
        ("t = a[k] >= t ? a[k] : t;", np.nan),
        ("t = fminf(t, a[k]);", np.nan),
        ("t = fmaxf(a[k], t);", 1.0),
    ],
)
@pytest.mark.parametrize(
    "values",
    [
        [np.nan] * 5,
        [0.0, -0.0, np.nan, 0.0, -0.0],
        [-0.0, 0.0, 0.0],
        [np.inf, -np.inf, np.nan],
        [3.0, np.nan, np.nan, -2.0, 3.0, 7.0],
        [],
    ],
    ids=str,
)
def test_extrema_of_real_numbers(update: str, first: float, values: list[float]) -> None:
    """The same to the last bit, the signs of zeros included (but for fmin and fmax, which C leaves
    free to return either zero)."""
    before, after = results(loop(update, REAL), values, first)
    if "fm" in update:
        assert before == after or (np.isnan(before) and np.isnan(after))
    else:
        assert before.tobytes() == after.tobytes()


def test_the_word_is_a_field() -> None:
    made = Rfactor("k", "4", "reassociate")
    assert str(made) == "rfactor k 4 reassociate"
    assert replace(made, reassociate="") == Rfactor("k", "4")
