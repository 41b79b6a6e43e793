"""Tiling with halos: the box that the windows of a group's work-items cover together.

Fits where footprints overlap along parallel loops, or are the same in sums of so few terms that a
block of two loops is not worth it (distances of points in space); in sums each work-item takes a
strip of rows. (Cholewa-Madsen and Holst, section 2.4.)
"""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from loopxform.ir.nodes import For
from loopxform.model.choice import Choice
from loopxform.model.reuse import Dim, Facts
from loopxform.recipes.base import Question
from loopxform.recipes.staged_tiles import StagedTiles, pair_of_terms
from loopxform.schedule.params import Recipe

MOST_LOOPS = 3
"""Of work-items: OpenCL has three dimensions."""


class Stencil(StagedTiles):
    name: ClassVar[Recipe] = "stencil"
    windows: ClassVar[bool] = True

    def dims(self, question: Question) -> tuple[Dim, ...] | str:
        facts = question.facts
        loops = _windows(facts) or _few_terms(question)
        if question.asked and not loops:
            loops = facts.nest.parallel[-2:]
        return _halos(facts, loops) if loops else "no footprints overlap"

    def match(self, question: Question) -> Choice | str:
        choice = super().match(question)
        if isinstance(choice, str) or _windows(question.facts) or not choice.dims[0].kept:
            return choice
        return replace(choice, form="tiling in strips of rows")


def _few_terms(question: Question) -> tuple[str, ...]:
    """Two loops with reuse along both in sums of fewer terms than are worth a block."""
    found = pair_of_terms(question.facts) if question.limits.warp > 1 else None
    return found[0] if found and 1 < found[1] < question.costs.block_terms else ()


def _halos(facts: Facts, loops: tuple[str, ...]) -> tuple[Dim, ...]:
    """Work-items along each loop; in sums over windows each of them takes a strip of rows."""
    names = ("Tz", "Ty", "Tx")[-len(loops) :]
    dims = tuple(map(Dim, loops, names))
    if len(dims) == 2 and any(isinstance(s, For) for s in facts.nest.innermost.body):
        return (replace(dims[0], kept="Ry"), dims[1])
    return dims


def _windows(facts: Facts) -> tuple[str, ...]:
    """The innermost parallel loops along which footprints overlap; the innermost of all goes with
    them."""
    parallel = facts.nest.parallel
    overlapping = [p for p in parallel if facts.window(p)]
    if overlapping and parallel[-1] not in overlapping:
        overlapping.append(parallel[-1])
    return tuple(overlapping[-MOST_LOOPS:])
