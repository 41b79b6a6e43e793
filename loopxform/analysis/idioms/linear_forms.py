"""Expressions that are linear functions of one variable: `a*s + b`, `(s - x) * y`, `s / 2.0f`."""

from __future__ import annotations

from loopxform.analysis.scope import Names
from loopxform.ir.nodes import Bin, Cast, Expr, Un
from loopxform.ir.types import BOOL, Scalar
from loopxform.ir.visit import walk_expr


def is_linear(e: Expr, s: Expr, types: Names) -> bool:
    """Whether the value of `e` is a*s + b, whatever s is, in real arithmetic or in that of the
    integers modulo the size of the type of s."""
    type = types.type_of(s)
    return type is not None and type != BOOL and s in walk_expr(e) and _linear(e, s, type, types)


def _linear(e: Expr, s: Expr, type: Scalar, types: Names) -> bool:
    if e == s or s not in walk_expr(e):
        return True
    found = types.type_of(e)
    if found is None or found.is_float != type.is_float or found.bytes < type.bytes:
        return False

    def linear(x: Expr) -> bool:
        return _linear(x, s, type, types)

    match e:
        case Bin("+" | "-", left, right):
            return linear(left) and linear(right)
        case Bin("*", left, right):
            free = [x for x in (left, right) if s not in walk_expr(x)]
            return bool(free) and linear(left) and linear(right)
        case Bin("/", left, right):
            return type.is_float and s not in walk_expr(right) and linear(left)
        case Un("-" | "+", operand) | Cast(_, operand):
            return linear(operand)
        case _:
            return False
