"""Loops that may end before any iteration, as loops of the tree that ask again each time.

    while (c) S                      for (w = 0; w < (c ? w + 1 : w); w++) S
    for (i = lo; i < hi && c; i++)   for (i = lo; i < (c ? hi : i); i++)

The bound of a `For` is computed before every iteration, so that is what these loops mean, and
whatever looks at bounds sees the condition. Otherwise no loop has its own variable in its bound.
"""

from __future__ import annotations

from dataclasses import replace

from loopxform.ir.affine import value_of
from loopxform.ir.nodes import Bin, Const, Expr, For, Select, Stmt, Var
from loopxform.source import Origin


def while_loop(var: str, cond: Expr, body: tuple[Stmt, ...], origin: Origin) -> For:
    """`while (cond) body`, counted by `var`, which nothing else has."""
    loop = For(var, Const(0), _next(var), Const(1), body, origin=origin)
    return watching(loop, cond)


def watching(loop: For, cond: Expr) -> For:
    """The loop, which also ends where `cond` does not hold; a condition it has is replaced."""
    return replace(loop, hi=Select(cond, end(loop), Var(loop.var)))


def condition(loop: For) -> Expr | None:
    """What else must hold for another iteration; None for a loop that only counts."""
    found = _parts(loop)
    return None if found is None else found[0]


def end(loop: For) -> Expr:
    """The bound of the variable, whatever else ends the loop."""
    found = _parts(loop)
    return loop.hi if found is None else found[1]


def is_while(loop: For) -> bool:
    """Whether the condition alone ends the loop."""
    return condition(loop) is not None and end(loop) == _next(loop.var)


def test(loop: For) -> Expr:
    """What is asked before each iteration."""
    return _with_condition(loop, _compared(loop))


def written_test(loop: For) -> Expr:
    """What C asks there of a loop to which no step was applied, whatever its function assumes."""
    return _with_condition(loop, _compared(loop) if loop.asks is None else loop.asks)


def _compared(loop: For) -> Expr:
    down = (value_of(loop.step) or 1) < 0
    return Bin(">" if down else "<", Var(loop.var), end(loop))


def _with_condition(loop: For, compared: Expr) -> Expr:
    cond = condition(loop)
    if cond is None:
        return compared
    return cond if is_while(loop) else Bin("&&", cond, compared)


def _parts(loop: For) -> tuple[Expr, Expr] | None:
    match loop.hi:
        case Select(cond, then, Var(name)) if name == loop.var:
            return cond, then
        case _:
            return None


def _next(var: str) -> Expr:
    return Bin("+", Var(var), Const(1))
