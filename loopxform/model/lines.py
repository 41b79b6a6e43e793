"""Cache lines: how many a block of iterations touches.

A core that runs the iterations of a block one after the other reads each line of the block from
memory once, where its caches hold them together, and writes it back once. That is the term by which
blocks of loops are compared: they compute the same, and move the same elements.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from fractions import Fraction

from loopxform.model.accesses import Kind
from loopxform.model.choice import Choice
from loopxform.model.coalescing import Estimate
from loopxform.model.reuse import Dim
from loopxform.prepare.parallel_band import Nest
from loopxform.schedule.params import KINDS
from loopxform.targets.target import Limits

BOTH: tuple[Kind, ...] = ("read", "write")


def lines(
    nest: Nest,
    pair: tuple[str, ...],
    sizes: tuple[int, int],
    limits: Limits,
    kinds: Collection[Kind] = BOTH,
) -> Fraction:
    """The lines that a block of `sizes` iterations along a `pair` of loops (or along one) touches,
    for each of its iterations: those that are read, or written, or both."""
    high, wide = sizes
    costs = replace(limits.costs, segment=limits.costs.line)
    block = Choice("naive", tuple(Dim(v) for v in pair), pair[-1], group=("Ty", "Tx"))
    numbers = {**KINDS["naive"].tiles.numbers, "Ty": high, "Tx": wide}
    together = replace(limits, warp=high * wide, costs=costs)
    e = Estimate(nest, block, numbers, together)
    touched = sum(e.segments(a) for a in e.accesses if a.kind in kinds)
    return Fraction(touched, max(1, len(e.lanes)))
