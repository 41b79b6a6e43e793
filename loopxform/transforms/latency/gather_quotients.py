"""Gather quotients: S(a / y); T(b / y) -> for once: { q = a / y; r = b / y; } S(q); T(r)

Quotients of floats by one divisor are computed together, in a loop of one iteration in front of the
first statement that has one. Marked by `speculate`, the loop takes the reciprocal of the divisor
once, and asks once whether one of the quotients is rare. Legal where the statements stand in one
body, and nothing between the first and each other changes what its quotient is computed of.
Quotients that are not always computed, as in `y > 0 ? a / y : 0`, stay where they are.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar

from loopxform.errors import Obstacle
from loopxform.ir.names import used_names
from loopxform.ir.nodes import (
    Assign,
    Bin,
    Const,
    Decl,
    Expr,
    For,
    Function,
    If,
    Opaque,
    Return,
    Select,
    Stmt,
    Var,
)
from loopxform.ir.types import FLOAT, Scalar
from loopxform.ir.typing import symbols, type_of
from loopxform.ir.visit import children, declared, map_expr, names, replace_at, walk, writes
from loopxform.records import record
from loopxform.transforms.base import Step
from loopxform.transforms.sites import one_loop, trusted


@record
class GatherQuotients(Step):
    """Computes quotients by one divisor together, of statements of the body of `loop`, or of a
    branch of it."""

    loop: str

    verb: ClassVar[str] = "gather-quotients"
    usage: ClassVar[str] = "gather-quotients LOOP"
    keeps_order: ClassVar[bool] = True

    def check(self, fn: Function) -> tuple[Obstacle, ...]:
        site = one_loop(fn, self.loop)
        if isinstance(site, Obstacle):
            return (site,)
        if _Gathering(fn, str(self)).body(site.loop.body) != site.loop.body:
            return ()
        text = (
            f"the loop over '{site.loop.var}' has no two quotients of floats by one divisor that "
            "can be computed together"
        )
        remedy = "compute what is divided before the first of them"
        return (Obstacle("LX272", text, site.loop.origin.loc, remedy=remedy),)

    def rewrite(self, fn: Function) -> Function:
        site = trusted(one_loop(fn, self.loop))
        body = _Gathering(fn, str(self)).body(site.loop.body)
        return replace_at(fn, site.path, (replace(site.loop, body=body),))

    def reason(self, fn: Function) -> str:  # noqa: ARG002
        return "what quotients are computed of does not change before they are used"


class _Gathering:
    """Rewrites the statements of a loop."""

    def __init__(self, fn: Function, step: str) -> None:
        self.step, self.types, self.taken = step, symbols(fn), set(used_names(fn))

    def body(self, body: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
        """The same statements, quotients by one divisor together."""
        body = tuple(self._branches(s) for s in body)
        while shared := _shared(body, self.types):
            body = self._gathered(body, shared)
        return body

    def _branches(self, s: Stmt) -> Stmt:
        if not isinstance(s, If):
            return s
        return replace(s, then=self.body(s.then), orelse=self.body(s.orelse))

    def _gathered(self, body: tuple[Stmt, ...], found: list[tuple[int, Bin]]) -> tuple[Stmt, ...]:
        first, quotient = found[0]
        origin = body[first].origin.then(self.step)
        by = quotient.right if isinstance(quotient.right, Var) else Var(self._free("divisor"))
        values = {e: Var(self._free("ratio")) for e in dict.fromkeys(e for _, e in found)}
        sets = tuple(Assign(v, replace(e, right=by), origin=origin) for e, v in values.items())
        before: list[Stmt] = [Decl(v.name, FLOAT, origin=origin) for v in values.values()]
        if by != quotient.right:
            before += [
                Decl(by.name, FLOAT, origin=origin),
                Assign(by, quotient.right, origin=origin),
            ]
        once = For(self._free("once"), Const(0), Const(1), Const(1), sets, origin=origin)
        new = [*body]
        for n, e in found:
            new[n] = _using(new[n], e, values[e])
        return (*new[:first], *before, once, *new[first:])

    def _free(self, wanted: str) -> str:
        name, n = wanted, 2
        while name in self.taken:
            name, n = f"{wanted}_{n}", n + 1
        self.taken.add(name)
        return name


def _using(s: Stmt, quotient: Bin, value: Var) -> Stmt:
    assert isinstance(s, Assign)
    return replace(s, value=map_expr(s.value, lambda e: value if e == quotient else e))


def _shared(body: tuple[Stmt, ...], types: dict[str, Scalar]) -> list[tuple[int, Bin]]:
    """Quotients by the first divisor that several have, and the numbers of their statements."""
    found = dict[Expr, list[tuple[int, Bin]]]()
    for n, s in enumerate(body):
        for e in _quotients(s.value, types) if isinstance(s, Assign) else ():
            known = found.setdefault(e.right, [])
            if not known or _keeps(body[known[0][0] : n], e):
                known.append((n, e))
    several = (x for x in found.values() if len({e for _, e in x}) > 1)
    return next((x for x in several if not _together(body, x)), [])


def _together(body: tuple[Stmt, ...], found: list[tuple[int, Bin]]) -> bool:
    """Whether statements do nothing but compute these quotients."""
    values = [s.value for s in body if isinstance(s, Assign) and isinstance(s.target, Var)]
    return values == [*dict.fromkeys(e for _, e in found)] and len(values) == len(body)


def _keeps(body: tuple[Stmt, ...], e: Expr) -> bool:
    """Whether statements leave the value of an expression as it is."""
    inside = [s for _, s in walk(body)]
    if any(isinstance(s, Opaque | Return) for s in inside):
        return False
    counted = {s.var for s in inside if isinstance(s, For)}
    return not names(e) & (writes(body) | counted | declared(body).keys())


def _quotients(e: Expr, types: dict[str, Scalar]) -> Iterator[Bin]:
    """Quotients of floats by what is no constant, wherever `e` always computes them."""
    match e:
        case Bin("/", left, right) if not isinstance(right, Const):
            if type_of(left, types) == type_of(right, types) == FLOAT:
                yield e
                return
        case Select(cond):
            yield from _quotients(cond, types)
            return
        case Bin("&&" | "||", left):
            yield from _quotients(left, types)
            return
    for x in children(e):
        yield from _quotients(x, types)
