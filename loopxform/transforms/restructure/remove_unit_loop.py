"""A loop of one iteration: for (once = 0; once < 1; once++) S(once) -> S(0).

The reverse of `unit-loop`. Legal where the loop runs exactly once, whatever the sizes are.
"""

from __future__ import annotations

from typing import ClassVar

from loopxform.errors import Obstacle
from loopxform.ir.nodes import Function
from loopxform.ir.visit import replace_at
from loopxform.records import record
from loopxform.transforms.base import Step
from loopxform.transforms.edges.bounds import fixed_trips, replace_iterator
from loopxform.transforms.sites import one_loop, trusted, unmapped, whole_loop


@record
class RemoveUnitLoop(Step):
    """Leaves the body of `loop`, which has one iteration."""

    loop: str

    verb: ClassVar[str] = "remove-unit-loop"
    usage: ClassVar[str] = "remove-unit-loop LOOP"
    former: ClassVar[tuple[str, ...]] = ("dissolve",)
    keeps_order: ClassVar[bool] = True

    def check(self, fn: Function) -> tuple[Obstacle, ...]:
        site = one_loop(fn, self.loop)
        if isinstance(site, Obstacle):
            return (site,)
        found = fixed_trips(site.loop)
        if found is None or found[1] or found[0].value != 1:
            text = f"the loop over '{site.loop.var}' does not always run exactly once"
            remedy = "unroll leaves loops of more iterations to the kernel compiler"
            return (Obstacle("LX133", text, site.loop.origin.loc, remedy=remedy),)
        return (*whole_loop(site), *unmapped(site, "remove"))

    def rewrite(self, fn: Function) -> Function:
        site = trusted(one_loop(fn, self.loop))
        return replace_at(
            fn, site.path, replace_iterator(site.loop.body, site.loop.var, site.loop.lo)
        )

    def reason(self, fn: Function) -> str:
        return f"{trusted(one_loop(fn, self.loop)).loop.var} has one value"
