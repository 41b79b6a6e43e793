"""Summed-area tables in one pass as running values of their rows."""

from __future__ import annotations

import pytest
from conftest import Golden
from deriving import assert_step, c, refusal
from reducing import shown_where_rounding_differs

PARAMS = "int n, int a[n][n], int x[n + 1][n + 1]"
STEP = "row-sums x j"
TABLE = "a[i][j] + x[i][j + 1] + x[i + 1][j] - x[i][j]"


def loop(body: str, params: str = PARAMS, first: str = "0") -> str:
    header = f"for (int i = {first}; i < n; i++) for (int j = {first}; j < n; j++)"
    return c(f"{header} {{ {body} }}", params)


LISTINGS = {
    "table": (loop("x[i][j] = a[i][j] + x[i - 1][j] + x[i][j - 1] - x[i - 1][j - 1];", first="1"),
              STEP),
    "with-a-border": (loop(f"x[i + 1][j + 1] = {TABLE};"), "row-sums x j sum"),
    "two-terms": (loop("x[i + 1][j + 1] = x[i + 1][j] - (x[i][j] - x[i][j + 1]) - a[i][j] + 3;"),
                  STEP),
    "longer-than-its-terms": (
        loop(f"x[i + 1][j + 1] = {TABLE};", "int n, int a[n][n], long x[n + 1][n + 1]"), STEP,
    ),
    "shorter": (
        loop(f"x[i + 1][j + 1] = {TABLE};", "int n, int a[n][n], short x[n + 1][n + 1]"), STEP,
    ),
    "backwards": (
        c("for (int i = n - 1; i >= 0; i--) for (int j = n - 1; j >= 0; j--) "
          "x[i][j] = x[i + 1][j] + x[i][j + 1] - x[i + 1][j + 1] + a[i][j];", PARAMS), STEP,
    ),
    "first-row-and-column-by-conditions": (
        loop("x[i][j] = a[i][j] + (i ? x[i - 1][j] : 0) + (j ? x[i][j - 1] : 0) "
             "- (i && j ? x[i - 1][j - 1] : 0);"), STEP,
    ),
    "first-row-by-a-condition": (
        loop("x[i + 1][j + 1] = i > 0 ? a[i][j] + x[i][j + 1] + x[i + 1][j] - x[i][j] : "
             "a[i][j] + x[i + 1][j];"), STEP,
    ),
    "in-two-loops": (loop(f"x[i + 1][j + 1] = {TABLE};"), STEP, "defer-update x j"),
}  # fmt: skip

REFUSALS = {
    "another-sign": (
        loop("x[i + 1][j + 1] = a[i][j] + x[i][j + 1] + x[i + 1][j] + x[i][j];"), STEP,
    ),
    "three-of-four": (loop("x[i + 1][j + 1] = a[i][j] + x[i][j + 1] + x[i + 1][j];"), STEP),
    "twice": (loop(f"x[i + 1][j + 1] = {TABLE} + x[i][j];"), STEP),
    "another-product": (loop("x[i + 1][j + 1] = a[i][j] * x[i][j] + x[i][j + 1] - x[i + 1][j];"),
                        STEP),
    "read-besides": (loop(f"x[i + 1][j + 1] = {TABLE}; a[i][j] = x[0][j];"), STEP),
    "asked-besides": (loop(f"x[i + 1][j + 1] = {TABLE}; if (x[0][j] > 1) a[i][j] = 3;"), STEP),
    "under-a-condition": (loop(f"if (a[i][j] > 1) x[i + 1][j + 1] = {TABLE};"), STEP),
    "no-rows": (
        c("for (int j = 1; j < n; j++) x[j] = a[j] + x[j - 1] + x[j + 1] - x[j];",
          "int n, int a[n], int x[n + 1]"), STEP,
    ),
    "an-integer-of-real-numbers": (
        loop(f"x[i + 1][j + 1] = {TABLE};", "int n, float a[n][n], int x[n + 1][n + 1]"), STEP,
    ),
    "another-first-column": (
        loop("x[i + 1][j + 1] = a[i][j] + x[i][j + 1] + (j > 1 ? x[i + 1][j] : 0) - x[i][j];"),
        STEP,
    ),
    "through-a-narrower-type": (
        loop(f"x[i + 1][j + 1] = (unsigned char)({TABLE});",
             "int n, int a[n][n], short x[n + 1][n + 1]"), STEP,
    ),
    "real": (
        loop(f"x[i + 1][j + 1] = {TABLE};", "int n, float a[n][n], float x[n + 1][n + 1]"), STEP,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", LISTINGS)
def test_listing(name: str, golden: Golden) -> None:
    text, *steps = LISTINGS[name]
    golden.check(assert_step(text, *steps, sizes=(0, 1, 2, 5)))


@pytest.mark.parametrize("name", REFUSALS)
def test_refusal(name: str, golden: Golden) -> None:
    text, *steps = REFUSALS[name]
    golden.check(refusal(text, *steps))


def test_real_numbers_with_permission() -> None:
    """Of whole numbers, whose sums are exact."""
    text = loop(f"x[i + 1][j + 1] = {TABLE};", "int n, float a[n][n], float x[n + 1][n + 1]")
    assert "sum += " in shown_where_rounding_differs(text, "row-sums x j sum reassociate")
