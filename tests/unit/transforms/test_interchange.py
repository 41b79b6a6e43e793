"""Interchange: no dependence is reversed."""

from __future__ import annotations

import pytest
from c_texts import DIAGONAL, DISTRIBUTED, MAPPED, MM, SKEW, TRIANGULAR
from conftest import Golden
from deriving import assert_step, c, corpus, refusal

LISTINGS = {
    "parallel": (
        MM,
        "parallelise i",
        "parallelise j",
        "stripmine j Tx jj",
        "interchange i jj",
    ),
    "diagonal": (
        DIAGONAL,
        "interchange i j",
    ),
    "a-forall-that-cannot-stay-one": (
        c(
            "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) a[i - j + n] = b[j];",
            "int n, float a[2*n], float b[n]",
        ),
        "parallelise j",
        "interchange i j",
    ),
    "a-forall-that-stays-one": (
        c("for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) a[j] += b[i];"),
        "parallelise j",
        "interchange i j",
    ),
    "ikj": (
        corpus("mm_ikj"),
        "interchange k j",
    ),
    "one-of-several": (
        MM,
        *DISTRIBUTED,
        "interchange j kk",
    ),
}

SQUARE = "int n, float a[n][n], float b[n]"
DOMAINS = {
    "triangular": TRIANGULAR,
    "upper": c("for (int i = 0; i < n; i++) for (int j = i + 1; j < n; j++) a[i][j] = i;", SQUARE),
    "falling": c(
        "for (int i = n; i > 0; i--) for (int j = n - i; j < n; j++) a[0][j] = j;", SQUARE
    ),
    "both-fall": c(
        "for (int i = n - 1; i >= 0; i--) for (int j = i; j > 0; j--) a[i][j]=i;", SQUARE
    ),
    "band": c(
        "for (int i = 0; i < n; i++) for (int j = i; j < i + 3 && j < n; j++) a[i][j] = 1;", SQUARE
    ),
    "twice-as-steep": c(
        "for (int i = 0; i < n; i++) for (int j = 2 * i + 1; j < n; j++) b[j] = i;", SQUARE
    ),
    "three-times-downwards": c(
        "for (int i = n - 1; i >= 0; i--) for (int j = 3 * i - 2; j < n; j++)"
        " if (j >= 0) b[j] = i;",
        SQUARE,
    ),
    "empty-for-some": c(
        "for (int i = 0; i < n; i++) for (int j = i; j < n - i; j++) b[i] += j;", SQUARE
    ),
    "from-below-zero": c(
        "for (int i = 2 - n; i < n; i++) for (int j = i; j < n; j++) if (i >= 0) b[j] = i;", SQUARE
    ),
}
LISTINGS |= {name: (text, "interchange i j") for name, text in DOMAINS.items()}

REFUSALS = {
    "not-affine": (
        c("for (int i = 0; i < n; i++) for (int j = 0; j < i * i; j++) b[0] = j;"),
        "interchange i j",
    ),
    "steep-and-negative": (
        c("for (int i = -n; i < n; i++) for (int j = 2 * i; j < n; j++) b[0] = j;"),
        "interchange i j",
    ),
    "every-other": (
        c("for (int i = 0; i < n; i += 2) for (int j = i; j < n; j++) b[j] = i;"),
        "interchange i j",
    ),
    "unsigned": (
        c(
            "for (unsigned i = 0; i < n; i++) for (unsigned j = i; j < n; j++) b[j] = 1;",
            "unsigned n, float *b",
        ),
        "interchange i j",
    ),
    "skewed": (
        SKEW,
        "interchange i j",
    ),
    "statements-between": (
        MM,
        "interchange j k",
    ),
    "not-neighbours": (
        MM,
        "interchange i k",
    ),
    "wrong-way": (
        MM,
        "interchange j i",
    ),
    "mapped": (
        MM,
        *MAPPED,
        "interchange iii jjj",
    ),
    "read-after": (
        c("int j; for (int i = 0; i < n; i++) for (j = 0; j < n; j++) a[i] = j; b[0] = j;"),
        "interchange i j",
    ),
    "bound-changes": (
        c("for (int i = 0; i < n; i++) for (int j = m; j < n; j++) m = 0;", "int n, int m"),
        "interchange i j",
    ),
    "same": (
        MM,
        "interchange i i",
    ),
    "unknown": (
        MM,
        "interchange i x",
    ),
    "unknown-outer": (
        MM,
        "interchange x i",
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
