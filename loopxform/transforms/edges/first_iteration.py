"""Conditions that tell the first iteration of a loop from the others."""

from __future__ import annotations

from loopxform.ir.affine import poly, value_of
from loopxform.ir.nodes import Bin, Const, Expr, For, Un, Var

SWAPPED = {"==": "==", "!=": "!=", "<": ">", ">": "<", "<=": ">=", ">=": "<="}


def is_first(loop: For, cond: Expr) -> bool | None:
    """Whether a condition holds in the first iteration alone (True), or in all but that one
    (False); None for others."""
    match cond:
        case Var(name) if name == loop.var:
            return is_first(loop, Bin("!=", cond, Const(0)))
        case Un("!", operand):
            inner = is_first(loop, operand)
            return None if inner is None else not inner
        case Bin(op, left, right) if op in SWAPPED and right == Var(loop.var) != left:
            return is_first(loop, Bin(SWAPPED[op], right, left))
        case Bin(op, Var(name), right) if op in SWAPPED and name == loop.var:
            return _is_first(loop, op, right)
        case _:
            return None


def not_first(loop: For) -> Expr:
    """The condition that an iteration is not the first one."""
    up = (value_of(loop.step) or 0) > 0
    return Bin(">" if up else "<", Var(loop.var), loop.lo)


def _is_first(loop: For, op: str, end: Expr) -> bool | None:
    step = value_of(loop.step)
    gap = (poly(end) - poly(loop.lo)).value
    if step is None or gap is None:
        return None
    if op in ("==", "!="):
        return op == "==" if gap == 0 else None
    up = step > 0
    further = gap if up else -gap
    if op in ((">", "<=") if up else ("<", ">=")):
        return op in ("<=", ">=") if 0 <= further < abs(step) else None
    return op in ("<", ">") if 0 < further <= abs(step) else None
