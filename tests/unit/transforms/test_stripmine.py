"""Stripmine: the same iterations in the same order, in tiles."""

from __future__ import annotations

import pytest
from c_texts import C89, COPY, DOWN, FLAT, MAPPED, MM, TRIANGULAR, TWO
from conftest import Golden
from deriving import assert_step, c, refusal

LISTINGS = {
    "number": (
        COPY,
        "stripmine i 4",
    ),
    "named-outer": (
        COPY,
        "stripmine i Ty*Ry block",
    ),
    "twice": (
        MM,
        "stripmine i Ty*Ry iii",
        "stripmine i Ry ii",
    ),
    "not-a-divisor": (
        COPY,
        "stripmine i 4 iii",
        "stripmine i 3",
    ),
    "parallel": (
        MM,
        "parallelise i",
        "stripmine i Ty",
    ),
    "flat": (
        FLAT,
        "stripmine k Tk",
    ),
    "c89": (
        C89,
        "stripmine k Tk",
    ),
    "triangular": (
        TRIANGULAR,
        "stripmine j 3",
    ),
    "step": (
        c("for (int i = 1; i < n; i += 3) b[i] = a[i];"),
        "stripmine i 4",
    ),
    "constant-bounds": (
        c("for (int i = 0; i < 8; i++) b[i] = a[i];", "float a[8], float b[8]"),
        "stripmine i 4",
    ),
    "char-counter": (
        c("for (unsigned char i = 0; i < 250; i++) b[i] = a[i];", "float a[250], float b[250]"),
        "stripmine i 16",
    ),
    "long-name": (
        c("for (int idx = 0; idx < n; idx++) b[idx] = a[idx];"),
        "stripmine idx 4",
    ),
    "bound-and-tile": (
        COPY,
        "stripmine i 1",
    ),
}

REFUSALS = {
    "downwards": (
        DOWN,
        "stripmine i 4",
    ),
    "zero": (
        COPY,
        "stripmine i 0",
    ),
    "negative": (
        COPY,
        "stripmine i -4",
    ),
    "not-a-size": (
        COPY,
        "stripmine i Tz",
    ),
    "superscript": (
        COPY,
        "stripmine i ²",
    ),
    "huge": (
        COPY,
        "stripmine i 99999999999",
    ),
    "too-large": (
        COPY,
        "stripmine i 2000000",
    ),
    "taken": (
        COPY,
        "stripmine i 4 a",
    ),
    "keyword": (
        COPY,
        "stripmine i 4 while",
    ),
    "not-a-name": (
        COPY,
        "stripmine i 4 i+1",
    ),
    "read-after": (
        c("int i; for (i = 0; i < n; i++) b[i] = a[i]; b[0] = i;"),
        "stripmine i 4",
    ),
    "bound-changes": (
        c(
            "for (int i = m; i < n; i++) { b[i] = a[i]; m = 0; }",
            "int n, int m, float *a, float *b",
        ),
        "stripmine i 4",
    ),
    "end-of-int": (
        c("for (int i = 2147483640; i < 2147483647; i++) b[i - 2147483640] = 1;", "float b[8]"),
        "stripmine i 16",
    ),
    "mapped": (
        MM,
        *MAPPED,
        "stripmine iii 2",
    ),
    "unknown": (
        COPY,
        "stripmine x 4",
    ),
    "ambiguous": (
        TWO,
        "stripmine i 4",
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
