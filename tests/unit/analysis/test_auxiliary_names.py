"""Auxiliary integers of formulas, as n % 4 has one: no two stand for the same, however long a
session is, and whatever was asked before."""

from __future__ import annotations

from deriving import c

from loopxform.analysis.context import always
from loopxform.analysis.domain import names_of
from loopxform.frontend import parse_file
from loopxform.ir.nodes import Bin, Const, Function, Var

MANY = 100
"""Functions, more than any table keeps."""


def function(text: str) -> Function:
    (fn,) = parse_file("t.c", text=text).unit.functions
    return fn


def test_what_was_known_of_a_place_says_nothing_about_other_remainders() -> None:
    loops = "for (int {0} = 0; {0} < n; {0} += 4) "
    nest = "".join(map(loops.format, "ijk")) + "if (m > 0 && m < k) a[k] = 0;"
    fn = function(c(nest, "int n, int m, float a[n]"))
    others = [function(c("a[n / 4] = 0;", "int n, float a[n]")) for _ in range(MANY)]
    inside = (0, 0, 0, 0, 0)
    assert always(fn, inside, Bin("<", Var("m"), Var("n")))
    for other in others:
        names_of(other)
    for name, multiple in (("m", False), ("k", True)):
        divides = Bin("==", Bin("%", Var(name), Const(4)), Const(0))
        assert always(fn, inside, divides) == multiple
