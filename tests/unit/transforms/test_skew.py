"""Skew: the same iterations in the same order, under other numbers."""

from __future__ import annotations

import pytest
from c_texts import COPY, MAPPED, MM, SKEW, TRIANGULAR
from conftest import Golden
from deriving import assert_step, c, refusal

GRID = "int n, int m, float a[n][m]"
SWEEP = c(
    "for (int i = 1; i < n; i++) for (int j = 1; j < m; j++) a[i][j] = a[i-1][j] + a[i][j-1];", GRID
)
PLANES = "int T, int n, float a[n][n]"
SEIDEL = c(
    "for (int t = 0; t < T; t++) for (int i = 1; i < n - 1; i++) for (int j = 1; j < n - 1; j++)"
    " a[i][j] = a[i-1][j+1] + a[i][j-1] + a[i][j] + a[i+1][j-1] + a[i+1][j+1];",
    PLANES,
)
SUFFIXES = c(
    "for (int i = n - 1; i >= 0; i--) for (int j = i + 1; j < n; j++) {"
    " a[i][j] = a[i][j-1]; for (int k = i + 1; k < j; k++) a[i][j] += a[i][k] * a[k][j]; }",
    "int n, float a[n][n]",
)

LISTINGS = {
    "wave-fronts": (SWEEP, "skew j i", "interchange i j", "parallelise i"),
    "makes-room-for-interchange": (SKEW, "skew j i", "interchange i j"),
    "triangular": (TRIANGULAR, "skew j i -1"),
    "three-loops": (
        SEIDEL,
        "skew j t 4",
        "skew j i 2",
        "interchange i j",
        "interchange t j",
        "parallelise t",
        "parallelise i",
    ),
    "against-a-descending-loop": (
        SUFFIXES,
        "skew j i -1",
        "interchange i j",
        "parallelise i",
    ),
    "a-loop-between": (MM, "skew k i 3"),
    "stride": (
        c("for (int i = 0; i < n; i++) for (int j = 0; j < n; j += 2) b[j] = i;"),
        "skew j i",
    ),
    "short": (
        c("for (int i = 0; i < n; i++) for (short j = 0; j < 9; j++) a[i] = i + 0.5f * j;"),
        "skew j i",
    ),
    "several-bounds": (
        c("for (int i = 0; i < n; i++) for (int j = i; j < i + 3 && j < n; j++) b[j] = i;"),
        "skew j i -1",
    ),
}

REFUSALS = {
    "not-inside": (MM, "skew i j"),
    "itself": (MM, "skew i i"),
    "zero": (MM, "skew j i 0"),
    "not-a-number": (MM, "skew j i T"),
    "unsigned": (
        c(
            "for (unsigned i = 0; i < n; i++) for (unsigned j = 0; j < n; j++) b[j] = i;",
            "unsigned n, float *b",
        ),
        "skew j i",
    ),
    "read-after": (
        c("int j; for (int i = 0; i < n; i++) for (j = 0; j < n; j++) b[j] = i; a[0] = j;"),
        "skew j i",
    ),
    "mapped": (MM, *MAPPED, "skew jjj iii"),
    "unknown": (COPY, "skew x i"),
    "too-early-for-parallel": (SWEEP, "skew j i", "parallelise j"),
}


@pytest.mark.parametrize("case", LISTINGS)
def test_listing(case: str, golden: Golden) -> None:
    text, *steps = LISTINGS[case]
    golden.check(assert_step(text, *steps))


@pytest.mark.parametrize("case", REFUSALS)
def test_refusal(case: str, golden: Golden) -> None:
    text, *steps = REFUSALS[case]
    golden.check(refusal(text, *steps))
