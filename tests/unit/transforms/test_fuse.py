"""Fuse: two neighbours become one loop."""

from __future__ import annotations

import pytest
from c_texts import TWO
from conftest import Golden
from deriving import assert_step, c, refusal

NEIGHBOURS = c("for (int i = 0; i < n; i++) a[i] = i; for (int j = 0; j < n; j++) b[j] = a[j];")
AHEAD = c(
    "for (int i = 0; i < n; i++) a[i] = i; for (int j = 0; j < n; j++) b[j] = a[j + 1];",
    "int n, float a[n + 1], float b[n]",
)
THREE = c(
    "for (int i = 0; i < n; i++) a[i] = 1; for (int i = 0; i < n; i++) b[i] = 2; "
    "for (int i = 0; i < n; i++) a[i] += b[i];"
)

LISTINGS = {
    "same-name": (TWO, "fuse i"),
    "two-names": (NEIGHBOURS, "fuse i j"),
    "one-of-several": (THREE, "fuse i#2"),
    "all-of-several": (THREE, "fuse i#1", "fuse i"),
    "earlier-iteration": (
        c("for (int i = 1; i < n; i++) a[i] = i; for (int i = 1; i < n; i++) b[i] = a[i - 1];"),
        "fuse i",
    ),
    "parallel": (
        THREE,
        "parallelise i#1",
        "parallelise i#2",
        "fuse i#1",
    ),
    "parallel-no-more": (
        c("for (int i = 1; i < n; i++) a[i] = i; for (int i = 1; i < n; i++) b[i] = a[i - 1];"),
        "parallelise i#1",
        "parallelise i#2",
        "fuse i",
    ),
    "one-parallel": (
        c(
            "for (int i = 0; i < n; i++) a[i] = 1; for (int i = 1; i < n; i++) b[i] = b[i - 1];"
            "for (int i = 1; i < n; i++) a[i] += b[i];"
        ),
        "parallelise i#3",
        "fuse i#2",
    ),
    "declarations": (
        c(
            "for (int i = 0; i < n; i++) { float t = a[i]; a[i] = t * t; } "
            "for (int i = 0; i < n; i++) { float t = a[i] + 1; b[i] = t; }"
        ),
        "fuse i",
    ),
    "bounds-by-value": (
        c(
            "int m = n; for (int i = 0; i < n; i++) a[i] = 1; for (int i = 0; i <= m - 1; i++) "
            "b[i] = a[i];"
        ),
        "fuse i",
    ),
    "under-a-condition": (
        c(
            "if (m == n) { for (int i = 0; i < n; i++) a[i] = 1; for (int i = 0; i < m; i++) "
            "a[i] += i; } else b[0] = 2;",
            "int n, int m, float a[n+m], float b[1]",
        ),
        "fuse i",
    ),
    "in-an-else-branch": (
        c(
            "if (n > 6) b[0] = 2; else { b[1] = 1; for (int i = 0; i < n; i++) a[i] = 1; "
            "for (int i = 0; i < n; i++) a[i] += i; }",
            "int n, float a[n], float b[2]",
        ),
        "fuse i",
    ),
    "downwards": (
        c(
            "for (int i = n - 1; i >= 0; i--) a[i] = i; for (int i = n - 1; i >= 0; i--) "
            "b[i] = a[i];"
        ),
        "fuse i",
    ),
    "inner": (
        c(
            "for (int i = 0; i < n; i++) { for (int j = 0; j < i; j++) A[i][j] = 1; "
            "for (int k = 0; k < i; k++) A[i][k] += k; }",
            "int n, float A[n][n]",
        ),
        "fuse j k",
    ),
    "undoes-distribute": (
        c("for (int i = 0; i < n; i++) { a[i] = i; b[i] = a[i] + 1; }"),
        "distribute i",
        "fuse i",
    ),
}

REFUSALS = {
    "later-iteration": (AHEAD, "fuse i j"),
    "anti": (
        c(
            "for (int i = 0; i < n; i++) b[i] = a[i]; for (int i = 0; i < n; i++) a[i + 1] = 1;",
            "int n, float a[n + 1], float b[n]",
        ),
        "fuse i",
    ),
    "output": (
        c(
            "for (int i = 0; i < n; i++) a[i] = 1; for (int i = 0; i < n; i++) a[i + 1] = 2;",
            "int n, float a[n + 1]",
        ),
        "fuse i",
    ),
    "unknown-subscripts": (
        c(
            "for (int i = 0; i < n; i++) a[p[i]] = 1; for (int i = 0; i < n; i++) b[i] = a[i];",
            "int n, float a[n], float b[n], int p[n]",
        ),
        "fuse i",
    ),
    "scalar": (
        c(
            "float t; for (int i = 0; i < n; i++) { t = a[i]; a[i] = t * t; } "
            "for (int i = 0; i < n; i++) { t = a[i]; b[i] = t; }"
        ),
        "fuse i",
    ),
    "sum": (
        c(
            "float t = 0; for (int i = 0; i < n; i++) t += a[i]; for (int i = 0; i < n; i++) "
            "b[i] = a[i] / t;"
        ),
        "fuse i",
    ),
    "other-end": (
        c(
            "for (int i = 0; i < n; i++) a[i] = 1; for (int i = 0; i < m; i++) b[i] = 1;",
            "int n, int m, float a[n], float b[m]",
        ),
        "fuse i",
    ),
    "other-start": (
        c("for (int i = 0; i < n; i++) a[i] = 1; for (int i = 1; i < n; i++) b[i] = 1;"),
        "fuse i",
    ),
    "other-step": (
        c("for (int i = 0; i < n; i++) a[i] = 1; for (int i = 0; i < n; i += 2) b[i] = 1;"),
        "fuse i",
    ),
    "other-type": (
        c("for (int i = 0; i < n; i++) a[i] = 1; for (long j = 0; j < n; j++) b[j] = 1;"),
        "fuse i",
    ),
    "bound-changes": (
        c(
            "int m = n; for (int i = 0; i < m; i++) { a[i] = 1; } for (int j = 0; j < m; j++) "
            "{ m = 2; b[j] = 1; }"
        ),
        "fuse i",
    ),
    "bound-changes-between": (
        c(
            "for (int i = 0; i < n; i++) { m = n; } for (int j = 0; j < m; j++) b[j] = 1;",
            "int n, int m, float a[n], float b[n]",
        ),
        "fuse i",
    ),
    "read-after": (
        c(
            "int j; for (int i = 0; i < n; i++) a[i] = 1; for (j = 0; j < n; j++) b[j] = 1; "
            "a[0] = j;"
        ),
        "fuse i j",
    ),
    "first-variable-read": (
        c("int i; for (i = 0; i < n; i++) a[i] = 1; for (int j = 0; j < n; j++) b[j] = i;"),
        "fuse i j",
    ),
    "counter-read-after": (
        c(
            "int k = 0; for (int i = 0; i < n; i++) for (k = 0; k < 3; k++) a[i] = k; "
            "for (int i = 0; i < n; i++) if (i < 2) for (k = 0; k < 5; k++) b[i] = k; a[0] = k;"
        ),
        "fuse i",
    ),
    "break": (
        c(
            "for (int i = 0; i < n; i++) { if (a[i] > 2) break; a[i] = 1; } "
            "for (int i = 0; i < n; i++) b[i] = 1; for (int i = 0; i < n; i++) a[i] = 1;"
        ),
        "fuse i#1 i#2",
    ),
    "call": (
        "void g(float *);"
        + c("for (int i = 0; i < n; i++) a[i] = 1; for (int i = 0; i < n; i++) g(b);"),
        "fuse i",
    ),
    "mapped": (THREE, "parallelise i#1", "map i#1 group.x", "fuse i#1"),
    "statement-between": (
        c("for (int i = 0; i < n; i++) a[i] = 1; b[0] = 2; for (int j = 0; j < n; j++) a[j] = 1;"),
        "fuse i j",
    ),
    "nothing-after": (TWO, "fuse i#2"),
    "wrong-way": (NEIGHBOURS, "fuse j i"),
    "another-loop-between": (
        c(
            "for (int i = 0; i < n; i++) a[i] = 1; for (int j = 0; j < n; j++) b[j] = 2; "
            "for (int k = 0; k < n; k++) a[k] += b[k];"
        ),
        "fuse i k",
    ),
    "ambiguous": (THREE, "fuse i"),
    "unknown": (NEIGHBOURS, "fuse i x"),
    "unknown-first": (NEIGHBOURS, "fuse x"),
}


@pytest.mark.parametrize("case", LISTINGS)
def test_listing(case: str, golden: Golden) -> None:
    text, *steps = LISTINGS[case]
    golden.check(assert_step(text, *steps))


@pytest.mark.parametrize("case", REFUSALS)
def test_refusal(case: str, golden: Golden) -> None:
    text, *steps = REFUSALS[case]
    golden.check(refusal(text, *steps))
