"""Distributing a condition: if (c) { A; for k: S } else B -> if (c) A; for k: if (c) S; if (!c) B.

Every statement under a condition gets it for itself, loops take it inside where they may be entered
without it, so that they can be nests like any other. Where the condition reads an array, or the
branches change what it reads, it is decided first: taken = c ? 1 : 0. (`distribute-guard` is for
the body of a loop.)
"""

from __future__ import annotations

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
from loopxform.transforms.restructure.guards import each_guarded, enters_unseen
from loopxform.transforms.restructure.single import statements_at


@record
class DistributeIf(Step):
    """Gives every statement in the branches of the condition at `place` (as of `single`) that
    condition."""

    place: str

    verb: ClassVar[str] = "distribute-if"
    usage: ClassVar[str] = "distribute-if PLACE   (2.1: the first statement in the second)"
    keeps_order: ClassVar[bool] = True

    def check(self, fn: Function) -> tuple[Obstacle, ...]:
        found = statements_at(fn, self.place, 1)
        if found is None or not isinstance(found[1][0], If):
            text = f"'{self.place}' names no condition of {fn.name}"
            return (Obstacle("LX021", text, fn.origin.loc, remedy=f"usage: {self.usage}"),)
        (s,) = found[1]
        assert isinstance(s, If)
        branches = (*s.then, *s.orelse)
        for _, x in walk(branches):
            if isinstance(x, Opaque):
                return (Obstacle("LX103", x.reason, x.origin.loc, remedy=x.help or None),)
        if not any(isinstance(x, For) and enters_unseen(x) for x in branches):
            text = "the condition guards no loop that could take it inside"
            return (Obstacle("LX123", text, s.origin.loc, remedy="there is nothing to distribute"),)
        return ()

    def rewrite(self, fn: Function) -> Function:
        found = statements_at(fn, self.place, 1)
        assert found is not None
        path, (s,) = found
        assert isinstance(s, If)
        out: tuple[Stmt, ...] = ()
        if any(loads(s.cond)) or names(s.cond) & writes((*s.then, *s.orelse)):
            name, origin = fresh(fn, "taken"), s.origin.then(str(self))
            decided = Select(s.cond, Const(1), Const(0))
            first = Assign(Var(name), decided, label=f"decide_{name}", origin=origin)
            out = (Decl(name, INT, origin=origin), first)
            s = replace(s, cond=Var(name))
        return replace_at(fn, path, (*out, *_distributed(s)))

    def reason(self, fn: Function) -> str:  # noqa: ARG002
        return "the condition is decided before what it guards, and stays so"


def _distributed(s: If) -> tuple[Stmt, ...]:
    out: tuple[Stmt, ...] = ()
    for body, test in ((s.then, s.cond), (s.orelse, Un("!", s.cond, origin=s.cond.origin))):
        own = frozenset(x.name for x in body if isinstance(x, Decl))
        out += each_guarded(body, test, own, writes(body))
    return out
