"""Conversions back to the type of an accumulator: whether they show the order of its updates.

An integer rounds at each step what is computed in floating point; a `_Bool` makes 1 of every number
but 0, so that sums and exclusive ors depend on what came before; an extremum is compared before it
is cut off to a type that does not hold it, or as an unsigned number, while partial results of a
signed accumulator begin at the smallest signed one. Sums, products and bits of integers are the
same modulo the size of the type. (C11 6.3.1.)
"""

from __future__ import annotations

from loopxform.ir.nodes import Bin, Const, Expr, Un
from loopxform.ir.types import BOOL, Scalar, common
from loopxform.ir.typing import COMPARISONS


def order_hidden(op: str, target: Scalar, value: Scalar, operand: Expr) -> bool:
    """Whether updates `s = s op operand`, each converted to the type of s, may change places."""
    if target.is_integer and value.is_float:
        return False
    if target is BOOL and op in ("+", "*", "^"):
        return op == "^" and _holds(target, value, operand)
    if target.is_integer and op in ("min", "max"):
        compared = common(target, value)
        if compared.is_unsigned and not target.is_unsigned:
            return False
        return compared.bytes == target.bytes or _holds(target, value, operand)
    return True


def _holds(target: Scalar, value: Scalar, e: Expr) -> bool:
    """Whether an integer type holds every value of an expression of another."""
    if value is BOOL or _is_truth(e):
        return True
    if target is BOOL:
        return False
    if isinstance(e, Const):
        bits = 8 * target.bytes - (not target.is_unsigned)
        return int(e.value) in range(0 if target.is_unsigned else -(2**bits), 2**bits)
    if target.is_unsigned == value.is_unsigned:
        return target.bytes >= value.bytes
    return value.is_unsigned and target.bytes > value.bytes


def _is_truth(e: Expr) -> bool:
    return (isinstance(e, Un) and e.op == "!") or (isinstance(e, Bin) and e.op in COMPARISONS)
