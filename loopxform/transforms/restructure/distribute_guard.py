"""Distributing a guard: if (c) { A; for k: S; B } -> if (c) A; for k: if (c) S; if (c) B.

The condition that fills the body of a loop goes to the statements it guards, and into the loops
among them where these may be entered without it: their bounds read no array. A local variable gets
its first number unconditionally: nothing has read it before. Legal where nothing that is guarded
changes what the condition reads. Loops can then be distributed and interchanged as
if there were no guard. (Seed 000, section 4.2.1 places the guards of tiles.)
"""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from loopxform.errors import Obstacle
from loopxform.ir.nodes import Decl, For, Function, If, Opaque
from loopxform.ir.visit import names, replace_at, walk, writes
from loopxform.records import record
from loopxform.transforms.base import Step
from loopxform.transforms.restructure.guards import each_guarded
from loopxform.transforms.sites import one_loop, trusted, unmapped


@record
class DistributeGuard(Step):
    """Gives every statement under the condition in the body of `loop` that condition."""

    loop: str

    verb: ClassVar[str] = "distribute-guard"
    usage: ClassVar[str] = "distribute-guard LOOP"

    def check(self, fn: Function) -> tuple[Obstacle, ...]:
        site = one_loop(fn, self.loop)
        if isinstance(site, Obstacle):
            return (site,)
        where, var = site.loop.origin.loc, site.loop.var
        guard = _guard(site.loop)
        if guard is None:
            text = f"the body of '{var}' is not one condition without else"
            return (Obstacle("LX123", text, where, remedy="there is no guard to distribute"),)
        changed = names(guard.cond) & writes(guard.then)
        if changed:
            text = f"'{min(changed)}', which the condition reads, changes under it"
            remedy = "copy it into another variable before"
            return (Obstacle("LX123", text, guard.origin.loc or where, remedy=remedy),)
        for _, s in walk(guard.then):
            if isinstance(s, Opaque):
                return (Obstacle("LX103", s.reason, s.origin.loc, remedy=s.help or None),)
        return unmapped(site, "distribute the guard")

    def rewrite(self, fn: Function) -> Function:
        site = trusted(one_loop(fn, self.loop))
        guard = _guard(site.loop)
        assert guard is not None
        decls = tuple(s for s in site.loop.body if isinstance(s, Decl))
        own = frozenset(s.name for s in (*decls, *guard.then) if isinstance(s, Decl))
        changing = writes(guard.then)
        body = (*decls, *each_guarded(guard.then, guard.cond, own, changing))
        origin = site.loop.origin.then(str(self))
        return replace_at(fn, site.path, (replace(site.loop, body=body, origin=origin),))

    def reason(self, fn: Function) -> str:  # noqa: ARG002
        return "nothing under the condition changes it"


def _guard(loop: For) -> If | None:
    rest = [s for s in loop.body if not isinstance(s, Decl)]
    if len(rest) == 1 and isinstance(rest[0], If) and not rest[0].orelse:
        return rest[0]
    return None
