"""Elements that a work-item updates by key, in an array of its own:

    forall i: for j: s[key(i, j), i] += f(i, j)
 -> forall i: { s_row[n] = s[.., i];  for j: s_row[key(i, j)] += f(i, j);  s[.., i] = s_row[..] }

Each update in global memory waits for the one before, and neighbours with other keys are far apart
there; what a work-item has to itself stays near it, and is copied once, along rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from loopxform.ir.affine import value_of
from loopxform.ir.nodes import Assign, Decl, For, Load
from loopxform.ir.visit import declared, loads, names, walk, writes
from loopxform.prepare.parallel_band import Nest
from loopxform.recipes.deriving import Work
from loopxform.recipes.row_registers import REGISTER
from loopxform.targets.target import Limits
from loopxform.transforms import BufferSlice
from loopxform.transforms.edges.bounds import fixed_trips

SHARE = 4
"""The arrays of a work-item take at most as much as one part of so many of its registers."""

COPIES = 2
"""Elements of a slice are read once, and written once."""


def with_own_slices(w: Work, nest: Nest, limits: Limits) -> None:
    """Gives work-items arrays of their own for what they update by key more often than it is
    copied."""
    sliced(w, nest.innermost, limits)


def sliced(w: Work, loop: For, limits: Limits) -> frozenset[str]:
    """The arrays that the iterations of a loop update by key more often than they are copied, and
    of which each has a slice of its own now."""
    if limits.vector:
        return frozenset()
    room, found = limits.registers // SHARE * REGISTER, set[str]()
    for array, updates in dict(_updated_by_key(loop)).items():
        before, known = w.derivation, declared(w.fn.body).keys()
        w.stage("Slices that a work-item updates by key")
        if not w.attempt(BufferSlice(array, loop.var)):
            w.derivation = before
            continue
        (row,) = (d for name, d in declared(w.fn.body).items() if name not in known)
        elements = _elements(row)
        taken = None if elements is None else elements * row.type.bytes
        if taken is None or taken > room or elements is None or updates <= COPIES * elements:
            w.derivation = before
        else:
            room -= taken
            found.add(array)
    return frozenset(found)


def _elements(row: Decl) -> int | None:
    """Of an array of a fixed size."""
    extents = [value_of(e) for e in row.shape]
    return None if None in extents else prod(e or 0 for e in extents)


def _updated_by_key(loop: For) -> Iterator[tuple[str, int]]:
    """Arrays that loops in an iteration update at places that data name, and how often, as far as
    that is known."""
    body = loop.body
    computed = writes(body) - {s.var for _, s in walk(body) if isinstance(s, For)}
    inner = [(path, s) for path, s in walk(body) if isinstance(s, For)]
    for path, s in walk(body):
        target = s.target if isinstance(s, Assign) and s.op else None
        if not isinstance(target, Load) or not isinstance(s, Assign) or s.atomic:
            continue
        keyed = any(names(e) & computed or any(loads(e)) for e in target.index)
        around = [fixed_trips(x) for p, x in inner if path[: len(p)] == p]
        if keyed and around and None not in around:
            yield target.array, prod((t[0].value or 1) for t in around if t is not None)
