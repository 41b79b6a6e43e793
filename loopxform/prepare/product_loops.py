"""Loops over a product that take rows and columns from their counter, as two loops.

    for (i = 0; i < h * w; i++) S(i, i / w, i % w)
 -> for (y = 0; y < h; y++) for (x = 0; x < w; x++) S(y * w + x, y, x)

The iterations are the same, in the same order, where w is at least 1: that is not asked here.
"""

from __future__ import annotations

from dataclasses import replace

from loopxform.ir.names import fresh
from loopxform.ir.nodes import Bin, Cast, Const, Expr, For, Function, Opaque, Var
from loopxform.ir.visit import (
    Path,
    map_body,
    map_stmt_exprs,
    names,
    replace_at,
    stmt_exprs,
    walk,
    walk_expr,
    writes,
)
from loopxform.records import record


@record
class ProductLoop:
    """A function with one loop as two, their counters, and the number of columns."""

    function: Function
    row: str
    column: str
    width: Expr


def as_two_loops(fn: Function, path: Path, loop: For) -> ProductLoop | None:
    """The loop at `path` as two; None where it is none of these."""
    width = _width(loop)
    if width is None or loop.step != Const(1) or loop.lo != Const(0):
        return None
    count, columns = width
    changing = writes(loop.body) | {loop.var}
    if (names(count) | names(columns)) & changing or loop.live_out:
        return None
    if any(isinstance(s, Opaque) for _, s in walk(loop.body)):
        return None
    row, column = fresh(fn, f"{loop.var}_row"), fresh(fn, f"{loop.var}_column")
    whole = Bin("+", Bin("*", Var(row), columns), Var(column))

    def part(e: Expr) -> Expr:
        found = _part(e, loop.var)
        if found is None or found[1] != columns:
            return e
        return Var(row if found[0] == "/" else column)

    body = map_body(loop.body, lambda s: (map_stmt_exprs(s, part),))
    body = map_body(body, lambda s: (map_stmt_exprs(s, lambda e: _instead(e, loop.var, whole)),))
    inner = replace(loop, var=column, hi=columns, body=body)
    outer = replace(loop, var=row, hi=count, body=(inner,))
    return ProductLoop(replace_at(fn, path, (outer,)), row, column, columns)


def _instead(e: Expr, var: str, value: Expr) -> Expr:
    return value if e == Var(var) else e


def _width(loop: For) -> tuple[Expr, Expr] | None:
    """The factors of the number of iterations, that by which the counter is divided last."""
    hi = loop.hi
    while isinstance(hi, Cast):
        hi = hi.operand
    if not isinstance(hi, Bin) or hi.op != "*":
        return None
    exprs = (x for _, s in walk(loop.body) for e in stmt_exprs(s) for x in walk_expr(e))
    widths = {found[1] for x in exprs if (found := _part(x, loop.var)) is not None}
    for count, columns in ((hi.left, hi.right), (hi.right, hi.left)):
        if widths == {columns}:
            return count, columns
    return None


def _part(e: Expr, var: str) -> tuple[str, Expr] | None:
    match e:
        case Bin("/" | "%" as op, Var(name), divisor) if name == var:
            return op, divisor
        case _:
            return None
