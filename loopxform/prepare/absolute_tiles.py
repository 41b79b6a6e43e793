"""Loops over tiles that count from 0, as loops over the numbers that they mean.

    for (ii = 0; ii < n; ii += 32) for (i = 0; i < min(32, n - ii); i++) S(ii + i)
        ->  for (ii = 0; ii < n; ii += 32) for (i = ii; i < min(ii + 32, n); i++) S(i)

What a call computes of a block, which gets the pointers to its elements, is of this kind. The two
loops can become one then (step `unstripmine`).
"""

from __future__ import annotations

from dataclasses import replace

from loopxform.analysis.exchange import operands
from loopxform.ir.affine import poly, simplify, to_expr, value_of
from loopxform.ir.nodes import Bin, Const, Expr, For, Function, If, Load, Opaque, Stmt, Var
from loopxform.ir.types import INT, INT_MAX
from loopxform.ir.typing import symbols, type_of
from loopxform.ir.visit import map_exprs, names, substitute_body, walk, writes
from loopxform.transforms.edges.bounds import least


def with_absolute_tiles(fn: Function, fixed: frozenset[str]) -> Function:
    """The function with each loop over a tile counting as the loop over the tiles does; `fixed` are
    the scalars that keep their value. The ends of tiles must be numbers of their type: it is asked
    as what bounds need (`representable`)."""
    writer = _Writer(fn, fixed)
    body = writer.body(fn.body, ())
    if body == fn.body:
        return fn
    return replace(fn, body=body, representable=tuple(dict.fromkeys(writer.representable)))


class _Writer:
    def __init__(self, fn: Function, fixed: frozenset[str]) -> None:
        self.types, self.fixed = symbols(fn), fixed
        self.representable = list(fn.representable)

    def body(self, body: tuple[Stmt, ...], around: tuple[For, ...]) -> tuple[Stmt, ...]:
        return tuple(self._stmt(s, around) for s in body)

    def _stmt(self, s: Stmt, around: tuple[For, ...]) -> Stmt:
        match s:
            case For():
                tiles = next((x for x in around if _is_tile(s, x)), None)
                s = s if tiles is None else self._moved(s, tiles)
                return replace(s, body=self.body(s.body, (*around, s)))
            case If():
                return replace(
                    s, then=self.body(s.then, around), orelse=self.body(s.orelse, around)
                )
            case _:
                return s

    def _moved(self, loop: For, tiles: For) -> For:
        start, ends = Var(tiles.var), operands(loop.hi, "min")
        plain = all(type_of(e, self.types) == INT for e in (start, *ends)) and loop.type == INT
        if not plain or tiles.var in writes(loop.body):
            return loop
        moved = [simplify(Bin("+", e, start)) for e in ends]
        size = value_of(tiles.step) or 0
        limits = [e for e in moved if tiles.var not in names(e)]
        covered = {poly(e) for e in operands(tiles.hi, "min")}
        if not covered & {poly(e) for e in limits} or not all(
            names(e) <= self.fixed for e in limits
        ):
            return loop
        most = Const(INT_MAX - size)
        self.representable += [Bin("<=", e, most) for e in limits if value_of(e) is None]
        back = Bin("-", Var(loop.var), start)
        body = map_exprs(substitute_body(loop.body, {loop.var: back}), _simpler)
        return replace(loop, lo=start, hi=least(moved), body=body, asks=None)


def _is_tile(loop: For, tiles: For) -> bool:
    """Whether a loop that counts from 0 runs to the step of the loop `tiles`, or to the end of what
    that covers."""
    if value_of(loop.lo) != 0 or value_of(loop.step) != 1 or loop.live_out:
        return False
    if any(isinstance(s, Opaque) for _, s in walk(loop.body)):
        return False
    size, start = value_of(tiles.step), poly(Var(tiles.var))
    ends = [poly(e) for e in operands(loop.hi, "min")]
    rest = [e for e in ends if e.value != size]
    shifts = all(not (e + start).mentions(tiles.var) for e in rest)
    return size is not None and size > 1 and len(rest) == 1 == len(ends) - 1 and shifts


def _simpler(e: Expr) -> Expr:
    if not isinstance(e, Load):
        return e
    return replace(e, index=tuple(to_expr(poly(i)) for i in e.index))
