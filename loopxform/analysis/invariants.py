"""What holds of a local variable or array all the time, because every assignment keeps it.

    never_minus_zero(x)  iff  x is set to numbers other than -0.0, and else only x += e, x -= e
    truth_values(x)      iff  x is set to 0, 1, comparisons, and what && || & | make of x and those

A sum is -0.0 only where both terms are (rounding to nearest), a difference x - e only where x is;
but x + a*b may round to -0.0 where the compiler fuses it, unless the product is a square.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

from loopxform.ir.nodes import (
    Assign,
    Bin,
    Call,
    Cast,
    Const,
    Copy,
    Expr,
    Function,
    Load,
    Select,
    Un,
    Var,
)
from loopxform.ir.types import BOOL
from loopxform.ir.typing import COMPARISONS, symbols, type_of
from loopxform.ir.visit import walk

TINY = 1e-7
"""Above the least number of any type."""


def never_minus_zero(fn: Function, name: str) -> bool:
    """No element of the local `name` is ever -0.0."""
    types = symbols(fn)

    def keeps(e: Expr) -> bool:
        match e:
            case Var(x) | Load(x, _) if x == name:
                return True
            case Const(value):
                return math.copysign(1, value) > 0 or abs(value) >= TINY
            case Bin("+", left, right):
                sums = ((left, right), (right, left))
                return any(keeps(a) and not _product(fn, b, "+", {name}) for a, b in sums)
            case Bin("-", left, right):
                return keeps(left) and not _product(fn, right, "-", {name})
            case Select(_, then, orelse):
                return keeps(then) and keeps(orelse)
            case Cast(t, operand) if t.is_float:
                return t.bytes >= type_of(operand, types).bytes and keeps(operand)
            case Call("fabs" | "fabsf", _):
                return True
            case _:
                return type_of(e, types).is_integer

    def fits(e: Expr) -> bool:
        """A value that is rounded to a narrower type may become zero."""
        t = type_of(e, types)
        return isinstance(e, Const) or t.is_integer or t.bytes <= types[name].bytes

    return _always_set(fn, name, lambda e: keeps(e) and fits(e))


def _product(fn: Function, e: Expr, op: str, seen: set[str]) -> bool:
    """Whether `x op e` may become one fused operation that rounds to -0.0: whether `e` may be a
    product, or a variable that holds one."""
    match e:
        case Bin("*", left, right):
            return left != right or op == "-"
        case Un(_, operand):
            return _product(fn, operand, "-", seen)
        case Cast(_, operand):
            return _product(fn, operand, op, seen)
        case Select(_, then, orelse):
            return _product(fn, then, op, seen) or _product(fn, orelse, op, seen)
        case Var(name) | Load(name, _) if name not in seen:
            seen = seen | {name}
            return any(_product(fn, v, op, seen) for v in _assigned(fn, name))
        case _:
            return False


def truth_values(fn: Function, name: str) -> bool:
    """Every element of the local `name` is 0 or 1."""
    types = symbols(fn)
    if types[name] == BOOL:
        return True

    def keeps(e: Expr) -> bool:
        match e:
            case Var(x) | Load(x, _) if x == name:
                return True
            case Const(0 | 1, t):
                return t.is_integer
            case Bin("&" | "|" | "^" | "*", left, right):
                return keeps(left) and keeps(right)
            case Bin(op, _, _):
                return op in COMPARISONS
            case Select(_, then, orelse):
                return keeps(then) and keeps(orelse)
            case Un("!", _):
                return True
            case _:
                return type_of(e, types) == BOOL

    return types[name].is_integer and _always_set(fn, name, keeps)


def _always_set(fn: Function, name: str, keeps: Callable[[Expr], bool]) -> bool:
    """Whether every assignment to `name` is of a value that `keeps` accepts."""
    copied = any(isinstance(s, Copy) and s.target == name for _, s in walk(fn.body))
    return not copied and all(map(keeps, _assigned(fn, name)))


def _assigned(fn: Function, name: str) -> Iterator[Expr]:
    """The values of every assignment to `name`."""
    for _, s in walk(fn.body):
        match s:
            case Assign(Var(x) | Load(x, _), value, op) if x == name:
                yield Bin(op, s.target, value) if op else value
            case _:
                pass
