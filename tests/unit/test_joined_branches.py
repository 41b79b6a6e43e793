"""Loops in the branches of a condition: which become one, and which may not."""

from __future__ import annotations

import pytest

import loopxform as lx
from loopxform.api.loops_as_meant import with_loops_as_meant
from loopxform.ir.printer import listing
from loopxform.ir.visit import loops

TEXT = """\
void f(int n, int k, double b, double *p, const int *len, double *x, double *y)
{{
  int i, end, at;
  if ({cond}) {{ {before} for (i = 0; i < {end}; i++) {first} }}
  else if ({other}) {{ {before} for (i = 0; i < {end}; i++) {second} }}
  {after}
}}
"""
SCALING = {
    "cond": "b == 0",
    "other": "b != 1",
    "before": "",
    "end": "n",
    "first": "x[i] = 0;",
    "second": "x[i] *= b;",
    "after": "",
}
STEPPED = {
    "before": "at = 0;",
    "first": "{ x[at] = 0; at += k; }",
    "second": "{ x[at] *= b; at += k; }",
}
POINTER = {"cond": "*p == 0", "other": "*p != 1", "second": "x[i] *= *p;"}


def count(**changes: str) -> int:
    """How many loops are left of two."""
    fn = lx.loads(TEXT.format(**{**SCALING, **changes}))["f"].function
    return len(loops(with_loops_as_meant(fn)))


@pytest.mark.parametrize(
    "changes", [{}, POINTER, {"before": "end = n;", "end": "end"}, {"end": "n / 4"}, STEPPED]
)
def test_one_loop(changes: dict[str, str]) -> None:
    assert count(**changes) == 1


def test_steps_of_both_branches_stand_behind_the_condition() -> None:
    """So that they are functions of the loop: `x[at]` is `x[i * k]`."""
    fn = lx.loads(TEXT.format(**{**SCALING, **STEPPED}))["f"].function
    made = listing(with_loops_as_meant(fn))
    assert "x[i, 0] = 0" in made
    assert "x[i, 0] *= b" in made


@pytest.mark.parametrize(
    "changes",
    [
        {"second": "{ x[i] *= b; b = 1; }"},
        {"first": "{ x[i] = 0; b = 2; }"},
        {"cond": "x[0] == 0", "other": "x[0] != 1"},
        {"cond": "x[0] == 0"},
        {"other": "x[1] != 1"},
        {**POINTER, "second": "{ x[i] *= *p; *p = 3; }"},
        {"end": "len[0]"},
        {"end": "n / k"},
        {"after": "y[0] = i;"},
        {"second": "{ if (x[i] < 0) return; x[i] *= b; }"},
    ],
)
def test_two_loops(changes: dict[str, str]) -> None:
    assert count(**changes) > 1
