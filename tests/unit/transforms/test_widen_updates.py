"""WidenUpdates: arrays of narrow integers that loops reduce to, in copies of 32 bits."""

from __future__ import annotations

import pytest
from conftest import Golden
from deriving import assert_step, c, refusal

BYTES = "int n, int m, const int a[n], unsigned char h[8], short g[3][m], int w[n]"


def loop(body: str, params: str = BYTES) -> str:
    return c(f"for (int i = 0; i < n; i++) {{ {body} }}", params)


COUNTED = loop("h[a[i] & 7]++;")

LISTINGS = {
    "bytes": (COUNTED, "widen-updates h i", "atomic-updates i"),
    "two-dimensions": (loop("g[i % 3][i % m] -= w[i];"), "widen-updates g i sums"),
    "bits": (loop("if (w[i] > 2) h[a[i] & 7] ^= w[i];"), "widen-updates h i"),
}
REFUSALS = {
    "no-such-loop": (COUNTED, "widen-updates h q"),
    "taken": (COUNTED, "widen-updates h i w"),
    "wide": (loop("w[a[i] & 7]++;"), "widen-updates w i"),
    "not-updated": (COUNTED, "widen-updates g i"),
    "extrema": (loop("if (h[i & 7] < h[0]) w[i] = 1; h[a[i] & 7] |= 1;"), "widen-updates h i"),
    "conjunction": (loop("h[a[i] & 7] = h[a[i] & 7] && w[i];"), "widen-updates h i"),
    "reals": (loop("h[a[i] & 7] += x[i];", f"{BYTES}, float x[n]"), "widen-updates h i"),
    "behind-a-pointer": (loop("p[a[i]]++;", f"{BYTES}, unsigned char *p"), "widen-updates p i"),
    "inside": (
        c("for (int k = 0; k < n; k++) for (int i = 0; i < n; i++) h[a[i] & 7]++;", BYTES),
        "widen-updates h i",
    ),
    "in-a-tile": (COUNTED, "stripmine i 4", "widen-updates h i"),
    "perhaps-short": (
        loop("if (w[i] > 2) p[i % 16]++;", f"{BYTES}, unsigned char *p"),
        "widen-updates p i",
    ),
}


@pytest.mark.parametrize("case", LISTINGS)
def test_listing(case: str, golden: Golden) -> None:
    golden.check(assert_step(*LISTINGS[case]))


@pytest.mark.parametrize("case", REFUSALS)
def test_refusal(case: str, golden: Golden) -> None:
    golden.check(refusal(*REFUSALS[case]))
