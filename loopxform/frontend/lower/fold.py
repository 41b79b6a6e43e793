"""Constant expressions: the value C computes, or None where it overflows or is not constant."""

from __future__ import annotations

import operator
from collections.abc import Callable

from loopxform.ir.nodes import Bin, Cast, Const, Expr, Load, Select, Un, Var
from loopxform.ir.types import BOOL, Scalar, common
from loopxform.ir.typing import type_of
from loopxform.ir.visit import walk_expr

_EXACT: dict[str, Callable[[int, int], int]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "&": operator.and_,
    "|": operator.or_,
    "^": operator.xor,
    "<": operator.lt,
    ">": operator.gt,
    "<=": operator.le,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}


def fold(e: Expr) -> int | None:
    """The value of an integer constant expression, within its type."""
    value = _value(e)
    if value is None or not type_of(e, {}).is_integer:
        return None
    return int(value) if _fits(int(value), type_of(e, {})) else None


def _value(e: Expr) -> int | None:
    match e:
        case Const(value):
            return value if isinstance(value, int) else None
        case Cast(t, operand):
            number = fold(operand) if t.is_integer else None
            return int(number != 0) if t is BOOL and number is not None else number
        case Un(op, operand):
            v = fold(operand)
            if v is None:
                return None
            return {"-": -v, "+": v, "~": ~v, "!": int(not v)}[op]
        case Bin(op, left, right):
            a, b = fold(left), fold(right)
            if a is None or b is None:
                return None
            if min(a, b) < 0 and common(type_of(left, {}), type_of(right, {})).is_unsigned:
                return None
            return _binary(op, a, b)
        case Select(cond, then, orelse):
            c = fold(cond)
            other = () if c is None else walk_expr(orelse if c else then)
            if c is None or any(isinstance(x, Var | Load) for x in other):
                return None  # the type of the whole is not known here
            return fold(then if c else orelse)
        case _:
            return None


def _binary(op: str, a: int, b: int) -> int | None:
    if op in _EXACT:
        return int(_EXACT[op](a, b))
    match op:
        case "&&" | "||":
            return int(bool(a and b) if op == "&&" else bool(a or b))
        case "<<" | ">>" if a >= 0 and 0 <= b < 64:
            return a << b if op == "<<" else a >> b
        case "/" | "%" if b != 0:
            quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
            return quotient if op == "/" else a - quotient * b
        case _:
            return None


def _fits(value: int, t: Scalar) -> bool:
    bits = 8 * t.bytes
    low, high = (0, 1 << bits) if t.is_unsigned else (-(1 << (bits - 1)), 1 << (bits - 1))
    return low <= value < high
