"""Sequentialise: forall i: S -> for i: S.

Always legal: a forall may run in any order, so also in order. (Cholewa-Madsen and Holst, step 5a,
listing 8.)
"""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from loopxform.errors import Obstacle
from loopxform.ir.nodes import For, Function
from loopxform.records import record
from loopxform.transforms.base import Step
from loopxform.transforms.sites import for_each, rewrite_loops, some_loops, unmapped


@record
class Sequentialise(Step):
    """Runs a parallel loop in order; `i*` means every loop over i."""

    loop: str

    verb: ClassVar[str] = "sequentialise"
    usage: ClassVar[str] = "sequentialise LOOP   (LOOP* for every loop of that name)"
    keeps_order: ClassVar[bool] = True

    def check(self, fn: Function) -> tuple[Obstacle, ...]:
        sites = some_loops(fn, self.loop)
        if isinstance(sites, Obstacle):
            return (sites,)
        return for_each(sites, lambda s: unmapped(s, "sequentialise"))

    def rewrite(self, fn: Function) -> Function:
        def in_order(loop: For) -> For:
            return replace(loop, parallel=False, origin=loop.origin.then(str(self)))

        return rewrite_loops(fn, self.loop, in_order)

    def reason(self, fn: Function) -> str:  # noqa: ARG002
        return "a forall may run in any order, so also in order"
