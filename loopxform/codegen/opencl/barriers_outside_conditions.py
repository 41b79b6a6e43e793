"""Loops around barriers that run once or not at all.

    for (k = 0; k < min(3, e); k += 8) { copy; compute; }      a compiler makes an `if` of it
 -> for (k = 0; k < 3; k += 8) { if (k < e) copy; if (k < e) compute; }

Barriers under a condition are what some compilers for CPUs get wrong (PoCL 3 computes garbage),
even where all work-items of a group agree on it. Here they stand outside of it.
"""

from __future__ import annotations

from dataclasses import replace

from loopxform.ir import whiles
from loopxform.ir.affine import value_of
from loopxform.ir.nodes import Bin, Copy, Decl, Expr, For, If, Stmt, Var
from loopxform.ir.visit import names, walk, writes
from loopxform.transforms.edges.bounds import conjunction, least, operands


def once_inside(loop: For) -> For:
    """The same iterations of a loop that runs once or not at all and counts upwards, with no
    condition around the barriers; any other loop as it is."""
    start, step = value_of(loop.lo), value_of(loop.step)
    if start is None or step is None or step <= 0 or whiles.is_while(loop):
        return loop
    ends = {e: value_of(e) for e in operands(loop.hi)}
    known = [e for e, n in ends.items() if n is not None]
    asked: list[Expr] = [Bin("<", Var(loop.var), e) for e, n in ends.items() if n is None]
    last = value_of(least(known)) if known else None
    if last is None or not start < last <= start + step or not asked:
        return loop
    test = conjunction(asked)
    if any(_holds_barriers(s) for s in loop.body) or names(test) & writes(loop.body):
        return loop
    return replace(loop, hi=least(known), body=tuple(_piece(test, s) for s in loop.body))


def _piece(cond: Expr, s: Stmt) -> Stmt:
    return s if isinstance(s, Decl) else If(cond, (s,), origin=s.origin)


def _holds_barriers(s: Stmt) -> bool:
    """Whether a statement is a loop that the group runs in step."""
    return (
        isinstance(s, For)
        and s.level is None
        and any(isinstance(x, Copy) or _mapped(x) for _, x in walk(s.body))
    )


def _mapped(s: Stmt) -> bool:
    return isinstance(s, For) and s.level is not None
