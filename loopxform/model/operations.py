"""How many operations on floating-point numbers a program does, as a formula.

Counted are + - * / and calls of functions, one each; an operand that C may leave out counts where
it is evaluated. The formula is found as those of accesses are (`access_counts`): each operation
stands as the read of an array that is called after its type.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import frexp
from typing import Literal

from loopxform.ir.accuracy import ULPS
from loopxform.ir.functions import base_name
from loopxform.ir.nodes import Assign, Bin, Call, Const, Expr, Function, Load, Stmt
from loopxform.ir.routines import called
from loopxform.ir.types import DOUBLE, FLOAT, HALF, Scalar, Space
from loopxform.ir.typing import symbols, type_of
from loopxform.ir.visit import (
    children,
    map_body,
    map_stmt_exprs,
    reads,
    stmt_exprs,
    walk,
    walk_expr,
)
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


Special = Literal["quotients", "quotients by constants", "square roots", "functions"]


def special(fn: Function, body: tuple[Stmt, ...] | None = None) -> dict[Special, tuple[Term, ...]]:
    """The operations on floats that take longer than others, those of each kind that there are;
    none are known where the program calls functions of the file."""
    if called(fn):
        return {}
    body, types = fn.body if body is None else body, symbols(fn)
    kinds = {k for _, s in walk(body) for e in _whole(s) if (k := _kind(e, types))}
    return {kind: _terms(fn, body, kind) for kind in sorted(kinds)}


def _whole(s: Stmt) -> Iterator[Expr]:
    """All expressions of a statement; x /= y as a quotient."""
    for e in stmt_exprs(s):
        yield from walk_expr(e)
    if isinstance(s, Assign) and s.op:
        yield Bin(s.op, s.target, s.value)


def _kind(e: Expr, types: dict[str, Scalar]) -> Special | None:
    match e:
        case Bin("/", _, Const(value)) if abs(frexp(value)[0]) == 0.5:
            return None  # by a power of two: a product
        case Bin("/", _, Const()) if type_of(e, types) == FLOAT:
            return "quotients by constants"
        case Bin("/") if type_of(e, types) in (FLOAT, HALF):
            return "quotients"
        case Call(name) if type_of(e, types) == FLOAT:
            base = base_name(name) or ""
            return "square roots" if base == "sqrt" else "functions" if base in ULPS else None
    return None


def _terms(fn: Function, body: tuple[Stmt, ...], kind: Special) -> tuple[Term, ...]:
    types = symbols(fn) | {kind: FLOAT}

    def counted(e: Expr) -> Expr:
        return Load(kind, children(e)) if _kind(e, types) == kind else e

    def one(s: Stmt) -> Stmt:
        divides = isinstance(s, Assign) and s.op and _kind(Bin(s.op, s.target, s.value), types)
        done = map_stmt_exprs(s, counted)
        if isinstance(done, Assign) and divides == kind:
            return replace(done, value=Load(kind, (done.value,)))
        return done

    counter = Counter(ranges(fn, fn), {kind: Space.GLOBAL})
    return tuple(t for _, _, t in counter.terms(map_body(body, lambda s: (one(s),))))


def operations(fn: Function, body: tuple[Stmt, ...] | None = None) -> Operations | None:
    """Those of the user's program, or of a part of it; None where it calls functions of the file,
    which are not looked into."""
    if called(fn):
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
