"""Atomic stores: for i: seen[key[i]] = 1  ->  for i: atomic seen[key[i]] = 1

Iterations may run at the same time, in any order: all that store to an element store the same value
to it. Legal where the loop does nothing else with an array than that, and the value is made of
constants and of scalars that the function never changes. In OpenCL C each is one volatile store, of
which no other value can be seen, not even where the memory takes it in parts; in OpenMP an `atomic
write`. ("Common" writes of a CRCW PRAM; JaJa, "An Introduction to Parallel Algorithms", 1.3.)
"""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from loopxform.analysis.deps import carried_by
from loopxform.analysis.region import region
from loopxform.analysis.same_stores import SameStores, same_stores
from loopxform.errors import Obstacle
from loopxform.ir.nodes import Assign, Function
from loopxform.ir.printer import expr_text
from loopxform.ir.visit import LoopSite, at, replace_at
from loopxform.records import record
from loopxform.transforms.base import Step
from loopxform.transforms.sites import one_loop, trusted, whole_loop


@record
class AtomicStores(Step):
    """Makes the stores of one value that `loop` makes to elements of arrays atomic."""

    loop: str

    verb: ClassVar[str] = "atomic-stores"
    usage: ClassVar[str] = "atomic-stores LOOP"

    def check(self, fn: Function) -> tuple[Obstacle, ...]:
        site = one_loop(fn, self.loop)
        if isinstance(site, Obstacle):
            return (site,)
        structure = whole_loop(site)
        if structure or _plain(fn, site):
            return structure
        text = f"the loop over '{site.loop.var}' does not store one value to elements of an array"
        remedy = "name a loop that does nothing with an array but stores such as seen[key[i]] = 1"
        return (Obstacle("LX254", text, site.loop.origin.loc, remedy=remedy),)

    def rewrite(self, fn: Function) -> Function:
        for stores in _plain(fn, trusted(one_loop(fn, self.loop))):
            for path in stores.paths:
                s = at(fn, path)
                assert isinstance(s, Assign)
                held = replace(s, atomic=True, origin=s.origin.then(str(self)))
                fn = replace_at(fn, path, (held,))
        return fn

    def reason(self, fn: Function) -> str:
        found = _plain(fn, trusted(one_loop(fn, self.loop)))
        what = ", ".join(f"{x.array} are {expr_text(x.value)}" for x in found)
        return f"all values that the loop stores to {what}, and it uses it for nothing else"


def _plain(fn: Function, site: LoopSite) -> tuple[SameStores, ...]:
    """The stores of a loop that it carries dependences between."""
    found = same_stores(fn, site.path)
    carried = carried_by(region(fn, site.path)).get(site.path, ()) if found else ()
    meeting = {d.array for d in carried}
    return tuple(x for x in found if x.array in meeting)
