"""Local pointers that are another name for a place in an array."""

from __future__ import annotations

import numpy as np
import pytest
from differential import assert_same, needs_compiler
from lowering import body, lower, opaques, text

PARAMS = "int n, float *a, float *b, float m[8][8], int *x"

MEANS = [
    ("float *p = a + 3; p[n] = 1;", "a[3+n] = 1;"),
    ("float *p = &a[n]; *p = 1; p[-1] = 2;", "a[n] = 1; a[n+-1] = 2;"),
    ("float *p; p = a; *(p + 1) = 1;", "a[1] = 1;"),
    ("float *p = a; float *q = p + n; q[1] = p[2];", "a[n+1] = a[2];"),
    ("float *r = m[n]; r[1] = 2;", "m[n, 1] = 2;"),
    ("float *r = &m[n][2]; r[1] = 2;", "m[n, 2+1] = 2;"),
    ("float (*r)[8] = m + 1; r[n][1] = 2;", "m[1+n, 1] = 2;"),
    (
        "for (int i = 0; i < n; i++) { float *r = a + i; r[0] = r[1]; }",
        "for (i = 0; i < n; i++) a[i] = a[i+1];",
    ),
    ("((float *)a)[n] = 1; ((float (*)[8])m)[1][2] = 3;", "a[n] = 1; m[1, 2] = 3;"),
    ("int k = n; float *p = a + k; p[0] = 1; k = 2;", "a[n] = 1;"),
    ("if (n) { float *p = a; *p = 1; } else { float *p = b; *p = 2; }",
     "if (n) a[0] = 1; else b[0] = 2;"),
    # An element that nothing between them changes.
    ("float *p = &m[x[n]][0]; p[2] = 1; p[1] = 3;", "m[x[n], 2] = 1; m[x[n], 1] = 3;"),
    ("for (int i = 0; i < n; i++) { float *r = &m[x[i]][1]; r[0] = r[2]; x[n] = i; }",
     "for (i = 0; i < n; i++) m[x[i], 1] = m[x[i], 1+2]; x[n] = i;"),
    # Elements of one row, as the loops around say.
    ("for (int i = 0; i < 8; i++) { float *p = m[1]; float *q = m[0]; p[i] = q[7 - i]; }",
     "for (i = 0; i < 8; i++) m[1, i] = m[0, 7-i];"),
    ("for (int i = 1; i < 4; i++) for (int j = 0; j < i; j++) { float *p = m[1]; p[i + j] = 1; }",
     "for (i = 1; i < 4; i++) for (j = 0; j < i; j++) m[1, i+j] = 1;"),
]  # fmt: skip


@pytest.mark.parametrize(("statements", "expected"), MEANS)
def test_means(statements: str, expected: str) -> None:
    assert text(statements, PARAMS) == expected


UNKNOWN = [
    "float *p = a; if (n) p = b; p[0] = 1;",
    "float *p = n ? a : b; p[0] = 1;",
    # What the place is computed from changes.
    "float *p = a + n; n = 2; p[0] = 1;",
    "int k = 0; float *p = a + k; for (int i = 0; i < n; i++) { p[0] = 1; k++; }",
    "for (int i = 0; i < n; i++) { int k = i; float *p = a + k; k++; p[0] = 1; }",
    "float *p; for (int i = 0; i < n; i++) { if (i) p[1] = 2; p = a + i; p[0] = 1; }",
    "float *p; for (int i = 0; i < n; i++) p = a + i; p[0] = 1;",
    "float *p = a; a = b; p[0] = 1;",
    "float *p, *q; p = q = &a[n]; q[0] = 1; p[1] = 2;",
    # Somebody else may set it.
    "float *p = a; float **pp = &p; *pp = b; p[0] = 1;",
    "float *p = a; again: p[0] = 1; if (n) goto again;",
    "static float *p = 0; p[0] = 1;",
    # Another type.
    "int *p = (int *)a; p[0] = 1;",
    "float (*r)[4] = m; r[0][1] = 2;",
    "float *p = x; p[0] = 1;",
    # An element that may be another one later.
    "float *p = &m[x[0]][0]; p[1] = 1; x[0] = 2; p[2] = 2;",
    "for (int i = 1; i < n; i++) { float *p = &m[x[0]][0]; x[i - 1] = i; p[1] = 1; }",
    # Elements that may be in another row.
    "for (int i = 0; i < 9; i++) { float *p = m[0]; p[i] = 1; }",
    "for (int i = 0; i < 8; i++) { float *p = m[1]; p[i - 1] = 1; }",
    "for (int i = 0; i < n; i++) { float *p = m[0]; p[i] = 1; }",
    "for (unsigned i = 1; i < 8; i++) { float *p = m[0]; p[i - 2] = 1; }",
]


@pytest.mark.parametrize("statements", UNKNOWN)
def test_stays_unknown(statements: str) -> None:
    assert opaques(body(statements, PARAMS))


def test_an_index_that_is_a_global_may_change_under_the_pointer() -> None:
    head = "int k; void g(void); float a[9];"
    assert opaques(lower(f"{head} void f(void) {{ float *p = a + k; g(); p[0] = 1; }}"))
    assert opaques(lower(f"{head} void f(int *x) {{ float *p = a + k; *x = 1; p[0] = 1; }}"))
    assert not opaques(lower(f"{head} void f(int *x) {{ float *p = a + k; p[0] = *x; }}"))
    assert opaques(lower(f"{head} void f(int *x) {{ float *p = a + x[1]; g(); p[0] = 1; }}"))
    read = "int scanf(const char *, ...); void f(int *x, float a[8][8]) { int *y = x;"
    read += " float *p = &a[x[1]][0];"
    assert "local pointer" in opaques(lower(f'{read} scanf("%d", y); p[0] = 1; }}'))[0].reason
    head = "int k; int f(int *x, int a[8][8]) {"
    assert opaques(lower(f"{head} int *p = &a[x[k]][0]; k = 1; return *p; }}"))


def test_a_store_through_a_pointer_is_a_store_to_its_array() -> None:
    """The bound is read from an array that changes under another name."""
    fn = body("int *p = x; for (int i = 0; i < x[0]; i++) p[1] = 2;", PARAMS)
    assert "which the body modifies" in opaques(fn)[0].reason


@needs_compiler
def test_pointers_mean_the_same() -> None:
    source = "\n".join(
        f"void f{k}({PARAMS}) {{ {statements} }}" for k, (statements, _) in enumerate(MEANS)
    )
    values = np.random.default_rng(1).random(32)
    call = {"n": 2, "a": values, "b": -values, "m": np.arange(64).reshape(8, 8), "x": [1, 2, 3]}
    assert_same(source, call)
