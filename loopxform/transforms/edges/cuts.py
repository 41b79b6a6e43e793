"""Operands of min that are never the least are dropped: bounds that cut no loop short, subscripts
that are never moved."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from loopxform.analysis.context import always
from loopxform.ir.affine import simplify
from loopxform.ir.nodes import Bin, Cast, Expr, For, Function, Load, Stmt
from loopxform.ir.visit import Path, at, map_stmt_exprs, replace_at, stmt_exprs, walk, walk_expr
from loopxform.transforms.edges.bounds import fixed_trips


def drop_cuts(fn: Function, within: Path) -> Function:
    """`fn` without the operands of min, inside the statement at `within`, that another operand is
    proven never to exceed: in bounds of loops and in subscripts. A loop over work-items keeps the
    operand that gives it a fixed number of these."""
    asked = fn
    for path, found in reversed(list(walk(asked.body))):
        if path[: len(within)] == within and any(map(_has_min, stmt_exprs(found))):
            s = at(fn, path)
            new = map_stmt_exprs(s, partial(_without_min, asked, path))
            if new != s and not _loses_items(s, new):
                fn = replace_at(fn, path, (map_stmt_exprs(new, _tidy),))
    return fn


def _loses_items(s: Stmt, new: Stmt) -> bool:
    """Whether a loop over work-items would not have a fixed number of them any more."""
    if not (isinstance(s, For) and isinstance(new, For)) or s.level is None:
        return False
    return fixed_trips(s) is not None and fixed_trips(new) is None


def _has_min(e: Expr) -> bool:
    return any(isinstance(x, Bin) and x.op == "min" for x in walk_expr(e))


def _without_min(fn: Function, path: Path, e: Expr) -> Expr:
    match e:
        case Bin("min", a, b) if always(fn, path, Bin("<=", a, b)):
            return a
        case Bin("min", a, b) if always(fn, path, Bin("<=", b, a)):
            return b
        case _:
            return e


def _tidy(e: Expr) -> Expr:
    """Subscripts in canonical form; those with a cast may be of a real number."""
    if not isinstance(e, Load) or any(isinstance(x, Cast) for i in e.index for x in walk_expr(i)):
        return e
    return replace(e, index=tuple(map(simplify, e.index)))
