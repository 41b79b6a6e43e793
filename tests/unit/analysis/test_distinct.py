"""Loops whose iterations plainly have nothing in common."""

from __future__ import annotations

from dataclasses import replace

import pytest

import loopxform as lx
from loopxform.analysis.distinct import distinct
from loopxform.ir.nodes import Const, Expr, For, Load
from loopxform.ir.visit import loops

TEXT = """
void f(int n, float *restrict a, const float *restrict b, float c[n][n], const int *x, float s)
{
  for (int i = 0; i < n; i++) { %s }
}"""
CASES = {
    "a[i] = b[i];": True,
    "a[i + 3] += a[i + 3] * b[0];": True,
    "a[n - i] = i;": True,
    "float t = b[i]; t *= 2; if (t > 1) a[i] = t;": True,
    "for (int j = 0; j < n; j++) c[i][j] = c[i][j] + b[j];": True,
    "for (int j = 0; j < n; j++) c[j][i] += 1;": True,
    "a[i] = a[i + 1];": False,
    "a[i] = a[0];": False,
    "a[0] = i;": False,
    "s += b[i];": False,
    "a[x[i]] = 1;": False,
    "for (int j = 0; j < n; j++) a[j] = i;": False,
    "for (int j = 0; j < n; j++) a[i + j] = 1;": False,
    "int k = i / 2; a[i - k] = 1;": False,
}


def loop(body: str) -> For:
    return next(iter(loops(lx.loads(TEXT % body)["f"].function))).loop


@pytest.mark.parametrize("body", CASES)
def test_distinct(body: str) -> None:
    assert distinct(loop(body)) == CASES[body]


@pytest.mark.parametrize("bound", [Load("a", (Const(0),)), Const(9)])
def test_a_bound_that_the_body_changes(bound: Expr) -> None:
    """The front end models no such loop, steps make none: nothing here relies on that."""
    assert distinct(replace(loop("a[i] = 1;"), hi=bound)) == (bound == Const(9))
