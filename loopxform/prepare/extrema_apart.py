"""Extrema of which the second one is looked for where the first has not changed, apart.

    if (e > most) most = e; else if (e < least) least = e;
        ->  if (e > most) most = e;  if (e < least) least = e;

The same where both begin with one value (NaN included): what is above the greatest is not below the
least then. Both are reductions.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

from loopxform.analysis.extrema import extremum, opposite
from loopxform.ir.nodes import Assign, Bin, Copy, Decl, Expr, For, Function, If, Opaque, Stmt, Var
from loopxform.ir.types import Scalar
from loopxform.ir.typing import symbols, type_of
from loopxform.ir.visit import map_body, names, walk, writes
from loopxform.records import record


@record
class Pair:
    """An extremum and the opposite one, which is looked for where the first does not change."""

    first: str
    second: str


def with_extrema_apart(fn: Function) -> Function:
    """The function with the pairs of extrema that begin with one value apart."""
    body = _block(fn.body, symbols(fn))
    if body == fn.body:
        return fn
    return replace(fn, body=body, start=None, as_written=fn.as_written or fn)


def _block(body: tuple[Stmt, ...], types: dict[str, Scalar]) -> tuple[Stmt, ...]:
    out, values = list[Stmt](), dict[str, Expr]()
    for s in body:
        match s:
            case For():
                s = _apart(s, values, types)
                s = replace(s, body=_block(s.body, types))
            case If():
                s = replace(s, then=_block(s.then, types), orelse=_block(s.orelse, types))
        out.append(s)
        _follow(values, s)
    return tuple(out)


def _apart(loop: For, values: Mapping[str, Expr], types: dict[str, Scalar]) -> For:
    """A loop in front of which scalars have these `values`, with its pairs apart."""
    if any(isinstance(s, Opaque | Copy) for _, s in walk(loop.body)):
        return loop
    for pair in {p for _, s in walk(loop.body) if (p := _pair(s, types)) is not None}:
        begin = {values.get(name, Var(name)) for name in (pair.first, pair.second)}
        if len(begin) == 1 and _is_alone(loop, pair, types):
            loop = replace(loop, body=map_body(loop.body, partial(_two, pair=pair, types=types)))
    return loop


def _two(s: Stmt, pair: Pair, types: dict[str, Scalar]) -> tuple[Stmt, ...]:
    if not isinstance(s, If) or _pair(s, types) != pair:
        return (s,)
    return (replace(s, orelse=()), *s.orelse)


def _is_alone(loop: For, pair: Pair, types: dict[str, Scalar]) -> bool:
    """Whether a loop sets the two extrema nowhere else."""
    every = [s for _, s in walk(loop.body)]
    updates = sum(_pair(s, types) == pair for s in every)
    for name in (pair.first, pair.second):
        sets = sum(isinstance(s, Assign) and s.target == Var(name) for s in every)
        counts = any(isinstance(s, Decl) and s.name == name for s in every)
        if sets != updates or counts or name in (s.var for s in every if isinstance(s, For)):
            return False
    return True


def _pair(s: Stmt, types: dict[str, Scalar]) -> Pair | None:
    match s:
        case If(
            Bin(sign) as cond,
            (Assign(Var(first), e, ""),),
            (If(Bin(other) as second_cond, (Assign(Var(second), same, ""),), ()),),
        ) if e == same:
            op = extremum(cond, e, Var(first))
            fits = op is not None and extremum(second_cond, e, Var(second)) == opposite(op)
            strict = sign in ("<", ">") or other in ("<", ">")
            alike = types.get(first) == types.get(second) == type_of(e, types)
            free = not names(e) & {first, second}
            return Pair(first, second) if op and fits and strict and alike and free else None
        case _:
            return None


def _follow(values: dict[str, Expr], s: Stmt) -> None:
    """Brings the known values of scalars up to date behind a statement."""
    if any(isinstance(x, Opaque) for _, x in walk((s,))):
        values.clear()
    changed = writes((s,)) | {x.name for _, x in walk((s,)) if isinstance(x, Decl)}
    changed |= {x.var for _, x in walk((s,)) if isinstance(x, For)}
    for name in [n for n, e in values.items() if n in changed or names(e) & changed]:
        del values[name]
    match s:
        case Assign(Var(name), e, "") if name not in names(e):
            values[name] = values.get(e.name, e) if isinstance(e, Var) else e
