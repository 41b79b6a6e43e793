"""The nest that copies an array: a loop from 0 for each dimension of what is touched of it."""

from __future__ import annotations

from loopxform.analysis.extent import Extent
from loopxform.ir.names import fresh
from loopxform.ir.nodes import Assign, Const, Expr, For, Function, Stmt
from loopxform.ir.types import promote
from loopxform.ir.typing import symbols, type_of
from loopxform.transforms.bounds import conjuncts

COUNTERS = "pqrstuvw"
"""The loops of a copy, by dimension of the array."""


def counters(fn: Function, rank: int) -> tuple[str, ...]:
    """Names for the loops, of which there are COUNTERS at most."""
    return tuple(fresh(fn, COUNTERS[n]) for n in range(rank))


def copy_nest(fn: Function, move: Assign, names: tuple[str, ...], upper: tuple[Expr, ...]) -> Stmt:
    """forall p < upper[0]: forall q < upper[1]: ... move."""
    types = symbols(fn)
    out: Stmt = move
    for name, end in reversed(list(zip(names, upper))):
        kind = promote(type_of(end, types))
        out = For(name, Const(0), end, Const(1), (out,), True, type=kind, origin=move.origin)
    return out


def touched(found: Extent) -> list[Expr]:
    """The parts of the condition under which the array is touched."""
    return [] if found.when is None else conjuncts(found.when)
