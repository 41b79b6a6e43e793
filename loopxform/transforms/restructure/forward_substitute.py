"""Forward substitution: for i: { T v; v = e; x[i] = v + 1; } -> for i: { x[i] = (T)e + 1; }

What an iteration keeps in a scalar of its own is computed where it is used. Legal where one
statement of the body sets the scalar, those behind it read it, and none of them sets what it is
computed from before it is read for the last time. (Allen and Kennedy, "Optimizing Compilers for
Modern Architectures", section 4.5.)
"""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from loopxform.errors import Obstacle
from loopxform.ir.nodes import Assign, Cast, Copy, Decl, Expr, For, Function, Opaque, Var
from loopxform.ir.types import BOOL, HALF
from loopxform.ir.typing import symbols, type_of
from loopxform.ir.visit import map_exprs, names, reads, replace_at, walk, writes
from loopxform.records import record
from loopxform.transforms.base import Step
from loopxform.transforms.restructure.if_convert import is_product
from loopxform.transforms.sites import one_loop, trusted, unmapped_loop


@record
class ForwardSubstitute(Step):
    """Computes the scalar `name` of the body of `loop` where it is used."""

    name: str
    loop: str

    verb: ClassVar[str] = "forward-substitute"
    usage: ClassVar[str] = "forward-substitute NAME LOOP"

    def check(self, fn: Function) -> tuple[Obstacle, ...]:
        site = unmapped_loop(fn, self.loop, self.verb)
        if isinstance(site, tuple):
            return site
        why = self._obstacle(fn, site.loop)
        remedy = "name a scalar that the body declares and sets once"
        return () if why is None else (Obstacle("LX230", why, site.loop.origin.loc, remedy=remedy),)

    def _obstacle(self, fn: Function, loop: For) -> str | None:
        every = [s for _, s in walk(loop.body)]
        if any(isinstance(s, Opaque | Copy) for s in every):
            return "the loop holds what is not modelled"
        own = [s for s in loop.body if isinstance(s, Decl) and s.name == self.name]
        n = _definition(loop, self.name)
        if len(own) != 1 or own[0].shape or n is None:
            return f"the body of '{loop.var}' does not set a scalar '{self.name}' of its own once"
        source = loop.body[n]
        assert isinstance(source, Assign)
        used = [m for m, s in enumerate(loop.body) if self.name in reads((s,))]
        if own[0].type in (BOOL, HALF) or (used and used[0] <= n):
            return f"'{self.name}' is read before it is set"
        needed = names(source.value)
        if needed & ({s.var for s in every if isinstance(s, For)} - {loop.var}):
            return f"'{self.name}' is computed from the counter of another loop"
        for m in range(n + 1, used[-1] + 1 if used else 0):
            s = loop.body[m]
            changed = needed & writes((s,))
            if changed and (m < used[-1] or not isinstance(s, Assign)):
                return f"'{min(changed)}' changes before '{self.name}' is used"
        if self._may_be_fused(fn, source):
            return f"'{self.name}' is a product, which might be fused with a sum"
        return None

    def _may_be_fused(self, fn: Function, source: Assign) -> bool:
        return is_product(source.value) and type_of(source.value, symbols(fn)).is_float

    def rewrite(self, fn: Function) -> Function:
        site = trusted(one_loop(fn, self.loop))
        loop, origin = site.loop, site.loop.origin.then(str(self))
        n = _definition(loop, self.name)
        assert n is not None
        source, kind = loop.body[n], symbols(fn)[self.name]
        assert isinstance(source, Assign)
        value = source.value
        if type_of(value, symbols(fn)) != kind:
            value = Cast(kind, value)

        def computed(e: Expr) -> Expr:
            return value if e == Var(self.name) else e

        kept = (s for s in loop.body[:n] if not isinstance(s, Decl) or s.name != self.name)
        body = (*kept, *map_exprs(loop.body[n + 1 :], computed))
        return replace_at(fn, site.path, (replace(loop, body=body, origin=origin),))

    def reason(self, fn: Function) -> str:  # noqa: ARG002
        return f"nothing that {self.name} is computed from changes before it is used"


def _definition(loop: For, name: str) -> int | None:
    """The statement of the body that sets a scalar, if nothing else does."""
    every = [s for _, s in walk(loop.body) if isinstance(s, Assign) and s.target == Var(name)]
    alone = every[0] if len(every) == 1 and not every[0].op and not every[0].atomic else None
    if alone is None or name in names(alone.value):
        return None
    return next((n for n, s in enumerate(loop.body) if s is alone), None)
