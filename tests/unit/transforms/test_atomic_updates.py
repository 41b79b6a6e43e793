"""Atomic updates: reductions into arrays in any order, and copies of these for each iteration."""

from __future__ import annotations

import pytest
from conftest import Golden
from deriving import assert_step, c, refusal
from reducing import shown_where_rounding_differs

PARAMS = "int n, int a[n], int h[8], int g[3][2], int w[n]"


def loop(body: str, params: str = PARAMS) -> str:
    return c(f"for (int i = 0; i < n; i++) {{ {body} }}", params)


HISTOGRAM = loop("h[a[i] & 7]++;")
REAL = "int n, int a[n], float f[4], float w[n]"
READ_AROUND = c(
    "for (int k = 0; k < n; k++) { for (int i = 0; i < n; i++) h[a[i] & 7]++; w[k] = h[2]; }",
    PARAMS,
)
SCALAR = c("int t = 0; for (int i = 0; i < n; i++) t += a[i]; h[0] = t;", PARAMS)
WIDE = "int n, int a[n], long h[8], int w[n]"

LISTINGS = {
    "histogram": (HISTOGRAM, "atomic-updates i"),
    "forall": (HISTOGRAM, "atomic-updates i", "parallelise i"),
    "difference": (loop("h[a[i] & 7] -= w[i];"), "atomic-updates i"),
    "difference-in-full": (loop("h[a[i] & 7] = h[a[i] & 7] - w[i];"), "atomic-updates i"),
    "chain-of-differences": (
        loop("h[a[i] & 7] = h[a[i] & 7] - w[i] + i - a[i];"),
        "atomic-updates i",
    ),
    "chain": (loop("h[a[i] & 7] = h[a[i] & 7] + w[i] - i;"), "atomic-updates i"),
    "chain-of-narrow-sums": (
        loop(
            "h[a[i] & 7] = h[a[i] & 7] + (u[i] - v[i]) + w[i];",
            "int n, int a[n], long h[8], unsigned u[n], unsigned v[n], int w[n]",
        ),
        "atomic-updates i",
    ),
    "chain-in-a-wide-type": (
        loop(
            "h[a[i] & 7] = u[i] + w[i] + h[a[i] & 7] + w[i];",
            "int n, int a[n], unsigned long h[8], unsigned u[n], int w[n]",
        ),
        "atomic-updates i",
    ),
    "product": (loop("h[a[i] & 7] *= 3;"), "atomic-updates i"),
    "chain-of-products": (
        loop("h[a[i] & 7] = w[i] * (a[i] - 2) * h[a[i] & 7];"),
        *("atomic-updates i", "stripmine i 4", "privatise-updates h ii"),
    ),
    "bits": (loop("h[a[i] & 7] |= w[i]; w[i] = 3;"), "atomic-updates i"),
    "minimum": (loop("if (w[i] < h[a[i] & 7]) h[a[i] & 7] = w[i];"), "atomic-updates i"),
    "conditional-operator": (
        loop("h[a[i] & 7] = h[a[i] & 7] > i ? h[a[i] & 7] : i;"),
        "atomic-updates i",
    ),
    "narrow-operand": (
        loop("h[a[i] & 7] += w[i];", "int n, int a[n], unsigned h[8], unsigned char w[n]"),
        "atomic-updates i",
    ),
    "wide": (
        loop("h[a[i] & 7] += w[i];", "int n, int a[n], long h[8], int w[n]"),
        "atomic-updates i",
    ),
    "two-arrays": (
        loop("if (a[i] > 2) h[a[i] & 7]++; g[i % 3][a[i] & 1] ^= i;"),
        "atomic-updates i",
    ),
    "one-of-two": (
        loop("h[a[i] & 7]++; f[a[i] & 3] += w[i];", f"{PARAMS}, float f[4]"),
        "atomic-updates i",
    ),
    "two-loops": (
        c(
            "for (int i = 0; i < n; i++) for (int k = 0; k < n; k++) h[(a[i] + w[k]) & 7]++;",
            PARAMS,
        ),
        "atomic-updates i",
        "parallelise i",
        "parallelise k",
        "interchange i k",
    ),
    "real": (
        loop("f[a[i] & 3] += w[i];", REAL),
        "atomic-updates i reassociate",
    ),
    "then-a-scalar": (
        c("for (int i = 0; i < n; i++) for (int k = 0; k < n; k++) h[i & 7] += a[k] * i;", PARAMS),
        "atomic-updates i",
        "scalarise h i",
    ),
    "least-square": (
        loop("float d = w[i] * w[i]; if (d < f[a[i] & 3]) f[a[i] & 3] = d;", REAL),
        "atomic-updates i",
        "stripmine i 4",
        "privatise-updates f ii",
    ),
    "least-or-nan": (
        loop("f[a[i] & 3] = fminf(f[a[i] & 3], w[i]);", REAL),
        "atomic-updates i",
        "stripmine i 4",
        "privatise-updates f ii f_own 2 i",
    ),
    "a-copy-for-each-tile": (
        HISTOGRAM,
        "atomic-updates i",
        "parallelise i",
        "stripmine i Ty*Ry",
        "privatise-updates h ii",
    ),
    "a-copy-of-two-dimensions": (
        loop("if (w[i] > g[i % 3][a[i] & 1]) g[i % 3][a[i] & 1] = w[i];"),
        "atomic-updates i",
        "stripmine i 4",
        "privatise-updates g ii own",
    ),
    "a-copy-as-large-as-subscripts-say": (
        loop("h[a[i] >> 3]++;", "int n, unsigned char a[n], int *h"),
        "atomic-updates i",
        "stripmine i 4",
        "privatise-updates h ii",
    ),
    "copies-of-each-element": (
        loop("h[a[i] & 7] += w[i];"),
        "atomic-updates i",
        *("stripmine i 8 ii", "stripmine i 2 i_t", "privatise-updates h ii h_own 4 i_t"),
    ),
    "copies-of-extrema": (
        loop("if (w[i] > g[i % 3][a[i] & 1]) g[i % 3][a[i] & 1] = w[i];"),
        *("atomic-updates i", "stripmine i 4", "privatise-updates g ii own 2 i"),
    ),
    "a-copy-of-differences": (
        loop("h[a[i] & 7] -= w[i];"),
        "atomic-updates i",
        "stripmine i 4",
        "privatise-updates h ii",
    ),
}

REFUSALS = {
    "no-updates": (loop("w[i] = a[i];"), "atomic-updates i"),
    "of-a-scalar": (
        c("int t = 0; for (int i = 0; i < n; i++) t += a[i]; h[0] = t;", PARAMS),
        "atomic-updates i",
    ),
    "read-too": (loop("h[a[i] & 7]++; w[i] = h[i & 7];"), "atomic-updates i"),
    "two-operators": (loop("h[a[i] & 7]++; h[w[i] & 7] ^= 1;"), "atomic-updates i"),
    "conjunction": (loop("h[a[i] & 7] = h[a[i] & 7] && w[i];"), "atomic-updates i"),
    "real-product": (loop("f[a[i] & 3] *= w[i];", REAL), "atomic-updates i"),
    "small-type": (loop("h[a[i] & 7]++;", "int n, int a[n], char h[8]"), "atomic-updates i"),
    "real": (
        loop("f[a[i] & 3] += w[i];", REAL),
        "atomic-updates i",
    ),
    "wide-operand": (
        loop("f[a[i] & 3] += w[i];", "int n, int a[n], float f[4], double w[n]"),
        "atomic-updates i reassociate",
    ),
    "real-maximum": (
        loop("if (w[i] > f[a[i] & 3]) f[a[i] & 3] = w[i];", REAL),
        "atomic-updates i",
    ),
    "real-minimum-of-equals": (
        loop("if (fabsf(w[i]) <= f[a[i] & 3]) f[a[i] & 3] = fabsf(w[i]);", REAL),
        "atomic-updates i",
    ),
    "takes-a-nan": (
        loop("f[a[i] & 3] = f[a[i] & 3] < w[i] ? f[a[i] & 3] : w[i];", REAL),
        "atomic-updates i reassociate",
    ),
    "then-another-dependence": (
        loop("h[a[i] & 7]++; w[i] = i ? w[i - 1] : 0;"),
        "atomic-updates i",
        "parallelise i",
    ),
    "then-read-around": (
        READ_AROUND,
        "atomic-updates i",
        "parallelise k",
    ),
    "copy-of-no-updates": (HISTOGRAM, "stripmine i 4", "privatise-updates h ii"),
    "copy-of-no-array": (HISTOGRAM, "atomic-updates i", "privatise-updates n i"),
    "copy-of-no-size": (
        loop("h[a[i]]++;", "int n, int a[n], int h[n]"),
        "atomic-updates i",
        "privatise-updates h i",
    ),
    "copies-that-are-no-power-of-two": (
        *(HISTOGRAM, "atomic-updates i", "stripmine i 4", "privatise-updates h ii own 3 i"),
    ),
    "copies-by-another-loop": (
        *(HISTOGRAM, "atomic-updates i", "stripmine i 4", "privatise-updates h i own 4 ii"),
    ),
    "copy-that-is-read": (
        READ_AROUND,
        "atomic-updates i",
        "privatise-updates h k",
    ),
    "copy-with-a-name-that-is-taken": (HISTOGRAM, "atomic-updates i", "privatise-updates h i a"),
}


@pytest.mark.parametrize("case", LISTINGS)
def test_listing(case: str, golden: Golden) -> None:
    text, *steps = LISTINGS[case]
    if "reassociate" in steps[-1]:
        golden.check(shown_where_rounding_differs(text, *steps))
    else:
        golden.check(assert_step(text, *steps, sizes=(0, 1, 3, 9)))


@pytest.mark.parametrize("case", REFUSALS)
def test_refusal(case: str, golden: Golden) -> None:
    text, *steps = REFUSALS[case]
    golden.check(refusal(text, *steps))
