"""Widening: bounds that depend on loops around them become a box with a guard."""

from __future__ import annotations

import pytest
from c_texts import COPY, MAPPED, MM, TRIANGULAR
from conftest import Golden
from deriving import assert_step, c, refusal

ARGS = "int n, int m, const float A[n][n], float B[n][n]"
LISTINGS = {
    "triangular": (TRIANGULAR, "widen j i"),
    "upper": (
        c("for (int i = 0; i < n; i++) for (int j = i + 1; j < n; j++) B[i][j] = A[j][i];", ARGS),
        "widen j i",
        "interchange i j",
    ),
    "falling": (
        c("for (int i = 0; i < n; i++) for (int j = 0; j < n - i; j++) B[i][j] = A[i][j];", ARGS),
        "widen j i",
    ),
    "band": (
        c(
            "for (int i = 0; i < n; i++) for (int j = i; j < i + 3 && j < n; j++) B[i][j] = 1;",
            ARGS,
        ),
        "widen j i",
    ),
    "tiles": (TRIANGULAR, "stripmine i 4", "widen j ii,i"),
    "only-the-item": (TRIANGULAR, "stripmine i 4", "widen j i"),
}

REFUSALS = {
    "no-dependence": (MM, "widen j i"),
    "not-around": (TRIANGULAR, "widen i j"),
    "unknown": (COPY, "widen x i"),
    "not-affine": (
        c("for (int i = 0; i < n; i++) for (int j = 0; j < i * i; j++) B[i][j] = 1;", ARGS),
        "widen j i",
    ),
    "data": (
        c(
            "for (int i = 0; i < n; i++) for (int j = 0; j < r[i]; j++) b[i] += a[j];",
            "int n, const int r[n], const float *a, float *b",
        ),
        "widen j i",
    ),
    "unsigned": (
        c(
            "for (unsigned i = 0; i < n; i++) for (unsigned j = 0; j < n - i; j++) b[i] += a[j];",
            "unsigned n, const float *a, float *b",
        ),
        "widen j i",
    ),
    "downwards": (
        c("for (int i = n - 1; i >= 0; i--) for (int j = 0; j < i; j++) B[i][j] = 1;", ARGS),
        "widen j i",
    ),
    "start-with-a-step": (
        c("for (int i = 0; i < n; i++) for (int j = i; j < n; j += 2) B[i][j] = 1;", ARGS),
        "widen j i",
    ),
    "mapped": (MM, *MAPPED, "widen jj ii"),
}


@pytest.mark.parametrize("case", LISTINGS)
def test_listing(case: str, golden: Golden) -> None:
    text, *steps = LISTINGS[case]
    golden.check(assert_step(text, *steps))


@pytest.mark.parametrize("case", REFUSALS)
def test_refusal(case: str, golden: Golden) -> None:
    text, *steps = REFUSALS[case]
    golden.check(refusal(text, *steps))
