"""Unroll: marked for the compiler, in full, or by a factor with a rest."""

from __future__ import annotations

import pytest
from c_texts import COPY, DOWN, MAPPED, MM, NORMAL, TWO
from conftest import Golden
from deriving import assert_step, c, refusal

LISTINGS = {
    "mark": (
        MM,
        *NORMAL,
        "unroll j*",
    ),
    "full": (
        c(
            "for (int i = 0; i < 3; i++) { float t = a[i]; b[i] = t + i; }",
            "float a[3], float b[3]",
        ),
        "unroll i full",
    ),
    "factor": (
        COPY,
        "unroll i 4",
    ),
    "factor-with-step": (
        c("for (int i = 1; i < n; i += 2) b[i] = a[i];"),
        "unroll i 3",
    ),
    "storage": (
        c("for (int i = 0; i < n; i++) { float t = a[i]; b[i] = t * t; }"),
        "unroll i 2",
    ),
    "names-taken": (
        c(
            "float t_0 = 5; for (int i = 0; i < 2; i++) { float t = a[i]; b[i] = t * t_0; }",
            "float a[2], float b[2]",
        ),
        "unroll i full",
    ),
    "unsigned": (
        c("for (unsigned i = 0; i < 2; i++) b[i] = (i - 1) / 2;", "float b[2]"),
        "unroll i full",
    ),
    "downwards": (
        c("for (int i = 2; i >= 0; i--) a[i] = a[i + 1] + 1;", "float a[4]"),
        "unroll i full",
    ),
    "nested": (
        c(
            "for (int i = 0; i < 2; i++) for (int j = 0; j < 2; j++) a[2 * i + j] += j;",
            "float a[4]",
        ),
        "unroll j full",
        "unroll i full",
    ),
    "empty": (
        c("b[0] = 1; for (int i = 3; i < 3; i++) b[i] = 1;", "float b[1]"),
        "unroll i full",
    ),
}

REFUSALS = {
    "not-constant": (
        COPY,
        "unroll i full",
    ),
    "cut-short": (
        COPY,
        "stripmine i 4",
        "unroll i",
    ),
    "too-many": (
        c("for (int i = 0; i < 5000; i++) b[i] = 1;", "float b[5000]"),
        "unroll i full",
    ),
    "factor-one": (
        COPY,
        "unroll i 1",
    ),
    "not-a-factor": (
        COPY,
        "unroll i fast",
    ),
    "downwards": (
        DOWN,
        "unroll i 2",
    ),
    "unsigned-may-wrap": (
        c("for (unsigned i = 1; i < m; i++) b[i] = 1;", "unsigned m, float *b"),
        "unroll i 2",
    ),
    "bound-changes": (
        c(
            "for (int i = m; i < n; i++) { b[i] = a[i]; m = 0; }",
            "int n, int m, float *a, float *b",
        ),
        "unroll i 2",
    ),
    "mapped": (
        MM,
        *MAPPED,
        "unroll jj*",
    ),
    "ambiguous": (
        TWO,
        "unroll i 2",
    ),
    "unknown": (
        MM,
        "unroll x",
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
