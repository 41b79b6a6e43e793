"""The nest that copies an array: a loop from 0 for each dimension of what is touched of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from loopxform.analysis.context import always
from loopxform.analysis.extent import Extent
from loopxform.ir.affine import simplify, value_of
from loopxform.ir.names import fresh
from loopxform.ir.nodes import (
    Assign,
    Bin,
    Const,
    Decl,
    Expr,
    For,
    Function,
    If,
    Load,
    Stmt,
    Var,
)
from loopxform.ir.types import INT_MAX, Space, promote
from loopxform.ir.typing import symbols, type_of
from loopxform.ir.visit import Path
from loopxform.source import Origin
from loopxform.transforms.edges.bounds import conjunction, conjuncts, positive

COUNTERS = "pqrstuvw"
"""The loops of a copy, by dimension of the array."""


def counters(fn: Function, rank: int) -> tuple[str, ...]:
    """Names for the loops, of which there are COUNTERS at most."""
    return tuple(fresh(fn, COUNTERS[n]) for n in range(rank))


def copy_nest(
    fn: Function, moves: tuple[Stmt, ...], names: tuple[str, ...], upper: tuple[Expr, ...]
) -> Stmt:
    """forall p < upper[0]: forall q < upper[1]: ... moves."""
    types, origin = symbols(fn), moves[0].origin
    for name, end in reversed(list(zip(names, upper))):
        kind = promote(type_of(end, types))
        moves = (For(name, Const(0), end, Const(1), moves, True, type=kind, origin=origin),)
    return moves[0]


def copy_of_box(
    fn: Function, array: str, copy: str, box: Extent, order: Sequence[int], origin: Origin
) -> tuple[Decl, Stmt]:
    """An array in global memory with the dimensions of a box in this order, and the nest that
    copies the box."""
    shape = tuple(positive(box.upper[n]) for n in order)
    decl = Decl(copy, symbols(fn)[array], shape, Space.GLOBAL, origin=origin)
    names = counters(fn, len(order))
    index = tuple(map(Var, names))
    to = Load(copy, tuple(index[n] for n in order))
    move = Assign(to, Load(array, index), label=f"copy_{copy}", origin=origin)
    return decl, copy_nest(fn, (move,), names, box.upper)


def where_touched(fn: Function, path: Path, box: Extent, nest: Stmt) -> Stmt:
    """A copy of a box at a place of a program that it is part of: under what the loops around do
    not say of the condition under which the box is touched."""
    inside = (*path, *(0,) * len(box.upper))
    left = [c for c in touched(box) if not always(fn, inside, c)]
    return If(conjunction(left), (nest,), origin=nest.origin) if left else nest


def in_order(s: Stmt) -> tuple[Stmt, ...]:
    """A loop that is still to be judged, as those of the user are."""
    return (replace(s, parallel=False),) if isinstance(s, For) else (s,)


def touched(found: Extent) -> list[Expr]:
    """The parts of the condition under which the array is touched."""
    return [] if found.when is None else conjuncts(found.when)


def rounded(e: Expr, width: int) -> Expr:
    """The next multiple of the width."""
    number = value_of(e)
    if number is not None:
        return Const(-(-number // width) * width)
    more = Bin("/", Bin("+", e, Const(width - 1)), Const(width))
    return simplify(Bin("*", more, Const(width)))


def counted(rows: Sequence[Expr], length: Expr, width: int) -> Iterator[Expr]:
    """That a copy with as many rows in each dimension (outermost first), of a length that is
    rounded up, has elements, and an int can number them."""
    yield Bin("<=", length, Const(INT_MAX // 2))
    yield from (Bin(">=", d, Const(1)) for d in (length, *rows[1:], *rows[:1]))
    below = rounded(length, width)
    for d in reversed(rows):
        yield Bin("<=", d, Bin("/", Const(INT_MAX), below))
        below = Bin("*", below, d)
