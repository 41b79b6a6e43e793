"""Integral images: a scan along the rows and one along the columns, in nests of their own.

    for i: { s = 0; for j: { s += a[i, j]; x[i, j] = x[i - 1, j] + s; } }
 -> for i: { s = 0; for j: { s += a[i, j]; x[i, j] = s; } }      the rows are parallel
    for i: for j: x[i, j] = x[i - 1, j] + x[i, j]                 the columns are

The same of `x[i, j] = a[i, j] + x[i - 1, j] + x[i, j - 1] - x[i - 1, j - 1]`. (Steps `row-sums` and
`defer-update`.)
"""

from __future__ import annotations

from collections.abc import Iterator

from loopxform.analysis.running import Scan, scan_of
from loopxform.ir.nodes import Assign, For, Load, Var
from loopxform.ir.typing import symbols
from loopxform.ir.visit import LoopSite, declared, loops, loops_around, names, resolve, walk, writes
from loopxform.prepare.perfect_nest import is_parallel, parallel_loops, told_apart
from loopxform.transforms import (
    DeferUpdate,
    Derivation,
    Distribute,
    ForwardSubstitute,
    IfConvert,
    Privatise,
    RowSums,
)
from loopxform.transforms.reductions.summed_area import tables

TITLE = "Sums of rows, then of columns"


def rows_then_columns(derivation: Derivation, var: str, *, reassociate: bool) -> Derivation | None:
    """The nest of the loop over `var` as one of rows and one of columns; None where it has no
    running values of rows that columns go on with, is parallel without, or those nests would not
    be."""
    outermost = resolve(derivation.function, var)[0]
    for site in loops(derivation.function):
        inside = site.path[: len(outermost.path)] == outermost.path and site != outermost
        alone = len(resolve(derivation.function, site.loop.var)) == 1
        if inside and alone and not any(isinstance(s, For) for _, s in walk(site.loop.body)):
            stored = tuple(_stored(site.loop))
            for arrays in dict.fromkeys([stored, *((a,) for a in stored)]):
                found = _split(derivation.titled(TITLE), site, arrays, reassociate=reassociate)
                if found is not None:
                    return found
    return None


def _stored(loop: For) -> Iterator[str]:
    targets = (s.target for _, s in walk(loop.body) if isinstance(s, Assign))
    yield from dict.fromkeys(t.array for t in targets if isinstance(t, Load))


def _split(
    derivation: Derivation, site: LoopSite, arrays: tuple[str, ...], *, reassociate: bool
) -> Derivation | None:
    """The loop over a row that stores in some arrays, and what goes on from row to row apart."""
    row, around = site.loop.var, loops_around(derivation.function, site.path)
    assert around
    before = {s.loop.var for s in loops(derivation.function)}
    for array in arrays:
        deferred = _deferred(derivation, row, array, reassociate=reassociate)
        if deferred is None:
            return None
        derivation = deferred
    if not arrays or is_parallel(derivation.function, around[-1].var):
        return None
    columns = {s.loop.var for s in loops(derivation.function)} - before
    derivation = _private(derivation, row, around[-1].var)
    chain = tuple(x.var for x in around)
    derivation, refusal = derivation.optional(Distribute(chain, tuple(sorted(columns))))
    if refusal is not None:
        return None
    scan = scan_of(derivation.function, resolve(derivation.function, row)[0].path)
    done = told_apart(derivation)
    parallel = parallel_loops(done.function)
    apart = isinstance(scan, Scan) and {around[-1].var, *columns} <= parallel
    return done if apart else None


def _deferred(
    derivation: Derivation, row: str, array: str, *, reassociate: bool
) -> Derivation | None:
    """With what the loop over a row stores in an array kept for a loop behind it."""
    derivation = _one_store(derivation, row, array)
    (site,) = resolve(derivation.function, row)
    fn = derivation.function
    if array in tables(site.loop, loops_around(fn, site.path), symbols(fn)):
        allowed = "reassociate" if reassociate else ""
        derivation, _ = derivation.optional(RowSums(array, row, reassociate=allowed))
    derivation, refusal = derivation.optional(DeferUpdate(array, row))
    return derivation if refusal is None else None


def _one_store(derivation: Derivation, row: str, array: str) -> Derivation:
    """What an iteration stores in the array as one expression, as far as that can be."""
    derivation, _ = derivation.optional(IfConvert(row))
    for s in resolve(derivation.function, row)[0].loop.body:
        if isinstance(s, Assign) and isinstance(s.target, Var) and array in names(s.value):
            derivation, _ = derivation.optional(ForwardSubstitute(s.target.name, row))
    return derivation


def _private(derivation: Derivation, row: str, rows: str) -> Derivation:
    """Scalars of a row, which the function declares."""
    body = resolve(derivation.function, row)[0].loop.body
    for s in declared(derivation.function.body).values():
        if not s.shape and s.name in writes(body):
            derivation, _ = derivation.optional(Privatise(s.name, rows))
    return derivation
