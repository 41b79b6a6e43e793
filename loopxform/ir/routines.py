"""Pure functions of the user's file that take and give numbers, as they are written.

    line ::= Decl | Assign | Return | Test(cond, then, orelse) | Loop(cond, body, after, at_end)
           | Jump(word)

The loop tree calls them (`Call`), and looks no further: they may hold any loop. What they compute
depends on their arguments alone.
"""

from __future__ import annotations

from collections.abc import Iterator

from loopxform.ir.nodes import (
    Assign,
    Call,
    Decl,
    Expr,
    Function,
    Line,
    Loop,
    Return,
    Routine,
    Test,
)
from loopxform.ir.types import Scalar
from loopxform.ir.visit import stmt_exprs, walk, walk_expr
from loopxform.source import Loc

BIT_CASTS = {
    "bits of float": "as_uint",
    "float of bits": "as_float",
    "bits of double": "as_ulong",
    "double of bits": "as_double",
}
"""What gives the bits of a number, or the number that bits are: by its name in OpenCL C. Unsigned
numbers of the same size are the bits."""

UNWRITTEN = "only 'check' reads such calls: write out what the function computes"
"""What to do about a call of a function that is not written."""


def lines(body: tuple[Line, ...]) -> Iterator[Line]:
    """Every line, in text order."""
    for s in body:
        yield s
        match s:
            case Test(_, then, orelse):
                yield from lines(then)
                yield from lines(orelse)
            case Loop(_, inner, after):
                yield from lines(inner)
                yield from after
            case _:
                pass


def symbols(r: Routine) -> dict[str, Scalar]:
    """The type of every name."""
    own = {s.name: s.type for s in lines(r.body) if isinstance(s, Decl)}
    return {p.name: p.type for p in r.params} | own


def expressions(r: Routine) -> Iterator[Expr]:
    """Every expression."""
    for s in lines(r.body):
        match s:
            case Assign(target, value):
                whole: tuple[Expr | None, ...] = (target, value)
            case Return(value) | Test(value) | Loop(value):
                whole = (value,)
            case _:
                whole = ()
        for e in whole:
            yield from () if e is None else walk_expr(e)


def unwritten(fn: Function) -> tuple[str, Loc | None] | None:
    """Why nothing written can define what a function calls, and where it is called."""
    why = {r.name: next((x.unwritten for x in in_order((r,)) if x.unwritten), "")
           for r in fn.routines}  # fmt: skip
    for _, s in walk(fn.body) if any(why.values()) else ():
        for x in (x for e in stmt_exprs(s) for x in walk_expr(e)):
            if isinstance(x, Call) and why.get(x.name):
                return why[x.name], s.origin.loc
    return None


def called(fn: Function) -> tuple[Routine, ...]:
    """The functions of the file that a function calls."""
    return tuple(r for r in fn.routines if r.name not in BIT_CASTS)


def in_order(found: tuple[Routine, ...]) -> tuple[Routine, ...]:
    """Each once, behind those that it calls."""
    out: dict[str, Routine] = {}
    for r in found:
        for other in (*in_order(r.calls), r):
            out.setdefault(other.name, other)
    return tuple(out.values())
