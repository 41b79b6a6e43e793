"""Copy merging: for i: { T cur; cur = prev + a[i]; out[i] = cur; prev = cur; }
  -> for i: { prev = prev + a[i]; out[i] = prev; }

A scalar of an iteration whose value another one holds afterwards is that one from the beginning.
Legal where the copy is all that sets the latter, both have one type, and nothing reads the old
value once the new one is there. (Coalescing: Chaitin, "Register allocation and spilling via graph
coloring", 1982.)
"""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from loopxform.errors import Obstacle
from loopxform.ir.nodes import Assign, Copy, Decl, For, Function, Opaque, Stmt, Var
from loopxform.ir.printer import expr_text
from loopxform.ir.renaming import rename
from loopxform.ir.typing import symbols
from loopxform.ir.visit import reads, replace_at, walk, writes
from loopxform.records import record
from loopxform.transforms.base import Step
from loopxform.transforms.sites import one_loop, trusted, unmapped_loop


@record
class MergeCopy(Step):
    """Makes one of the scalar `name` of the body of `loop` and the one that it is copied to."""

    name: str
    loop: str

    verb: ClassVar[str] = "merge-copy"
    usage: ClassVar[str] = "merge-copy NAME LOOP"
    keeps_order: ClassVar[bool] = True

    def check(self, fn: Function) -> tuple[Obstacle, ...]:
        site = unmapped_loop(fn, self.loop, self.verb)
        if isinstance(site, tuple):
            return site
        why = self._obstacle(fn, site.loop)
        remedy = "name a scalar of the body such as: cur = prev + a[i]; prev = cur;"
        return () if why is None else (Obstacle("LX230", why, site.loop.origin.loc, remedy=remedy),)

    def _obstacle(self, fn: Function, loop: For) -> str | None:
        if any(isinstance(s, Opaque | Copy) for _, s in walk(loop.body)):
            return "the loop holds what is not modelled"
        places = _places(loop, self.name)
        own = [s for s in loop.body if isinstance(s, Decl) and s.name == self.name]
        if places is None or len(own) != 1:
            return f"the body of '{loop.var}' does not set a scalar '{self.name}' of its own once"
        n, m = places
        copy = loop.body[m]
        assert isinstance(copy, Assign)
        assert isinstance(copy.target, Var)
        kept, types = copy.target.name, symbols(fn)
        declared_here = any(isinstance(s, Decl) and s.name == kept for s in loop.body[n:])
        if own[0].shape or kept == loop.var or declared_here or types[kept] != own[0].type:
            return f"'{kept}' and '{self.name}' are not scalars of one type"
        rest = (*loop.body[:m], *loop.body[m + 1 :])
        if kept in writes(rest) | {s.var for _, s in walk(rest) if isinstance(s, For)}:
            return f"'{kept}' is set by more than the copy"
        if kept in reads(loop.body[n + 1 : m]):
            return f"the old value of '{kept}' is used once the new one is there"
        if self.name in reads(loop.body[:n]):
            return f"'{self.name}' is read before it is set"
        return None

    def rewrite(self, fn: Function) -> Function:
        site = trusted(one_loop(fn, self.loop))
        loop, origin = site.loop, site.loop.origin.then(str(self))
        places = _places(loop, self.name)
        assert places is not None
        copy = loop.body[places[1]]
        assert isinstance(copy, Assign)
        assert isinstance(copy.target, Var)
        kept = (s for s in loop.body if s is not copy and not _declares(s, self.name))
        body = rename(tuple(kept), {self.name: copy.target.name})
        return replace_at(fn, site.path, (replace(loop, body=body, origin=origin),))

    def reason(self, fn: Function) -> str:
        loop = trusted(one_loop(fn, self.loop)).loop
        places = _places(loop, self.name)
        assert places is not None
        copy = loop.body[places[1]]
        assert isinstance(copy, Assign)
        return f"nothing uses the old value of {expr_text(copy.target)} beside the new one"


def _declares(s: Stmt, name: str) -> bool:
    return isinstance(s, Decl) and s.name == name


def _places(loop: For, name: str) -> tuple[int, int] | None:
    """Where the body sets a scalar, in one place, and where it copies it to another, behind it."""
    every = [s for _, s in walk(loop.body) if isinstance(s, Assign) and s.target == Var(name)]
    first = every[0] if len(every) == 1 and not every[0].op and not every[0].atomic else None
    n = next((n for n, s in enumerate(loop.body) if s is first), None)
    if n is None:
        return None
    for m, s in enumerate(loop.body[n + 1 :], n + 1):
        if isinstance(s, Assign) and s.value == Var(name) and isinstance(s.target, Var):
            return (n, m) if not (s.op or s.atomic) else None
    return None


def merged_copies(loop: For) -> tuple[str, ...]:
    """The scalars of a body that are copied to others."""
    return tuple(
        s.value.name
        for s in loop.body
        if isinstance(s, Assign) and isinstance(s.target, Var) and isinstance(s.value, Var)
    )
