"""TurnAccesses: what a tile reads and writes along its outer loop, in loops in the other order."""

from __future__ import annotations

import pytest
from conftest import Golden
from deriving import assert_step, c, refusal

SQUARE = "int n, float a[n][n]"
THREE = "int n, const float a[n][n], float b[n][n], float c[n][n]"


def nest(body: str, params: str = SQUARE, start: str = "0") -> str:
    loops = f"for (int i = 0; i < n; i++) for (int j = {start}; j < n; j++)"
    return c(f"{loops} {{ {body} }}", params)


SWAP = nest("if (j > i) { float t = a[i][j]; a[i][j] = a[j][i]; a[j][i] = t; }")
BOTH = nest("b[j][i] = a[i][j]; c[i][j] = a[i][j] * 2;", THREE)
SUM = nest("c[i][j] += b[j][i]; b[j][i] += a[i][j];", THREE)
TILES = (*("parallelise i", "parallelise j", "stripmine i 4", "stripmine j 3", "interchange i jj"),)

LISTINGS = {
    "swap": (SWAP, *TILES, "turn-accesses i j"),
    "written": (BOTH, *TILES, "turn-accesses i j"),
    "changed": (SUM, *TILES, "turn-accesses i j"),
    "fixed": (
        c(
            "for (int i = 0; i < 4; i++) for (int j = 0; j < 4; j++) b[j][i] = a[i][j];",
            "const float a[4][4], float b[4][4]",
        ),
        *("parallelise i", "parallelise j", "turn-accesses i j"),
    ),
}
REFUSALS = {
    "not-nested": (SWAP, *TILES, "turn-accesses j i"),
    "not-parallel": (SWAP, "turn-accesses i j"),
    "whole-loops": (SWAP, "parallelise i", "parallelise j", "turn-accesses i j"),
    "nothing-to-turn": (nest("b[i][j] = a[i][j];", THREE), *TILES, "turn-accesses i j"),
    "written-before": (
        nest("b[i][j] = 1; c[i][j] = j > i ? b[j][i] : 0;", THREE).replace("j = 0", "j = i + 1"),
        *("parallelise i", "parallelise j", "bounding-box j i", *TILES[2:]),
        "turn-accesses i j",
    ),
    "read-sometimes": (
        nest("c[i][j] = i > 2 ? b[j][i] : 0;", THREE),
        *TILES,
        "turn-accesses i j",
    ),
    "used-after": (
        nest("b[j][i] = a[i][j]; c[i][j] = b[j][i];", THREE),
        *TILES,
        "turn-accesses i j",
    ),
    "a-loop-inside": (
        nest("for (int k = 0; k < n; k++) b[j][i] = a[k][j];", THREE),
        *TILES,
        "turn-accesses i j",
    ),
    "conditions-on-data": (
        nest("if (a[i][j] > 0) b[j][i] = a[i][j];", THREE),
        *TILES,
        "turn-accesses i j",
    ),
    "mapped": (SWAP, *TILES, "map ii group.y", "map i thread.y", "turn-accesses i j"),
    "large": (
        BOTH,
        *("parallelise i", "parallelise j", "stripmine i 64", "stripmine j 64"),
        *("interchange i jj", "turn-accesses i j"),
    ),
}


@pytest.mark.parametrize("case", LISTINGS)
def test_listing(case: str, golden: Golden) -> None:
    golden.check(assert_step(*LISTINGS[case]))


@pytest.mark.parametrize("case", REFUSALS)
def test_refusal(case: str, golden: Golden) -> None:
    golden.check(refusal(*REFUSALS[case]))
