"""Staged stores: for k: { A; x[f(k)] = e; B }
  -> x_own[T]; for k: { A; x_own[k - lo] = e; B } for k2: x[f(k2)] = x_own[k2 - lo];

What a loop stores, one element in each iteration, is kept until its end, and stored by a loop of
its own, whose iterations can be shared out in another way: work-items that run neighbouring chunks
of the first loop store neighbouring elements in the second. Legal where nothing else in the loop
writes the array, no iteration reads what was stored, and T, the most iterations, is a number. (The
reverse of staging what is read: Cholewa-Madsen and Holst, section 2.2.2; distribution after array
expansion, sections 3a and 3b.)
"""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from loopxform.analysis.deps import dependences
from loopxform.errors import Obstacle
from loopxform.ir.affine import to_expr
from loopxform.ir.names import fresh
from loopxform.ir.nodes import Assign, Copy, Decl, For, Function, Load, Opaque, Var
from loopxform.ir.typing import symbols
from loopxform.ir.visit import (
    LoopSite,
    loads,
    names,
    replace_at,
    substitute,
    walk,
    writes,
)
from loopxform.records import record
from loopxform.transforms.base import Step
from loopxform.transforms.edges.bounds import fixed_trips, iteration_number
from loopxform.transforms.sites import (
    ascending,
    fixed_header,
    new_name,
    one_loop,
    trusted,
    unmapped,
    whole_loop,
)


@record
class StageStores(Step):
    """Keeps what each iteration of `loop` stores in `array` in an array named `copy` (default:
    x_own), and stores it at the end."""

    array: str
    loop: str
    copy: str = ""

    verb: ClassVar[str] = "stage-stores"
    usage: ClassVar[str] = "stage-stores ARRAY LOOP [NAME]"

    def check(self, fn: Function) -> tuple[Obstacle, ...]:
        site = one_loop(fn, self.loop)
        if isinstance(site, Obstacle):
            return (site,)
        structure = (
            *whole_loop(site),
            *ascending(site),
            *fixed_header(site),
            *unmapped(site, "stage-stores"),
            *new_name(fn, self.copy, site),
        )
        if structure:
            return structure
        why = self._obstacle(fn, site)
        return (
            () if why is None else (Obstacle("LX207", why[0], site.loop.origin.loc, remedy=why[1]),)
        )

    def _obstacle(self, fn: Function, site: LoopSite) -> tuple[str, str] | None:
        loop, every = site.loop, [s for _, s in walk(site.loop.body)]
        if site.loop.parallel:
            return f"the loop over '{loop.var}' is parallel", "name a loop that runs in order"
        if any(isinstance(s, Opaque | Copy) for s in every):
            return "the loop holds what is not modelled", "write it as loops and assignments"
        if any(isinstance(s, Decl) and s.name == self.array for s in every):
            return f"'{self.array}' is declared in the loop", "name an array from outside"
        if fixed_trips(loop) is None:
            return f"the iterations of '{loop.var}' are not a number", f"stripmine {loop.var} first"
        store = self._store(loop)
        target = None if store is None else store.target
        if store is None or not isinstance(target, Load):
            text = f"not every iteration of '{loop.var}' stores one element of '{self.array}'"
            return text, "name an array that the loop stores to without a condition"
        moving = writes(loop.body) | {s.var for s in every if isinstance(s, For)}
        if names(Load("", target.index)) & moving or any([*loads(e)] for e in target.index):
            return "its subscripts change while the loop runs", "leave the stores where they are"
        inside = (*site.path, loop.body.index(store))
        for d in dependences(fn, site.path, counters=True):
            if d.array == self.array and inside in (d.source.path, d.sink.path):
                other = d.sink.path if d.source.path == inside else d.source.path
                if d.kind == "flow" or (d.kind == "output" and other != inside):
                    text = f"the loop uses what it stores in '{self.array}'"
                    return text, "leave the stores where they are"
        return None

    def _store(self, loop: For) -> Assign | None:
        """The only statement that stores to the array: it is run in each iteration."""
        every = [s for _, s in walk(loop.body) if isinstance(s, Assign)]
        found = [s for s in every if isinstance(s.target, Load) and s.target.array == self.array]
        alone = len(found) == 1 and found[0] in loop.body and not found[0].op
        return found[0] if alone and not found[0].atomic else None

    def rewrite(self, fn: Function) -> Function:
        site = trusted(one_loop(fn, self.loop))
        loop, origin = site.loop, site.loop.origin.then(str(self))
        store, fixed = self._store(loop), fixed_trips(loop)
        assert store is not None
        assert isinstance(store.target, Load)
        assert fixed is not None
        own, var = self.copy or fresh(fn, f"{self.array}_own"), fresh(fn, loop.var)
        element = Load(own, (iteration_number(loop),))
        kept = replace(store, target=element, label=f"keep_{own}")
        n = loop.body.index(store)
        later = {loop.var: Var(var)}
        stored = replace(
            store,
            target=Load(self.array, tuple(substitute(e, dict(later)) for e in store.target.index)),
            value=substitute(element, dict(later)),
        )
        made = (
            Decl(own, symbols(fn)[self.array], (to_expr(fixed[0]),), origin=origin),
            replace(loop, body=(*loop.body[:n], kept, *loop.body[n + 1 :]), origin=origin),
            replace(loop, var=var, body=(stored,), origin=origin, asks=None),
        )
        return replace_at(fn, site.path, made)

    def reason(self, fn: Function) -> str:  # noqa: ARG002
        return f"no iteration uses what another stores in {self.array}"
