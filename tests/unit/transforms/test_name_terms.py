"""NameTerms: what a loop sums up gets a variable of its own."""

from __future__ import annotations

import pytest
from c_texts import COPY
from conftest import Golden
from deriving import assert_step, c, refusal

SUMS = c(
    "float s = 0; double p = 1; int c = 0; for (int i = 0; i < n; i++) { int k = i; k += a[i] > 1; "
    "s += a[i] * a[i]; p *= a[i] + s; c++; s -= k; c += a[i] < 0; b[i] += c + k; } "
    "b[n] = s + p + c;",
    "int n, const float a[n], float b[n + 1]",
)
ROWS = c(
    "for (int i = 0; i < n; i++) { float s = 0; for (int j = 0; j < m; j++) s += a[i][j] * 2; "
    "b[i] = s; }",
    "int n, int m, const float a[n][m], float b[n]",
)
OF_NAMES = c(
    "float s = 0; for (int i = 0; i < n; i++) { s += 1; s += i; } b[n] = s;",
    "int n, float b[n + 1]",
)

LISTINGS = {
    "sums": (SUMS, "name-terms i"),
    "rows": (ROWS, "name-terms j"),
    "apart": (ROWS, "name-terms j", "expand s_term j"),
    "distributed": (ROWS, "name-terms j", "expand s_term j", "distribute j"),
    "twice": (SUMS, "name-terms i", "unroll i 2"),
}
REFUSALS = {
    "nothing": (COPY, "name-terms i"),
    "of-an-inner-loop": (ROWS, "name-terms i"),
    "of-names": (OF_NAMES, "name-terms i"),
    "no-such-loop": (ROWS, "name-terms q"),
}


@pytest.mark.parametrize("case", LISTINGS)
def test_listing(case: str, golden: Golden) -> None:
    golden.check(assert_step(*LISTINGS[case]))


@pytest.mark.parametrize("case", REFUSALS)
def test_refusal(case: str, golden: Golden) -> None:
    golden.check(refusal(*REFUSALS[case]))
