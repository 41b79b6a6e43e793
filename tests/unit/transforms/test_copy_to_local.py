"""CopyToLocal: the group copies the box its iterations read."""

from __future__ import annotations

import pytest
from c_texts import FLAT, MAPPED, MM, PARALLEL, STAGED, STENCIL
from conftest import Golden
from deriving import assert_step, c, refusal

LISTINGS = {
    "first": (
        MM,
        *MAPPED,
        "copy-to-local A kk",
    ),
    "both": (
        MM,
        *STAGED,
    ),
    "named": (
        MM,
        *MAPPED,
        "copy-to-local A kk tile",
    ),
    "at-the-group": (
        MM.replace("for (int k = 0; k < U", "for (int k = 0; k < 4").replace("[U]", "[4]"),
        *PARALLEL,
        "stripmine i Ty",
        "stripmine j Ty",
        "interchange i jj",
        "copy-to-local A jj",
    ),
    "offset": (
        STENCIL,
        "stripmine i 4",
        "copy-to-local a ii",
    ),
    "flat": (
        FLAT,
        "stripmine k 4",
        "copy-to-local A kk",
    ),
    "downwards": (
        c(
            "for (int i = 0; i < n; i++) for (int j = 3; j >= 0; j--) b[i] += a[i + j];",
            "int n, float a[n + 3], float b[n]",
        ),
        "copy-to-local a i",
    ),
    "name-is-taken": (
        c(
            "float a_loc = 2; for (int i = 0; i < n; i++) for (int j = 0; j < 3; "
            "j++) b[i] += a[i + j] * a_loc;",
            "int n, float a[n + 2], float b[n]",
        ),
        "copy-to-local a i",
    ),
    "before-the-array": (
        c(
            "for (int i = 0; i < n; i++) for (int j = 0; j < 3; j++) "
            "if (i + j >= 1 && i + j <= n) b[i] += a[i + j - 1];",
            "int n, float a[n], float b[n]",
        ),
        "copy-to-local a i",
    ),
    "clamped": (
        c(
            "for (int i = 0; i < n; i++) for (int j = -1; j < 2; j++) "
            "b[i] += a[i + j < 0 ? 0 : i + j >= n ? n - 1 : i + j];",
            "int n, float a[n], float b[n]",
        ),
        "copy-to-local a i",
    ),
    "clamped-inside-the-array": (
        c(
            "for (int i = 2; i < n; i++) for (int j = -1; j < 2; j++) { int p = i + j; "
            "if (p < 1) p = 1; if (p > n - 2) p = n - 2; b[i] += a[p]; }",
            "int n, float a[n], float b[n]",
        ),
        "copy-to-local a i",
    ),
    "clamped-at-one-end-each": (
        c(
            "for (int i = 0; i < n; i++) b[i] += a[i > 0 ? i - 1 : 0] + a[i] "
            "+ a[i < n - 1 ? i + 1 : n - 1];",
            "int n, float a[n], float b[n]",
        ),
        "copy-to-local a i",
    ),
    "keeps-what-comes-first": (
        c(
            "for (int i = 0; i < n; i++) { b[i] = 1; float t = 2; for (int j = 0; j < 3; "
            "j++) b[i] += a[i + j] * t; }",
            "int n, float a[n + 2], float b[n]",
        ),
        "copy-to-local a i",
    ),
}

REFUSALS = {
    "written": (
        MM,
        *MAPPED,
        "copy-to-local C jjj",
    ),
    "not-read": (
        MM,
        *MAPPED,
        "copy-to-local C kk",
    ),
    "no-box": (
        MM,
        "copy-to-local A i",
    ),
    "divided": (
        c(
            "for (int i = 0; i < n; i++) for (int j = 0; j < 4; j++) b[i] += a[j / 2];",
            "int n, float a[2], float b[n]",
        ),
        "copy-to-local a i",
    ),
    "remainder": (
        c(
            "for (int i = 0; i < n; i++) for (int j = 0; j < 4; j++) b[i] += a[j % 3];",
            "int n, float a[3], float b[n]",
        ),
        "copy-to-local a i",
    ),
    "indirect": (
        c(
            "for (int i = 0; i < n; i++) for (int j = 0; j < 4; j++) b[i] += a[k[j]];",
            "int n, float a[n], float b[n], int k[4]",
        ),
        "copy-to-local a i",
    ),
    "computed": (
        c(
            "for (int i = 0; i < n; i++) { int p = k[i]; for (int j = 0; j < 4; "
            "j++) b[i] += a[p + j]; }",
            "int n, float *a, float b[n], int k[n]",
        ),
        "copy-to-local a i",
    ),
    "may-be-negative": (
        c(
            "for (int i = 0; i < n; i++) for (int j = 0; j < 4; j++) b[i] += a[n - 1 - i - j];",
            "int n, float *a, float b[n]",
        ),
        "copy-to-local a i",
    ),
    "clamped-at-different-places": (
        c(
            "for (int i = 0; i < n; i++) b[i] += a[i > 0 ? i - 1 : 0] + a[i > 1 ? i - 1 : 1];",
            "int n, float a[n + 1], float b[n]",
        ),
        "copy-to-local a i",
    ),
    "clamped-where-others-are-not": (
        c(
            "for (int i = 0; i < n; i++) b[i] += a[i < n - 3 ? i + 1 : n - 3] + a[i];",
            "int n, float a[n + 1], float b[n]",
        ),
        "copy-to-local a i",
    ),
    "clamped-between-ends-that-exclude-each-other": (
        c(
            "for (int i = 0; i < n; i++) for (int j = 0; j < 3; j++) { int p = i + j; "
            "if (p < m) p = m; if (p > 5) p = 5; b[i] += a[p]; }",
            "int n, int m, float a[9], float b[n]",
        ),
        "copy-to-local a i",
    ),
    "clamped-at-an-end-that-may-be-negative": (
        c(
            "for (int i = 0; i < n; i++) for (int j = 0; j < 3; j++) { int p = i + j; "
            "if (p < m) p = m; if (p > m + 5) p = m + 5; b[i] += a[p]; }",
            "int n, int m, float a[n + 5], float b[n]",
        ),
        "copy-to-local a i",
    ),
    "clamped-past-the-array": (
        c(
            "for (int i = 0; i < n; i++) for (int j = 0; j < 3; j++) { int p = i + j; "
            "if (p > m) p = m; b[i] += a[p]; }",
            "int n, int m, float a[n], float b[n]",
        ),
        "copy-to-local a i",
    ),
    "inside-a-thread": (
        MM,
        *MAPPED,
        "copy-to-local A k",
    ),
    "taken": (
        MM,
        *MAPPED,
        "copy-to-local A kk U",
    ),
    "unknown": (
        MM,
        "copy-to-local A x",
    ),
    "unknown-array": (
        MM,
        "copy-to-local D k",
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
