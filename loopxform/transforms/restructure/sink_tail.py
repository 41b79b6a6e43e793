"""Sinking the tail: for k in [lo, hi): A; B  ->  for k in [lo, hi]: if (k < hi) A; else B.

The statements behind a loop become one more iteration of it, so that the nest is perfect and the
loops around it can be interchanged: elimination by rows becomes elimination by columns. Legal where
nothing changes the bounds, and lo <= hi < the end of a loop around it, so that iteration hi exists
and the new end is a number: the same statements in the same order. (Xue, "Unimodular
transformations of non-perfectly nested loops", 1997.)
"""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from loopxform.analysis.context import always
from loopxform.analysis.exchange import operands
from loopxform.errors import Obstacle
from loopxform.ir.affine import simplify, value_of
from loopxform.ir.nodes import Bin, Const, For, Function, If, Opaque, Stmt, Var
from loopxform.ir.types import promote
from loopxform.ir.typing import symbols, type_of
from loopxform.ir.visit import (
    LoopSite,
    after,
    at,
    loops_around,
    names,
    reads,
    replace_at,
    walk,
    writes,
)
from loopxform.records import record
from loopxform.transforms.base import Step
from loopxform.transforms.sites import fixed_header, one_loop, trusted, unmapped, whole_loop


@record
class SinkTail(Step):
    """Makes the statements behind `loop`, up to the end of the loop around it, its last
    iteration."""

    loop: str

    verb: ClassVar[str] = "sink-tail"
    former: ClassVar[tuple[str, ...]] = ("embed",)
    usage: ClassVar[str] = "rematerialise-tail LOOP"
    keeps_order: ClassVar[bool] = True

    def check(self, fn: Function) -> tuple[Obstacle, ...]:
        site = one_loop(fn, self.loop)
        if isinstance(site, Obstacle):
            return (site,)
        shape = (*whole_loop(site), *unmapped(site, "embed"), *fixed_header(site))
        why = "" if shape else _problem(fn, site)
        if not why:
            return shape
        text = f"the statements behind the loop over '{site.loop.var}' cannot be an iteration of it"
        place, remedy = site.loop.origin.loc, "leave the loop as it is"
        return (Obstacle("LX124", f"{text}: {why}", place, remedy=remedy),)

    def rewrite(self, fn: Function) -> Function:
        site = trusted(one_loop(fn, self.loop))
        loop, origin = site.loop, site.loop.origin.then(str(self))
        end = simplify(Bin("+", loop.hi, Const(1)))
        body = (If(Bin("<", Var(loop.var), loop.hi), loop.body, _behind(fn, site), origin=origin),)
        outer = at(fn, site.path[:-1])
        assert isinstance(outer, For)
        before = outer.body[: site.path[-1]]
        made = replace(loop, hi=end, body=body, origin=origin)
        return replace_at(fn, site.path[:-1], (replace(outer, body=(*before, made)),))

    def reason(self, fn: Function) -> str:  # noqa: ARG002
        return "the same statements in the same order, the last ones in an iteration of their own"


def _behind(fn: Function, site: LoopSite) -> tuple[Stmt, ...]:
    """The statements behind the loop, where it stands directly in another."""
    outer = at(fn, site.path[:-1]) if len(site.path) > 1 else None
    return outer.body[after(site.path)[-1] :] if isinstance(outer, For) else ()


def _problem(fn: Function, site: LoopSite) -> str:
    """Why there cannot be such an iteration."""
    loop, behind = site.loop, _behind(fn, site)
    header = names(loop.lo) | names(loop.hi)
    if not behind:
        return "there are none in a loop around it"
    if any(isinstance(s, Opaque) for _, s in walk(behind)):
        return "one of them is not modelled"
    if any(isinstance(s, For) and s.var == loop.var for _, s in walk(behind)):
        return f"one of them counts with '{loop.var}' too"
    if (reads(behind) | writes(behind)) & {loop.var} or writes(behind) & header:
        return "they use its variable, or change its bounds"
    if loop.parallel or value_of(loop.step) != 1:
        return "it is parallel, or its step is not 1"
    types = symbols(fn) | {x.var: x.type for x in loops_around(fn, site.path)}
    kinds = {loop.type, type_of(loop.lo, types), type_of(loop.hi, types)}
    if kinds != {promote(loop.type)} or loop.type.is_unsigned:
        return "it does not count in one signed type"
    if not always(fn, site.path, Bin("<=", loop.lo, loop.hi)):
        return "it may end before it begins"
    ends = [e for x in loops_around(fn, site.path) for e in operands(x.hi, "min")]
    if not any(always(fn, site.path, Bin("<", loop.hi, e)) for e in ends):
        return "its end may be the largest number"
    return ""
