"""Permute: the dimensions of an array of the function's own in another order."""

from __future__ import annotations

import pytest
from c_texts import MM
from conftest import Golden
from deriving import assert_step, c, refusal

ROWS = c(
    "for (int i = 0; i < n; i++) { int t = 0; for (int k = 0; k < n; k++) t += a[i][k]; "
    "b[i] = t; }",
    "int n, int a[n][n], int b[n]",
)
PARTS = ("parallelise i", "rfactor k 4", "expand t_part i")

LISTINGS = {
    "two": (ROWS, *PARTS, "permute t_part 1,0"),
    "three": (
        MM,
        "parallelise i",
        "parallelise j",
        "stripmine j 3",
        "expand acc i,jj,j",
        "permute acc 2,0,1",
    ),
    "as-it-was": (ROWS, *PARTS, "permute t_part 0,1"),
}

REFUSALS = {
    "of-the-caller": (ROWS, "permute a 1,0"),
    "scalar": (ROWS, "permute t 0"),
    "no-order": (ROWS, *PARTS, "permute t_part 1,1"),
    "too-many": (ROWS, *PARTS, "permute t_part 1,0,2"),
}


@pytest.mark.parametrize("case", LISTINGS)
def test_listing(case: str, golden: Golden) -> None:
    golden.check(assert_step(*LISTINGS[case]))


@pytest.mark.parametrize("case", REFUSALS)
def test_refusal(case: str, golden: Golden) -> None:
    golden.check(refusal(*REFUSALS[case]))
