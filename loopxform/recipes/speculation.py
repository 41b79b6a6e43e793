"""What runs without the rare cases of quotients first, where the device computes the usual ones
sooner: the loop of whole tiles, and quotients by one divisor."""

from __future__ import annotations

from loopxform.ir.visit import LoopSite, loops, resolve
from loopxform.recipes.deriving import Work
from loopxform.schedule.params import Options
from loopxform.targets.target import Limits
from loopxform.transforms import GatherQuotients, Speculate
from loopxform.transforms.latency.speculate import obstacles


def without_rare_cases(w: Work, group: str, options: Options, limits: Limits) -> None:
    """The first loop, of whole tiles, which has the most iterations."""
    if not _is_sooner(options, limits):
        return
    w.stage("Rare quotients apart")
    for site in _inside(w, group):
        if not obstacles(w.fn, site):
            w.do(Speculate(w.ref(site.path)))
            return


def quotients_together(w: Work, group: str, options: Options, limits: Limits) -> None:
    """Quotients by one divisor, of which the reciprocal is taken once."""
    if not _is_sooner(options, limits):
        return
    known = {s.loop.var for s in loops(w.fn)}
    w.stage("Quotients by one divisor together")
    while steps := [step for s in _inside(w, group) if not (step := _gather(w, s)).check(w.fn)]:
        w.do(steps[0])
    for var in [s.loop.var for s in _inside(w, group) if s.loop.var not in known]:
        w.attempt(Speculate(var))


def _gather(w: Work, site: LoopSite) -> GatherQuotients:
    return GatherQuotients(w.ref(site.path))


def _inside(w: Work, group: str) -> list[LoopSite]:
    """The loops of a nest."""
    nest = resolve(w.fn, group)[0].path
    return [s for s in loops(w.fn) if s.path[: len(nest)] == nest]


def _is_sooner(options: Options, limits: Limits) -> bool:
    costs = limits.costs
    quick = costs.quick_quotient + costs.quick_square_root
    return not options.fp.approximate and quick < costs.quotient + costs.square_root
