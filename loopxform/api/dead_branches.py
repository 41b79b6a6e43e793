"""Branches that no program reaches (`if (DEBUG) ...` where DEBUG is 0): `check` judges what is in
them, nothing else needs it.

    if (0) { for i: S }  else { for j: T }   ->   for j: T
    while (0) S                              ->
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from loopxform.frontend.lower.fold import fold
from loopxform.ir.nodes import Bin, Const, Decl, Expr, For, Function, If, Opaque, Stmt, While
from loopxform.ir.visit import map_body, walk
from loopxform.source import Loc


def without_dead_branches(fn: Function) -> Function:
    """The function without them. What may be jumped to stays."""
    body = map_body(fn.body, _reached)
    if body == fn.body:
        return fn
    written = fn.as_written and without_dead_branches(fn.as_written)
    return replace(fn, body=body, as_written=written)


def dead_loops(fn: Function) -> frozenset[Loc]:
    """Where loops begin that are in such branches."""
    return frozenset(_begin(fn.body)) - frozenset(_begin(without_dead_branches(fn).body))


def _begin(body: tuple[Stmt, ...]) -> Iterator[Loc]:
    for _, s in walk(body):
        if isinstance(s, For | While) and s.origin.loc is not None:
            yield s.origin.loc


def _reached(s: Stmt) -> tuple[Stmt, ...]:
    match s:
        case If(cond, then, orelse):
            value = _truth(cond)
            taken, dead = (then, orelse) if value else (orelse, then)
            if value is None or _is_entered(dead):
                return (s,)
            if any(isinstance(x, Decl) for x in taken):
                return (replace(s, cond=Const(1), then=taken, orelse=()),)
            return taken
        case While(cond=cond, once=False, body=body):
            return () if _truth(cond) == 0 and not _is_entered(body) else (s,)
        case _:
            return (s,)


def _truth(cond: Expr) -> int | None:
    """Whether a condition holds in every case, or in none; None: it depends."""
    match cond:
        case Bin("&&" | "||" as op, left, right):
            decides = int(op == "||")
            sides = (_truth(left), _truth(right))
            if decides in sides:
                return decides
            return None if None in sides else 1 - decides
        case _:
            value = fold(cond)
            return None if value is None else int(value != 0)


def _is_entered(body: tuple[Stmt, ...]) -> bool:
    """Whether there may be a label that something jumps to."""
    return any(isinstance(x, Opaque) and x.jump == "elsewhere" for _, x in walk(body))
