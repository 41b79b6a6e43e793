"""Widening: bounds that depend on loops around them become a box with a guard."""

from __future__ import annotations

import pytest
from c_texts import COPY, MAPPED, MM, TRIANGULAR
from conftest import Golden
from deriving import assert_step, c, refusal

ARGS = "int n, int m, const float A[n][n], float B[n][n]"
LISTINGS = {
    "triangular": (TRIANGULAR, "bounding-box j i"),
    "upper": (
        c("for (int i = 0; i < n; i++) for (int j = i + 1; j < n; j++) B[i][j] = A[j][i];", ARGS),
        "bounding-box j i",
        "interchange i j",
    ),
    "falling": (
        c("for (int i = 0; i < n; i++) for (int j = 0; j < n - i; j++) B[i][j] = A[i][j];", ARGS),
        "bounding-box j i",
    ),
    "band": (
        c(
            "for (int i = 0; i < n; i++) for (int j = i; j < i + 3 && j < n; j++) B[i][j] = 1;",
            ARGS,
        ),
        "bounding-box j i",
    ),
    "every-second": (
        c(
            "for (int i = 1; i < n - 1; i++) for (int j = 1 + (i + m) % 2; j < n - 1; j += 2)"
            " B[i][j] = A[i][j];",
            ARGS,
        ),
        "normalise j",
        "bounding-box j i",
        "interchange i j",
    ),
    "low-bits": (
        c(
            "for (int i = 0; i < n; i++) for (int j = 3 - (i & 3); j < n - i % 3; j++)"
            " B[i][j] = A[i][j];",
            ARGS,
        ),
        "bounding-box j i",
    ),
    "tiles": (TRIANGULAR, "stripmine i 4", "bounding-box j ii,i"),
    "only-the-item": (TRIANGULAR, "stripmine i 4", "bounding-box j i"),
}

REFUSALS = {
    "no-dependence": (MM, "bounding-box j i"),
    "not-around": (TRIANGULAR, "bounding-box i j"),
    "unknown": (COPY, "bounding-box x i"),
    "not-affine": (
        c("for (int i = 0; i < n; i++) for (int j = 0; j < i * i; j++) B[i][j] = 1;", ARGS),
        "bounding-box j i",
    ),
    "data": (
        c(
            "for (int i = 0; i < n; i++) for (int j = 0; j < r[i]; j++) b[i] += a[j];",
            "int n, const int r[n], const float *a, float *b",
        ),
        "bounding-box j i",
    ),
    "unsigned": (
        c(
            "for (unsigned i = 0; i < n; i++) for (unsigned j = 0; j < n - i; j++) b[i] += a[j];",
            "unsigned n, const float *a, float *b",
        ),
        "bounding-box j i",
    ),
    "downwards": (
        c("for (int i = n - 1; i >= 0; i--) for (int j = 0; j < i; j++) B[i][j] = 1;", ARGS),
        "bounding-box j i",
    ),
    "start-with-a-step": (
        c("for (int i = 0; i < n; i++) for (int j = i; j < n; j += 2) B[i][j] = 1;", ARGS),
        "bounding-box j i",
    ),
    "mapped": (MM, *MAPPED, "bounding-box jj ii"),
}


@pytest.mark.parametrize("case", LISTINGS)
def test_listing(case: str, golden: Golden) -> None:
    text, *steps = LISTINGS[case]
    golden.check(assert_step(text, *steps))


@pytest.mark.parametrize("case", REFUSALS)
def test_refusal(case: str, golden: Golden) -> None:
    text, *steps = REFUSALS[case]
    golden.check(refusal(text, *steps))
