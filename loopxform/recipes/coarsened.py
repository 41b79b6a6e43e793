"""Thread coarsening: a work-item computes a small tile of two loops from registers, which it fills
with vectors of global memory; caches serve what its neighbours read too.

    forall p, i < 16, j < 16: { s = 0; for k < 16: s += A[p,i,k] * B[p,k,j]; C[p,i,j] = s; }

Fits where there is reuse along two parallel loops of few iterations, inside another one: a batch of
small products. Staging them takes longer than it saves, since no element is read more than a few
times. (Volkov, "Better performance at lower occupancy", GTC 2010.)
"""

from __future__ import annotations

from itertools import combinations
from typing import ClassVar

from loopxform.ir.affine import value_of
from loopxform.ir.typing import symbols
from loopxform.ir.visit import loops, perfect_nest
from loopxform.model.choice import Choice
from loopxform.model.reuse import SMALL, Dim, Facts
from loopxform.prepare.parallel_band import Nest
from loopxform.recipes.base import NO_REUSE, Mapped, Question, Uncopied
from loopxform.recipes.deriving import Work
from loopxform.recipes.staged_tiles import neighbours, one_parallel
from loopxform.recipes.tile_steps import mapped_tiles
from loopxform.schedule.params import Options, Recipe, Tiles
from loopxform.targets.target import Limits
from loopxform.transforms import StoreVectors
from loopxform.transforms.edges.bounds import trip_count
from loopxform.transforms.latency.store_vectors import in_memory, stored
from loopxform.transforms.latency.vectors import VECTOR_BYTES

ITEMS = 128
"""Work-items of a group: as many batches as fill it."""

MOST_BATCHES = 64
"""Work-items along the third dimension of NVIDIA's devices."""


class Coarsened:
    name: ClassVar[Recipe] = "coarsened"

    def match(self, question: Question) -> Choice | str:
        if reason := one_parallel(question):
            return reason
        facts, parallel = question.facts, question.facts.nest.parallel
        pair = _pair(facts) or (parallel[-2:] if question.asked else ())
        if not pair:
            return NO_REUSE
        y, x = pair
        batches = [v for v in parallel if v not in pair]
        tiles = _tiles(facts.nest, y, x)
        if not question.asked and (tiles is None or not batches or facts.reduced):
            return "no two loops of few iterations, inside another one, have use for the same data"
        outer = (Dim(batches[-1], "Tz"),) if batches else ()
        dims = (*outer, Dim(y, "Ty", "Ry"), Dim(x, "Tx", "Rx"))
        reads = tuple(r for r in facts.reads if facts.over(r))
        along = neighbours(facts, [d.loop for d in dims])
        return Choice(self.name, dims, along, reads=reads, tiles=tiles)

    def map(
        self, w: Work, nest: Nest, choice: Choice, options: Options, limits: Limits
    ) -> Mapped | Uncopied:
        mapped = mapped_tiles(w, nest, choice, options, limits)
        most = limits.vector_width if options.vector is None else options.vector
        if limits.vector or most == 1:
            return mapped
        w.stage("Vectors")
        for site in list(loops(w.fn)):
            assigned = stored(site.loop) if site.loop.unroll else None
            if assigned is None or not in_memory(w.fn, assigned.target.array):
                continue
            width = min(most, VECTOR_BYTES // symbols(w.fn)[assigned.target.array].bytes)
            while width > 1 and not w.attempt(StoreVectors(w.ref(site.path), str(width))):
                width //= 2
        return mapped


def _pair(facts: Facts) -> tuple[str, str] | None:
    """The innermost two parallel loops with reuse along both."""
    read = [r.varies for r in facts.reads if r.loops]
    for x, y in combinations(reversed(facts.nest.parallel), 2):
        if any(y not in v and x in v for v in read) and any(x not in v and y in v for v in read):
            return y, x
    return None


def _tiles(nest: Nest, y: str, x: str) -> Tiles | None:
    """Tiles of items that cover two loops of few iterations; None where these are not known, or no
    vector divides the inner one."""
    chain = perfect_nest(nest.outermost)[: len(nest.parallel)]
    trips = {loop.var: value_of(trip_count(loop)) for loop in chain}
    rows, columns = trips.get(y), trips.get(x)
    if not rows or not columns or max(rows, columns) > SMALL or columns % 2:
        return None
    wide, high = (4 if columns % 4 == 0 else 2), (2 if rows % 2 == 0 else 1)
    across, down = columns // wide, rows // high
    batches = max(1, min(MOST_BATCHES, ITEMS // (across * down)))
    return Tiles(Tz=batches, Ty=down, Tx=across, Ry=high, Rx=wide)
