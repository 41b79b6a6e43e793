"""Branches of a choice: for i: s = c ? s + a[i] : a[i]
  -> for i: if (c) s = s + a[i]; else s = a[i];
  s = (c ? s : 0) + a[i];  -> if (c) s = s + a[i]; else s = 0 + a[i];
  s = c ? a[i] : s;        -> if (c) s = a[i];

A scalar that chooses what becomes of its own value is updated in one way or another: each branch is
an update that steps know. (`if-convert` is the other way round.) Legal where the choice is made
whenever the statement runs: the condition is asked once, before anything is stored. Of several
choices one after the other is taken.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import ClassVar

from loopxform.errors import Obstacle
from loopxform.ir.nodes import (
    Assign,
    Bin,
    Cast,
    Expr,
    For,
    Function,
    If,
    Select,
    Stmt,
    Un,
    Var,
)
from loopxform.ir.types import Scalar
from loopxform.ir.typing import symbols, type_of
from loopxform.ir.visit import declared, names, replace_at, walk
from loopxform.records import record
from loopxform.transforms.base import Step
from loopxform.transforms.sites import one_loop, trusted, unmapped_loop

Types = dict[str, Scalar]


@record
class BranchChoice(Step):
    """Gives each value that a choice has for the scalar `name` a branch, in the body of `loop`."""

    name: str
    loop: str

    verb: ClassVar[str] = "branch-choice"
    usage: ClassVar[str] = "branch-choice NAME LOOP"
    keeps_order: ClassVar[bool] = True

    def check(self, fn: Function) -> tuple[Obstacle, ...]:
        site = unmapped_loop(fn, self.loop, self.verb)
        if isinstance(site, tuple):
            return site
        if self.name in chosen_scalars(site.loop):
            return ()
        text = (
            f"no `?:` in the body of '{site.loop.var}' keeps or replaces the value of '{self.name}'"
        )
        remedy = "name a scalar such as s of: s = c ? s + a[i] : a[i];"
        return (Obstacle("LX248", text, site.loop.origin.loc, remedy=remedy),)

    def rewrite(self, fn: Function) -> Function:
        site = trusted(one_loop(fn, self.loop))
        types, origin = symbols(fn), site.loop.origin.then(str(self))
        body = self._all(site.loop.body, types)
        return replace_at(fn, site.path, (replace(site.loop, body=body, origin=origin),))

    def _all(self, body: tuple[Stmt, ...], types: Types) -> tuple[Stmt, ...]:
        return tuple(x for s in body for x in self._branched(s, types))

    def _branched(self, s: Stmt, types: Types) -> tuple[Stmt, ...]:
        match s:
            case Assign(Var(self.name)) if (choice := _choice(s)) is not None:
                yes, no = (_chosen(s.value, choice, holds, types) for holds in (True, False))
                then = self._branched(replace(s, value=yes), types)
                orelse = self._branched(replace(s, value=no, label=f"{s.label}_else"), types)
                return _asked(choice.cond, then, orelse, s)
            case Assign(Var(self.name), Var(self.name), ""):
                return ()
            case If(_, then, orelse):
                inside = (self._all(then, types), self._all(orelse, types))
                return (replace(s, then=inside[0], orelse=inside[1]),)
            case _:
                return (s,)

    def reason(self, fn: Function) -> str:  # noqa: ARG002
        return f"each time '{self.name}' is set, the condition is asked anyway, and before"


def _asked(
    cond: Expr, then: tuple[Stmt, ...], orelse: tuple[Stmt, ...], s: Assign
) -> tuple[Stmt, ...]:
    """The branches of a condition, of which one may leave the scalar what it is."""
    if not (then or orelse):
        return ()
    if not then:
        held = cond.operand if isinstance(cond, Un) and cond.op == "!" else Un("!", cond)
        cond, then, orelse = held, orelse, ()
    return (If(cond, then, orelse, origin=s.origin),)


def chosen_scalars(loop: For) -> tuple[str, ...]:
    """The scalars from outside of a body of which a choice says what becomes of their value."""
    local = declared(loop.body)
    every = (s for s in _straight(loop.body) if isinstance(s, Assign) and _choice(s) is not None)
    found = dict.fromkeys(s.target.name for s in every if isinstance(s.target, Var))
    return tuple(name for name in found if name not in local)


def _straight(body: tuple[Stmt, ...]) -> list[Stmt]:
    """The statements of a body that no loop inside repeats."""
    inner = [p for p, s in walk(body) if isinstance(s, For)]
    return [s for p, s in walk(body) if not any(p[: len(q)] == q for q in inner)]


def _choice(s: Assign) -> Select | None:
    """The first choice that a statement always makes, where what it sets is in one of the values,
    and not in the condition (as of an extremum)."""
    if s.atomic or not isinstance(s.target, Var):
        return None
    name, waiting = s.target.name, [s.value]
    while waiting:
        e = waiting.pop(0)
        match e:
            case Select(cond, then, orelse) if name in (names(then) | names(orelse)) - names(cond):
                return e
            case Bin("&&" | "||", left):
                waiting.append(left)
            case Bin(_, left, right):
                waiting += (left, right)
            case Cast(_, operand) | Un(_, operand):
                waiting.append(operand)
            case _:
                pass
    return None


def _chosen(e: Expr, choice: Select, holds: bool, types: Types) -> Expr:
    """The expression with one value of a choice in its place, in the type of the choice."""
    if e is choice:
        value = choice.then if holds else choice.orelse
        own = type_of(choice, types)
        return value if type_of(value, types) == own else Cast(own, value, origin=e.origin)
    inside: Callable[[Expr], Expr] = lambda x: _chosen(x, choice, holds, types)  # noqa: E731
    match e:
        case Bin("&&" | "||", left):
            return replace(e, left=inside(left))
        case Bin(_, left, right):
            return replace(e, left=inside(left), right=inside(right))
        case Cast(_, operand) | Un(_, operand):
            return replace(e, operand=inside(operand))
        case _:
            return e
