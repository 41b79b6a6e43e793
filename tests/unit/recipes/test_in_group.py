"""The recipe reduce: a group for each result, and reductions with no parallel loop around them."""

from __future__ import annotations

import pytest
from conftest import Golden
from deriving import assert_same_meaning, c, untiled

from loopxform.codegen import emit
from loopxform.errors import LoopxformError, TransformError, UnsupportedC
from loopxform.ir.printer import listing
from loopxform.recipes.tile import tile
from loopxform.recipes.tiled import Tiled
from loopxform.schedule.params import Options, Recipe

SUM = c(
    "int s = 3; for (int k = 0; k < n; k++) s += a[k]; b[0] = s;",
    "int n, const int a[restrict n], int b[restrict 1]",
)
ROWS = c(
    "for (int i = 0; i < n; i++) { int t = b[i]; for (int k = 0; k < m; k++) t += a[i][k]; "
    "b[i] = t; }",
    "int n, int m, const int a[restrict n][m], int b[restrict n]",
)
COLUMNS = ROWS.replace("a[i][k]", "a[k][i]").replace("[n][m]", "[m][n]")
REAL = ROWS.replace("int a", "float a").replace("int b", "float b").replace("int t", "float t")
PRODUCT = c(
    "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) { int t = 0; "
    "for (int k = 0; k < n; k++) t += a[i][k] * b[k][j]; d[i][j] = t; }",
    "int n, int m, int a[restrict n][n], int b[restrict n][m], int d[restrict n][m]",
)
COUNTED = c(
    "double s = 0; for (int k = 0; k < n; k++) s += 1.0 / (k + 1.0); b[0] = s;",
    "int n, double b[restrict 1]",
)
SIZES = {"Tx": 20, "Tk": 4}


def tiled(
    text: str, recipe: Recipe | None = None, rk: int | None = None, *, reassociate: bool = False
) -> Tiled:
    fn = untiled(text)
    options = Options(Rk=rk, reassociate=reassociate)
    return tile(fn, SIZES, recipe, strict=recipe is not None, options=options)


def shown(done: Tiled) -> str:
    steps = "".join(f"{r.step}\n" for r in done.derivation.records)
    return f"{steps}\n{listing(done.function)}"


CASES: dict[str, tuple[str, Recipe | None, int | None]] = {
    "alone": (SUM, None, 3),
    "rows": (ROWS, "reduce", None),
    "rows-in-chunks": (ROWS, None, 3),
}


@pytest.mark.parametrize("case", CASES)
def test_listing(case: str, golden: Golden) -> None:
    done = tiled(*CASES[case])
    assert done.recipe == "reduce"
    golden.check(shown(done))
    for record in done.derivation.records:
        assert_same_meaning(done.derivation.start, record.result, (0, 1, 9))
    assert_same_meaning(done.derivation.start, done.function, (0, 30, 70))


@pytest.mark.parametrize(
    ("text", "rk", "recipe"),
    [
        (SUM, None, "reduce"),
        (ROWS, 2, "reduce"),
        (ROWS, None, "1-d"),
        (COLUMNS, 2, "naive"),
        (PRODUCT, 2, "register"),
    ],
    ids=["alone", "rows-in-chunks", "rows", "columns", "product"],
)
def test_what_is_chosen(text: str, rk: int | None, recipe: Recipe) -> None:
    """A group for a result where neighbours in the reduction read neighbours, and nothing is used
    again by several results."""
    assert tiled(text, rk=rk).recipe == recipe


def test_chunks_of_nothing_that_is_read() -> None:
    assert tiled(COUNTED, reassociate=True).recipe == "reduce"


def test_one_item_combines_few_partial_results() -> None:
    done = tile(untiled(SUM), {"Tx": 16})
    steps = [str(r.step) for r in done.derivation.records]
    assert sum(s.endswith("strided") for s in steps) == 2


def test_groups_that_combine_fit_where_the_tile_is_wide() -> None:
    fn = untiled(ROWS)
    done = tile(fn, {"Tx": 256}, "1-d", options=Options(Rk=2))
    assert [k.mapping.group_size for k in emit.kernel(done.derivation).kernels] == [256, 256]


REFUSALS: dict[str, tuple[str, Recipe | None, type[LoopxformError], str]] = {
    "rounding": (REAL, "reduce", TransformError, "is not associative: 't' would be rounded"),
    "rounding-alone": (COUNTED, None, TransformError, "is not associative"),
    "two-loops": (
        c(
            "for (int i = 0; i < n; i++) { int t = 0; for (int k = 0; k < n; k++) t += a[k]; "
            "for (int k = 0; k < n; k++) t *= a[k]; b[i] = t; }",
            "int n, int a[restrict n], int b[restrict n]",
        ),
        "reduce",
        UnsupportedC,
        "2 sequential loops",
    ),
    "written-before": (
        c(
            "for (int i = 0; i < n; i++) { b[i][0] = 5; int t = 0; for (int k = 1; k < n; k++) "
            "t += a[k] * b[i][0]; b[i][1] = t; }",
            "int n, int a[restrict n], int b[restrict n][2]",
        ),
        "reduce",
        UnsupportedC,
        "'b' is written before the reduction that needs it",
    ),
    "a-value-is-returned": (
        "int f(int n, int a[n]) { int s = 0; for (int k = 0; k < n; k++) s += a[k]; return s; }",
        None,
        UnsupportedC,
        "a statement outside the nest",
    ),
    "no-reduction": (
        c("int s = 1; for (int k = 1; k < n; k++) a[k] = a[k - 1]; b[0] = s;"),
        None,
        UnsupportedC,
        "a statement outside the nest",
    ),
}


@pytest.mark.parametrize("case", REFUSALS)
def test_refusal(case: str) -> None:
    text, recipe, kind, why = REFUSALS[case]
    with pytest.raises(kind, match=why):
        tiled(text, recipe)
