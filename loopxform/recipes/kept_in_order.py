"""What keeps the loops inside of parallel ones in order, as the report says it where few work-items
run them."""

from __future__ import annotations

from math import prod

from loopxform.analysis.verdict import LoopVerdict, judge
from loopxform.ir.affine import value_of
from loopxform.ir.visit import perfect_nest
from loopxform.prepare.parallel_band import Nest
from loopxform.targets.target import Limits
from loopxform.transforms.edges.bounds import trip_count


def is_reduced(nest: Nest) -> bool:
    """Whether a loop inside of the parallel ones reduces."""
    return any(v.reductions for v in _inside(nest))


def kept_in_order(nest: Nest) -> str:
    """The first dependence that loops inside of the parallel ones carry; "" where they carry none
    but those of reductions."""
    judged = (v for v in _inside(nest) if v.parallel in ("no", "unknown"))
    return next((f"{v.var} in order: {v.reasons[0].message}" for v in judged if v.reasons), "")


def is_for_few(nest: Nest, limits: Limits) -> bool:
    """Whether no more iterations run at the same time than work-items in lockstep."""
    trips = [value_of(trip_count(x)) for x in perfect_nest(nest.outermost)[: len(nest.parallel)]]
    return prod(limits.warp + 1 if t is None else t for t in trips) <= limits.warp


def _inside(nest: Nest) -> list[LoopVerdict]:
    depth = len(nest.path) + len(nest.parallel) - 1
    judged = judge(nest.function, inlined=True, at=nest.path)
    return [v for v in judged if v.path[: len(nest.path)] == nest.path and len(v.path) > depth]
