"""Parallelise: what is carried by no loop runs in any order."""

from __future__ import annotations

import pytest
from c_texts import C89, DIAGONAL, FLAT, MM, STENCIL, TRIANGULAR, TWO
from conftest import Golden
from deriving import assert_step, c, refusal

LISTINGS = {
    "outermost": (
        MM,
        "parallelise i",
    ),
    "second": (
        MM,
        "parallelise i",
        "parallelise j",
    ),
    "flat": (
        FLAT,
        "parallelise i",
    ),
    "stencil": (
        STENCIL,
        "parallelise i",
    ),
    "triangular": (
        TRIANGULAR,
        "parallelise j",
    ),
    "inner-of-diagonal": (
        DIAGONAL,
        "parallelise j",
    ),
    "one-of-two": (
        TWO,
        "parallelise i#2",
    ),
}

REFUSALS = {
    "reduction": (
        MM,
        "parallelise k",
    ),
    "scalar-of-the-function": (
        C89,
        "parallelise i",
    ),
    "carried": (
        c("for (int i = 0; i < n; i++) a[i + 1] = a[i] + 1;", "int n, float a[n + 1]"),
        "parallelise i",
    ),
    "time-loop": (
        STENCIL,
        "parallelise t",
    ),
    "read-after": (
        c("int i; for (i = 0; i < n; i++) a[i] = i; b[0] = i;", "int n, float a[n], float b[1]"),
        "parallelise i",
    ),
    "indirect": (
        c("for (int i = 0; i < n; i++) a[k[i]] = b[i];", "int n, float a[n], float b[n], int k[n]"),
        "parallelise i",
    ),
    "unmodelled": (
        c("for (int i = 0; i < n; i++) { g(i); a[i] = b[i]; }"),
        "parallelise i",
    ),
    "unknown": (
        MM,
        "parallelise x",
    ),
    "ambiguous": (
        TWO,
        "parallelise i",
    ),
    "number": (
        TWO,
        "parallelise i#3",
    ),
    "loop-not-modelled": (
        c("for (int i = 1; i < n; i *= 2) b[i] = 1;"),
        "parallelise i",
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
