"""Unscalarise: a scalar in the element that it is stored to."""

from __future__ import annotations

import pytest
from c_texts import COPY
from conftest import Golden
from deriving import assert_step, c, refusal

SQUARE = "int n, double L[n][n], const double b[n], double x[n], float f[n]"


def rows(before: str, inside: str, after: str) -> str:
    """A loop over rows, with a scalar of its own, around one over columns."""
    loop = f"for (int j = 0; j < i; j++) {inside}"
    return c(f"for (int i = 0; i < n; i++) {{ double w; {before} {loop} {after} }}", SQUARE)


SOLVE = rows("w = b[i];", "w -= L[i][j] * x[j];", "x[i] = w / L[i][i];")
LU = c(
    "for (int i = 0; i < n; i++) for (int j = 0; j < i; j++) { double w = L[i][j];"
    " for (int k = 0; k < j; k++) w -= L[i][k] * L[k][j]; L[i][j] = w; }",
    SQUARE,
)

LISTINGS = {
    "triangle": (SOLVE, "unscalarise i"),
    "by-columns": (SOLVE, "unscalarise i w", "sink-tail j", "distribute i", "interchange i#2 j"),
    "nothing-but-sums": (LU, "unscalarise j", "interchange j k"),
    "used-before-and-after": (
        rows("L[i][i] = x[i]; w = 1;", "w += b[j];", "x[i] = w; L[i][0] = x[i];"),
        "unscalarise i",
    ),
    "stored-twice": (rows("w = 0;", "w += b[j];", "x[i] = w; L[i][i] = w;"), "unscalarise i"),
    "one-of-two": (
        c(
            "for (int i = 1; i < n; i++) { double v = 2, w = v;"
            " for (int j = 0; j < n; j++) w += b[j]; x[i] = w; }",
            SQUARE,
        ),
        "unscalarise i",
    ),
}

REFUSALS = {
    "met-in-the-loop": (rows("w = 0;", "w += x[i - j];", "x[i] = w;"), "unscalarise i"),
    "met-at-the-end": (rows("w = 0;", "w += b[j];", "x[i] = w + x[i];"), "unscalarise i"),
    "met-at-some-place": (rows("w = 0;", "w += x[(int)b[j]];", "x[i] = w;"), "unscalarise i"),
    "rounded": (rows("w = 0;", "w += b[j];", "f[i] = w;"), "unscalarise i"),
    "moving": (rows("int k = i; w = 0;", "{ w += b[j]; k--; }", "x[k] = w;"), "unscalarise i w"),
    "used-afterwards": (rows("w = 0;", "w += b[j];", "x[i] = w; w = 1;"), "unscalarise i"),
    "never-used": (
        c("for (int i = 0; i < n; i++) { double w; x[i] = i; }", SQUARE),
        "unscalarise i",
    ),
    "stored-sometimes": (rows("w = 0;", "w += b[j];", "if (w > 0) x[i] = w;"), "unscalarise i"),
    "set-sometimes": (rows("if (n > i) w = 0;", "w = b[j];", "x[i] = w;"), "unscalarise i"),
    "of-no-loop": (COPY, "unscalarise i"),
    "unknown": (COPY, "unscalarise q"),
}


@pytest.mark.parametrize("case", LISTINGS)
def test_listing(case: str, golden: Golden) -> None:
    text, *steps = LISTINGS[case]
    golden.check(assert_step(text, *steps))


@pytest.mark.parametrize("case", REFUSALS)
def test_refusal(case: str, golden: Golden) -> None:
    text, *steps = REFUSALS[case]
    golden.check(refusal(text, *steps))
