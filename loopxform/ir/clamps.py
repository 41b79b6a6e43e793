"""Numbers that are clamped, as C writes it: `i < 0 ? 0 : i > n - 1 ? n - 1 : i`.

cond ? a : b  ->  max(a, b)    where a - b = g + c, with g >= 0 what `cond` says and c = 0 or 1
cond ? a : b  ->  min(a, b)    where b - a is that
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from loopxform.ir.affine import Poly, constant, poly
from loopxform.ir.nodes import Bin, Expr, Select
from loopxform.records import record

Op = Literal["min", "max"]


@record
class Clamped:
    """`index`, but `floor` where it is less, and `last` where it is more (None: there is no such
    end), as far as floor <= last."""

    index: Expr
    floor: Expr | None = None
    last: Expr | None = None


def extremum(cond: Expr, then: Expr, orelse: Expr) -> Op | None:
    """Which of two signed integers `cond ? then : orelse` is; None where it may be either."""
    holds = not_negative(cond)
    if holds is None:
        return None
    gap = poly(then) - poly(orelse)
    for op, more in (("max", gap - holds), ("min", -gap - holds)):
        if more.constant in (0, 1):
            return "max" if op == "max" else "min"
    return None


def chosen(cond: Expr, then: Expr, orelse: Expr) -> Expr | None:
    """`cond ? then : orelse` of signed integers as their least or greatest, or as it is where it
    clamps what is clamped at its other end; None where it is neither."""
    op = extremum(cond, then, orelse)
    if op is not None:
        return Bin(op, then, orelse)
    for end, other in ((then, orelse), (orelse, then)):
        if isinstance(other, Bin) and other.op in ("min", "max"):
            for x in (other.left, other.right):
                pair = (end, x) if end is then else (x, end)
                if extremum(cond, *pair) not in (None, other.op):
                    return Select(cond, then, orelse)
    return None


def not_negative(cond: Expr) -> Poly | None:
    """What is at least 0 where a comparison holds, and at most -1 where it does not."""
    match cond:
        case Bin(">", left, right) | Bin("<", right, left):
            return poly(left) - poly(right) - constant(1)
        case Bin(">=", left, right) | Bin("<=", right, left):
            return poly(left) - poly(right)
        case _:
            return None


def clamped(e: Expr, fixed: Callable[[Expr], bool]) -> Clamped:
    """A signed integer as one that is clamped between numbers that are `fixed`."""
    match e:
        case Bin("min" | "max" as op, left, right):
            for end, other in ((left, right), (right, left)):
                if fixed(end):
                    return _with_end(clamped(other, fixed), op, end) or Clamped(e)
        case Select(cond, then, orelse):
            for end, other in ((then, orelse), (orelse, then)):
                if fixed(end):
                    return _chosen(cond, end, other, fixed, swapped=other is then) or Clamped(e)
    return Clamped(e)


def _chosen(
    cond: Expr, end: Expr, other: Expr, fixed: Callable[[Expr], bool], *, swapped: bool
) -> Clamped | None:
    """`cond ? end : other`, or the other way round."""
    inner = clamped(other, fixed)
    for x in (other, inner.index):
        op = extremum(cond, x, end) if swapped else extremum(cond, end, x)
        if op is not None:
            return _with_end(inner, op, end)
    return None


def _with_end(inner: Clamped, op: str, end: Expr) -> Clamped | None:
    """`inner` with one more end, where it has none on that side."""
    if op == "max":
        return None if inner.floor is not None else Clamped(inner.index, end, inner.last)
    return None if inner.last is not None else Clamped(inner.index, inner.floor, end)
