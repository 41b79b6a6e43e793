"""A loop that runs: for (i = lo; i < hi; i += s) S -> for (i = lo; i < max(hi, lo + 1); i += s) S.

A loop that is known to run says so: whoever compiles it need not ask before its first iteration.
Compilers for CPUs split kernels at barriers, and some (PoCL 3) compute garbage where they find one
under a condition, that of a loop included. Legal where lo < hi is proven (`assume` says so of what
the host asks).
"""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from loopxform.analysis.context import always
from loopxform.errors import Obstacle
from loopxform.ir.affine import simplify
from loopxform.ir.condition_text import condition_text
from loopxform.ir.nodes import Bin, Const, Function
from loopxform.ir.printer import expr_text
from loopxform.ir.visit import replace_at
from loopxform.records import record
from loopxform.transforms.base import Step
from loopxform.transforms.sites import ascending, fixed_header, one_loop, trusted, whole_loop


@record
class AtLeastOnce(Step):
    """Has `loop` run at least once, as it does."""

    loop: str

    verb: ClassVar[str] = "at-least-once"
    usage: ClassVar[str] = "at-least-once LOOP"
    keeps_order: ClassVar[bool] = True

    def check(self, fn: Function) -> tuple[Obstacle, ...]:
        site = one_loop(fn, self.loop)
        if isinstance(site, Obstacle):
            return (site,)
        if shape := (*whole_loop(site), *ascending(site), *fixed_header(site)):
            return shape
        loop = site.loop
        runs = Bin("<", loop.lo, loop.hi)
        if always(fn, site.path, runs):
            return ()
        text = f"the loop over '{loop.var}' may have no iterations"
        remedy = f"assume {condition_text(runs)} before"
        return (Obstacle("LX253", text, loop.origin.loc, remedy=remedy),)

    def rewrite(self, fn: Function) -> Function:
        site = trusted(one_loop(fn, self.loop))
        end = Bin("max", site.loop.hi, simplify(Bin("+", site.loop.lo, Const(1))))
        running = replace(site.loop, hi=end, origin=site.loop.origin.then(str(self)))
        return replace_at(fn, site.path, (running,))

    def reason(self, fn: Function) -> str:
        loop = trusted(one_loop(fn, self.loop)).loop
        return f"{expr_text(loop.lo)} < {expr_text(loop.hi)}"
