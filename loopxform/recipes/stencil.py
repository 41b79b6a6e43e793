"""Tiling with halos: the box that the windows of a group's work-items cover together.

Fits where footprints overlap along parallel loops; in sums over windows each work-item takes a
strip of rows. (Seed 000, section 2.4.)
"""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from loopxform.ir.nodes import For
from loopxform.model.reuse import Dim, Facts
from loopxform.recipes.base import Question
from loopxform.recipes.staged_tiles import StagedTiles
from loopxform.schedule.params import Recipe

MOST_LOOPS = 3
"""Of work-items: OpenCL has three dimensions."""


class Stencil(StagedTiles):
    name: ClassVar[Recipe] = "stencil"
    windows: ClassVar[bool] = True

    def dims(self, question: Question) -> tuple[Dim, ...] | str:
        facts = question.facts
        loops = _windows(facts) or (facts.nest.parallel[-2:] if question.asked else ())
        return _halos(facts, loops) if loops else "no footprints overlap"


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
