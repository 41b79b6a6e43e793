"""Round-robin distribution: forall i: S
  -> forall i_t < P: for (i = lo + i_t; i < hi; i += P) S.

The iterations of a forall are dealt out to `P` parts in turns, so that neighbours among the parts
run neighbouring iterations at a time, however many there are. Legal for a forall that counts
upwards: its iterations may run in any order, so also in this one. It must not begin beyond its end,
and be bounded by parameters. (`schedule(static, 1)` in OpenMP, `CYCLIC` in HPF; Rotendahl and
Larsen, section 2.4: a group has too few work-items for all of an inner map.)
"""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from loopxform.errors import Obstacle
from loopxform.ir.nodes import For, Function
from loopxform.ir.visit import LoopSite, replace_at
from loopxform.records import record
from loopxform.transforms.base import Step
from loopxform.transforms.reductions.strided import obstacles, strided
from loopxform.transforms.sites import new_name, one_loop, trusted


@record
class RoundRobin(Step):
    """Deals the iterations of a forall out to `parts` in turns; `outer` names the loop over the
    parts (default: i becomes i_t)."""

    loop: str
    parts: str
    outer: str = ""

    verb: ClassVar[str] = "round-robin"
    usage: ClassVar[str] = "round-robin LOOP PARTS [OUTER-NAME]"

    def check(self, fn: Function) -> tuple[Obstacle, ...]:
        site = one_loop(fn, self.loop)
        if isinstance(site, Obstacle):
            return (site,)
        return (
            *_parallel(site),
            *obstacles(fn, site, self.parts, "deal it out"),
            *new_name(fn, self.outer, site),
        )

    def rewrite(self, fn: Function) -> Function:
        site = trusted(one_loop(fn, self.loop))
        parts = strided(fn, site, self.parts, site.loop.origin.then(str(self)), self.outer)
        inner = parts.body[0]
        assert isinstance(inner, For)
        own = replace(parts, parallel=True, body=(replace(inner, parallel=False),))
        return replace_at(fn, site.path, (own,))

    def reason(self, fn: Function) -> str:
        var = trusted(one_loop(fn, self.loop)).loop.var
        return f"{var} is parallel: its iterations may run in any order"


def _parallel(site: LoopSite) -> tuple[Obstacle, ...]:
    if site.loop.parallel:
        return ()
    text = f"the loop over '{site.loop.var}' is not parallel"
    remedy = f"parallelise {site.loop.var} first"
    return (Obstacle("LX151", text, site.loop.origin.loc, remedy=remedy),)
