"""What is told of floating point: what is permitted, what kernels need, what more would gain."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from loopxform.analysis.verdict import judge
from loopxform.api.mapped import MappedRoutine
from loopxform.api.permitted import needed
from loopxform.api.tile import TiledRoutine
from loopxform.floating_point import PERMITTED, FloatingPoint
from loopxform.ir.accuracy import DIVIDING, inexact
from loopxform.ir.permitted import permitted
from loopxform.ir.typing import symbols
from loopxform.model.cost import cost, microseconds
from loopxform.recipes.candidates import Candidate
from loopxform.recipes.tile import estimate
from loopxform.recipes.tiled import Tiled
from loopxform.targets.target import Limits


def lines(done: TiledRoutine, candidates: Sequence[Candidate]) -> Iterator[str]:
    """The level, what the kernels need, and a line for each higher level that would change
    something."""
    fp = permitted(done.fp, done.routine.function)
    yield f"  floating point   {fp.level}{_unfused(fp)}; needed: {needed(done.derivation)}"
    if not fp.reassociate and (gain := _reassociated(done, candidates)):
        yield f"    reassociate    {gain}"
    if text := _fast(done, fp, [done.tiled, *done.tiled.rest])[0]:
        yield f"    fast           {text}"


def faster(done: MappedRoutine, parts: Sequence[Tiled]) -> str:
    """What `fast` would gain, for a summary: nothing where it is little, or the model does not
    know."""
    fp = permitted(done.fp, done.routine.function)
    text, share = _fast(done, fp, parts)
    return text if share < WORTH_TELLING else ""


WORTH_TELLING = 0.95
"""Of the time; more is within what the model leaves out."""


def _fast(done: MappedRoutine, fp: FloatingPoint, parts: Sequence[Tiled]) -> tuple[str, float]:
    """What would be as the device has it, and the time then as a part of that now."""
    names = [name for name in inexact(done.routine.function) if name in DIVIDING]
    if not names or fp.approximate:
        return "", 1
    what = "quotient or square root" if len(names) == 1 else "quotients and square roots"
    text = f"{len(names)} {what} of floats as accurate as the device has them"
    share = _share(parts, done.limits, fp)
    if share < 1:
        text += f", {share:.2g} of the {_unit(done.limits)} by the model"
    return text, share


def _share(parts: Sequence[Tiled], limits: Limits, fp: FloatingPoint) -> float:
    """The time with `fast` as a part of that without; 1 where the model does not know."""
    known = [p for p in parts if "Rk" not in p.sizes] if limits.warp > 1 else []
    times = [sum(_time(p, limits, x) for p in known) for x in (fp, PERMITTED["fast"])]
    return times[1] / times[0] if times[0] and len(known) == len(parts) else 1


def _time(part: Tiled, limits: Limits, fp: FloatingPoint) -> float:
    e = estimate(part, limits)
    return float(cost(e, {array: e for array, _ in part.copied}, fp).time)


def _unit(limits: Limits) -> str:
    return "time" if microseconds(limits) is not None else "segments"


def _unfused(fp: FloatingPoint) -> str:
    return ", a*b + c not fused" if not fp.contract and not fp.exact else ""


def _reassociated(done: TiledRoutine, candidates: Sequence[Candidate]) -> str:
    """What the work-items of a group would save by summing up together."""
    fn = done.routine.function
    types = symbols(fn)
    reduced = [r.array for v in judge(fn) for r in v.reductions]
    sums = any(types[name].is_float for name in reduced if name in types)
    taken, *others = candidates or (None,)
    shared = next((c for c in others if c.name == "reduce" and c.cost), None)
    if not sums or taken is None or taken.cost is None or shared is None or shared.cost is None:
        return ""
    now, then = taken.cost.time, shared.cost.time
    if then >= now:
        return ""
    return f"--recipe reduce, {float(then / now):.2g} of the {_unit(done.limits)} by the model"
