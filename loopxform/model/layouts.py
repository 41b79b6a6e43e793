"""Which arrays are worth a copy in another layout, and along which loop neighbours are near.

Where work-items walk rows (`A[i, k]` for neighbours along i) and no group copies these together,
reading a transposed copy takes fewer transactions, and making the copy takes some: two for each
segment of the array. (Henriksen, "Transposing for Coalesced Memory Access".)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from loopxform.ir.affine import poly
from loopxform.model import cost
from loopxform.model.choice import Choice, naive
from loopxform.model.coalescing import Estimate
from loopxform.model.footprint import linear
from loopxform.prepare.parallel_band import Nest
from loopxform.targets.target import Limits
from loopxform.transforms import Relayout

Layouts = tuple[tuple[str, str], ...]
"""Arrays, and the order of their dimensions as `relayout` takes it."""


def layouts(now: Estimate) -> Layouts:
    """The copies to be made for a nest that is mapped as in `now`, none where they would not
    pay."""
    orders = {a: o for a, o in turned(now).items() if _pays(now, replace(now, layouts={a: o}), a)}
    if not orders or not worth(now, replace(now, layouts=orders), tuple(orders)):
        return ()
    return tuple((array, ",".join(map(str, order))) for array, order in orders.items())


def turned(now: Estimate) -> dict[str, tuple[int, ...]]:
    """The arrays of which neighbours read elements far apart, with the best order of dimensions
    that a copy may have."""
    return {array: order for array in _walked(now) if (order := _order(now, array))}


def worth(before: Estimate, after: Estimate, arrays: tuple[str, ...]) -> bool:
    """Whether a nest is clearly better off with copies of arrays."""
    copies = tuple(cost.copy(before, a) for a in arrays)
    now, then = cost.global_memory(before), cost.global_memory(after)
    return cost.worth(now, then, copies, before.limits)


def _pays(before: Estimate, after: Estimate, array: str) -> bool:
    """The same for what is read of one array alone."""
    now, then = cost.array_memory(before, array), cost.array_memory(after, array)
    return cost.worth(now, then, (cost.copy(before, array),), before.limits)


def _walked(now: Estimate) -> Iterator[str]:
    """The arrays that may be copied, of which neighbours read elements far apart."""
    if not now.choice.dims:
        return  # neighbours are work-items that share out a reduction
    x = now.choice.hardware(now.sizes)[0].loop
    for array in dict.fromkeys(a.array for a in now.accesses):
        if any(True for _ in _dimensions(now, array, x)):
            yield array


def _dimensions(now: Estimate, array: str, x: str) -> Iterator[int]:
    """The dimensions that neighbours along x differ in, of the reads that are not staged."""
    for a in now.accesses:
        last = len(a.load.index) - 1
        if a.array == array and a.kind == "read" and now.stage(a) is None:
            yield from (d for d in range(last) if linear(poly(a.load.index[d]), x) in (1, -1))


def _order(now: Estimate, array: str) -> tuple[int, ...]:
    """The best order of dimensions: one of those that neighbours differ in comes last; none where
    no copy can be made."""
    x = now.choice.hardware(now.sizes)[0].loop
    (rank,) = {len(a.load.index) for a in now.accesses if a.array == array}
    orders = [
        (*(n for n in range(rank) if n != d), d) for d in dict.fromkeys(_dimensions(now, array, x))
    ]
    legal = [o for o in orders if not Relayout(array, tuple(map(str, o))).check(now.nest.function)]
    return min(legal, key=lambda o: replace(now, layouts={array: o}).total, default=())


def one_each(nest: Nest, sizes: Mapping[str, int], limits: Limits) -> Choice:
    """One work-item for each iteration, neighbours along the loop that makes for the fewest
    transactions, the innermost of equals."""
    every = [naive(nest, v) for v in reversed(nest.parallel)]
    return min(every, key=lambda c: Estimate(nest, c, sizes, limits).total)
