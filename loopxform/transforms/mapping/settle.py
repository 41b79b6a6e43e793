"""Settling a choice between shapes: if (c) S else ... else S' -> S.

Of the versions of a nest in several shapes of tiles (step `few`), one takes the place of the larger
ones: for kernels that gain nothing from these. Legal since all versions are the same statements.
"""

from __future__ import annotations

from typing import ClassVar

from loopxform.errors import Obstacle
from loopxform.ir.nodes import Function, If
from loopxform.ir.visit import at, replace_at
from loopxform.records import record
from loopxform.transforms.base import Step
from loopxform.transforms.sites import one_loop, trusted


@record
class Settle(Step):
    """Lets the version that `loop` is in serve the sizes of all larger tiles too."""

    loop: str

    verb: ClassVar[str] = "settle"
    usage: ClassVar[str] = "settle LOOP"
    keeps_order: ClassVar[bool] = True

    def check(self, fn: Function) -> tuple[Obstacle, ...]:
        site = one_loop(fn, self.loop)
        if isinstance(site, Obstacle):
            return (site,)
        above = at(fn, site.path[:-1]) if len(site.path) > 1 else None
        if isinstance(above, If) and above.choice == "tiles" and above.then == (site.loop,):
            return ()
        text = f"the loop over '{site.loop.var}' is not all of a version in smaller tiles"
        remedy = "make versions first: few i 132 128x128:1000,64x64:312"
        return (Obstacle("LX196", text, site.loop.origin.loc, remedy=remedy),)

    def rewrite(self, fn: Function) -> Function:
        site = trusted(one_loop(fn, self.loop))
        return replace_at(fn, site.path[:-1], (at(fn, site.path),))

    def reason(self, fn: Function) -> str:  # noqa: ARG002
        return "all versions are the same statements"
