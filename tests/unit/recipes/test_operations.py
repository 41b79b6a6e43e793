"""Operations on floating-point numbers: the formula is what a walk through iterations counts."""

from __future__ import annotations

from pathlib import Path

import pytest

from loopxform import load, loads
from loopxform.ir.evaluate import evaluate
from loopxform.ir.nodes import Assign, Bin, Call, Expr, For, Function, If, Stmt
from loopxform.ir.typing import symbols, type_of
from loopxform.ir.visit import stmt_exprs, walk_expr
from loopxform.model.access_counts import exact, text, total
from loopxform.model.operations import operations

CORPUS = Path(__file__).parents[3] / "corpus"


def counted(fn: Function, sizes: dict[str, int]) -> int:
    """The operations of every iteration, one by one."""
    types = symbols(fn)

    def is_operation(e: Expr) -> bool:
        return isinstance(e, Bin | Call) and type_of(e, types).is_float

    def of(s: Stmt, values: dict[str, int]) -> int:
        match s:
            case For():
                lo, hi, step = (evaluate(e, values) for e in (s.lo, s.hi, s.step))
                return sum(each(s.body, {**values, s.var: i}) for i in range(lo, hi, step))
            case If():
                return each(s.then if evaluate(s.cond, values) else s.orelse, values)
            case _:
                own = sum(is_operation(e) for x in stmt_exprs(s) for e in walk_expr(x))
                updates = isinstance(s, Assign) and s.op and type_of(s.target, types).is_float
                return own + bool(updates)

    def each(body: tuple[Stmt, ...], values: dict[str, int]) -> int:
        return sum(of(s, values) for s in body)

    return each(fn.body, sizes)


@pytest.mark.parametrize(
    ("name", "sizes", "formula"),
    [
        ("mm", {"M": 5, "U": 7, "N": 3}, "2*M*N*U"),
        ("gemm", {"M": 5, "U": 7, "N": 3}, "2*M*N*U + 3*M*N"),
        ("correlation", {"M": 4, "U": 5, "N": 3}, "6*M*N*U + 2*M*N"),
        ("nests/heat_2d", {"n": 9, "m": 6}, "7*(n - 2)*(m - 2)"),
        ("nests/nbody", {"n": 5}, "18*n*n + 3*n"),
        ("nests/softmax_rows", {"n": 4, "m": 6}, "n*(m - 1) + 6*m*n"),
        ("nests/game_of_life", {"h": 6, "w": 6}, "0"),
    ],
)
def test_the_formula_is_what_the_iterations_do(
    name: str, sizes: dict[str, int], formula: str
) -> None:
    fn = load(CORPUS / f"{name}.c").routine().function
    found = operations(fn)
    assert found is not None
    assert text(found.terms) == formula
    assert total(found.terms, sizes) == counted(fn, sizes)


TRIANGLE = """void f(int n, double A[n][n], float x[n])
{
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      if (j <= i)
        A[i][j] = A[i][j] / 2 + x[j];
}
"""


def test_triangles_and_conditions_of_counters() -> None:
    fn = loads(TRIANGLE)["f"].function
    found = operations(fn)
    assert found is not None
    assert exact(found.terms)
    assert found.double
    assert total(found.terms, {"n": 9}) == counted(fn, {"n": 9})


def test_a_condition_on_data_makes_an_upper_bound() -> None:
    found = operations(loads(TRIANGLE.replace("j <= i", "x[j] > 2"))["f"].function)
    assert found is not None
    assert text(found.terms).startswith("at most ")


def test_functions_of_the_file_are_not_looked_into() -> None:
    text = "static float g(float x) { return x * x; }\n"
    text += "void f(int n, float *a) { for (int i = 0; i < n; i++) a[i] = g(a[i]); }"
    fn = loads(text)["f"].function
    assert (operations(fn) is None) == bool(fn.routines)
