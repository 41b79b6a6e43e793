"""Distribution (fission): for i: { S1; S2 } -> for i: S1; for i: S2.

Legal at a cut where no dependence carried by the loop leads from a later statement back to an
earlier one, and no storage declared in the body is used on both sides of it (expand it first). For
a forall only the second can happen. (Seed 000, step 3b, listing 6.)
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from loopxform.analysis.legality import distribute_obstacles
from loopxform.errors import Obstacle
from loopxform.ir.nodes import Function
from loopxform.ir.visit import LoopSite, replace_at
from loopxform.transforms.base import Step, one_loop, trusted, unmapped, whole_loop


@dataclass(frozen=True)
class Distribute(Step):
    """Gives every statement of a loop body its own loop; several loops are distributed from the
    innermost outwards."""

    loops: tuple[str, ...]

    verb: ClassVar[str] = "distribute"
    usage: ClassVar[str] = "distribute LOOP,LOOP,...   (outermost loop first)"

    def check(self, fn: Function) -> tuple[Obstacle, ...]:
        for ref in reversed(self.loops):
            site = one_loop(fn, ref)
            if isinstance(site, Obstacle):
                return (site,)
            found = _obstacles(fn, site)
            if found:
                return found
            fn = _split(fn, site, str(self))
        return ()

    def rewrite(self, fn: Function) -> Function:
        for ref in reversed(self.loops):
            fn = _split(fn, trusted(one_loop(fn, ref)), str(self))
        return fn

    def reason(self, fn: Function) -> str:
        sites = [trusted(one_loop(fn, ref)) for ref in self.loops]
        if all(s.loop.parallel for s in sites):
            return "the loops are parallel: dependences lead only to later statements"
        return "no dependence leads back from a later statement to an earlier one"


def _obstacles(fn: Function, site: LoopSite) -> tuple[Obstacle, ...]:
    structure = (*whole_loop(site), *unmapped(site, "distribute"))
    if structure:
        return structure
    if len(site.loop.body) < 2:
        return (
            Obstacle(
                "LX120",
                f"the loop over '{site.loop.var}' holds a single statement",
                site.loop.origin.loc,
                remedy="there is nothing to distribute",
            ),
        )
    for cut in range(1, len(site.loop.body)):
        found = distribute_obstacles(fn, site.path, cut)
        if found:
            return found
    return ()


def _split(fn: Function, site: LoopSite, step: str) -> Function:
    loop = site.loop
    parts = tuple(replace(loop, body=(s,), origin=loop.origin.then(step)) for s in loop.body)
    return replace_at(fn, site.path, parts)
