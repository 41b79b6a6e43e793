"""Deferred update: for j: { s += a[i, j]; x[i, j] = x[i - 1, j] + s; }
  -> for j: { s += a[i, j]; x[i, j] = s; } for j2: x[i, j2] = x[i - 1, j2] + x[i, j2];

What a loop makes of a scalar that it sets, and of what it leaves alone, is computed by a loop of
its own, which finds the values of the scalar where the results belong. Legal where each iteration
stores one element, another one each, of the type of the scalar; nothing in the loop touches any of
these elements besides; and what the value needs besides the scalar is not set by the loop.
(Distribution after scalar expansion: Allen and Kennedy, "Optimizing Compilers for Modern
Architectures", sections 5.3 and 6.2.1; the array is the expanded scalar.)
"""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from loopxform.errors import Obstacle
from loopxform.ir.affine import poly
from loopxform.ir.names import fresh
from loopxform.ir.nodes import Assign, Bin, Copy, Decl, Expr, For, Function, Load, Opaque, Var
from loopxform.ir.typing import symbols
from loopxform.ir.visit import (
    LoopSite,
    loads,
    names,
    replace_at,
    stmt_exprs,
    substitute,
    walk,
    writes,
)
from loopxform.records import record
from loopxform.transforms.base import Step
from loopxform.transforms.sites import one_loop, plain_loop, trusted


@record
class DeferUpdate(Step):
    """Stores the scalar that `loop` computes in `array`, and updates that in a loop of its own over
    `name` (default: as the loop, with a number)."""

    array: str
    loop: str
    name: str = ""

    verb: ClassVar[str] = "defer-update"
    usage: ClassVar[str] = "defer-update ARRAY LOOP [NAME]"

    def check(self, fn: Function) -> tuple[Obstacle, ...]:
        site = plain_loop(fn, self.loop, self.verb, self.name)
        if isinstance(site, tuple):
            return site
        why = self._obstacle(fn, site)
        where = site.loop.origin.loc
        remedy = "name a loop such as: s += a[j]; x[i][j] = x[i - 1][j] + s;"
        return () if why is None else (Obstacle("LX215", why, where, remedy=remedy),)

    def _obstacle(self, fn: Function, site: LoopSite) -> str | None:
        loop, every = site.loop, [s for _, s in walk(site.loop.body)]
        if loop.parallel:
            return f"the loop over '{loop.var}' is parallel"
        if any(isinstance(s, Opaque | Copy) for s in every):
            return "the loop holds what is not modelled"
        if any(isinstance(s, Decl) and s.name == self.array for s in every):
            return f"'{self.array}' is declared in the loop"
        store = self._store(loop)
        if store is None:
            return f"not every iteration of '{loop.var}' stores one element of '{self.array}'"
        assert isinstance(store.target, Load)
        moving = writes(loop.body) | {s.var for s in every if isinstance(s, For)}
        if names(Load("", store.target.index)) & moving or not _apart(store.target, loop):
            return f"the iterations of '{loop.var}' do not store elements of their own"
        types, needed = symbols(fn), (names(store.value) & moving) - {self.array}
        scalar = next(iter(needed), "")
        if len(needed) != 1 or Var(scalar) == store.value or scalar not in types:
            return f"what is stored does not depend on one scalar alone that '{loop.var}' sets"
        if any(x.array == scalar for x in loads(store.value)) or types[scalar] != types[self.array]:
            return f"'{scalar}' is no scalar of the type of '{self.array}'"
        still = moving | {loop.var}
        for x in (x for s in every for e in stmt_exprs(s) for x in loads(e)):
            touched = x.array == self.array and x is not store.target
            if touched and not _in_another_row(x, store.target, still):
                return f"the loop may touch an element of '{self.array}' again that it stores"
        return None

    def _store(self, loop: For) -> Assign | None:
        """The only statement that stores to the array: it is run in each iteration."""
        every = [s for _, s in walk(loop.body) if isinstance(s, Assign)]
        found = [s for s in every if isinstance(s.target, Load) and s.target.array == self.array]
        alone = len(found) == 1 and any(s is found[0] for s in loop.body) and not found[0].op
        return found[0] if alone and not found[0].atomic else None

    def rewrite(self, fn: Function) -> Function:
        loop = trusted(one_loop(fn, self.loop)).loop
        origin, store = loop.origin.then(str(self)), self._store(loop)
        assert store is not None
        assert isinstance(store.target, Load)
        moving = writes(loop.body) | {s.var for _, s in walk(loop.body) if isinstance(s, For)}
        (scalar,) = (names(store.value) & moving) - {self.array}
        var = self.name or fresh(fn, loop.var)
        later: dict[str, Expr] = {loop.var: Var(var)}
        value = substitute(store.value, {scalar: store.target})
        updated = replace(
            store,
            target=Load(self.array, tuple(substitute(e, later) for e in store.target.index)),
            value=substitute(value, later),
        )
        kept = replace(store, value=Var(scalar), label=f"{store.label}_{scalar}")
        body = tuple(kept if s is store else s for s in loop.body)
        made = (
            replace(loop, body=body, origin=origin),
            replace(loop, var=var, body=(updated,), origin=origin, asks=None),
        )
        return replace_at(fn, trusted(one_loop(fn, self.loop)).path, made)

    def reason(self, fn: Function) -> str:  # noqa: ARG002
        return f"nothing else in the loop touches what it stores in {self.array}"


def _apart(target: Load, loop: For) -> bool:
    """Whether each iteration stores an element of its own: a subscript moves by a number."""
    following: dict[str, Expr] = {loop.var: Bin("+", Var(loop.var), loop.step)}
    gaps = ((poly(substitute(e, following)) - poly(e)).value for e in target.index)
    plain = not any([*loads(e)] for e in target.index)
    return plain and any(gap not in (None, 0) for gap in gaps)


def _in_another_row(x: Load, target: Load, moving: frozenset[str] | set[str]) -> bool:
    """Whether a subscript that stays the same while the loop runs tells two elements apart."""
    for a, b in zip(x.index, target.index):
        if not (names(a) | names(b)) & moving and (poly(a) - poly(b)).value not in (None, 0):
            return True
    return False
