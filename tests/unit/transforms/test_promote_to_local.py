"""PromoteToLocal: storage of a group in local memory."""

from __future__ import annotations

import pytest
from conftest import Golden
from deriving import assert_step, c, refusal

ROWS = c(
    "for (int i = 0; i < n; i++) { int t = 0; for (int k = 0; k < n; k++) t += a[i][k]; "
    "b[i] = t; }",
    "int n, int a[n][n], int b[n]",
)
PARTS = ("parallelise i", "rfactor k Ty strided")
GROUP = (*PARTS, "unit-loop k_t_c beside", "parallelise once", "map i group.x")

LISTINGS = {
    "partial-results": (
        ROWS,
        *GROUP,
        "map k_t thread.x",
        "map once thread.x",
        "promote-to-local t_part",
    ),
}

REFUSALS = {
    "no-group": (ROWS, *PARTS, "promote-to-local t_part"),
    "scalar": (ROWS, *GROUP, "promote-to-local t"),
    "of-the-caller": (ROWS, *GROUP, "promote-to-local a"),
    "twice": (ROWS, *GROUP, "promote-to-local t_part", "promote-to-local t_part"),
    "of-a-thread": (
        ROWS,
        "parallelise i",
        "stripmine i Tx",
        "map ii group.x",
        "map i thread.x",
        "rfactor k Ty strided",
        "promote-to-local t_part",
    ),
    "of-an-iteration": (
        ROWS,
        "parallelise i",
        "stripmine i Tx",
        "map ii group.x",
        "rfactor k Ty strided",
        "promote-to-local t_part",
    ),
    "no-fixed-size": (
        ROWS,
        "parallelise i",
        "rfactor k Ty",
        "map i group.x",
        "promote-to-local t_part",
    ),
    "then-a-thread": (
        ROWS,
        "parallelise i",
        "stripmine i Tx",
        "map ii group.x",
        "sequentialise i",
        "rfactor k Ty strided",
        "promote-to-local t_part",
        "parallelise i",
        "map i thread.x",
    ),
}


@pytest.mark.parametrize("case", LISTINGS)
def test_listing(case: str, golden: Golden) -> None:
    golden.check(assert_step(*LISTINGS[case]))


@pytest.mark.parametrize("case", REFUSALS)
def test_refusal(case: str, golden: Golden) -> None:
    golden.check(refusal(*REFUSALS[case]))
