"""Which loops run without the rare cases of quotients first: those of whole tiles, where the device
computes the usual ones sooner."""

from __future__ import annotations

from loopxform.ir.visit import loops, resolve
from loopxform.recipes.deriving import Work
from loopxform.schedule.params import Options
from loopxform.targets.target import Limits
from loopxform.transforms import Speculate
from loopxform.transforms.latency.speculate import obstacles


def without_rare_cases(w: Work, group: str, options: Options, limits: Limits) -> None:
    """The first loop, of whole tiles, which has the most iterations."""
    costs, nest = limits.costs, resolve(w.fn, group)[0].path
    quick = costs.quick_quotient + costs.quick_square_root
    if options.fp.approximate or quick >= costs.quotient + costs.square_root:
        return
    w.stage("Rare quotients apart")
    for site in [s for s in loops(w.fn) if s.path[: len(nest)] == nest]:
        if not obstacles(w.fn, site):
            w.do(Speculate(w.ref(site.path)))
            return
