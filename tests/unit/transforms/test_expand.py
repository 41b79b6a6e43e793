"""Expand: every iteration gets its own element."""

from __future__ import annotations

import pytest
from c_texts import EXPANDED, MM, STAGED
from conftest import Golden
from deriving import assert_step, c, refusal

LISTINGS = {
    "four-loops": (
        MM,
        *EXPANDED,
    ),
    "innermost-only": (
        MM,
        "parallelise i",
        "expand acc j",
    ),
    "two-loops": (
        MM,
        "expand acc i,j",
    ),
    "array": (
        c("for (int i = 0; i < n; i++) { float t[2]; t[0] = a[i]; t[1] = t[0] + 1; b[i] = t[1]; }"),
        "expand t i",
    ),
    "may-be-empty": (
        c("for (int i = 2; i < n - 1; i++) { float t = a[i]; b[i] = t; }"),
        "expand t i",
    ),
    "downwards": (
        c("for (int i = n - 1; i >= 0; i--) { float t = a[i]; b[i] = t; }"),
        "expand t i",
    ),
    "step": (
        c("for (int i = 0; i < n; i += 3) { float t = a[i]; b[i] = t; }"),
        "expand t i",
    ),
    "constant-and-empty": (
        c("for (int i = 5; i < 3; i++) { float t = a[0]; b[0] = t; }", "float a[1], float b[1]"),
        "expand t i",
    ),
}

REFUSALS = {
    "in-two-copies": (
        c(
            "for (int i = 0; i < n; i++) for (int j = 0; j < n; j += 2)"
            " { float t = a[i]; b[j] = t; }"
        ),
        "epilogue j",
        "expand t i,j",
    ),
    "shared": (
        MM,
        "parallelise i",
        "parallelise j",
        "expand acc i",
    ),
    "of-the-caller": (
        MM,
        "expand C j",
    ),
    "not-inside": (
        MM,
        "expand acc k",
    ),
    "unknown-name": (
        MM,
        "expand sum j",
    ),
    "unknown-loop": (
        MM,
        "expand acc x",
    ),
    "trip-count-unknown": (
        c("for (int i = 0; i < n; i++) for (int j = 0; j < i; j++) { float t = a[j]; b[j] = t; }"),
        "expand t i,j",
    ),
    "trip-count-computed": (
        c(
            "for (int i = 0; i < n; i++) { int m = k[i]; for (int j = 0; j < m; j++) { "
            "float t = a[j]; b[j] = t; } }",
            "int n, float *a, float *b, int k[n]",
        ),
        "expand t i,j",
    ),
    "extent-varies": (
        c("for (int i = 0; i < n; i++) { float t[i + 1]; t[i] = a[i]; b[i] = t[i]; }"),
        "expand t i",
    ),
    "bound-changes": (
        c(
            "for (int i = m; i < n; i++) { float t = a[i]; b[i] = t; m = 0; }",
            "int n, int m, float *a, float *b",
        ),
        "expand t i",
    ),
    "staged": (
        MM,
        *STAGED,
        "expand A_loc kk",
    ),
}


@pytest.mark.parametrize("case", LISTINGS)
def test_listing(case: str, golden: Golden) -> None:
    text, *steps = LISTINGS[case]
    golden.check(assert_step(text, *steps))


@pytest.mark.parametrize("case", REFUSALS)
def test_refusal(case: str, golden: Golden) -> None:
    text, *steps = REFUSALS[case]
    golden.check(refusal(text, *steps))
