"""Peeling: for i < n: if (i == 0) A(i); else B(i);  -> if (0 < n) A(0);  for 1 <= i < n: B(i);

The first iteration runs by itself, in front of the others. Conditions that tell it from them are
decided: what is left need not ask. Legal where the loop counts with its own variable to bounds
that stay what they are. (Allen and Kennedy, "Optimizing Compilers for Modern Architectures",
section 5.7.)
"""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from loopxform.errors import Obstacle
from loopxform.ir.affine import simplify, value_of
from loopxform.ir.nodes import Bin, Expr, Function, If
from loopxform.ir.visit import replace_at, substitute_body, writes
from loopxform.records import record
from loopxform.transforms.base import Step
from loopxform.transforms.edges.first_iteration import decided
from loopxform.transforms.sites import one_loop, plain_loop, trusted


@record
class Peel(Step):
    """Runs the first iteration of `loop` in front of it."""

    loop: str

    verb: ClassVar[str] = "peel"
    usage: ClassVar[str] = "peel LOOP"
    keeps_order: ClassVar[bool] = True

    def check(self, fn: Function) -> tuple[Obstacle, ...]:
        site = plain_loop(fn, self.loop, self.verb, "")
        if isinstance(site, tuple):
            return site
        loop, where = site.loop, site.loop.origin.loc
        if loop.parallel or value_of(loop.step) in (None, 0) or loop.var in writes(loop.body):
            text = f"the loop over '{loop.var}' has no first iteration that could run before it"
            remedy = "name a loop that runs in order, by a constant step"
            return (Obstacle("LX231", text, where, remedy=remedy),)
        if all(decided(loop.body, loop, first=f) == loop.body for f in (True, False)):
            text = f"the loop over '{loop.var}' has no condition that tells the first iteration"
            return (Obstacle("LX231", text, where, remedy="name a loop such as: if (i == 0) ..."),)
        return ()

    def rewrite(self, fn: Function) -> Function:
        site = trusted(one_loop(fn, self.loop))
        loop, origin = site.loop, site.loop.origin.then(str(self))
        up = (value_of(loop.step) or 1) > 0
        first: dict[str, Expr] = {loop.var: loop.lo}
        alone = substitute_body(decided(loop.body, loop, first=True), first)
        runs = Bin("<" if up else ">", loop.lo, loop.hi)
        later = replace(
            loop,
            lo=simplify(Bin("+", loop.lo, loop.step)),
            body=decided(loop.body, loop, first=False),
            origin=origin,
        )
        return replace_at(fn, site.path, (If(runs, alone, origin=origin), later))

    def reason(self, fn: Function) -> str:  # noqa: ARG002
        return "it runs before the others as it did"
