"""BoundExtent: arrays of the size that they do not exceed."""

from __future__ import annotations

import pytest
from c_texts import MM
from conftest import Golden
from deriving import assert_step, c, refusal

ROWS = c(
    "for (int i = 0; i < n; i++) { int t[m]; for (int j = 0; j < m; j++) t[j] = a[i][j]; "
    "for (int j = 0; j < m; j++) b[i][j] = t[m - 1 - j]; }",
    "int n, int m, int a[n][m], int b[n][m]",
)
GRID = c(
    "for (int i = 0; i < n; i++) { int t[m][4]; for (int j = 0; j < m; j++) t[j][i & 3] = a[i]; "
    "b[i] = t[0][i & 3]; }",
    "int n, int m, int a[n], int b[n]",
)
COUNTED = c(
    "for (int i = 1; i < n; i++) { int t[i]; for (int j = 0; j < i; j++) t[j] = j; "
    "b[i] = t[i - 1]; }",
    "int n, int b[n]",
)

LISTINGS = {
    "one": (ROWS, "assume m<=40", "bound-extent t 40"),
    "less": (ROWS, "assume m<=40", "bound-extent t 64"),
    "named": (ROWS, "assume m<=1", "bound-extent t Ty*Tx"),
    "two": (GRID, "assume m<=9", "bound-extent t 9,4"),
    "expanded": (ROWS, "expand t i", "assume m<=7", "assume n<=6", "bound-extent t 6,7"),
    "of-a-loop-around": (COUNTED, "assume n<=50", "bound-extent t 49"),
}
REFUSALS = {
    "not-known": (ROWS, "bound-extent t 40"),
    "too-small": (ROWS, "assume m<=41", "bound-extent t 40"),
    "too-small-by-one": (COUNTED, "assume n<=50", "bound-extent t 48"),
    "number": (GRID, "assume m<=9", "bound-extent t 9,3"),
    "dimensions": (GRID, "assume m<=9", "bound-extent t 9"),
    "no-size": (ROWS, "assume m<=40", "bound-extent t many"),
    "of-the-caller": (MM, "bound-extent A 4,4"),
    "scalar": (ROWS, "bound-extent i 4"),
    "placed": (
        *(ROWS, "parallelise i", "assume m<=40", "bound-extent t 40", "map i group.x"),
        *("promote-to-local t", "bound-extent t 50"),
    ),
}


@pytest.mark.parametrize("case", LISTINGS)
def test_listing(case: str, golden: Golden) -> None:
    golden.check(assert_step(*LISTINGS[case]))


@pytest.mark.parametrize("case", REFUSALS)
def test_refusal(case: str, golden: Golden) -> None:
    golden.check(refusal(*REFUSALS[case]))
