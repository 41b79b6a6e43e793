"""The final value of a counter:
    for (k = lo; k < hi; k++) S(k);  -> for (k_2 = lo; ...) S(k_2);  k = max(lo, hi);

What a loop leaves in its variable is computed, so that the variable is the loop's own, and the
iterations may be taken in any order. Legal where the loop counts by one, between bounds that it
does not change, and ends when it has come to the second one.
"""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from loopxform.analysis.legality import opaque_obstacles
from loopxform.errors import Obstacle
from loopxform.ir.affine import value_of
from loopxform.ir.names import fresh
from loopxform.ir.nodes import Assign, Bin, Expr, Function, Var
from loopxform.ir.renaming import rename
from loopxform.ir.types import Scalar, promote
from loopxform.ir.typing import symbols, type_of
from loopxform.ir.visit import LoopSite, replace_at, writes
from loopxform.records import record
from loopxform.transforms.base import Step
from loopxform.transforms.sites import fixed_header, new_name, one_loop, trusted, unmapped


@record
class FinalValue(Step):
    """Computes what `loop` leaves in its variable; the loop then counts with `name` (default: that
    of the variable with a number)."""

    loop: str
    name: str = ""

    verb: ClassVar[str] = "final-value"
    usage: ClassVar[str] = "final-value LOOP [NAME]"
    keeps_order: ClassVar[bool] = True

    def check(self, fn: Function) -> tuple[Obstacle, ...]:
        site = one_loop(fn, self.loop)
        if isinstance(site, Obstacle):
            return (site,)
        taken = (*new_name(fn, self.name, site), *unmapped(site, "final-value"))
        return taken or opaque_obstacles(fn, site.path) or fixed_header(site) or _told(fn, site)

    def rewrite(self, fn: Function) -> Function:
        site = trusted(one_loop(fn, self.loop))
        loop, origin = site.loop, site.loop.origin.then(str(self))
        name = self.name or fresh(fn, loop.var)
        (inner,) = rename((replace(loop, live_out=False, origin=origin),), {loop.var: name})
        op = "max" if value_of(loop.step) == 1 else "min"
        end = Bin(op, loop.lo, loop.hi)
        last = Assign(Var(loop.var), end, label=f"end_{loop.var}", origin=origin)
        return replace_at(fn, site.path, (inner, last))

    def reason(self, fn: Function) -> str:
        var = trusted(one_loop(fn, self.loop)).loop.var
        return f"{var} ends at its bound, or stays where it begins"


def _told(fn: Function, site: LoopSite) -> tuple[Obstacle, ...]:
    """Why the last value is not the larger bound (the smaller one, counting down)."""
    loop, where = site.loop, site.loop.origin.loc
    if not loop.live_out:
        text = f"nothing reads '{loop.var}' after the loop over it"
        return (Obstacle("LX130", text, where, remedy="rename gives the variable another name"),)
    if loop.var in writes(loop.body):
        text = f"the loop over '{loop.var}' writes its own variable"
        remedy = "count with a variable that the body leaves alone"
        return (Obstacle("LX112", text, where, remedy=remedy),)
    types = symbols(fn)
    if value_of(loop.step) in (1, -1) and all(
        _plain(e, promote(loop.type).is_unsigned, types) for e in (loop.lo, loop.hi)
    ):
        return ()
    text = f"the last value of '{loop.var}' cannot be written down"
    remedy = "count by one, with a variable of the type of its bounds"
    return (Obstacle("LX133", text, where, remedy=remedy),)


def _plain(e: Expr, unsigned: bool, types: dict[str, Scalar]) -> bool:
    """Whether a bound is as signed as the variable, which then compares with it as a number."""
    known = value_of(e)
    return (known is not None and known >= 0) or type_of(e, types).is_unsigned == unsigned
