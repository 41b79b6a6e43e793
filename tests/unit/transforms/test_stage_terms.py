"""Terms of rows that are computed side by side."""

from __future__ import annotations

import pytest
from conftest import Golden
from deriving import assert_step, c, refusal

PARAMS = "int n, int m, int nz, int row[n + 1], int col[nz], int v[nz], int x[m], int y[n]"
BOUNDS = "int k = row[i]; k < row[i + 1]; k++"
SUM = "s += v[k] * x[col[k]];"
TILES = ("parallelise i", "stripmine i Tx ii")


def rows(
    terms: str = SUM,
    *,
    before: str = "int s = 0;",
    after: str = "y[i] = s;",
    bounds: str = BOUNDS,
    params: str = PARAMS,
) -> str:
    body = f"{before} for ({bounds}) {{ {terms} }} {after}"
    return c(f"for (int i = 0; i < n; i++) {{ {body} }}", params)


FLOATS = PARAMS.replace("int v", "float v").replace("int y", "float y")
REAL = rows(before="float s = 0;", params=FLOATS)

LISTINGS = {
    "sum": (rows(), *TILES, "stage-terms k Tk"),
    "in-parts": (rows(), *TILES, "stage-terms k Tk 2"),
    "rounded-differently": (REAL, *TILES, "stage-terms k Tk Ty reassociate"),
    "difference": (rows("s -= v[k];", before="int s = i;"), *TILES, "stage-terms k Tk 2"),
    "maximum": (rows("if (v[k] > s) s = v[k];"), *TILES, "stage-terms k Tk 3"),
    "computed": (
        rows("int u = col[k]; u = x[u] + 1; s ^= u;", after="y[i] = s * 2; y[i] += i;"),
        *TILES, "stage-terms k Tk",
    ),
    "further": (rows(before="int s, t; s = i; t = y[i];", after="y[i] = s + t;"), *TILES,
                "stage-terms k 1"),
    "long": (
        rows(bounds="long k = row[i]; k < row[i + 1]; k++",
             params=PARAMS.replace("int row", "long row")),
        *TILES, "stage-terms k Tk",
    ),
    "unsigned": (
        rows(bounds="unsigned k = row[i]; k < row[i + 1]; k++",
             params=PARAMS.replace("int row", "unsigned row")),
        *TILES, "stage-terms k Tk 2",
    ),
}  # fmt: skip

REFUSALS = {
    "no-tile": (rows(), "parallelise i", "stage-terms k 4"),
    "in-order": (rows(), "stripmine i Tx ii", "stage-terms k 4"),
    "apart": (
        rows(bounds="int k = row[i]; k < row[i + 1] - 1; k++"), *TILES, "stage-terms k 4",
    ),
    "from-0": (
        rows("s += v[row[i + 1] - 1 - k];", bounds="int k = 0; k < row[i + 1] - row[i]; k++"),
        *TILES, "stage-terms k 4",
    ),
    "gaps": (
        rows(bounds="int k = row[i] + 1; k <= row[i + 1] - 1; k++"), *TILES, "stage-terms k 4",
    ),
    "of-a-row": (rows("s += v[k] * x[i % m];"), *TILES, "stage-terms k 4"),
    "of-what-was-set": (
        rows("s += v[k] * t;", before="int s = 0, t = x[i % m];"), *TILES, "stage-terms k 4",
    ),
    "two-sums": (
        rows("s += v[k]; t += col[k];", before="int s = 0, t = 0;", after="y[i] = s + t;"),
        *TILES, "stage-terms k 4",
    ),
    "in-some": (rows("if (col[k] > 2) s += v[k];"), *TILES, "stage-terms k 4"),
    "no-reduction": (rows("s = s / 2 + v[k];"), *TILES, "stage-terms k 4"),
    "stores-first": (rows(before="int s = 0; y[i] = 3;"), *TILES, "stage-terms k 4"),
    "order": (REAL, *TILES, "stage-terms k 4 2"),
    "no-size": (rows(), *TILES, "stage-terms k 0"),
    "no-word": (rows(), *TILES, "stage-terms k 4 2 whatever"),
    "outermost": (c("for (int k = 0; k < n; k++) a[k] = 0;"), "stage-terms k 4"),
}  # fmt: skip


@pytest.mark.parametrize("name", LISTINGS)
def test_listing(name: str, golden: Golden) -> None:
    text, *steps = LISTINGS[name]
    exact = "reassociate" not in steps[-1]
    golden.check(assert_step(text, *steps, sizes=(0, 1, 2, 5, 8) if exact else ()))


@pytest.mark.parametrize("name", REFUSALS)
def test_refusal(name: str, golden: Golden) -> None:
    text, *steps = REFUSALS[name]
    golden.check(refusal(text, *steps))
