"""Split at the last full tile: full tiles without checks, then the rest."""

from __future__ import annotations

import pytest
from c_texts import COPY, DOWN, MM, STAGED, STENCIL
from conftest import Golden
from deriving import assert_step, c, refusal

LISTINGS = {
    "whole-tiles-in-an-else-branch": (
        c(
            "if (n > 6) b[0] = 2; else for (int i = 0; i < 8; i += 4) a[i] = 1;",
            "int n, float a[8], float b[1]",
        ),
        "split i full-tiles",
    ),
    "redomap": (
        MM,
        *STAGED,
        "split kk full-tiles",
    ),
    "guard-dropped": (
        COPY,
        "stripmine i 4",
        "normalise i",
        "split ii full-tiles",
    ),
    "offset": (
        STENCIL,
        "stripmine i 4",
        "split ii full-tiles",
    ),
    "nothing-left": (
        c("for (int i = 0; i < 8; i++) b[i] = a[i];", "float a[8], float b[8]"),
        "stripmine i 4",
        "split ii full-tiles",
    ),
    "constant-rest": (
        c("for (int i = 0; i < 10; i++) b[i] = a[i];", "float a[10], float b[10]"),
        "stripmine i 4",
        "split ii full-tiles",
    ),
    "unsigned-from-zero": (
        c("for (unsigned i = 0; i < m; i++) b[i] = 1;", "unsigned m, float b[m]"),
        "stripmine i 4",
        "split ii full-tiles",
    ),
}

REFUSALS = {
    "no-tiles": (
        COPY,
        "split i full-tiles",
    ),
    "two-bounds": (
        COPY,
        "stripmine i 6 iii",
        "stripmine i 4 ii",
        "split ii full-tiles",
    ),
    "downwards": (
        DOWN,
        "split i full-tiles",
    ),
    "unsigned-may-wrap": (
        c("for (unsigned i = 1; i < m; i++) b[i] = 1;", "unsigned m, float *b"),
        "stripmine i 4",
        "split ii full-tiles",
    ),
    "mapped": (
        MM,
        *STAGED,
        "split iii full-tiles",
    ),
    "bound-changes": (
        c(
            "for (int i = m; i < n; i += 4) { b[i] = a[i]; m = 0; }",
            "int n, int m, float *a, float *b",
        ),
        "split i full-tiles",
    ),
    "read-after": (
        c("int i; for (i = 0; i < n; i += 4) b[i] = a[i]; b[0] = i;"),
        "split i full-tiles",
    ),
    "unknown": (
        MM,
        "split x full-tiles",
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
