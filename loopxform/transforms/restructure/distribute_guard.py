"""Distributing a guard: if (c) { A; for k: S; B } else D -> if (c) A; for k: if (c) S; if (c) B;
if (!c) D.

The condition at a place, or the one that fills the body of a loop, goes to the statements it
guards, and into the loops among them where these may be entered without it: their bounds read no
array. The loops can then be distributed and interchanged as if there were no guard.

In the body of a loop nothing that is guarded may change what the condition reads; a local variable
gets its first number unconditionally: nothing has read it before. At a place, a condition that
reads an array, or what the branches change, is decided first: taken = c ? 1 : 0. (Cholewa-Madsen
and Holst, section 4.2.1 places the guards of tiles.)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar

from loopxform.errors import Obstacle
from loopxform.ir.names import fresh
from loopxform.ir.nodes import (
    Assign,
    Const,
    Decl,
    For,
    Function,
    If,
    Opaque,
    Select,
    Stmt,
    Un,
    Var,
)
from loopxform.ir.types import INT
from loopxform.ir.visit import loads, names, replace_at, walk, writes
from loopxform.records import record
from loopxform.transforms.base import Step
from loopxform.transforms.restructure.guards import each_guarded, takes_inside
from loopxform.transforms.restructure.places import is_place, statements_at
from loopxform.transforms.sites import one_loop, trusted, unmapped


@record
class DistributeGuard(Step):
    """Gives every statement under a condition that condition: of the condition at `place`, or of
    the one that fills the body of the loop of that name."""

    place: str

    verb: ClassVar[str] = "distribute-guard"
    usage: ClassVar[str] = (
        "distribute-guard PLACE|LOOP   (2.1: the first statement in the second; a loop: the guard "
        "that fills its body)"
    )
    former: ClassVar[tuple[str, ...]] = ("distribute-if",)
    renamed: ClassVar[Mapping[str, str]] = {"loop": "place"}

    def is_in_order(self) -> bool:
        """The guard of a body moves into loops, past what they test."""
        return is_place(self.place)

    def check(self, fn: Function) -> tuple[Obstacle, ...]:
        return self._at_place(fn) if is_place(self.place) else self._in_loop(fn)

    def _at_place(self, fn: Function) -> tuple[Obstacle, ...]:
        s = _condition(fn, self.place)
        if s is None:
            text = f"'{self.place}' names no condition of {fn.name}"
            return (Obstacle("LX021", text, fn.origin.loc, remedy=f"usage: {self.usage}"),)
        branches = (*s.then, *s.orelse)
        for _, x in walk(branches):
            if isinstance(x, Opaque):
                return (Obstacle("LX103", x.reason, x.origin.loc, remedy=x.help or None),)
        inside = ((x, writes(body)) for body in (s.then, s.orelse) for x in body)
        if not any(isinstance(x, For) and takes_inside(x, changed) for x, changed in inside):
            text = "no loop under the condition could test it in its body"
            return (Obstacle("LX123", text, s.origin.loc, remedy="there is nothing to distribute"),)
        return ()

    def _in_loop(self, fn: Function) -> tuple[Obstacle, ...]:
        site = one_loop(fn, self.place)
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
        if is_place(self.place):
            return self._distributed(fn)
        site = trusted(one_loop(fn, self.place))
        guard = _guard(site.loop)
        assert guard is not None
        decls = tuple(s for s in site.loop.body if isinstance(s, Decl))
        own = frozenset(s.name for s in (*decls, *guard.then) if isinstance(s, Decl))
        changing = writes(guard.then)
        body = (*decls, *each_guarded(guard.then, guard.cond, own, changing))
        origin = site.loop.origin.then(str(self))
        return replace_at(fn, site.path, (replace(site.loop, body=body, origin=origin),))

    def _distributed(self, fn: Function) -> Function:
        statements = statements_at(fn, self.place, 1)
        assert statements is not None
        path, (s,) = statements
        assert isinstance(s, If)
        decision: tuple[Stmt, ...] = ()
        if any(loads(s.cond)) or names(s.cond) & writes((*s.then, *s.orelse)):
            name, origin = fresh(fn, "taken"), s.origin.then(str(self))
            decided = Select(s.cond, Const(1), Const(0))
            first = Assign(Var(name), decided, label=f"decide_{name}", origin=origin)
            decision = (Decl(name, INT, origin=origin), first)
            s = replace(s, cond=Var(name))
        return replace_at(fn, path, (*decision, *_branches(s)))

    def reason(self, fn: Function) -> str:  # noqa: ARG002
        if is_place(self.place):
            return "the condition is decided before what it guards, and stays so"
        return "nothing under the condition changes it"


def _condition(fn: Function, place: str) -> If | None:
    statements = statements_at(fn, place, 1)
    s = None if statements is None else statements[1][0]
    return s if isinstance(s, If) else None


def _guard(loop: For) -> If | None:
    rest = [s for s in loop.body if not isinstance(s, Decl)]
    if len(rest) == 1 and isinstance(rest[0], If) and not rest[0].orelse:
        return rest[0]
    return None


def _branches(s: If) -> tuple[Stmt, ...]:
    statements: tuple[Stmt, ...] = ()
    for body, test in ((s.then, s.cond), (s.orelse, Un("!", s.cond, origin=s.cond.origin))):
        own = frozenset(x.name for x in body if isinstance(x, Decl))
        statements += each_guarded(body, test, own, writes(body))
    return statements
