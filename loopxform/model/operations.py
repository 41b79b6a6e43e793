"""How many operations on floating-point numbers a program does, as a formula.

Counted are + - * / and calls of functions, one each; an operand that C may leave out counts where
it is evaluated. The formula is found as those of accesses are (`access_counts`): each operation
stands as the read of an array that is called after its type.
"""

from __future__ import annotations

from dataclasses import replace

from loopxform.ir.nodes import Assign, Bin, Call, Expr, Function, Load, Stmt
from loopxform.ir.types import DOUBLE, FLOAT, HALF, Scalar, Space
from loopxform.ir.typing import symbols, type_of
from loopxform.ir.visit import children, map_body, map_stmt_exprs, reads
from loopxform.model.access_counts import Counter, Term
from loopxform.model.trip_counts import ranges
from loopxform.records import record

COUNTED = {t: f"{t} operations" for t in (HALF, FLOAT, DOUBLE)}
"""No names of C: no array of the user's is called that."""


@record
class Operations:
    """The terms of the formula; `double` says that some are of that type."""

    terms: tuple[Term, ...]
    double: bool


def operations(fn: Function, body: tuple[Stmt, ...] | None = None) -> Operations | None:
    """Those of the user's program, or of a part of it; None where it calls functions of the file,
    which are not looked into."""
    if fn.routines:
        return None
    types = symbols(fn) | {name: t for t, name in COUNTED.items()}
    body = map_body(fn.body if body is None else body, lambda s: (_stmt(s, types),))
    counter = Counter(ranges(fn, fn), dict.fromkeys(COUNTED.values(), Space.GLOBAL))
    terms = tuple(term for _, _, term in counter.terms(body))
    return Operations(terms, COUNTED[DOUBLE] in reads(body))


def _stmt(s: Stmt, types: dict[str, Scalar]) -> Stmt:
    done = map_stmt_exprs(s, lambda e: _expr(e, types))
    if isinstance(done, Assign) and done.op and (name := _name(done.target, types)):
        return replace(done, value=Load(name, (done.value,)))
    return done


def _expr(e: Expr, types: dict[str, Scalar]) -> Expr:
    name = _name(e, types) if isinstance(e, Bin | Call) else None
    return Load(name, children(e)) if name else e


def _name(e: Expr, types: dict[str, Scalar]) -> str | None:
    return COUNTED.get(type_of(e, types))
