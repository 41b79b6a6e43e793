"""One-sided tiling: rows of one loop in registers, a column of the other for each work-item.

Fits where a read of a reduction is invariant to one parallel loop, and coalesced along another.
(Futhark issue 615.)
"""

from __future__ import annotations

from typing import ClassVar

from loopxform.ir.visit import names
from loopxform.model.reuse import Dim, Facts
from loopxform.recipes.base import NO_REUSE, Question
from loopxform.recipes.staged_tiles import StagedTiles, neighbours, one_parallel
from loopxform.schedule.params import Recipe


class OneSided(StagedTiles):
    name: ClassVar[Recipe] = "one-sided"
    unstaged: ClassVar[bool] = True

    def dims(self, question: Question) -> tuple[Dim, ...] | str:
        if reason := one_parallel(question):
            return reason
        facts, parallel = question.facts, question.facts.nest.parallel
        x = neighbours(facts, list(parallel))
        rows = [p for p in parallel if p != x and (question.asked or _varied(facts, p, x))]
        return (Dim(rows[-1], "", "Ry"), Dim(x, "Tx")) if rows else NO_REUSE


def _varied(facts: Facts, y: str, x: str) -> bool:
    """Whether a read of the innermost reductions is invariant to y and varies with x, other than by
    values that the nest computes: neighbours read anywhere then."""
    deepest = max((len(r.loops) for r in facts.reduced), default=0)
    found = (r for r in facts.invariant(y) if len(r.loops) == deepest)
    return any(x in names(i) for r in found for i in r.index)
