"""Running values in chunks: prefix sums, recurrences of first order, segments, compaction."""

from __future__ import annotations

import numpy as np
import pytest
from conftest import Golden
from deriving import assert_step, c, derived, refusal
from reducing import shown_where_rounding_differs

from loopxform.verify.interp import Program

PARAMS = "int n, int a[n], int out[n], int b[n]"
REAL = "int n, float a[n], float out[n]"
COUNTED = "int n, int a[n], int out[n], int s[1]"


def loop(body: str, params: str = PARAMS, before: str = "int s = 0;", after: str = "") -> str:
    return c(f"{before} for (int k = 0; k < n; k++) {{ {body} }} {after}", params)


SUM = loop("s += a[k]; out[k] = s;")

LISTINGS = {
    "sum": (SUM, "reduce-then-scan k 4"),
    "exclusive": (loop("out[k] = s; s += a[k];"), "reduce-then-scan k Tk*Ry"),
    "difference": (loop("s -= a[k]; out[k] = s;"), "reduce-then-scan k 2"),
    "product": (loop("s *= a[k]; out[k] = s;", before="int s = 1;"), "reduce-then-scan k 2"),
    "maximum": (loop("if (a[k] > s) s = a[k]; out[k] = s;"), "reduce-then-scan k 2"),
    "real-minimum": (loop("s = fminf(s, a[k]); out[k] = s;", REAL, "float s = 3;"),
                     "reduce-then-scan k 2"),
    "several": (
        loop(
            "s += a[k]; if (m < a[k]) m = a[k]; z ^= a[k]; out[k] = s - m;",
            "int n, int a[n], int out[n], int b[1]",
            "int s = 0, m = 0, z = 0;",
            "b[0] = z;",
        ),
        "reduce-then-scan k 4",
    ),
    "linear": (loop("s = a[k] * s + b[k]; out[k] = s;", before="int s = 1;"),
               "reduce-then-scan k 2"),
    "linear-in-parts": (loop("s += b[k]; s *= a[k]; s = s - 2 * (s + 1); out[k] = s;"),
                        "reduce-then-scan k 2"),
    "narrow": (loop("s = 3 * s + a[k]; out[k] = s;", before="short s = 1;"),
               "reduce-then-scan k 2"),
    "wider-than-its-factors": (
        loop("s = b[k] - s * a[k] * b[k]; s = s * b[k] * a[k]; out[k] = s;",
             "int n, unsigned a[n], unsigned b[n], unsigned long out[n]", "unsigned long s = 7;"),
        "reduce-then-scan k 2",
    ),
    "segments": (loop("if (b[k] > 1) s = 0; s += a[k]; out[k] = s;"), "reduce-then-scan k 2"),
    "segments-of-products": (loop("if (b[k] > 1) s = 1; s = s * a[k] + 1; out[k] = s;"),
                             "reduce-then-scan k 2"),
    "last-of-some": (loop("if (b[k] > 1) s = a[k]; out[k] = s;"), "reduce-then-scan k 2"),
    "compaction": (loop("if (a[k] > 2) out[i++] = a[k];", COUNTED, "int i = 0;", "s[0] = i;"),
                   "reduce-then-scan k 4"),
    "compaction-of-pairs": (
        loop("if (a[k] > 2) { i += 2; out[i - 2] = a[k]; out[i - 1] = k; } else out[i++] = 0;",
             "int n, int a[n], int out[2 * n + 2]", "unsigned long i = 0;"),
        "reduce-then-scan k 4",
    ),
    "temporaries": (
        loop("int t = a[k] * 2; if (t > 3) { int u = t - 1; s += u; } out[k] = s + t;"),
        "reduce-then-scan k 2",
    ),
    "rows": (
        loop("for (int j = 0; j < n; j++) s += w[k][j]; out[k] = s;",
             "int n, int w[n][n], int out[n]"),
        "reduce-then-scan k 2",
    ),
    "in-place": (loop("s += a[k]; a[k] = s;"), "reduce-then-scan k 2"),
    "no-values-in-between": (
        loop("s = s * 31 + a[k];", "int n, int a[n], unsigned out[1]", "unsigned s = 7;",
             "out[0] = s;"),
        "reduce-then-scan k 2",
    ),
    "from-another-start": (
        c("int s = 5; for (int k = 1; k < n; k += 2) { out[k] = s; s |= a[k]; }", PARAMS),
        "reduce-then-scan k 2",
    ),
    "in-an-else-branch": (
        c("int s = 0; if (n < 3) out[0] = 1; else for (int k = 0; k < n; k++) "
          "{ s += a[k]; out[k] = s; }", "int n, int a[n + 1], int out[n + 1]"),
        "reduce-then-scan k 2",
    ),
    "again": (SUM, "reduce-then-scan k 2", "reduce-then-scan kk_c 2"),
    "segments-again": (
        loop("if (b[k] > 1) s = 0; s += a[k]; out[k] = s;"),
        "reduce-then-scan k 2",
        "reduce-then-scan kk_c 2",
    ),
    "linear-again": (
        loop("s = a[k] * s + b[k]; out[k] = s;", before="int s = 1;"),
        "reduce-then-scan k 2",
        "reduce-then-scan kk_c 2",
    ),
}  # fmt: skip

REFUSALS = {
    "decides": (loop("if (s < 9) s += a[k]; out[k] = s;"), "reduce-then-scan k 4"),
    "subscript": (loop("s += a[s & 1]; out[k] = s;"), "reduce-then-scan k 4"),
    "through-a-temporary": (loop("int t = s & 3; s += a[k] + t; out[k] = s;"),
                            "reduce-then-scan k 4"),
    "of-another": (loop("x = x * 5 + 1; s += x; out[k] = s;", before="int x = 1, s = 0;"),
                   "reduce-then-scan k 4"),
    "two-operators": (loop("s += a[k]; s ^= b[k]; out[k] = s;"), "reduce-then-scan k 4"),
    "not-linear": (loop("s = s * s + a[k]; out[k] = s;"), "reduce-then-scan k 4"),
    "through-memory": (
        c("int s = 0; for (int k = 1; k < n; k++) { s += a[k - 1]; a[k] = s; }", PARAMS),
        "reduce-then-scan k 4",
    ),
    "passed-on": (loop("s += x; x = a[k]; out[k] = s;", before="int x = 1, s = 0;"),
                  "reduce-then-scan k 4"),
    "another-dependence": (loop("s += b[k]; out[k] = s + (k > 0 ? out[k - 1] : 0);"),
                           "reduce-then-scan k 4"),
    "elements-twice": (loop("if (a[k]) s++; out[s] = k;"), "reduce-then-scan k 4"),
    "elements-backwards": (loop("if (a[k]) out[s--] = k;"), "reduce-then-scan k 4"),
    "elements-apart": (loop("if (a[k]) { out[s] = k; if (b[k]) s++; s++; }"),
                       "reduce-then-scan k 4"),
    "elements-beyond": (loop("if (a[k]) { out[s + 1] = k; s++; }"), "reduce-then-scan k 4"),
    "elements-of-a-short-count": (
        loop("if (a[k]) out[s++] = k;", before="unsigned char s = 0;"),
        "reduce-then-scan k 4",
    ),
    "elements-that-are-read": (loop("if (a[k]) out[s++] = k; b[k] = out[0];"),
                               "reduce-then-scan k 4"),
    "elements-of-rows-that-are-set": (
        c("int s = 0; for (int k = 0; k < n; k++) { if (a[k]) { out[b[k]][s] = k; s++; } "
          "b[k + 1] = a[k]; }", "int n, int a[n], int b[n + 1], int out[9][n]"),
        "reduce-then-scan k 4",
    ),
    "segments-that-begin-with-a-real": (
        loop("if (x[k] > 1) s = x[k]; s += a[k]; out[k] = s;", PARAMS + ", float x[n]"),
        "reduce-then-scan k 4",
    ),
    "real-factors-of-an-integer": (
        loop("s = s * x[k] * x[k] + 1; out[k] = s;", PARAMS + ", float x[n]"),
        "reduce-then-scan k 4",
    ),
    "real": (loop("s += a[k]; out[k] = s;", REAL, "float s = 0;"), "reduce-then-scan k 4"),
    "real-segments-of-products": (
        loop("if (a[k] > 1) s = 1; s = s * a[k] + 1; out[k] = s;", REAL, "float s = 0;"),
        "reduce-then-scan k 4 reassociate",
    ),
    "counter-read-behind-its-loop": (
        loop("for (j = 0; j < b[k]; j++) out[k] += j; s += j;", before="int s = 0, j = 0;"),
        "reduce-then-scan k 4",
    ),
    "counter-read-later": (
        loop("for (j = 0; j < 3; j++) { s += a[j]; } out[k] = s + j;", before="int s = 0, j = 0;"),
        "reduce-then-scan k 4",
    ),
    "nothing-runs": (loop("out[k] = a[k];", before=""), "reduce-then-scan k 4"),
    "a-word": (SUM, "reduce-then-scan k 4 quickly"),
}  # fmt: skip


@pytest.mark.parametrize("name", LISTINGS)
def test_listing(name: str, golden: Golden) -> None:
    text, *steps = LISTINGS[name]
    golden.check(assert_step(text, *steps, sizes=(0, 1, 2, 5, 8)))


@pytest.mark.parametrize("name", REFUSALS)
def test_refusal(name: str, golden: Golden) -> None:
    text, *steps = REFUSALS[name]
    golden.check(refusal(text, *steps))


@pytest.mark.parametrize(
    ("update", "first"),
    [("s += a[k];", "0"), ("s = 0.5f * s + a[k];", "1"), ("if (a[k] > 2) s = 0; s += a[k];", "0")],
)
def test_real_numbers_with_permission(update: str, first: str) -> None:
    """Of whole numbers and halves, whose sums are exact."""
    text = loop(f"{update} out[k] = s;", REAL, f"float s = {first};")
    assert "forall" in shown_where_rounding_differs(text, "reduce-then-scan k 2 reassociate")


def test_numbers_that_are_none() -> None:
    """Comparisons pass NaN over, in chunks as in the loop; a NaN at the beginning stays."""
    text = loop("if (a[k] > s) s = a[k]; out[k] = s;", REAL, "float s = a[0];")
    done = derived(text, "reduce-then-scan k 2")
    nan = float("nan")
    for values in ([1, nan, 3, 2, nan, 5], [nan, 1, 2], [-0.0, 0.0, -0.0, 0.0]):
        a = np.array(values, np.float32)
        found = []
        for fn in (done.start, done.function):
            args = {"n": a.size, "a": a.copy(), "out": np.zeros(a.size, np.float32)}
            Program(fn).run(args)
            found.append(args["out"])
        assert np.array_equal(*found, equal_nan=True)
        assert np.array_equal(np.signbit(found[0]), np.signbit(found[1]))
