"""Widened updates: for i: h[a[i]] += e
  -> unsigned h_wide[n]; forall k: h_wide[k] = h[k];
     for i: h_wide[a[i]] += e;  forall k: h[k] = h_wide[k];

Elements of 8 or 16 bits are updated in a copy of 32, which devices have atomic functions for
(`atomic-updates`). Their low bits are those of the sum in narrow elements: it wraps around. Legal
for an outermost loop that does nothing with the array but updates by one of + - * & | ^ with
integers, of which the part that is touched is known and certainly exists.
"""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from loopxform.analysis.context import always
from loopxform.analysis.extent import Extent, existing_box
from loopxform.analysis.host_scalars import host_scalars
from loopxform.analysis.reductions import operands, reductions
from loopxform.errors import Obstacle
from loopxform.ir.names import fresh
from loopxform.ir.nodes import Assign, Cast, Decl, Function, If, Load, Stmt, Var
from loopxform.ir.renaming import rename
from loopxform.ir.types import UINT, Space
from loopxform.ir.typing import symbols, type_of
from loopxform.ir.visit import LoopSite, loops_around, map_body, names, replace_at, writes
from loopxform.records import record
from loopxform.transforms.base import Step
from loopxform.transforms.edges.bounds import conjunction
from loopxform.transforms.sites import new_name, one_loop, trusted, unmapped, whole_loop
from loopxform.transforms.storage.copied import COUNTERS, copy_nest, counters, in_order, touched

MODULAR = frozenset(["+", "*", "&", "|", "^"])
"""Operators whose low bits depend on low bits alone."""


@record
class WidenUpdates(Step):
    """Has `loop` update a copy of `array` in 32 bits; `target` names the copy (default: h_wide)."""

    array: str
    loop: str
    target: str = ""

    verb: ClassVar[str] = "widen-updates"
    usage: ClassVar[str] = "widen-updates ARRAY LOOP [NAME]"

    def check(self, fn: Function) -> tuple[Obstacle, ...]:
        site = one_loop(fn, self.loop)
        if isinstance(site, Obstacle):
            return (site,)
        unfit = (*whole_loop(site), *unmapped(site, "widen"), *new_name(fn, self.target, site))
        if unfit:
            return unfit
        why = self._problem(fn, site)
        if why is not None:
            return (_no(site, why),)
        found = self._box(fn, site)
        return (found,) if isinstance(found, Obstacle) else ()

    def _problem(self, fn: Function, site: LoopSite) -> str | None:
        if loops_around(fn, site.path):
            return f"the loop over '{site.loop.var}' is inside another one"
        types = symbols(fn)
        found = [r for r in reductions(fn, site.path) if r.array == self.array and not r.fixed]
        if not found or self.array not in {p.name for p in fn.objects if p.array}:
            return f"the loop has no reduction into elements of an array parameter '{self.array}'"
        kind = types[self.array]
        if not kind.is_integer or kind.bytes >= UINT.bytes:
            return f"elements of '{self.array}' are no integers of less than 32 bits"
        every = [e for r in found for _, e in operands(fn, r)]
        if any(r.op not in MODULAR for r in found):
            return f"updates of '{self.array}' do not depend on low bits alone"
        if any(not type_of(e, types).is_integer for e in every):
            return f"'{self.array}' is updated by what is no integer"
        return None

    def _box(self, fn: Function, site: LoopSite) -> Extent | Obstacle:
        """What is touched of the array."""
        box = existing_box(fn, self.array)
        if box is None:
            text = f"how many elements '{self.array}' has is not known"
            return replace(_no(site, text), remedy=f"declare it with its size: {self.array}[n]")
        ends = {n for e in (*box.upper, *touched(box)) for n in names(e)}
        if not ends <= host_scalars(fn) - writes(fn.body) or len(box.upper) > len(COUNTERS):
            return _no(site, f"how much of '{self.array}' is touched is not known before the loop")
        return box

    def rewrite(self, fn: Function) -> Function:
        site = trusted(one_loop(fn, self.loop))
        box = self._box(fn, site)
        assert isinstance(box, Extent)
        target = self.target or fresh(fn, f"{self.array.replace('.', '_')}_wide")
        origin = site.loop.origin.then(str(self))
        decl = Decl(target, UINT, box.upper, Space.GLOBAL, origin=origin)
        first = self._copied(fn, site, box, target)
        beside = replace(fn, body=(*fn.body, first))
        last = self._copied(beside, site, box, target, back=True)
        nest = rename((replace(site.loop, origin=origin),), {self.array: target})
        return replace_at(fn, site.path, (decl, first, *nest, last))

    def _copied(
        self, fn: Function, site: LoopSite, box: Extent, target: str, *, back: bool = False
    ) -> Stmt:
        """The nest that makes the copy, or copies it `back`."""
        origin, own = site.loop.origin.then(str(self)), counters(fn, len(box.upper))
        index = tuple(map(Var, own))
        wide, narrow = Load(target, index), Load(self.array, index)
        move = Assign(wide, Cast(UINT, narrow), label=f"copy_{target}", origin=origin)
        if back:
            value = Cast(symbols(fn)[self.array], wide)
            move = Assign(narrow, value, label=f"copy_{self.array}", origin=origin)
        (copy,) = map_body((copy_nest(fn, (move,), own, box.upper),), in_order)
        when = [c for c in touched(box) if not always(fn, site.path, c)]
        return If(conjunction(when), (copy,), origin=origin) if when else copy

    def reason(self, fn: Function) -> str:  # noqa: ARG002
        return f"the low bits of the updates of {self.array} are those of narrow elements"


def _no(site: LoopSite, text: str) -> Obstacle:
    remedy = "declare the array as int or unsigned"
    return Obstacle("LX203", text, site.loop.origin.loc, remedy=remedy)
