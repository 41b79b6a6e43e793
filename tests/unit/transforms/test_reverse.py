"""Reverse: the same iterations from the other end, where none depends on another."""

from __future__ import annotations

import pytest
from c_texts import COPY, DOWN, MAPPED, MM, STENCIL, TRIANGULAR
from conftest import Golden
from deriving import assert_step, c, refusal

UNSIGNED = "unsigned n, float *a, float *b"

LISTINGS = {
    "up": (COPY, "reverse i"),
    "down": (c("for (int i = n - 1; i >= 0; i--) b[i] = a[i];"), "reverse i"),
    "twice": (COPY, "reverse i", "reverse i"),
    "triangular": (TRIANGULAR, "reverse i"),
    "outer": (MM, "parallelise i", "reverse i"),
    "unsigned": (
        c(
            "for (unsigned i = n; i > 0; i--) b[i - 1] = a[i - 1];",
            "unsigned n, float *a, float *b",
        ),
        "reverse i",
    ),
}

REFUSALS = {
    "carried": (STENCIL, "reverse t"),
    "sum": (MM, "reverse k"),
    "by-two": (c("for (int i = 0; i < n; i += 2) b[i] = a[i];"), "reverse i"),
    "unsigned": (
        c("for (unsigned i = 0; i < n; i++) b[i] = a[i];", UNSIGNED),
        "reverse i",
    ),
    "read-after": (c("int i; for (i = 0; i < n; i++) b[i] = 1; a[0] = i;"), "reverse i"),
    "mapped": (MM, *MAPPED, "reverse iii"),
    "unknown": (DOWN, "reverse x"),
}


@pytest.mark.parametrize("case", LISTINGS)
def test_listing(case: str, golden: Golden) -> None:
    text, *steps = LISTINGS[case]
    golden.check(assert_step(text, *steps))


@pytest.mark.parametrize("case", REFUSALS)
def test_refusal(case: str, golden: Golden) -> None:
    text, *steps = REFUSALS[case]
    golden.check(refusal(text, *steps))
