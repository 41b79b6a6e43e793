"""The bound of the operations of a part, against what its loops do."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

import loopxform as lx
from loopxform.codegen.host.work import most_operations
from loopxform.ir.nodes import Function
from loopxform.verify.interp import Program


def value(text: str, sizes: dict[str, int]) -> float:
    """What C computes."""
    names = {"lx_greater": max, **sizes}
    return float(eval(text.replace("(double)", ""), {"__builtins__": {}}, names))


def function(body: str, more: str = "") -> Function:
    text = f"{more}void f(int n, int m, int k, int *restrict a, int *restrict c)\n{{\n{body}\n}}\n"
    return lx.loads(text)["f"].function


def statements_run(fn: Function, sizes: dict[str, int]) -> int:
    """How often `c[0]` is counted up."""
    given = {**sizes, "a": np.zeros(4096, np.int32), "c": np.zeros(4096, np.int32)}
    Program(fn).run(given)
    return int(given["c"][0])


NESTS = [
    "for (int i = 0; i < n; i++) c[0] += 1;",
    "for (int i = 3; i < n - m; i += 2) for (int j = 0; j <= m; j++) c[0] += 1;",
    "for (int i = n; i > 0; i--) for (int j = i; j < m; j++) c[0] += 1;",
    "for (int i = 0; i < n; i++) for (int j = i; j < n; j++)\n"
    "for (int l = j; l < n; l++) c[0] += 1;",
    "for (int i = 0; i < n; i++) for (int j = n - i; j > 0; j -= 3) c[0] += 1;",
    "for (int i = 0; i < n / 3; i++) for (int j = 0; j < 4 * i - 5; j++) c[0] += 1;",
    "for (int i = 0; i < n; i++) { if (i > 2) { for (int j = 0; j < m; j++) c[0] += 1; }\n"
    "else { c[0] += 1; } for (int j = 0; j < k; j++) c[0] += 1; }",
    "for (int i = 0; i < n; i++) for (int j = -i; j < i; j++) c[0] += 1;",
    "for (int i = 0; i < n * m; i++) c[0] += 1;",
    "for (int i = n - 2; i > -2; i -= 2) for (int j = -1; j < n - i; j++) c[0] += 1;",
    "for (int i = -n; i < n; i++) for (int j = i; j < -i; j++) c[0] += 1;",
]


@pytest.mark.parametrize("body", NESTS)
def test_never_less_than_what_is_done(body: str) -> None:
    fn = function(body)
    text = most_operations(fn)
    assert text is not None
    assert "--" not in text
    rng = Random(len(body))
    for _ in range(30):
        sizes = {x: rng.randrange(-2, 9) for x in "nmk"}
        assert statements_run(fn, sizes) <= value(text, sizes)


def test_close_where_loops_form_a_box() -> None:
    fn = function("for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) c[0] += 1;")
    text = most_operations(fn)
    assert text is not None
    assert value(text, {"n": 100, "m": 100, "k": 0}) <= 10 * 100 * 100
    assert value(text, {"n": -5, "m": 100, "k": 0}) <= 3
    assert value(text, {"n": 2**31 - 1, "m": 2**31 - 1, "k": 0}) > 2.0**62


@pytest.mark.parametrize(
    "body",
    [
        "for (int i = 0; i < a[0]; i++) c[0] += 1;",
        "for (int i = 0; i < n; i++) for (int j = a[i]; j < a[i + 1]; j++) c[0] += 1;",
        "int i = 0; while (a[i] > 0) { c[0] += 1; i++; }",
        "for (int i = 0; i < n; i++) for (int j = 0; j < i * m; j++) c[0] += 1;",
        "for (m = 0; m < n; m++) c[0] += 1; for (int j = 0; j < m; j++) c[0] += 1;",
        "m = a[0]; for (int i = 0; i < m; i++) c[0] += 1;",
        "for (int i = 0; i < n; i++) for (int j = 0; j < n % 7; j++) c[0] += 1;",
    ],
)
def test_there_is_none_where_data_decide(body: str) -> None:
    assert most_operations(function(body)) is None


def test_there_is_none_for_functions_of_the_user() -> None:
    spin = "static int spin(int x) { int s = 0; for (int i = 0; i < x; i++) s += i; return s; }\n"
    body = "for (int i = 0; i < n; i++) c[i] = spin(a[i]);"
    assert most_operations(function(body, spin)) is None
