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
from loopxform.ir.visit import perfect_nest
from loopxform.model.choice import Choice
from loopxform.model.reuse import SMALL, Dim, Facts
from loopxform.prepare.parallel_band import Nest
from loopxform.recipes.base import NO_REUSE, Mapped, Question, Uncopied
from loopxform.recipes.deriving import Work
from loopxform.recipes.staged_tiles import neighbours, one_parallel
from loopxform.recipes.tile_steps import mapped_tiles
from loopxform.recipes.vector_stores import store_results
from loopxform.schedule.params import Options, Recipe, Tiles
from loopxform.targets.target import Limits
from loopxform.transforms.edges.bounds import trip_count


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
        tiles = _tiles(facts.nest, y, x, question.costs.coarsened_items)
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
        width = limits.vector_width if options.vector is None else options.vector
        if isinstance(mapped, Mapped) and not limits.vector and width > 1:
            w.stage("Vectors")
            store_results(w, mapped.group, width)
        return mapped


def _pair(facts: Facts) -> tuple[str, str] | None:
    """The innermost two parallel loops with reuse along both."""
    read = [r.varies for r in facts.reads if r.loops]
    for x, y in combinations(reversed(facts.nest.parallel), 2):
        if any(y not in v and x in v for v in read) and any(x not in v and y in v for v in read):
            return y, x
    return None


def _tiles(nest: Nest, y: str, x: str, items: int) -> Tiles | None:
    """Tiles that cover two loops of few iterations, in groups of some `items`; None where the
    iterations are not known, or no vector divides those of the inner loop."""
    chain = perfect_nest(nest.outermost)[: len(nest.parallel)]
    trips = {loop.var: value_of(trip_count(loop)) for loop in chain}
    rows, columns = trips.get(y), trips.get(x)
    if not rows or not columns or max(rows, columns) > SMALL or columns % 2:
        return None
    wide, high = (4 if columns % 4 == 0 else 2), (2 if rows % 2 == 0 else 1)
    across, down = columns // wide, rows // high
    return Tiles(Tz=max(1, items // (across * down)), Ty=down, Tx=across, Ry=high, Rx=wide)
