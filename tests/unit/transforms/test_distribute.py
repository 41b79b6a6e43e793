"""Distribute: one loop per statement."""

from __future__ import annotations

import pytest
from c_texts import COPY, DISTRIBUTED, EXPANDED, MM, TWO
from conftest import Golden
from deriving import assert_step, c, refusal

LISTINGS = {
    "parallel": (
        MM,
        *DISTRIBUTED,
    ),
    "sequential": (
        c("for (int i = 0; i < n; i++) { a[i] = i; b[i] = a[i] + 1; }"),
        "distribute i",
    ),
    "forward": (
        c("for (int i = 1; i < n; i++) { a[i] = i; b[i] = a[i - 1]; }"),
        "distribute i",
    ),
    "nested": (
        c(
            "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) { A[i][j] = 1; "
            "B[i][j] = A[i][j]; }",
            "int n, float A[n][n], float B[n][n]",
        ),
        "distribute i,j",
    ),
    "reordered": (
        c("for (int i = 1; i < n; i++) { b[i] = a[i - 1]; a[i] = i; }"),
        "distribute i reordered",
    ),
    "reordered-as-it-is": (
        c("for (int i = 0; i < n; i++) { a[i] = i; b[i] = a[i] + 1; }"),
        "distribute i reordered",
    ),
    "reordered-around-loops": (
        c(
            "for (int i = 1; i < n; i++) { for (int j = 0; j < n; j++) A[i][j] = B[i - 1][j]; "
            "A[i][0] = 2; for (int k = 0; k < n; k++) B[i][k] = i + k; }",
            "int n, float A[n][n], float B[n][n]",
        ),
        "distribute i j,k reordered",
    ),
}

REFUSALS = {
    "misspelt": (
        c("for (int i = 1; i < n; i++) { b[i] = a[i - 1]; a[i] = i; }"),
        "distribute i reorderd",
    ),
    "cycle": (
        c("for (int i = 1; i < n; i++) { b[i] = a[i - 1]; a[i] = b[i - 1]; }"),
        "distribute i reordered",
    ),
    "backward": (
        c("for (int i = 1; i < n; i++) { b[i] = a[i - 1]; a[i] = i; }"),
        "distribute i",
    ),
    "storage": (
        MM,
        "parallelise i",
        "parallelise j",
        "distribute j",
    ),
    "single": (
        COPY,
        "distribute i",
    ),
    "scalar-between": (
        c("float t; for (int i = 0; i < n; i++) { t = a[i]; b[i] = t; }"),
        "distribute i",
    ),
    "wrong-order": (
        MM,
        *EXPANDED,
        "distribute j,i",
    ),
    "mapped": (
        MM,
        "parallelise i",
        "parallelise j",
        "expand acc i,j",
        "distribute j",
        "map i group.x",
        "distribute i",
    ),
    "read-after": (
        c("int i; for (i = 0; i < n; i++) { a[i] = i; b[i] = i; } b[0] = i;"),
        "distribute i",
    ),
    "unknown": (
        MM,
        "distribute i,x",
    ),
    "ambiguous": (
        TWO,
        "distribute i",
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
