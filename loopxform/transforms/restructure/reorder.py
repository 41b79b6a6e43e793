"""Reordering statements: s = e; A; B -> A; B; s = e.

A statement that only computes a scalar of the function from scalars moves behind those that follow
it: where it is needed, with nothing between. Legal where these neither use the scalar nor set what
it is computed from. (Allen and Kennedy, section 2.2, on reordering transformations.)
"""

from __future__ import annotations

from typing import ClassVar

from loopxform.errors import Obstacle
from loopxform.ir.nodes import Assign, Decl, Function, Opaque, Return, Stmt, Var
from loopxform.ir.visit import (
    Path,
    counters,
    declared,
    loads,
    names,
    reads,
    replace_at,
    stmt_exprs,
    walk,
    writes,
)
from loopxform.records import record
from loopxform.transforms.base import Step
from loopxform.transforms.restructure.places import later, statements_at


@record
class Reorder(Step):
    """Moves the statement at `place` behind the `count` that follow it."""

    place: str
    count: str = "1"

    verb: ClassVar[str] = "reorder"
    usage: ClassVar[str] = "reorder PLACE [COUNT]   (2.1: the first statement in the second)"
    keeps_order: ClassVar[bool] = True

    def check(self, fn: Function) -> tuple[Obstacle, ...]:
        count = int(self.count) if self.count.isdecimal() else 0
        found = statements_at(fn, self.place, count + 1) if count else None
        if found is None:
            text = f"'{self.place}' and '{self.count}' name no statements of {fn.name}"
            return (Obstacle("LX021", text, fn.origin.loc, remedy=f"usage: {self.usage}"),)
        first, rest = found[1][0], found[1][1:]
        problem = _moving(fn, first) or _passing(first, rest)
        if problem is None:
            return ()
        text, remedy = problem
        return (Obstacle("LX219", text, first.origin.loc, remedy=remedy),)

    def rewrite(self, fn: Function) -> Function:
        path, run = self._run(fn)
        first = run[0]
        assert isinstance(first, Assign)
        fn = replace_at(fn, later(path, len(run) - 1), (run[-1], first))
        return replace_at(fn, path, ())

    def reason(self, fn: Function) -> str:
        _, (first, *_) = self._run(fn)
        (name,) = writes((first,))
        return f"what it passes neither uses {name} nor changes what that is computed from"

    def _run(self, fn: Function) -> tuple[Path, tuple[Stmt, ...]]:
        found = statements_at(fn, self.place, int(self.count) + 1)
        assert found is not None
        return found


def _moving(fn: Function, s: Stmt) -> tuple[str, str] | None:
    """Why a statement does more than to compute a scalar from scalars, and a remedy; None where it
    does no more."""
    own = {n for n, d in declared(fn.body).items() if not d.shape and not d.exposed}
    given = {p.name for p in fn.params if not (p.array or p.pointer or p.part_of)}
    known = own | given | counters(fn)
    if not isinstance(s, Assign) or not isinstance(s.target, Var) or s.target.name not in own:
        return "it sets no scalar of the function", "move a statement that sets one"
    if any(any(loads(e)) for e in stmt_exprs(s)) or not names(s.value) <= known:
        return (
            "it reads memory that the others may change",
            "move a statement that reads only scalars",
        )
    return None


def _passing(s: Stmt, rest: tuple[Stmt, ...]) -> tuple[str, str] | None:
    """Why a statement cannot pass others, and a remedy."""
    if any(isinstance(x, Opaque | Return) for _, x in walk(rest)):
        return "it would pass statements that are not modelled", "name fewer statements"
    declares = declared(rest).keys() | {x.name for x in rest if isinstance(x, Decl)}
    used = (reads(rest) | writes(rest) | declares) & writes((s,))
    changed = writes(rest) & reads((s,))
    if used:
        return f"'{min(used)}' is used in between", "name fewer statements"
    if changed:
        return f"'{min(changed)}', which it reads, changes in between", "name fewer statements"
    return None
