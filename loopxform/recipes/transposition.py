"""Transposition: what neighbours read far apart passes through local memory.

    forall i: forall j: B[j, i] = A[i, j]
 -> forall groups: { A_loc[Tx, Ty*Ry] = a box of A, along its rows
      forall j, i of the group: B[j, i] = A_loc[i, j] }               along the rows of B

Fits where an iteration reads along rows in another loop than it writes, whatever it computes: no
array needs to be invariant to a loop. Work-items are neighbours along x, as is best for what is
written, and what is near along another loop, y, is copied along that; the tile has a column more
than it needs, so that neighbours find its elements in different banks. The loops are those that
cost least, where that is less than what the recipe naive costs. (Henriksen, "Transposing for
Coalesced Memory Access"; Ruetsch and Micikevicius, "Optimizing Matrix Transpose in CUDA".)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import permutations
from typing import ClassVar

from loopxform.ir.affine import Poly, poly, value_of
from loopxform.ir.nodes import Assign, Load
from loopxform.ir.typing import symbols
from loopxform.ir.visit import declared, perfect_nest, walk
from loopxform.model.accesses import Kind
from loopxform.model.choice import Choice, naive
from loopxform.model.coalescing import Estimate
from loopxform.model.cost import cost
from loopxform.model.footprint import linear
from loopxform.model.layouts import one_each
from loopxform.model.resources import demand
from loopxform.model.reuse import Dim, Facts, Stage, Staged
from loopxform.prepare.parallel_band import Nest
from loopxform.recipes import fitting
from loopxform.recipes.base import Mapped, Question, Uncopied
from loopxform.recipes.deriving import Work
from loopxform.recipes.staged_tiles import one_parallel
from loopxform.recipes.tile_steps import mapped_tiles
from loopxform.schedule.params import KINDS, Options, Recipe, Tiles
from loopxform.targets.target import Limits
from loopxform.transforms.edges.bounds import trip_count

ALONG_ROWS = "neighbours can read and write along rows: nothing has to be turned in local memory"


class Transposition:
    name: ClassVar[Recipe] = "transposition"

    def match(self, question: Question) -> Choice | str:
        """That accesses are along rows is news only where somebody asked."""
        found = self._match(question)
        return found if question.asked or isinstance(found, Choice) else ""

    def _match(self, question: Question) -> Choice | str:
        if reason := one_parallel(question):
            return reason
        facts, limits = question.facts, question.limits
        found = {c: _time(facts.nest, c, limits) for c in self._choices(facts, limits)}
        if not found:
            return ALONG_ROWS
        best = min(found, key=lambda c: found[c])
        if question.asked:
            return best
        if any(_needs(facts.nest, best, limits)):
            return "there is no room for a tile in local memory"
        sizes = KINDS["naive"].tiles.numbers
        plain = Estimate(facts.nest, one_each(facts.nest, sizes, limits), sizes, limits)
        return best if found[best] < cost(plain).work else ALONG_ROWS

    def map(
        self, w: Work, nest: Nest, choice: Choice, options: Options, limits: Limits
    ) -> Mapped | Uncopied:
        return mapped_tiles(w, nest, choice, options, limits)

    def _choices(self, facts: Facts, limits: Limits) -> Iterator[Choice]:
        """One for each pair of loops y and x such that something is read along rows in y alone."""
        parallel = facts.nest.parallel
        written = {v: _written(facts.nest, v, limits) for v in parallel}
        near = {v: _segments(facts.nest, v, limits, "read") for v in parallel}
        for y, x in permutations(parallel, 2):
            turned = {element for element, n in near[x].items() if near[y][element] < n}
            if not turned or written[x] > min(written.values()):
                continue
            dims = (Dim(y, "Ty", "Ry"), Dim(x, "Tx"))
            stages = tuple(s for s in facts.stages(dims) if _is_turned(s, turned, {y, x}))
            across = tuple(replace(s, across=True) for s in stages)
            if across:
                yield Choice(self.name, dims, x, across, tiles=_tiles(facts.nest, y, x))


Element = tuple[str, tuple[Poly, ...]]
"""An array, and its subscripts."""


def _element(x: Load) -> Element:
    return x.array, tuple(map(poly, x.index))


def _segments(nest: Nest, x: str, limits: Limits, kind: Kind) -> dict[Element, Fraction]:
    """Those that a work-item of a warp of neighbours along x asks for, of each element that it
    reads, or writes."""
    row = {**KINDS["naive"].tiles.numbers, "Ty": 1, "Tx": limits.warp}
    e = Estimate(nest, naive(nest, x), row, limits)
    found = (a for a in e.accesses if a.kind == kind)
    return {_element(a.load): Fraction(e.segments(a), max(1, len(e.lanes))) for a in found}


def _written(nest: Nest, x: str, limits: Limits) -> Fraction:
    """Those that it asks for to write: of arrays that only the function has, where no caller says
    what they are, a whole one for each element unless neighbours are near."""
    known = _segments(nest, x, limits, "write")
    total, body = sum(known.values(), Fraction(0)), nest.innermost.body
    own, types = declared(body), symbols(nest.function)
    targets = (s.target for _, s in walk(body) if isinstance(s, Assign))
    for t in targets:
        if isinstance(t, Load) and t.array not in own and _element(t) not in known:
            near = linear(poly(t.index[-1]), x) in (1, -1)
            moves = any(poly(i).mentions(x) for i in t.index)
            total += Fraction(types[t.array].bytes, limits.costs.segment) if near else int(moves)
    return total


def _is_turned(s: Stage, turned: set[Element], tiled: set[str]) -> bool:
    """Whether all reads of a box move with both loops, along rows in the other one, and none is in
    a loop of many iterations."""
    return not s.loop and all(tiled <= r.varies and _element(r.load) in turned for r in s.reads)


def _needs(nest: Nest, choice: Choice, limits: Limits) -> tuple[str, ...]:
    """What does not fit, in the smallest sizes."""
    needs = demand(nest, choice)
    return needs.broken(fitting.fitted(choice, needs, limits, {})[0], limits)


def _time(nest: Nest, choice: Choice, limits: Limits) -> Fraction:
    sizes, _ = fitting.fitted(choice, demand(nest, choice), limits, {})
    staged = tuple(Staged(s, private=False) for s in choice.stages)
    return cost(Estimate(nest, choice, sizes, limits, staged)).work


def _tiles(nest: Nest, y: str, x: str) -> Tiles:
    """The tiles of the recipe, no larger than loops of few iterations."""
    whole = KINDS["transposition"].tiles
    chain = perfect_nest(nest.outermost)[: len(nest.parallel)]
    trips = {loop.var: value_of(trip_count(loop)) for loop in chain}
    rows, columns = trips[y] or whole.Ty * whole.Ry, trips[x] or whole.Tx
    down = max(1, min(whole.Ty, (rows - 1) // whole.Ry + 1))
    across = min(whole.Tx, 1 << (columns - 1).bit_length())
    return replace(whole, Ty=down, Tx=across, Ry=min(whole.Ry, rows))
