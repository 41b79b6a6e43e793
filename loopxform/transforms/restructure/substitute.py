"""Substitution of an induction variable:
    for i: { A(j); j = j + e; B(j); } -> for i: { A(j + e*q); B(j + e*(q+1)); }  j = j + e*trips;

where q = (i - lo)/step numbers the iterations and trips is how many there are. Legal where every
iteration runs each assignment of j once, which adds to j, or to a scalar that is j plus something
(`k = j + 1; j = k + 1`), nothing in the loop changes what is added, and the bounds stay what they
are; what follows the loop is left out where j is not used afterwards. (Allen and Kennedy, section
4.5.)
"""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar, cast

from loopxform.analysis.induction import Induction, induction
from loopxform.analysis.legality import opaque_obstacles
from loopxform.analysis.privatise import privacy
from loopxform.errors import Obstacle
from loopxform.ir.affine import simplify, to_expr, value_of
from loopxform.ir.nodes import Assign, Bin, Cast, Const, Expr, Function, Load, Stmt, Var
from loopxform.ir.types import LONG, Scalar
from loopxform.ir.typing import symbols, type_of
from loopxform.ir.visit import LoopSite, at, map_expr, map_exprs, replace_at, walk_expr, writes
from loopxform.records import record
from loopxform.transforms.base import Step
from loopxform.transforms.edges.bounds import ends_of, least, replace_iterator, trips_to
from loopxform.transforms.sites import fixed_header, no_wrap, one_loop, trusted, unmapped


@record
class Substitute(Step):
    """Replaces a scalar that grows by the same amount in each iteration of a loop by its value."""

    name: str
    loop: str

    verb: ClassVar[str] = "substitute"
    usage: ClassVar[str] = "substitute NAME LOOP"

    def check(self, fn: Function) -> tuple[Obstacle, ...]:
        site = one_loop(fn, self.loop)
        if isinstance(site, Obstacle):
            return (site,)
        unknown = opaque_obstacles(fn, site.path)
        if unknown:
            return unknown
        if induction(fn, site.path, self.name) is None:
            text = f"'{self.name}' does not grow by a fixed amount in each iteration of"
            remedy = "it takes an integer that is set directly in the body of the loop"
            message = f"{text} '{site.loop.var}'"
            return (Obstacle("LX190", message, site.loop.origin.loc, remedy=remedy),)
        header = (*unmapped(site, "substitute"), *fixed_header(site), *no_wrap(fn, site))
        return header or _countable(fn, site)

    def rewrite(self, fn: Function) -> Function:
        site = trusted(one_loop(fn, self.loop))
        found = induction(fn, site.path, self.name)
        assert found is not None
        loop, closed = site.loop, _ClosedForm(fn, site, found)
        body, begin, grown = list[Stmt](), 0, cast(Expr, Const(0))
        for n, amount in (*found.places, (len(loop.body), Const(0))):
            body += _replaced(loop.body[begin:n], self.name, closed.value(grown))
            begin, grown = n + 1, amount
        changed = replace(loop, body=tuple(body), origin=loop.origin.then(str(self)))
        update = loop.body[found.places[-1][0]]
        assert isinstance(update, Assign)
        last: tuple[Stmt, ...] = ()
        after_loop = privacy(fn, site.path, self.name)
        if after_loop.live or after_loop.caller:
            origin = update.origin.then(str(self))
            last = (replace(update, value=closed.last(), op="", origin=origin),)
        return replace_at(fn, site.path, (changed, *last))

    def reason(self, fn: Function) -> str:
        site = trusted(one_loop(fn, self.loop))
        found = induction(fn, site.path, self.name)
        return f"in iteration q of {site.loop.var}, from 0, {self.name} is {found} until it grows"


def _replaced(body: tuple[Stmt, ...], name: str, value: Expr) -> tuple[Stmt, ...]:
    """`body` with a value in place of a variable, which has room for it: subscripts need not cut it
    off."""
    made = replace_iterator(body, name, value)
    match value:
        case Cast(t, total) if not t.is_unsigned:
            return map_exprs(made, lambda e: _uncut(e, value, total))
        case _:
            return made


def _uncut(e: Expr, value: Expr, total: Expr) -> Expr:
    if not isinstance(e, Load):
        return e
    return replace(
        e, index=tuple(map_expr(i, lambda x: total if x == value else x) for i in e.index)
    )


class _ClosedForm:
    """Values of an induction variable, of its type. A product that could leave the range of int
    where the sum does not is computed in long; unsigned sums are marked as wrapping around."""

    def __init__(self, fn: Function, site: LoopSite, found: Induction) -> None:
        self.loop, self.found = site.loop, found
        self.types = {**symbols(fn), site.loop.var: site.loop.type}
        self.type = self.types[found.name]
        self.amount = value_of(found.increment)
        start = _start(fn, site, found.name) if _is_positive(found.increment) else None
        self.rises = start is not None and start >= 0
        # j + e*q and j + e*(q + 1) are values that it has, so e*q is at most the largest int.
        self.rises_inside = start is not None and start >= -(self.amount or 0)

    def value(self, ahead: Expr) -> Expr:
        """In an iteration, where it has grown by `ahead`."""
        loop, step = self.loop, value_of(self.loop.step)
        gap = simplify(Bin("-", Var(loop.var), loop.lo))
        if self.amount is not None and step and self.amount % step == 0:
            grown = self._times(Const(self.amount // step), gap, self.rises_inside)
        elif step == 1:
            grown = self._times(self.found.increment, gap, self.rises_inside)
        else:
            grown = self._times(self.found.increment, Bin("/", gap, loop.step), self.rises_inside)
        if value_of(ahead) != 0:
            grown = Bin("+", grown, ahead)
        return self._sum(grown)

    def last(self) -> Expr:
        """After the loop."""
        counts = [trips_to(self.loop, end) for end in ends_of(self.loop)]
        count = least([to_expr(c) for c in counts if c is not None])
        known = value_of(count)
        trips = Bin("max", count, Const(0)) if known is None else Const(max(0, known))
        return self._sum(self._times(self.found.increment, trips, self.rises))

    def _times(self, factor: Expr, number: Expr, rises: bool) -> Expr:
        known, type = value_of(factor), type_of(number, self.types)
        rises = rises and self.type.bytes <= type.bytes
        if self.type.is_unsigned:
            number = number if type == self.type else Cast(self.type, number)
        elif type.is_unsigned or not (rises or (known in (1, -1) and len(self.found.places) == 1)):
            number = number if type == LONG else Cast(LONG, number)
        return number if known == 1 else Bin("*", factor, number)

    def _sum(self, grown: Expr) -> Expr:
        total = Bin("+", Var(self.found.name), grown)
        plain = not any(isinstance(x, Cast) for x in walk_expr(total))
        if self.type.is_unsigned or type_of(total, self.types) != self.type:
            return Cast(self.type, total)
        return simplify(total) if plain else total


def _is_positive(e: Expr) -> bool:
    """Whether a number is never negative: one that is known, or the iterations of a loop."""
    match e:
        case Bin("max", _, Const(int(least))):
            return least >= 0
        case Bin("*", left, right):
            return _is_positive(left) and _is_positive(right)
        case _:
            return (value_of(e) or 0) > 0


def _countable(fn: Function, site: LoopSite) -> tuple[Obstacle, ...]:
    """The iterations can be numbered: a constant step, and up where they are unsigned."""
    loop = site.loop
    types: dict[str, Scalar] = {**symbols(fn), loop.var: loop.type}
    down = (value_of(loop.step) or 0) <= 0
    unsigned = type_of(Bin("-", Var(loop.var), loop.lo), types).is_unsigned
    known = all(trips_to(loop, end) is not None for end in ends_of(loop))
    if value_of(loop.step) and known and not (down and unsigned):
        return ()
    message = f"the number of iterations of '{loop.var}' cannot be written down"
    remedy = "write the loop with a constant step"
    return (Obstacle("LX133", message, loop.origin.loc, remedy=remedy),)


def _start(fn: Function, site: LoopSite, name: str) -> int | None:
    """What the statement that last set `name` before the loop, in the same body, set it to, where
    that is a constant."""
    place = site.path[-1]
    for n in reversed(range(max(0, place))):
        s = at(fn, (*site.path[:-1], n))
        if isinstance(s, Assign) and s.target == Var(name):
            return None if s.op else value_of(s.value)
        if name in writes((s,)):
            return None
    return None
