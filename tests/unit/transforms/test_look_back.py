"""Chunks in a chain that find by looking back what they begin with."""

from __future__ import annotations

import pytest
from conftest import Golden
from deriving import assert_step, c, derived, refusal
from reducing import shown_where_rounding_differs
from test_chain_chunks import COUNTED, REAL, SUM, loop

from loopxform.codegen import emit
from loopxform.errors import EmitError

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
    "rows": (
        c(
            "for (int i = 0; i < n; i++) { int s = 0; for (int k = 0; k < n; k++) { s += a[i][k]; "
            "out[i][k] = s; } }",
            "int n, int a[n][n], int out[n][n]",
        ),
        *("parallelise i", CHAIN, LOOK),
    ),
    "reshaped": (SUM, CHAIN, "split kk 4"),
    "mapped-without": (SUM, CHAIN, "map kk group.x"),
}


@pytest.mark.parametrize("name", LISTINGS)
def test_listing(name: str, golden: Golden) -> None:
    golden.check(assert_step(*LISTINGS[name], sizes=(0, 1, 2, 5, 13)))


@pytest.mark.parametrize("name", REFUSALS)
def test_refusal(name: str, golden: Golden) -> None:
    golden.check(refusal(*REFUSALS[name]))


@pytest.mark.parametrize(
    ("steps", "why"),
    [
        ((), "is not for the work-items of a group"),
        (("map kk_link thread.x",), "is not in local memory"),
        (("map kk_link thread.x", "promote-to-local kk_turn"), "'kk_near'"),
    ],
)
def test_kernels_need_the_group(steps: tuple[str, ...], why: str) -> None:
    """What looks back is one group, by way of what its work-items share."""
    first = ("stripmine k_words_q 2 q", "map q group.x", "map k_words_q thread.x")
    done = derived(SUM, CHAIN, LOOK, *first, "map kk group.x", *steps)
    with pytest.raises(EmitError, match=why):
        emit.kernel(done)


def test_real_numbers_with_permission() -> None:
    text = loop("s += a[k]; out[k] = s;", REAL, "float s = 0;")
    shown = shown_where_rounding_differs(text, CHAIN, f"{LOOK} reassociate")
    assert "looks back" in shown
