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

REFUSALS = {
    "skewed": (
        SKEW,
        "interchange i j",
    ),
    "triangular": (
        TRIANGULAR,
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
