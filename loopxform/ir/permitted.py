"""What is permitted of floating point in a part of a program: what all its statements permit."""

from __future__ import annotations

from functools import reduce

from loopxform.floating_point import FloatingPoint
from loopxform.ir.nodes import Assign, Bin, Call, Cast, For, Function, Stmt
from loopxform.ir.types import Scalar
from loopxform.ir.typing import symbols, type_of
from loopxform.ir.visit import children, stmt_exprs, walk, walk_expr

INLINE = "inline"
"""The first step of a statement that stands where its function is called."""


def permitted(
    fp: FloatingPoint, fn: Function, body: tuple[Stmt, ...] | None = None
) -> FloatingPoint:
    """What all statements that compute permit, of a function or of some of its statements, with
    the functions that these call; `fp` where nothing is said. Statements that steps have added are
    as those around them."""
    permits = fn.permits
    if not permits:
        return fp
    statements = [s for _, s in walk(fn.body if body is None else body) if s.origin.loc]
    types = symbols(fn)
    computing = [s for s in statements if _computes(s, types)]
    around = computing or [s for s in statements if isinstance(s, For)]
    if not around and body is not None:
        return permitted(fp, fn)
    said = [(x, s) for s in around for x in permits.said(s.origin.loc)]
    levels = [fp.at(x) for x, s in said if x.level is not None or not _is_inlined(s)]
    out = reduce(FloatingPoint.both, levels) if levels else fp
    return reduce(FloatingPoint.at, (x for x, _ in said if x.level is None), out)


def _is_inlined(s: Stmt) -> bool:
    """Whether a statement is one of a function that is called here: where nothing is said of that,
    what is said of the caller counts."""
    return any(step.startswith(f"{INLINE} ") for step in s.origin.steps)


def _computes(s: Stmt, types: dict[str, Scalar]) -> bool:
    """Whether a statement computes with floating-point numbers."""
    if isinstance(s, Assign) and s.op and type_of(s.target, types).is_float:
        return True
    found = (e for x in stmt_exprs(s) for e in walk_expr(x) if isinstance(e, Bin | Call | Cast))
    return any(type_of(x, types).is_float for e in found for x in (e, *children(e)))
