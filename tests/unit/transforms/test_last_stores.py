"""Last stores: the last iteration that stores to an element is found first, then stores alone."""

from __future__ import annotations

import pytest
from conftest import Golden
from deriving import assert_step, c, refusal

PARAMS = "int n, int lo, int a[n], int b[n][3], int h[8], short g[3][2], float f[8], int w[n]"


def loop(body: str, head: str = "int i = 0; i < n; i++") -> str:
    return c(f"for ({head}) {{ {body} }}", PARAMS)


PLAIN = loop("h[a[i] & 7] = w[i];")
LISTINGS = {
    "plain": (PLAIN, "last-stores h i", "parallelise i", "parallelise p_2"),
    "from-a-bound-on-in-steps": (
        loop("h[a[i] & 7] = i;", "int i = lo; i < n; i += 2"),
        "last-stores h i found",
    ),
    "of-two-dimensions": (
        loop("int k = a[i] & 1; if (k) { float x = f[k] + w[i]; g[w[i] & 1][k] = x * x; }"),
        "last-stores g i",
    ),
    "what-conditions-set": (
        loop("int k = w[i]; if (k < 3) k = 3; if (i & 1) { f[a[i] & 7] = k; }"),
        "last-stores f i",
    ),
    "beside-others": (
        loop("h[a[i] & 7]++; f[a[i] & 7] = w[i]; g[0][i & 1] = i;"),
        *("last-stores f i", "last-stores g i", "atomic-updates i", "parallelise i"),
    ),
    "nest": (
        c(
            "for (int i = 0; i < n; i++) for (int j = 1; j < lo; j++) h[(a[i] + j) & 7] = i - j;",
            PARAMS,
        ),
        *("last-stores h i", "parallelise i", "parallelise j"),
    ),
    "inside-a-loop": (
        c("for (int t = 0; t < n; t++) for (int i = 0; i < n; i++) h[a[i] & 7] = t + i;", PARAMS),
        *("last-stores h i", "parallelise i"),
    ),
    "unsigned-of-64-bits": (
        loop("h[a[i] & 7] = w[i];", "unsigned long i = 1; i < (unsigned long)n; i++"),
        "last-stores h i",
    ),
}

REFUSALS = {
    "read-too": (loop("h[a[i] & 7] = h[i & 7] + 1;"), "last-stores h i"),
    "read-in-a-condition": (loop("if (h[0] < 3) h[a[i] & 7] = i;"), "last-stores h i"),
    "twice": (loop("h[a[i] & 7] = 1; h[i & 7] = 2;"), "last-stores h i"),
    "updated": (loop("h[a[i] & 7] += 2;"), "last-stores h i"),
    "of-what-the-loop-stores": (loop("h[a[i] & 7] = w[i]; w[i] = 0;"), "last-stores h i"),
    "of-what-the-loop-counts": (
        c("int t = 0; for (int i = 0; i < n; i++) { t += w[i]; h[a[i] & 7] = t; }", PARAMS),
        "last-stores h i",
    ),
    "in-a-triangle": (
        c("for (int i = 0; i < n; i++) for (int j = 0; j < i; j++) h[a[j] & 7] = i;", PARAMS),
        "last-stores h i",
    ),
    "inside-a-parallel-loop": (
        c("for (int t = 0; t < n; t++) for (int i = 0; i < n; i++) b[t][a[i] & 1] = i;", PARAMS),
        *("parallelise t", "last-stores b i"),
    ),
    "rows-of-a-loop-around": (
        c("for (int t = 0; t < n; t++) for (int i = 0; i < n; i++) b[t][a[i] & 1] = i;", PARAMS),
        "last-stores b i",
    ),
    "backwards": (loop("h[a[i] & 7] = w[i];", "int i = n - 1; i >= 0; i--"), "last-stores h i"),
    "beside-an-order": (
        loop("h[a[i] & 7] = i; w[0] = i;"),
        *("last-stores h i", "parallelise i"),
    ),
}


@pytest.mark.parametrize("case", LISTINGS)
def test_listing(case: str, golden: Golden) -> None:
    text, *steps = LISTINGS[case]
    golden.check(assert_step(text, *steps))


@pytest.mark.parametrize("case", REFUSALS)
def test_refusal(case: str, golden: Golden) -> None:
    text, *steps = REFUSALS[case]
    golden.check(refusal(text, *steps))
