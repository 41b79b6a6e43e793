"""A reduction in two kernels: partial results of chunks, and their combination."""

from __future__ import annotations

import pytest
from c_texts import MM
from conftest import Golden
from deriving import assert_same_meaning, c, corpus, untiled

from loopxform.errors import LoopxformError
from loopxform.ir.printer import listing
from loopxform.recipes.tile import tile
from loopxform.schedule.params import Options
from loopxform.transforms import Derivation

SIZES = {"Ty": 2, "Tx": 3, "Tk": 2}

ROWS = c(
    "for (int i = 0; i < n; i++) for (int k = 0; k < m; k++) b[i] += a[i][k];",
    "int n, int m, int a[n][m], int b[n]",
)
TWO = c(
    "for (int i = 0; i < n; i++) { int t = 0, h = b[i]; for (int k = 0; k < m; k++) { "
    "t += a[i][k]; if (a[i][k] > h) h = a[i][k]; } b[i] = t - h; }",
    "int n, int m, int a[n][m], int b[n]",
)
CASES = {
    "rows": ROWS,
    "two-at-once": TWO,
    "max-plus": corpus("max_plus"),
    "max-if": corpus("max_if"),
    "bool-and": corpus("mm_bool_and"),
}


def redomap(text: str, *, reassociate: bool = False) -> Derivation:
    options = Options(Rk=2, reassociate=reassociate)
    fn = untiled(text)
    return tile(fn, SIZES, "naive", options=options).derivation


@pytest.mark.parametrize("case", CASES)
def test_listing(case: str, golden: Golden) -> None:
    done = redomap(CASES[case])
    golden.check("".join(f"{r.step}\n" for r in done.records) + "\n" + listing(done.function))
    for record in done.records:
        assert_same_meaning(done.start, record.result, (0, 1, 5, 9))


def test_the_matrix_product(golden: Golden) -> None:
    golden.check(listing(redomap(MM, reassociate=True).function))


REFUSALS = {
    "rounding": (MM, "floating-point addition is not associative"),
    "needs-what-is-before": (
        c(
            "for (int i = 0; i < n; i++) { int w = b[i], t = 0; for (int k = 0; k < m; k++) "
            "t += a[i][k] * w; b[i] = t; }",
            "int n, int m, int a[n][m], int b[n]",
        ),
        "uses what is computed before it",
    ),
    "two-loops": (
        c(
            "for (int i = 0; i < n; i++) { int t = 0; for (int k = 0; k < m; k++) t += a[i][k]; "
            "for (int k = 0; k < m; k++) t *= a[i][k]; b[i] = t; }",
            "int n, int m, int a[n][m], int b[n]",
        ),
        "2 sequential loops",
    ),
    "triangle": (
        c(
            "for (int i = 0; i < n; i++) { int t = 0; for (int k = 0; k < i; k++) t += a[i][k]; "
            "b[i] = t; }",
            "int n, int m, int a[n][n], int b[n]",
        ),
        "'t_part' cannot be declared outside of 'i'",
    ),
}


@pytest.mark.parametrize("case", REFUSALS)
def test_refusal(case: str) -> None:
    text, why = REFUSALS[case]
    with pytest.raises(LoopxformError, match=why):
        redomap(text)
