"""Reverse: for (i = lo; i < hi; i++) S(i) -> for (i = hi - 1; i > lo - 1; i--) S(i), and back.

Legal where the loop carries no dependence: running it the other way round would reverse exactly
those. (Allen and Kennedy, "Optimizing Compilers for Modern Architectures", section 5.10.)
"""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from loopxform.analysis.legality import reverse_obstacles
from loopxform.errors import Obstacle
from loopxform.ir.affine import simplify, value_of
from loopxform.ir.nodes import Bin, Const, Function
from loopxform.ir.types import promote
from loopxform.ir.visit import LoopSite, replace_at
from loopxform.records import record
from loopxform.transforms.base import Step
from loopxform.transforms.sites import fixed_header, no_wrap, one_loop, trusted, unmapped


@record
class Reverse(Step):
    """Makes a loop that counts by 1 run through its values from the other end."""

    loop: str

    verb: ClassVar[str] = "reverse"
    usage: ClassVar[str] = "reverse LOOP"

    def check(self, fn: Function) -> tuple[Obstacle, ...]:
        site = one_loop(fn, self.loop)
        if isinstance(site, Obstacle):
            return (site,)
        structure = (*fixed_header(site), *unmapped(site, "reverse"), *_by_one(site))
        return (*structure, *_sign(fn, site), *reverse_obstacles(fn, site.path))

    def rewrite(self, fn: Function) -> Function:
        site = trusted(one_loop(fn, self.loop))
        loop = site.loop
        step = Const(-(value_of(loop.step) or 1))
        first, end = (simplify(Bin("+", e, step)) for e in (loop.hi, loop.lo))
        origin = loop.origin.then(str(self))
        return replace_at(
            fn, site.path, (replace(loop, lo=first, hi=end, step=step, origin=origin),)
        )

    def reason(self, fn: Function) -> str:
        var = trusted(one_loop(fn, self.loop)).loop.var
        return f"no dependence is carried by {var}, so its iterations run in any order"


def _by_one(site: LoopSite) -> tuple[Obstacle, ...]:
    if value_of(site.loop.step) in (1, -1):
        return ()
    return (
        Obstacle(
            "LX133",
            f"the last value of '{site.loop.var}', which does not count by 1, is not known",
            site.loop.origin.loc,
            remedy=f"normalise {site.loop.var} first",
        ),
    )


def _sign(fn: Function, site: LoopSite) -> tuple[Obstacle, ...]:
    """An unsigned variable cannot count down past 0, and its bounds must not wrap."""
    loop = site.loop
    if promote(loop.type).is_unsigned and (value_of(loop.step) or 1) > 0:
        return (
            Obstacle(
                "LX136",
                f"the unsigned '{loop.var}' cannot count down past 0",
                loop.origin.loc,
                remedy="use a signed variable and bound",
            ),
        )
    return no_wrap(fn, site)
