"""Bounding box:
for i in [a, b): for k in [0, i]: S -> for i in [a, b): for k in [0, b): if (k <= i) S.

The bounds of a loop that depend on loops around it become the widest that these allow, and a guard
in the body: the domain is a box afterwards, so that the loops can be interchanged, tiled, mapped.
Legal where the bounds are affine in those loops, but for remainders by numbers (`(i + c) % 2`): the
same iterations do what they did, the others nothing. (Cholewa-Madsen and Holst, section 2.1, step
5b does so for the bounds of tiles.)
"""

from __future__ import annotations

from dataclasses import replace
from functools import reduce
from typing import ClassVar

from loopxform.analysis.exchange import operands
from loopxform.errors import Obstacle
from loopxform.ir.affine import Poly, constant, poly, to_expr, value_of
from loopxform.ir.nodes import Bin, Const, Expr, For, Function, Var
from loopxform.ir.types import promote
from loopxform.ir.typing import symbols, type_of
from loopxform.ir.visit import LoopSite, loops_around, names, replace_at, writes
from loopxform.records import record
from loopxform.transforms.base import Step
from loopxform.transforms.edges.bounds import ends_of, guarded, least
from loopxform.transforms.sites import (
    ascending,
    fixed_header,
    one_loop,
    trusted,
    unmapped,
    whole_loop,
)


@record
class BoundingBox(Step):
    """Makes the bounds of `loop` independent of the loops `over`, which stand around it."""

    loop: str
    over: tuple[str, ...]

    verb: ClassVar[str] = "bounding-box"
    former: ClassVar[tuple[str, ...]] = ("widen",)
    usage: ClassVar[str] = "bounding-box LOOP OVER,OVER,..."
    keeps_order: ClassVar[bool] = True

    def check(self, fn: Function) -> tuple[Obstacle, ...]:
        site = one_loop(fn, self.loop)
        if isinstance(site, Obstacle):
            return (site,)
        shape = (*whole_loop(site), *ascending(site), *unmapped(site, "widen"))
        if shape:
            return shape
        around = [x.var for x in loops_around(fn, site.path)]
        missing = [v for v in self.over if v not in around]
        if missing:
            text = f"'{site.loop.var}' is not inside a loop over '{missing[0]}'"
            return (Obstacle("LX110", text, site.loop.origin.loc, remedy="name a loop around it"),)
        if isinstance(self._bounds(fn, site), str):
            text = f"the bounds of '{site.loop.var}' {self._bounds(fn, site)}"
            remedy = "leave the loop as it is"
            return (Obstacle("LX147", text, site.loop.origin.loc, remedy=remedy),)
        return fixed_header(site)

    def _bounds(self, fn: Function, site: LoopSite) -> tuple[list[Expr], list[Expr]] | str:
        """The least starts and the greatest ends, or why they cannot be written down."""
        loop, types = site.loop, symbols(fn)
        around = [x for x in loops_around(fn, site.path) if x.var in self.over]
        used = names(loop.lo) | names(loop.hi)
        if not used & set(self.over):
            return f"do not depend on '{self.over[0]}'"
        for e in (loop.lo, loop.hi, *(b for x in around for b in (x.lo, x.hi))):
            if promote(type_of(e, types)).is_unsigned:
                return "are unsigned and may wrap around"
        if any(names(e) & writes(x.body) for x in around for e in (x.lo, x.hi)):
            return "depend on what the loops change"
        if names(loop.lo) & set(self.over) and value_of(loop.step) != 1:
            return "depend on another loop, and the step is not 1"
        lows = [poly(e) for e in operands(loop.lo, "max")]
        highs = [poly(e) for e in ends_of(loop)]
        for x in reversed(around):
            if (value_of(x.step) or 0) < 1:
                return f"depend on '{x.var}', which counts downwards"
            lows = [p for e in lows for p in _extreme(e, x, least_value=True)]
            highs = [p for e in highs for p in _extreme(e, x, least_value=False)]
            if not (lows and highs):
                return f"are not affine in '{x.var}'"
        return [to_expr(p) for p in dict.fromkeys(lows)], [to_expr(p) for p in dict.fromkeys(highs)]

    def rewrite(self, fn: Function) -> Function:
        site = trusted(one_loop(fn, self.loop))
        loop, found = site.loop, self._bounds(fn, site)
        assert not isinstance(found, str)
        lows, highs = found
        kept = {poly(e) for e in (*lows, *highs)}
        starts, ends = operands(loop.lo, "max"), ends_of(loop)
        conditions: list[Expr] = [
            *(Bin(">=", Var(loop.var), e) for e in starts if poly(e) not in kept),
            *(Bin("<", Var(loop.var), e) for e in ends if poly(e) not in kept),
        ]
        body = guarded(conditions, loop.body)
        origin = loop.origin.then(str(self))
        low = reduce(lambda a, b: Bin("max", a, b), lows)
        wide = replace(loop, lo=low, hi=least(highs), body=body, origin=origin)
        return replace_at(fn, site.path, (wide,))

    def reason(self, fn: Function) -> str:  # noqa: ARG002
        return "the iterations that are added do nothing"


def _extreme(bound: Poly, loop: For, *, least_value: bool) -> list[Poly]:
    """What `bound` is at most (at least) over the values of the variable of `loop`; several where
    each of them is a limit, none where it is not affine in it, nor a quotient of what is."""
    if not bound.mentions(loop.var):
        return [bound]
    match to_expr(bound):
        case Bin("/", top, Const(int(by))) if by > 0:
            found = _extreme(poly(top), loop, least_value=least_value)
            return [poly(Bin("/", to_expr(p), Const(by))) for p in found]
    bound = _without_remainders(bound, loop.var, least_value=least_value)
    c, rest = bound.coefficient(loop.var).value, bound.without(loop.var)
    if c is None or rest + bound.coefficient(loop.var) * poly(Var(loop.var)) != bound:
        return []
    factor = constant(c)
    if (c > 0) == least_value:
        return [rest + factor * poly(e) for e in operands(loop.lo, "max")]
    return [rest + factor * (poly(h) - constant(1)) for h in operands(loop.hi, "min")]


def _without_remainders(bound: Poly, var: str, *, least_value: bool) -> Poly:
    """With the number at one end of their range for remainders by numbers that a variable is in."""
    out = Poly(())
    for m, c in bound.terms:
        ends = _remainders(m[0], var) if len(m) == 1 else None
        out += constant(c * ends[(c > 0) != least_value]) if ends else Poly(((m, c),))
    return out


def _remainders(e: Expr, var: str) -> tuple[int, int] | None:
    """The least and the greatest remainder."""
    match e:
        case Bin("%", whole, Const(int(by))) if by > 0 and var in names(whole):
            return 1 - by, by - 1
        case Bin("&", whole, Const(int(most))) if most >= 0 and var in names(whole):
            return 0, most
        case _:
            return None
