"""Subscripts of a function that are clamped between numbers that never change in it."""

from __future__ import annotations

from loopxform.analysis.domain import names_of
from loopxform.ir.clamps import Clamped, clamped
from loopxform.ir.memo import remembered
from loopxform.ir.nodes import Call, Cast, Expr, Function, Load, Select
from loopxform.ir.typing import symbols
from loopxform.ir.visit import names, walk_expr


@remembered(1024)
def subscript(fn: Function, e: Expr) -> Clamped:
    """A subscript without the ends it is clamped at, and these."""
    if not (any(isinstance(x, Select) or _is_extremum(x) for x in walk_expr(e))):
        return Clamped(e)
    types, inputs = symbols(fn), names_of(fn).inputs
    signed = all(n in types and not types[n].is_unsigned and types[n].bytes >= 4 for n in names(e))
    if not signed or any(isinstance(x, Load | Cast | Call) for x in walk_expr(e)):
        return Clamped(e)
    return clamped(e, lambda x: names(x) <= inputs)


def _is_extremum(e: Expr) -> bool:
    return getattr(e, "op", "") in ("min", "max")
