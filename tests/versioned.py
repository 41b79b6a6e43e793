"""Nests that have versions, and how these are derived with small groups, chunks and thresholds."""

from __future__ import annotations

from dataclasses import replace

from deriving import c, untiled

from loopxform.recipes.tile import tile
from loopxform.recipes.tiled import Tiled
from loopxform.schedule.params import Options
from loopxform.targets.target import GENERIC, Costs

ROWS = c(
    "for (int i = 0; i < n; i++) { int s = y[i]; for (int k = 0; k < m; k++) s += a[i][k] * x[k]; "
    "y[i] = s; }",
    "int n, int m, const int a[restrict n][m], const int x[restrict m], int y[restrict n]",
)
SQUARES = c(
    "for (int i = 0; i < n; i++) for (int j = 2; j < m - 1; j++) { float s = 0; "
    "for (int k = 0; k < l; k++) s += a[i][j][k] * a[i][j][k]; y[i][j] = s; }",
    "int n, int m, int l, const float a[restrict n][m][l], float y[restrict n][m]",
)
LEAST = c(
    "for (int i = 0; i < n; i++) { double s = 1e300; for (int k = m - 1; k >= 0; k--) "
    "s = a[i][k] < s ? a[i][k] : s; y[i] = s; }",
    "int n, int m, const double a[restrict n][m], double y[restrict n]",
)
PLACE = c(
    "for (int i = 0; i < n; i++) { float s = 1e30f; int p = -1; for (int k = 0; k < m; k++) "
    "if (a[i][k] < s) { s = a[i][k]; p = k; } y[i] = s; z[i] = p; }",
    "int n, int m, const float a[restrict n][m], float y[restrict n], int z[restrict n]",
)
PLACE_ALONE = c(
    "for (int i = 0; i < n; i++) { int p = 0; for (int k = 0; k < m; k++) "
    "if (a[i][p] < a[i][k]) p = k; z[i] = p; }",
    "int n, int m, const float a[restrict n][m], int z[restrict n]",
)
COLUMNS = c(
    "for (int i = 0; i < n; i++) { float s = -1; for (int k = 0; k < m; k++) "
    "if (a[k][i] > s) s = a[k][i]; y[i] = s; }",
    "int n, int m, const float a[restrict m][n], float y[restrict n]",
)
TRIANGLE = c(
    "for (int i = 0; i < n; i++) { long s = 0; for (int k = 0; k <= i; k++) s += a[i][k]; "
    "y[i] = s; }",
    "int n, const int a[restrict n][n], long y[restrict n]",
)
TOTAL = c(
    "unsigned s = 7; for (int k = 0; k < n; k++) s ^= a[k]; y[0] = s;",
    "int n, const unsigned a[restrict n], unsigned y[restrict 1]",
)
TWO = c(
    "for (int i = 0; i < n; i++) { int s = 0; for (int k = 0; k < n; k++) s += a[i][k]; "
    "for (int j = 0; j < n; j++) { int t = s; for (int k = 0; k < n; k++) "
    "t = a[j][k] > t ? a[j][k] : t; y[i][j] = t; } }",
    "int n, const int a[restrict n][n], int y[restrict n][n]",
)

CASES = {
    "rows": (ROWS, ("chunks", "groups", "items")),
    "squares": (SQUARES, ("chunks", "groups", "items")),
    "least": (LEAST, ("chunks", "groups", "items")),
    "place": (PLACE, ("chunks", "groups", "items")),
    "place-alone": (PLACE_ALONE, ("chunks", "groups", "items")),
    "columns": (COLUMNS, ("chunks", "items")),
    "triangle": (TRIANGLE, ("groups", "items")),
    "total": (TOTAL, ("chunks", "groups", "items")),
}
"""Programs, and the versions that they have; "items" alone: no choice."""

SMALL = replace(
    GENERIC, group_size=32, costs=replace(Costs(), chunk_tiles=1, item_terms=8, combined_alone=4)
)
THRESHOLDS = {"suff_outer_par": 9, "suff_intra_par": 2, "suff_group_par": 3, "suff_inner_par": 70}


def options(*, reassociate: bool = True) -> Options:
    """Small thresholds, the same for every nest."""
    named = {f"{kind}_{n}": value for kind, value in THRESHOLDS.items() for n in range(9)}
    return Options(reassociate=reassociate, threshold=tuple(named.items()))


def versioned(text: str, *, reassociate: bool = True) -> Tiled:
    return tile(untiled(text), {}, limits=SMALL, options=options(reassociate=reassociate))
