"""Tiling along one loop: the work-items of a group share what they read, or stage the rows that
each of them walks along.

Fits where there is reuse along one parallel loop, or neighbours read far apart. (Cholewa-Madsen and
Holst, section 2.4; Henriksen.)
"""

from __future__ import annotations

from typing import ClassVar

from loopxform.model.choice import Choice
from loopxform.model.reuse import Dim, Facts
from loopxform.recipes.base import NO_REUSE, Question
from loopxform.recipes.staged_tiles import StagedTiles, neighbours, strided
from loopxform.schedule.params import Recipe


class Strip(StagedTiles):
    name: ClassVar[Recipe] = "1-d"
    rows: ClassVar[bool] = True

    def dims(self, question: Question) -> tuple[Dim, ...] | str:
        facts, parallel = question.facts, question.facts.nest.parallel
        along = [p for p in parallel if _shared_along(facts, p)]
        if not along and not question.asked:
            return NO_REUSE
        x = neighbours(facts, list(parallel))
        loop = x if x in along or not along else along[-1]
        return self._of(loop, question)

    def match(self, question: Question) -> Choice | str:
        """Along the loop of the neighbours, or, where nothing can be staged for these, along one
        that has use for what is staged (Henriksen: boxes that data name)."""
        choice, facts = super().match(question), question.facts
        others = (p for p in reversed(facts.nest.parallel) if facts.invariant(p))
        found = (self._choice(question, self._of(p, question)) for p in others)
        if isinstance(choice, str):
            return next((c for c in found if isinstance(c, Choice)), choice)
        return choice

    def _of(self, loop: str, question: Question) -> tuple[Dim, ...]:
        return (Dim(loop, "Tx", "Rx" if question.kept else ""),)


def _shared_along(facts: Facts, p: str) -> bool:
    """Whether work-items along a loop have use for what they stage together."""
    return bool(facts.invariant(p) or strided(facts.reduced, p))
