"""Chunks in a chain that find by looking back what they begin with."""

from __future__ import annotations

import pytest
from conftest import Golden
from deriving import assert_step, refusal
from reducing import shown_where_rounding_differs
from test_chain_chunks import COUNTED, REAL, SUM, loop

CHAIN, LOOK = "chain-chunks k 4", "look-back kk k 2"
COMPACTION = loop("if (a[k] > 2) out[i++] = a[k];", COUNTED, "int i = 0;", "s[0] = i;")
LISTINGS = {
    "sum": (SUM, CHAIN, LOOK),
    "linear": (loop("s = a[k] * s + b[k]; out[k] = s;", before="int s = 1;"), CHAIN, LOOK),
    "segments": (loop("if (b[k] > 1) s = 0; s += a[k]; out[k] = s;"), CHAIN, LOOK),
    "several": (
        loop("s += a[k]; if (m < a[k]) m = a[k]; out[k] = s - m;", before="int s = 0, m = 0;"),
        CHAIN,
        LOOK,
    ),
    "compaction": (COMPACTION, CHAIN, LOOK),
    "in-parts": (
        SUM,
        CHAIN,
        "reduce-then-scan k 2",
        "rename kkk#2 parts",
        "look-back kk kkk_c 2",
    ),
    "mapped": (SUM, CHAIN, LOOK, "map kk group.x"),
    "filled": (COMPACTION, CHAIN, "look-back kk k 2", "map kk group.x", "stage-filled out kk 2"),
    "filled-behind-the-count": (
        loop("if (a[k] > 2) { i++; out[i - 1] = k; }", COUNTED, "int i = 0;"),
        CHAIN,
        LOOK,
        "map kk group.x",
        "stage-filled out kk 2",
    ),
}
REFUSALS = {
    "no-chain": (SUM, "stripmine k 4", LOOK),
    "twice": (SUM, CHAIN, LOOK, "look-back kk k#1 2"),
    "not-a-loop-of-the-chunk": (SUM, CHAIN, "stripmine k 2", LOOK),
    "what-no-chunk-passes-on": (
        loop("s += a[k]; out[k] = s;"),
        CHAIN,
        "reduce-then-scan k 2",
        "look-back kk k#1 2",
    ),
    "real": (loop("s += a[k]; out[k] = s;", REAL, "float s = 0;"), CHAIN, LOOK),
    "a-word": (SUM, CHAIN, f"{LOOK} quickly"),
    "no-window": (SUM, CHAIN, "look-back kk k 0"),
    "filled-with-gaps": (
        loop(
            "if (a[k] > 2) { out[i] = a[k]; i += 2; }",
            "int n, int a[n], int out[2 * n]",
            "int i = 0;",
        ),
        *(CHAIN, LOOK, "map kk group.x", "stage-filled out kk 2"),
    ),
    "filled-several-times": (
        loop(
            "for (int j = 0; j < 2; j++) out[i++] = a[k];",
            "int n, int a[n], int out[2 * n]",
            "int i = 0;",
        ),
        *(CHAIN, LOOK, "map kk group.x", "stage-filled out kk 2"),
    ),
    "filled-but-not-mapped": (COMPACTION, CHAIN, LOOK, "stage-filled out kk 2"),
    "mapped-without": (SUM, CHAIN, "map kk group.x"),
}


@pytest.mark.parametrize("name", LISTINGS)
def test_listing(name: str, golden: Golden) -> None:
    golden.check(assert_step(*LISTINGS[name], sizes=(0, 1, 2, 5, 13)))


@pytest.mark.parametrize("name", REFUSALS)
def test_refusal(name: str, golden: Golden) -> None:
    golden.check(refusal(*REFUSALS[name]))


def test_real_numbers_with_permission() -> None:
    text = loop("s += a[k]; out[k] = s;", REAL, "float s = 0;")
    shown = shown_where_rounding_differs(text, CHAIN, f"{LOOK} reassociate")
    assert "looks back" in shown
