"""Slices of arrays that an iteration uses again, in buffers of its own:

    forall i: { for j: s += x[i, j];  for j: y[i, j] = x[i, j] / s }
 -> forall i: { x_row[n]; forall j: x_row[j] = x[i, j];  for j: s += x_row[j]; ... }

A group that keeps them in local memory reads the row from global memory once, and writes it once,
whatever its loops do with it meanwhile.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from loopxform.ir.nodes import For, Stmt
from loopxform.ir.visit import declared, loads, names, stmt_exprs, walk
from loopxform.prepare.parallel_band import Nest
from loopxform.recipes.array_sizes import fixed_bytes
from loopxform.recipes.deriving import Work
from loopxform.transforms import BufferSlice


def with_slices(nest: Nest, most_bytes: int, *, rows: bool) -> tuple[Nest, int]:
    """The nest with buffers for the slices that several loops of an iteration use, as far as that
    is legal, and the bytes of those that have a fixed size, at most so many in all; only for slices
    that loops walk along in memory, where these have to be `rows`."""
    w = Work(nest.derivation.titled("Slices that an iteration uses again"), {})
    loop, taken = nest.parallel[-1], 0
    for array in _used_again(nest.innermost):
        if rows and not _is_row(nest.innermost, array):
            continue
        before, known = w.derivation, declared(w.fn.body).keys()
        if w.attempt(BufferSlice(array, loop)):
            (made,) = (d for n, d in declared(w.fn.body).items() if n not in known)
            size = fixed_bytes(made) or 0
            if taken + size > most_bytes:
                w.derivation = before
            else:
                taken += size
    return (nest if w.fn == nest.function else nest.of(w.derivation)), taken


def _used_again(loop: For) -> list[str]:
    """Arrays that several loops in the body use, in text order."""
    uses = Counter(array for s in _outermost(loop.body) for array in dict.fromkeys(_arrays(s)))
    return [array for array, count in uses.items() if count > 1]


def _is_row(loop: For, array: str) -> bool:
    """Whether a loop in the body counts the last subscript of an array."""
    inside = {s.var for _, s in walk(loop.body) if isinstance(s, For)}
    used = (x for _, s in walk(loop.body) for e in stmt_exprs(s) for x in loads(e))
    return any(names(x.index[-1]) & inside for x in used if x.array == array)


def _outermost(body: tuple[Stmt, ...]) -> Iterator[For]:
    """The loops of a body, without those in others."""
    for path, s in walk(body):
        if isinstance(s, For) and not _in_loop(body, path):
            yield s


def _in_loop(body: tuple[Stmt, ...], path: tuple[int, ...]) -> bool:
    return any(
        isinstance(x, For) and len(p) < len(path) and path[: len(p)] == p for p, x in walk(body)
    )


def _arrays(loop: For) -> Iterator[str]:
    for _, s in walk(loop.body):
        yield from (x.array for e in stmt_exprs(s) for x in loads(e))
