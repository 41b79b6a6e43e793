"""Sums in the lanes of vectors, on devices that run the work-items of a group in turn:

    forall i: { s = 0;  for k: s += e(i, k);  b[i] = f(s) }
 -> forall i (a work-item): { s_part[L] = 0
      for k, L terms at a time: for l < L: s_part[l] += e(i, k + l);  s += all of s_part ... }

Such a device is a CPU: its compiler has what follows one another in vectors, and where each
addition waits for the one before, a core is idle most of the time. Sums that stay in order are
computed for several rows at a time (`joint_rows`). Terms that lie behind one
another need no staging there, since its caches fetch them ahead. (Cholewa-Madsen and Holst, section
7.3.1.)
"""

from __future__ import annotations

from typing import ClassVar

from loopxform.errors import Obstacle, TransformError
from loopxform.ir.nodes import Assign, For
from loopxform.ir.typing import symbols, type_of
from loopxform.ir.visit import walk
from loopxform.model.choice import Choice
from loopxform.prepare.parallel_band import Nest
from loopxform.recipes.base import IN_LOCKSTEP, NO_LANES, Mapped, Question
from loopxform.recipes.deriving import Work
from loopxform.recipes.joint_rows import (
    joint_lanes,
    joint_rows,
    lanes_of,
    sums_of_rows,
)
from loopxform.recipes.lane_loops import widest_set
from loopxform.recipes.naive import one_item_each
from loopxform.recipes.neighbouring_reads import along_terms
from loopxform.schedule.params import Options, Recipe
from loopxform.targets.target import Limits
from loopxform.transforms import VectorAccumulators


class Lanes:
    name: ClassVar[Recipe] = "lanes"

    def match(self, question: Question) -> Choice | str:
        """Where loops inside read more along their own terms than along a parallel loop."""
        nest, limits = question.facts.nest, question.limits
        if limits.warp > 1:
            return IN_LOCKSTEP
        found = tuple(along_terms(nest))
        if not found:
            return NO_LANES
        return Choice(self.name, (), found[0].var, group=("Tx",), shared=((found[0].var,),))

    def map(self, w: Work, nest: Nest, choice: Choice, options: Options, limits: Limits) -> Mapped:
        """Raises TransformError where no sum may be in another order, nor rows be summed up at the
        same time."""
        w.stage("Sums in the lanes of vectors")
        allowed = "reassociate" if options.reassociate else ""
        refused, reduced = tuple[Obstacle, ...](), False
        costs, once = limits.costs, limits.costs.lane_rows > 1 and _reads_once(nest)
        size = costs.simd_bytes if once else costs.lane_bytes
        for loop in along_terms(nest):
            count = size // widest_set(nest.function, loop)
            step = VectorAccumulators(loop.var, str(max(2, count)), allowed)
            refused = step.check(w.fn)
            reduced = reduced or not refused
            if not refused and not _in_any_order(nest, loop):
                w.do(step)
        if not reduced and costs.joint_rows and (sums := sums_of_rows(nest)):
            return Mapped(choice, remark=joint_rows(w, nest, sums, limits))
        if not reduced:
            raise TransformError(VectorAccumulators.verb, refused)
        if once and (lanes := lanes_of(w, nest)):
            return Mapped(choice, remark=joint_lanes(w, nest, lanes, costs))
        _, remark = one_item_each(w, nest)
        return Mapped(choice, remark=remark)


def _reads_once(nest: Nest) -> bool:
    """Whether all that an iteration does with a row is to sum it up once: what is read again is in
    the first cache, if there are not several rows."""
    inside = [s for s in nest.innermost.body if isinstance(s, For)]
    return len(inside) == 1 and bool(sums_of_rows(nest))


def _in_any_order(nest: Nest, loop: For) -> bool:
    """Whether a compiler may add up in vectors without being told: integers. (A sum of 2^24 ints
    takes 1.5 ms on PoCL with two cores, and 3.2 in lanes that are written out.)"""
    types = symbols(nest.function)
    targets = (s.target for _, s in walk(loop.body) if isinstance(s, Assign))
    return all(type_of(x, types).is_integer for x in targets)
