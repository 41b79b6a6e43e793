"""Forward substitution of scalars into subscripts: what is carried, what stops it, what is left."""

from __future__ import annotations

import pytest
from lowering import lower, text

import loopxform as lx
from loopxform.ir.printer import listing

P = "int n, int m, unsigned u, unsigned long z, float *a, int *b"

CARRIED = {
    "temporary": ("int at = 3*n + m; a[at] = b[at];", "a[3*n+m] = b[3*n+m];"),
    "chain": ("int r = n*4; int at = r + m; a[at - 1] = 1;", "a[n*4+m-1] = 1;"),
    "at-each-place": (
        "int at = n; a[at] = 1; at = m; a[at] = 2;",
        "a[n] = 1; a[m] = 2;",
    ),
    "into-loops": (
        "for (int i = 0; i < n; i++) { int r = i*m; for (int j = 0; j < m; j++) a[r + j] = 1; }",
        "for (i = 0; i < n; i++) for (j = 0; j < m; j++) a[i, j] = 1;",
    ),
    "under-a-condition": (
        "int at = n; if (m) a[at] = 1; else a[at + 1] = 2;",
        "if (m) a[n] = 1; else a[n+1] = 2;",
    ),
    "inside-a-subscript": ("int k = n + 1; a[b[k]] = 1;", "a[b[n+1]] = 1;"),
    "widened": ("unsigned long at = n*m; a[at + 1] = 1;", "a[(long)(n*m)+1] = 1;"),
    "quotient": ("int at = n / 3; a[at] = 1;", "a[n/3] = 1;"),
    "other-uses-stay": ("int at = n; a[at] = at;", "at = n; a[n] = at;"),
    "declared-elsewhere": (
        "int at; for (int i = 0; i < n; i++) { at = i; a[at] = 1; }",
        "for (i = 0; i < n; i++) at = i; a[i] = 1;",
    ),
    "into-conditions": (
        "int r = n - 2; if (r >= 0 && !(r >= m)) a[r] = 1;",
        "if (n - 2 >= 0 && !(n - 2 >= m)) a[n-2] = 1;",
    ),
    "into-a-choice": ("int r = n - 2; a[m] = r < 0 ? 0 : b[r];", "a[m] = n - 2 < 0 ? 0 : b[n-2];"),
    "clamped": ("int r = n - 2; if (r < 0) r = 0; a[r] = 1;", "a[max(0, n - 2)] = 1;"),
    "clamped-twice": (
        "int r = n - 2; if (r < 0) r = 0; if (r >= m) r = m - 1; a[r] = 1;",
        "a[min(m - 1, max(0, n - 2))] = 1;",
    ),
    "clamped-at-one-of-two-ends": (
        "int r = n - 2; if (r < 0) r = 0; else if (r > m) r = m; a[r] = 1;",
        "a[n - 2 < 0 ? 0 : min(m, n - 2)] = 1;",
    ),
    "chosen": (
        "int r = n > 0 ? n - 1 : 0; a[r] = 1;",
        "a[max(n - 1, 0)] = 1;",
    ),
}


@pytest.mark.parametrize("case", CARRIED)
def test_carried(case: str) -> None:
    statements, want = CARRIED[case]
    assert text(statements, P) == want


STOPPED = {
    "by-a-change-of-an-operand": "int at = n; n = m; a[at] = 1;",
    "by-a-change-in-a-loop": "int at = n; for (int i = 0; i < m; i++) { a[at] = 1; at += 2; }",
    "by-an-operand-in-a-loop": "int at = n; for (int i = 0; i < m; i++) { a[at] = 1; n = i; }",
    "by-a-branch": "int at = n; if (m) at = 1; a[at] = 1;",
    "by-a-branch-that-clamps-nothing": "int at = n; if (at < 0) at = m; a[at] = 1;",
    "by-a-branch-that-changes-more": "int at = n; if (at < 0) { at = 0; n = m; } a[at] = 1;",
    "by-the-other-branch": "int at = n; if (n < m) at = m; else n = 0; a[at] = 1;",
    "by-a-branch-without-sign": "unsigned at = u; if (at < z) at = z; a[at] = 1;",
    "by-a-comparison": "int at = n < m; a[at] = 1;",
    "by-a-choice-without-sign": "int at = n < u ? n : m; a[at] = 1;",
    "by-a-call": "int at = n; sscanf((char *)b, \"%d\", &at); a[at] = 1;",
    "by-a-counter": "int i, at = n; for (i = 0; i < m; i++) at = i; a[at] = 1;",
    "by-memory": "int at = b[0]; b[0] = 3; a[at] = 1;",
    "by-a-number-cut-off": "short at = n; a[at] = 1;",
    "by-a-sign": "unsigned at = n; a[at] = 1;",
    "by-a-division-of-a-difference": "unsigned at = u - 1; a[at / 3] = 1;",
    "by-zero": "int at = n / m; a[at] = 1;",
    "by-itself": "int at = n; at = at + at*m; at = 2; at = at; a[b[at]] = at;",
}  # fmt: skip


@pytest.mark.parametrize("case", STOPPED)
def test_stopped(case: str) -> None:
    got = text(STOPPED[case], P)
    assert "a[at" in got or case == "by-itself", got


def test_a_global_may_be_changed_by_a_store() -> None:
    fn = lower("int g; void f(int *a) { int at = g; a[0] = 1; a[at] = 2; }")
    assert "a[at] = 2" in listing(fn)


def test_a_shared_temporary_still_races() -> None:
    """`at` is shared by the threads: that its value stands in the subscript does not mend that."""
    source = """void f(int n, float *a) {{ int at;
    #pragma omp parallel for {clause}
      for (int i = 0; i < n; i++) {{ at = 2*i; a[at] = 1; }} }}"""
    for clause, verdict in (("", False), ("private(at)", True)):
        (claim,) = lx.loads(source.format(clause=clause)).routine().audit()
        assert claim.proven is verdict


def test_a_row_number_makes_matrices_of_flat_arrays() -> None:
    source = """#include <stddef.h>
    void f(int h, int w, const float *x, float *y) {
      for (int i = 0; i < h; i++) {
        const size_t row = (size_t)i * w;
        for (int j = 0; j < w; j++) y[row + j] = 2 * x[row + j]; } }"""
    assert [v.parallel for v in lx.loads(source).routine().check()] == ["yes", "yes"]
