"""What `tile --show-plan` tells of floating point: what is permitted, and what more would gain."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from loopxform.analysis.verdict import judge
from loopxform.api.tile import TiledRoutine
from loopxform.ir.accuracy import DIVIDING, inexact
from loopxform.ir.typing import symbols
from loopxform.model.cost import microseconds
from loopxform.recipes.candidates import Candidate


def lines(done: TiledRoutine, candidates: Sequence[Candidate]) -> Iterator[str]:
    """The level, and a line for each higher one that would change something."""
    yield f"  floating point   {done.fp.level}{_unfused(done)}"
    if not done.fp.reassociate and (gain := _reassociated(done, candidates)):
        yield f"    reassociate    {gain}"
    divisions = sum(name in DIVIDING for name in inexact(done.routine.function))
    if divisions and not done.fp.approximate:
        what = "quotient or square root" if divisions == 1 else "quotients and square roots"
        yield f"    fast           {divisions} {what} of floats as accurate as the device has them"


def _unfused(done: TiledRoutine) -> str:
    return ", a*b + c not fused" if not done.fp.contract and not done.fp.exact else ""


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
    unit = "time" if microseconds(done.limits) is not None else "segments"
    return f"--recipe reduce, {float(then / now):.2g} of the {unit} by the model"
