"""The greatest value of an integer expression, from its types and operators alone.

    a[i]        of unsigned char              255
    k & 15      whatever k is                  15
    x % 10u     of an unsigned x                9
    a[i] >> 3   of unsigned char               31

None where it is not known, or where the value may be negative.
"""

from __future__ import annotations

from collections.abc import Callable

from loopxform.analysis.abstract_values import limits
from loopxform.ir.affine import value_of
from loopxform.ir.nodes import Bin, Cast, Expr, Select
from loopxform.ir.types import Scalar
from loopxform.ir.typing import type_of

WORD = 4
"""What no type of so many bytes or more says is a size of anything."""


def greatest(e: Expr, types: dict[str, Scalar]) -> int | None:
    """Of an expression without side effects, as C computes it."""
    own = type_of(e, types)
    if not own.is_integer:
        return None
    number = value_of(e)
    most = number if number is not None and number >= 0 else _greatest(e, types)
    top = limits(own)[1]
    if most is not None and most <= top:
        return most
    return top if own.is_unsigned and own.bytes < WORD else None


def _greatest(e: Expr, types: dict[str, Scalar]) -> int | None:
    match e:
        case Cast(_, operand):
            return greatest(operand, types)
        case Select(_, then, orelse):
            return _of_both(max, greatest(then, types), greatest(orelse, types))
        case Bin("%", _, right) if type_of(e, types).is_unsigned and (value_of(right) or 0) > 0:
            return (value_of(right) or 1) - 1
        case Bin(op, left, right):
            return _combined(op, greatest(left, types), greatest(right, types), value_of(right))
        case _:
            return None


def _combined(op: str, a: int | None, b: int | None, number: int | None) -> int | None:
    """`number` is the right operand, where it is one."""
    match op:
        case "&":
            return min((x for x in (a, b) if x is not None), default=None)
        case "%" if number is not None and number > 0 and a is not None:
            return min(a, number - 1)
        case "/" if number is not None and number > 0 and a is not None:
            return a // number
        case ">>" if number is not None and number >= 0 and a is not None:
            return a >> number
        case "+":
            return _of_both(lambda x, y: x + y, a, b)
        case "*":
            return _of_both(lambda x, y: x * y, a, b)
        case "min" | "max":
            return _of_both(min if op == "min" else max, a, b)
        case _:
            return None


def _of_both(f: Callable[[int, int], int], a: int | None, b: int | None) -> int | None:
    return None if a is None or b is None else f(a, b)
