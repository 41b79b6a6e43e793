"""Scalarise: the one element a body works on is kept in a scalar."""

from __future__ import annotations

import pytest
from c_texts import ACCUMULATE, MM, STAGED
from conftest import Golden
from deriving import assert_step, c, refusal

LISTINGS = {
    "accumulator": (
        ACCUMULATE,
        "scalarise C j",
    ),
    "named": (
        ACCUMULATE,
        "scalarise C j sum",
    ),
    "starts-with-a-write": (
        c("for (int i = 0; i < n; i++) { b[i] = 0; for (int k = 0; k < n; k++) b[i] += a[k]; }"),
        "scalarise b i",
    ),
    "parallel": (
        ACCUMULATE,
        "parallelise i",
        "parallelise j",
        "scalarise C j",
    ),
    "guarded-but-inside": (
        c("for (int i = 0; i < n; i++) if (a[i] > 1) b[i] += a[i];"),
        "scalarise b i",
    ),
    "name-is-taken": (
        c("float b_acc = 1; for (int i = 0; i < n; i++) b[i] += a[i] * b_acc;"),
        "scalarise b i",
    ),
    "elements-apart": (
        c(
            "for (int i = 0; i < n; i++) for (int k = 0; k < n; k++) { "
            "b[2*i] += a[k] * b[2*i + 1]; b[2*i + 1] -= a[k]; }",
            "int n, float a[n], float b[2*n]",
        ),
        "scalarise b i",
        "scalarise b i",
    ),
    "elements-apart-in-rows": (
        c(
            "for (int i = 0; i < n; i++) for (int k = 0; k < n; k++) b[i][0] += a[k] * b[i][1];",
            "int n, float a[n], float b[n][2]",
        ),
        "scalarise b i",
    ),
}

REFUSALS = {
    "elements-that-may-be-one": (
        c(
            "for (int i = 0; i < n; i++) for (int k = 0; k < n; k++) b[2*i] += a[k] * b[i + m];",
            "int n, int m, float a[n], float b[2*n + m]",
        ),
        "scalarise b i",
    ),
    "elements-that-a-loop-moves": (
        c(
            "for (int i = 0; i < n; i++) for (int k = 0; k < n; k++) b[2*i] += a[k] * b[k];",
            "int n, float a[n], float b[2*n]",
        ),
        "scalarise b i",
    ),
    "declared-elements-that-nothing-touches": (
        c(
            "for (int i = 0; i < n; i++) for (int k = 0; k < m; k++) "
            "if (k + i < m) y[i] += a[i][k];",
            "int n, int m, float a[n][8], float y[n]",
        ),
        "scalarise y i",
    ),
    "changes": (
        ACCUMULATE,
        "scalarise C i",
    ),
    "two-elements": (
        c("for (int i = 0; i < n; i++) a[i] = a[i + 1];", "int n, float a[n + 1]"),
        "scalarise a i",
    ),
    "changes-in-a-later-part": (
        c(
            "for (int i = 1; i < n; i++) { a[i] += a[i + 1]; "
            "for (int j = 0; j < n; j++) a[j] = 2 * a[j]; }",
            "int n, float a[n + 1]",
        ),
        "scalarise a i",
    ),
    "computed": (
        c(
            "for (int i = 0; i < n; i++) { int p = k[i]; a[p] += 1; }",
            "int n, float a[n], int k[n]",
        ),
        "scalarise a i",
    ),
    "may-not-exist": (
        c("for (int i = 0; i < n; i++) if (i < m) a[i] += 1;", "int n, int m, float a[m]"),
        "scalarise a i",
    ),
    "behind-and": (
        c(
            "for (int i = 0; i < n; i++) if (i < m && a[i] > 0) b[i] = 1;",
            "int n, int m, float *a, float *b",
        ),
        "scalarise b i",
    ),
    "would-race": (
        c("for (int i = 0; i < n; i++) if (i == 0) a[0] += b[i];", "int n, float a[1], float b[n]"),
        "parallelise i",
        "scalarise a i",
    ),
    "triangle-would-race": (
        c(
            "for (int i = 0; i < n; i++) for (int k = i; k < 1; k++) a[0] += b[i];",
            "int n, float a[1], float b[n]",
        ),
        "parallelise i",
        "scalarise a i",
    ),
    "declared-inside": (
        c(
            "for (int i = 0; i < n; i++) { float t[1]; for (int k = 0; k < 1; "
            "k++) t[0] = a[i]; b[i] = t[0]; }"
        ),
        "scalarise t i",
    ),
    "staged": (
        MM,
        *STAGED,
        "scalarise A_loc kk",
    ),
    "only-read": (
        ACCUMULATE,
        "scalarise A j",
    ),
    "taken": (
        ACCUMULATE,
        "scalarise C j A",
    ),
    "keyword": (
        ACCUMULATE,
        "scalarise C j float",
    ),
    "unknown": (
        ACCUMULATE,
        "scalarise C x",
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
