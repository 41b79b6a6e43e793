"""The estimated work of the user's loops and of kernels, against what they do."""

from __future__ import annotations

import re
from random import Random

import numpy as np
import pytest

import loopxform as lx
from loopxform.codegen import emit
from loopxform.codegen.host.work import (
    CHAIN,
    MISS,
    PAGES,
    SCALAR,
    work_of_host,
    work_of_item,
)
from loopxform.codegen.plan import Plan
from loopxform.ir.nodes import Function
from loopxform.verify.interp import Program

EACH = 3
"""Operations of `c[0] += 1`: a load, an addition, a store."""

SEED = 7


def value(text: str, sizes: dict[str, int]) -> float:
    """What C computes."""
    names = {"lx_greater": max, **sizes}
    return float(eval(text.replace("(double)", ""), {"__builtins__": {}}, names))


def function(body: str, more: str = "") -> Function:
    text = f"{more}void f(int n, int m, int k, int *restrict a, int *restrict c)\n{{\n{body}\n}}\n"
    return lx.loads(text)["f"].function


def work_done(fn: Function, sizes: dict[str, int]) -> int:
    """The operations of all `c[0] += 1` that the interpreter ran."""
    given = {**sizes, "a": np.zeros(4096, np.int32), "c": np.zeros(4096, np.int32)}
    Program(fn).run(given)
    return EACH * int(given["c"][0])


def estimated(fn: Function, sizes: dict[str, int]) -> float:
    text = work_of_host(fn)
    assert text is not None
    assert "--" not in text
    return value(text, sizes)


BOXES = [
    "for (int i = 0; i < n; i++) c[0] += 1;",
    "for (int i = 3; i < n + 3; i++) for (int j = 0; j <= m; j++) c[0] += 1;",
    "for (int i = n; i > 0; i--) for (int j = -2; j < m; j++)\n"
    "for (int l = 0; l < 4; l++) c[0] += 1;",
    "for (int i = 0; i < n * m; i++) c[0] += 1; for (int j = 0; j < k; j++) c[0] += 1;",
    "for (int i = 0; i < n; i++) { c[0] += 1; for (int j = 0; j < 2 * k; j++) c[0] += 1; }",
    "for (int i = 0; i < (n < m ? n : m); i++) c[0] += 1;",
]
TRIANGLES = [
    "for (int i = 0; i < n; i++) for (int j = 0; j < i; j++) c[0] += 1;",
    "for (int i = 0; i < n; i++) for (int j = i; j < n; j++) c[0] += 1;",
    "for (int i = 0; i < n; i++) for (int j = n - i; j > 0; j--) c[0] += 1;",
    "for (int i = -n; i < n; i++) for (int j = -n; j <= i; j++)\n"
    "for (int l = 0; l < k; l++) c[0] += 1;",
    "for (int i = n - 1; i >= 0; i--) for (int j = i + 1; j < n + m; j++) c[0] += 1;",
]


@pytest.mark.parametrize("body", [*BOXES, *TRIANGLES])
def test_exact_for_boxes_and_triangles(body: str) -> None:
    fn, rng = function(body), Random(SEED)
    for _ in range(20):
        sizes = {x: rng.randrange(0, 9) for x in "nmk"}
        assert estimated(fn, sizes) == pytest.approx(work_done(fn, sizes)), sizes


NESTS = [
    "for (int i = 0; i < n; i++) for (int j = i; j < n; j++)\n"
    "for (int l = j; l < n; l++) c[0] += 1;",
    "for (int i = 0; i < n; i++) for (int j = 0; j < i; j++)\n"
    "for (int l = 0; l < j; l++) c[0] += 1;",
    "for (int i = 0; i < n; i++) for (int j = 0; j < i; j++)\n"
    "for (int l = 0; l < i; l++) c[0] += 1;",
    "for (int i = 0; i < n / 3; i++) for (int j = 0; j < 4 * i + 5; j += 3) c[0] += 1;",
    "for (int i = 0; i < n; i += 2) for (int j = i; j < n + m; j++) c[0] += 1;",
]


@pytest.mark.parametrize("body", NESTS)
def test_close_elsewhere(body: str) -> None:
    fn, rng = function(body), Random(SEED)
    for _ in range(20):
        sizes = {x: rng.randrange(30, 60) for x in "nmk"}
        assert 0.7 < estimated(fn, sizes) / work_done(fn, sizes) < 1.4, sizes


def test_nothing_overflows_and_nothing_is_negative() -> None:
    fn = function("for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) c[0] += 1;")
    assert estimated(fn, {"n": 2**31 - 1, "m": 2**31 - 1, "k": 0}) > 2.0**62
    assert estimated(fn, {"n": -5, "m": 100, "k": 0}) == 0
    assert estimated(fn, {"n": -5, "m": -100, "k": 0}) == 0


def test_nothing_is_divided_by_nothing() -> None:
    """Your C may ask before it divides."""
    fn = function("if (m > 0) for (int i = 0; i < n / m; i++) c[0] += 1;")
    assert estimated(fn, {"n": 90, "m": 0, "k": 0}) == 1 + 0.5 * EACH * 90
    assert estimated(fn, {"n": 90, "m": 3, "k": 0}) == 1 + 0.5 * EACH * 30


@pytest.mark.parametrize(
    "body",
    [
        "for (int i = 0; i < a[0]; i++) c[0] += 1;",
        "for (int i = 0; i < n; i++) for (int j = a[i]; j < a[i + 1]; j++) c[0] += 1;",
        "int i = 0; while (a[i] > 0) { c[0] += 1; i++; }",
        "for (m = 0; m < n; m++) c[0] += 1; for (int j = 0; j < m; j++) c[0] += 1;",
        "m = a[0]; for (int i = 0; i < m; i++) c[0] += 1;",
        "for (int i = 0; i < n; i++) for (int j = 0; j < n % 7; j++) c[0] += 1;",
    ],
)
def test_there_is_none_where_data_decide(body: str) -> None:
    assert work_of_host(function(body)) is None


def test_there_is_none_for_functions_of_the_user() -> None:
    spin = "static int spin(int x) { int s = 0; for (int i = 0; i < x; i++) s += i; return s; }\n"
    body = "for (int i = 0; i < n; i++) c[i] = spin(a[i]);"
    assert work_of_host(function(body, spin)) is None


# ---------------------------------------------------------------- what an operation takes


def weight(statement: str, *, reassociated: bool = False) -> float:
    """Of a statement in two loops, j in i."""
    text = (
        "void f(int n, float s, float (*A)[64], float (*B)[64], double *x, float *y)\n{\n"
        f"for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) {statement}\n}}\n"
    )
    found = work_of_host(lx.loads(text)["f"].function, reassociated=reassociated)
    assert found is not None
    return value(found, {"n": 1})


@pytest.mark.parametrize(
    ("statement", "operations"),
    [
        ("A[i][j] = s * B[i][j] + y[j];", 5),
        ("x[j] = 2 * x[j];", 3 * 2),  # doubles are twice as wide
        ("y[j] = A[j][2 * i];", 2 * SCALAR),  # neighbours in neither loop
        ("y[i] += A[i][j] * B[i][j];", CHAIN),  # a sum, in neither loop: the rest need not wait
        ("y[i] += A[j][i];", 4),  # a sum, but the loops may be exchanged
        ("A[i][j] = A[i][j - 1] + A[i - 1][j];", CHAIN),
        ("A[i][j] = A[i][j - 1] / s + B[i - 1][j];", 24 * SCALAR),
    ],
)
def test_a_bound_of_what_compilers_make_of_it(statement: str, operations: float) -> None:
    assert weight(statement) == operations


def test_compilers_may_vectorise_sums_where_that_is_permitted() -> None:
    assert weight("y[i] += A[i][j] * B[i][j];", reassociated=True) == 6


COLUMNS = {
    "trmm": (
        "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) {\n"
        "for (int k = 0; k < n; k++) B[i][j] += A[k][i] * B[k][j]; B[i][j] *= 2; }",
        (CHAIN, 2),
    ),
    "correlation": (
        "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) {\n"
        "C[i][j] = 0; for (int k = 0; k < n; k++) C[i][j] += A[k][i] * A[k][j];\n"
        "C[j][i] = C[i][j]; }",
        (CHAIN, 2),
    ),
    "symm": (
        "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) {\n"
        "for (int k = 0; k < n; k++) C[k][j] += A[i][k]; C[i][j] += B[i][j]; }",
        (4 * SCALAR, 1),
    ),
    "transposition": (
        "for (int k = 0; k < n; k++) for (int i = 0; i < n; i++)\n"
        "for (int j = 0; j < n; j++) B[j][i] = A[i][j];",
        (2 * SCALAR, 1),
    ),
    "product": (
        "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) {\n"
        "C[i][j] *= 2; for (int k = 0; k < n; k++) C[i][j] += A[i][k] * B[k][j]; }",
        (6 * 2, 0),
    ),
    "sums": (
        "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) {\n"
        "double t = 0; for (int k = 0; k < n; k++) t += A[k][j]; B[i][j] = t; }",
        (2 * 2, 0),
    ),
}
"""Operations of the statement in three loops, and columns that it walks along: none where compilers
are seen to do several columns at once, or to exchange the loops."""


@pytest.mark.parametrize("case", COLUMNS)
@pytest.mark.parametrize("array", ["double {0}[n][n]", "double *restrict {0}"])
def test_columns(case: str, array: str) -> None:
    body, (operations, columns) = COLUMNS[case]
    if "*" in array:
        body = re.sub(r"\b([ABC])\[(\w)\]\[(\w)\]", r"\1[\2 * n + \3]", body)
    params = ", ".join(array.format(x) for x in "ABC")
    found = work_of_host(lx.loads(f"void f(int n, {params})\n{{\n{body}\n}}\n")["f"].function)
    assert found is not None
    for n in (64, 1000, 8000):
        missed = MISS * max(0, columns * n * min(1, n / 512) - PAGES) / n
        assert value(found, {"n": n}) / n**3 == pytest.approx(operations + missed, rel=0.2), n


# ---------------------------------------------------------------- kernels


def plan(text: str, **sizes: int) -> Plan:
    tiled = lx.loads(text)["f"].tile(recipe="naive", **sizes)
    return emit.kernel(tiled.derivation)


def test_a_work_item_does_its_part() -> None:
    text = """void f(int n, int m, const float *restrict a, float *restrict c)
{
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      c[i] += a[i * m + j];
}
"""
    (k,) = plan(text).kernels
    found = work_of_item(k.function, k.function.objects, 256)
    assert found is not None
    per = value(found, {"n": 1000, "m": 500})
    assert 2 * 500 <= per <= 6 * 500
    assert value(found, {"n": 9000, "m": 500}) == per
    assert work_of_item(k.function, (), 256) is None
