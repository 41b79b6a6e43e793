"""Rows in the registers of the work-items that share them:

    x_row[C];  forall j_t < P: for (j = j_t; j < m; j += P): ... x_row[j] ...
 -> x_row[C/P, P];  forall j_t < P: for k < C/P, unrolled: if (P*k + j_t < m): ... x_row[k, j_t] ...

Where each work-item uses, in all loops of an iteration, elements that are its own alone, the group
needs neither local memory for them nor barriers.
"""

from __future__ import annotations

from collections.abc import Iterator

from loopxform.ir.affine import value_of
from loopxform.ir.nodes import Decl, Expr, For, Function
from loopxform.ir.visit import loads, names, resolve, stmt_exprs, walk
from loopxform.prepare.parallel_band import Nest
from loopxform.recipes.deriving import Work
from loopxform.transforms import BeginAt, BoundTrips, Normalise, Stripe, Unroll

REGISTER = 4
"""Bytes: smaller elements take one each."""


def from_zero(nest: Nest) -> Nest:
    """The nest in which the loops of an iteration begin at 0 that begin at a number above: they
    deal the same elements out to the same work-items."""
    w = Work(nest.derivation.titled("Loops that begin at one number"), {})
    for var in dict.fromkeys(s.var for _, s in walk(nest.innermost.body) if isinstance(s, For)):
        sites = resolve(w.fn, var)
        if len(sites) == 1 and (value_of(sites[0].loop.lo) or 0) > 0:
            w.attempt(BeginAt(var, "0"))
    return nest.of(w.derivation)


def striped(w: Work, arrays: tuple[Decl, ...], parts: str, items: int, words: int) -> list[str]:
    """The arrays of a group of so many work-items that these keep in registers, so many words each
    together, after the steps for that."""
    kept, room = list[str](), words
    for decl in arrays:
        count = -(-(value_of(decl.shape[0]) or 0) // items) if len(decl.shape) == 1 else 0
        needed = count * -(-decl.type.bytes // REGISTER)
        before = w.derivation
        if (
            0 < needed <= room
            and _unrolled(w, decl.name, count)
            and w.attempt(Stripe(decl.name, parts))
        ):
            kept.append(decl.name)
            room -= needed
        else:
            w.derivation = before
    return kept


def _unrolled(w: Work, array: str, count: int) -> bool:
    """Unrolls the loops over the elements of an array that a work-item has, each so many."""
    return all(
        w.attempt(BoundTrips(var, str(count)), Normalise(var), Unroll(var))
        for var in list(_walking(w.fn, array))
    )


def _walking(fn: Function, array: str) -> Iterator[str]:
    """The loops, not unrolled yet, whose variables the subscripts of an array mention and that no
    parallel loop is."""
    for loop in (s for _, s in walk(fn.body) if isinstance(s, For)):
        if loop.parallel or loop.unroll:
            continue
        used = (x for _, s in walk(loop.body) for e in stmt_exprs(s) for x in loads(e))
        if any(x.array == array and _mentions(x.index, loop.var) for x in used):
            yield loop.var


def _mentions(index: tuple[Expr, ...], var: str) -> bool:
    return any(var in names(i) for i in index)
