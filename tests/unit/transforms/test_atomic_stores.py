"""Atomic stores: one value that iterations store to elements that data name, in any order."""

from __future__ import annotations

import pytest
from conftest import Golden
from deriving import assert_step, c, refusal

PARAMS = "int n, int v, int a[n], int h[8], char g[3][2], float f[8], int w[n]"


def loop(body: str) -> str:
    return c(f"for (int i = 0; i < n; i++) {{ {body} }}", PARAMS)


FLAGS = loop("h[a[i] & 7] = 1;")
LISTINGS = {
    "flags": (FLAGS, "atomic-stores i", "parallelise i", "reverse i"),
    "of-two-dimensions": (
        loop("if (w[i] > 2) g[(w[i] & 1) + 1][a[i] & 1] = -3;"),
        "atomic-stores i",
    ),
    "invariant": (loop("h[a[i] & 7] = 2 * v + 1; w[i] = 5;"), "atomic-stores i", "parallelise i"),
    "in-two-places": (loop("f[a[i] & 7] = 0.5f; f[i & 7] = 0.5f;"), "atomic-stores i"),
    "beside-updates": (
        loop("h[a[i] & 7] += w[i]; f[i & 7] = v;"),
        *("atomic-updates i", "atomic-stores i", "parallelise i"),
    ),
    "two-loops": (
        c(
            "for (int i = 0; i < n; i++) for (int k = 0; k < n; k++) h[(a[i] + w[k]) & 7] = 1;",
            PARAMS,
        ),
        *("atomic-stores i", "parallelise i", "parallelise k", "interchange i k"),
    ),
}

REFUSALS = {
    "two-values": (loop("h[a[i] & 7] = 1; h[w[i] & 7] = 2;"), "atomic-stores i"),
    "zeros-of-both-signs": (loop("f[a[i] & 7] = 0.0f; f[w[i] & 7] = -0.0f;"), "atomic-stores i"),
    "read-too": (loop("h[a[i] & 7] = 1; w[i] = h[i & 7];"), "atomic-stores i"),
    "read-in-a-subscript": (loop("h[h[i & 7] & 7] = 1;"), "atomic-stores i"),
    "updated-too": (loop("h[a[i] & 7] = 1; h[w[i] & 7] += 1;"), "atomic-stores i"),
    "of-the-iteration": (loop("h[a[i] & 7] = i;"), "atomic-stores i"),
    "of-an-element": (loop("h[a[i] & 7] = w[0];"), "atomic-stores i"),
    "sum-of-real-numbers": (loop("f[a[i] & 7] = v * 0.1f;"), "atomic-stores i"),
    "set-in-the-function": (
        c("int t = 1; for (int i = 0; i < n; i++) h[a[i] & 7] = t; t = 2;", PARAMS),
        "atomic-stores i",
    ),
    "elements-of-their-own": (loop("w[i] = 1;"), "atomic-stores i"),
    "order-matters": (
        c("for (int i = 0; i < n; i++) { h[a[i] & 7] = 1; w[0] = i; }", PARAMS),
        *("atomic-stores i", "parallelise i"),
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
