"""Stores that wait for the end of a loop."""

from __future__ import annotations

import pytest
from conftest import Golden
from deriving import assert_step, c, refusal

PARAMS = "int n, int a[n], int b[n], int y[n]"


def loop(body: str, params: str = PARAMS) -> str:
    """A loop of at most four iterations."""
    return c(f"for (int k = 0; k < n; k++) {{ {body} }}", params)


TILES = "stripmine k 4"

LISTINGS = {
    "values": (loop("int t = a[k] * 2; y[k] = t; b[k] = t + k;"), TILES, "stage-stores y k"),
    "in-place": (loop("a[k] = a[k] * 2;"), TILES, "stage-stores a k kept"),
    "of-a-number": (
        c("for (int k = 0; k < 6; k++) y[2 * k] = a[k];", "int n, int a[6], int y[12]"),
        "stage-stores y k",
    ),
    "read-later": (
        c("for (int k = 0; k < n - 1; k++) y[k] = y[k + 1];", PARAMS), TILES, "stage-stores y k",
    ),
    "one-element": (loop("y[3 % n] = a[k];"), TILES, "stage-stores y k"),
}  # fmt: skip

REFUSALS = {
    "no-number": (loop("y[k] = a[k];"), "stage-stores y k"),
    "some": (loop("if (a[k]) y[k] = a[k];"), TILES, "stage-stores y k"),
    "updates": (loop("y[k] += a[k];"), TILES, "stage-stores y k"),
    "read-again": (loop("y[k] = a[k]; b[k] = y[k];"), TILES, "stage-stores y k"),
    "read-in-the-next": (
        c("for (int k = 1; k < n; k++) y[k] = y[k - 1] + a[k];", PARAMS), TILES, "stage-stores y k",
    ),
    "twice": (loop("y[k] = a[k]; y[0] = 3;"), TILES, "stage-stores y k"),
    "moving": (loop("int j = a[k] * 0; y[j] = k;"), TILES, "stage-stores y k"),
    "by-data": (loop("y[b[k] * 0] = k;"), TILES, "stage-stores y k"),
}  # fmt: skip


@pytest.mark.parametrize("name", LISTINGS)
def test_listing(name: str, golden: Golden) -> None:
    text, *steps = LISTINGS[name]
    golden.check(assert_step(text, *steps, sizes=(0, 1, 2, 5, 8)))


@pytest.mark.parametrize("name", REFUSALS)
def test_refusal(name: str, golden: Golden) -> None:
    text, *steps = REFUSALS[name]
    golden.check(refusal(text, *steps))
