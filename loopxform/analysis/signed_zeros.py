"""Which expressions are never -0.0, so that equal values of them are the same.

    x*x, fabs(x), exp(x)         not negative: their sums, products, quotients and roots neither
    (float)i, i as a float       an integer has one zero

A variable of the function is what it is set to, wherever that is, unless statements that are not
modelled may set it.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from loopxform.ir.functions import base_name
from loopxform.ir.nodes import (
    Assign,
    Bin,
    Call,
    Cast,
    Const,
    Decl,
    Expr,
    Function,
    Opaque,
    Select,
    Var,
)
from loopxform.ir.typing import symbols, type_of
from loopxform.ir.visit import walk

_POSITIVE = frozenset(["fabs", "exp", "exp2", "cosh"])


def never_minus_zero(fn: Function, e: Expr) -> bool:
    """Whether a real number cannot be -0.0; it may be NaN."""
    return _Signs(fn).has_one_zero(e)


class _Signs:
    def __init__(self, fn: Function) -> None:
        self.types = symbols(fn)
        self.values: dict[str, list[Expr] | None] = {}
        for _, s in walk(fn.body):
            if isinstance(s, Decl) and not s.shape:
                self.values.setdefault(s.name, [])
        for _, s in walk(fn.body):
            if isinstance(s, Assign) and isinstance(s.target, Var):
                found = self.values.get(s.target.name)
                self.values[s.target.name] = None if s.op or found is None else [*found, s.value]
        if any(isinstance(s, Opaque) for _, s in walk(fn.body)):
            self.values.clear()
        self.asked: set[str] = set()

    def has_one_zero(self, e: Expr) -> bool:
        if type_of(e, self.types).is_integer:
            return True
        match e:
            case Cast(_, operand) if type_of(operand, self.types).is_integer:
                return True
            case Select(_, then, orelse):
                return self.has_one_zero(then) and self.has_one_zero(orelse)
            case Var(name):
                return self._all(name, self.has_one_zero)
            case _:
                return self.is_positive(e)

    def is_positive(self, e: Expr) -> bool:
        """Whether a real number is +0.0, more, or NaN."""
        own = type_of(e, self.types)
        if own.is_integer and not isinstance(e, Const):
            return own.is_unsigned
        match e:
            case Const(value):
                return math.copysign(1, value) > 0
            case Bin("*", left, right) if left == right:
                return True
            case Bin("+" | "*" | "/", left, right):
                return self.is_positive(left) and self.is_positive(right)
            case Cast(_, operand):
                return self.is_positive(operand)
            case Call(name, args):
                base = base_name(name)
                return base in _POSITIVE or (base == "sqrt" and self.is_positive(args[0]))
            case Select(_, then, orelse):
                return self.is_positive(then) and self.is_positive(orelse)
            case Var(name):
                return self._all(name, self.is_positive)
            case _:
                return False

    def _all(self, name: str, holds: Callable[[Expr], bool]) -> bool:
        values = self.values.get(name)
        if not values or name in self.asked:
            return False
        self.asked.add(name)
        try:
            return all(map(holds, values))
        finally:
            self.asked.discard(name)
