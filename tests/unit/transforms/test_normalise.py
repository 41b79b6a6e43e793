"""Normalise: iterations numbered from 0, bounds as guards where the trip count is fixed."""

from __future__ import annotations

import pytest
from c_texts import COPY, DOWN, MAPPED, MM, NORMAL, STENCIL, SWAPPED, TWO
from conftest import Golden
from deriving import assert_step, c, derived, refusal, shown

LISTINGS = {
    "bounds-become-guards": (
        MM,
        *SWAPPED,
        "normalise j#2",
    ),
    "guard-innermost": (
        MM,
        *SWAPPED,
        "normalise i#2 innermost",
    ),
    "every": (
        MM,
        *NORMAL,
    ),
    "offset": (
        STENCIL,
        "normalise i",
    ),
    "downwards": (
        DOWN,
        "normalise i",
    ),
    "step": (
        c("for (int i = 1; i < n; i += 3) b[i] = a[i] + i;"),
        "normalise i",
    ),
    "triangular": (
        c(
            "for (int i = 0; i < n; i++) for (int j = i; j < n; j++) A[i][j] = j;",
            "int n, float A[n][n]",
        ),
        "normalise j",
    ),
    "real-subscript": (
        c("for (int i = 1; i < n; i++) b[(int)(i * 0.5f)] = a[i];"),
        "normalise i",
    ),
    "joins-the-if": (
        COPY.replace("b[i] =", "if (a[i] > 1) b[i] ="),
        "stripmine i 4",
        "normalise i",
    ),
    "signed-from-unsigned": (
        c("for (int i = m; i < m + 3; i++) b[i] = i - 20;", "unsigned m, float b[m + 3]"),
        "normalise i",
    ),
    "signed-char": (
        c("for (signed char i = -100; i < 100; i++) b[i + 100] = i;", "float b[200]"),
        "normalise i",
    ),
    "guard-stays-outside": (
        c(
            "for (int i = 0; i < n; i++) for (int j = 0; j < k[i]; j++) b[i] += a[j];",
            "int n, float *a, float b[n], int k[n]",
        ),
        "stripmine i 4",
        "normalise i innermost",
    ),
    "guard-before-division": (
        c(
            "for (int i = 0; i < n; i++) for (int j = 0; j < 8 / n; j++) b[i] += 1;",
            "int n, float b[n]",
        ),
        "stripmine i 4",
        "normalise i innermost",
    ),
}

REFUSALS = {
    "bad-place": (
        COPY,
        "normalise i outside",
    ),
    "unsigned-may-wrap": (
        c("for (unsigned i = 1; i < m; i++) b[i] = 1;", "unsigned m, float *b"),
        "normalise i",
    ),
    "size-may-wrap": (
        c("for (unsigned long i = 2; i < m; i++) b[i] = 1;", "unsigned long m, float *b"),
        "normalise i",
    ),
    "bound-changes": (
        c(
            "for (int i = m; i < n; i++) { b[i] = a[i]; m = 0; }",
            "int n, int m, float *a, float *b",
        ),
        "normalise i",
    ),
    "read-after": (
        c("int i; for (i = 1; i < n; i++) b[i] = 1; b[0] = i;"),
        "normalise i",
    ),
    "mapped": (
        MM,
        *MAPPED,
        "normalise jj*",
    ),
    "ambiguous": (
        TWO,
        "normalise i",
    ),
    "unknown": (
        MM,
        "normalise x",
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


@pytest.mark.parametrize(
    ("key", "same"),
    [
        ("a[i] % 10u", "a[i+3]%10u"),
        ("(a[i] ^ 1u) / 9", "(a[i+3]^1u)/9"),
        ("a[i] * 100000000ll % 10", "a[i+3]*100000000ll%10"),
        ("(a[i] > 3u) + 2", "(a[i+3]>3u)+2"),
        ("(i + 2) % 4", "(i+5)%4"),
    ],
)
def test_data_in_subscripts_keep_the_type_they_are_computed_in(key: str, same: str) -> None:
    """`10u` makes a number unsigned, and `100000000ll` a product wider."""
    loop = c(f"for (int i = 3; i < n; i++) b[{key}] += 1;", "int n, int a[n], int b[n]")
    assert f"b[{same}] += 1;" in shown(derived(loop, "normalise i"))
