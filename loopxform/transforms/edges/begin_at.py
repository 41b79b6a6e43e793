"""Beginning earlier: for (i = lo; i < hi; i++) S -> for (i = b; i < hi; i++) if (i >= lo) S.

Loops that begin at the same number deal the same elements out to the same work-items. Legal where
b <= lo is proven and the loop counts by 1: the iterations that are added do nothing.
"""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from loopxform.analysis.context import always
from loopxform.errors import Obstacle
from loopxform.ir.affine import value_of
from loopxform.ir.nodes import Bin, Const, Function, If, Var
from loopxform.ir.printer import expr_text
from loopxform.ir.types import promote
from loopxform.ir.typing import symbols, type_of
from loopxform.ir.visit import LoopSite, replace_at
from loopxform.records import record
from loopxform.transforms.base import Step
from loopxform.transforms.sites import (
    ascending,
    fixed_header,
    one_loop,
    trusted,
    unmapped,
    whole_loop,
)


@record
class BeginAt(Step):
    """Begins `loop` at the number `start`, with a guard for the iterations that are added."""

    loop: str
    start: str

    verb: ClassVar[str] = "begin-at"
    usage: ClassVar[str] = "begin-at LOOP NUMBER"
    keeps_order: ClassVar[bool] = True

    def check(self, fn: Function) -> tuple[Obstacle, ...]:
        site = one_loop(fn, self.loop)
        if isinstance(site, Obstacle):
            return (site,)
        shape = (*whole_loop(site), *ascending(site), *fixed_header(site))
        unfit = (*shape, *unmapped(site, "extend"))
        return unfit or tuple(self._later(fn, site))

    def _later(self, fn: Function, site: LoopSite) -> list[Obstacle]:
        loop, loc = site.loop, site.loop.origin.loc
        if not (self.start.isascii() and self.start.isdecimal() and len(self.start) < 10):
            remedy = "give a number: 0"
            return [Obstacle("LX025", f"'{self.start}' is no start of a loop", loc, remedy=remedy)]
        signed = not promote(loop.type).is_unsigned and promote(loop.type).bytes >= 4
        alike = promote(type_of(loop.lo, symbols(fn))) == promote(loop.type)
        if signed and alike and value_of(loop.step) == 1 and self._is_earlier(fn, site):
            return []
        text = (
            f"the loop over '{loop.var}' may begin before {self.start}, or counts otherwise than "
        )
        text += "by 1 in an int or a long"
        return [Obstacle("LX226", text, loc, remedy=f"normalise {loop.var} instead")]

    def _is_earlier(self, fn: Function, site: LoopSite) -> bool:
        return always(fn, site.path, Bin("<=", Const(int(self.start)), site.loop.lo))

    def rewrite(self, fn: Function) -> Function:
        site = trusted(one_loop(fn, self.loop))
        loop = site.loop
        inside = Bin(">=", Var(loop.var), loop.lo)
        body, start = (If(inside, loop.body),), Const(int(self.start))
        origin = loop.origin.then(str(self))
        return replace_at(fn, site.path, (replace(loop, lo=start, body=body, origin=origin),))

    def reason(self, fn: Function) -> str:
        loop = trusted(one_loop(fn, self.loop)).loop
        return f"{self.start} <= {expr_text(loop.lo)}: the iterations that are added do nothing"
