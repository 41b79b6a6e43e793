"""Bounded trips: for (i = lo; i < hi; i += s) S -> for (i = lo; i < min(lo + N*s, hi); i += s) S.

A loop that is known to have at most N iterations says so: normalised, it has N of them, under a
guard, and can be unrolled. Legal where hi <= lo + N*s is proven (`assume` says so of what the host
asks), and lo + N*s is a value of the type that the loop is counted in.
"""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from loopxform.analysis.context import always
from loopxform.errors import Obstacle
from loopxform.ir.affine import simplify
from loopxform.ir.nodes import Bin, Const, Expr, For, Function
from loopxform.ir.printer import expr_text
from loopxform.ir.types import promote
from loopxform.ir.visit import LoopSite, replace_at
from loopxform.records import record
from loopxform.transforms.base import Step
from loopxform.transforms.edges.bounds import ends_of, least
from loopxform.transforms.sites import (
    ascending,
    fixed_header,
    no_wrap,
    one_loop,
    parse_size,
    trusted,
    unmapped,
    whole_loop,
)


@record
class BoundTrips(Step):
    """Ends `loop` after `count` iterations, which it does not exceed."""

    loop: str
    count: str

    verb: ClassVar[str] = "bound-trips"
    usage: ClassVar[str] = "bound-trips LOOP COUNT"
    keeps_order: ClassVar[bool] = True

    def check(self, fn: Function) -> tuple[Obstacle, ...]:
        site = one_loop(fn, self.loop)
        if isinstance(site, Obstacle):
            return (site,)
        count = parse_size(fn, self.count)
        if isinstance(count, Obstacle):
            return (replace(count, loc=site.loop.origin.loc),)
        shape = (*whole_loop(site), *ascending(site), *fixed_header(site))
        unfit = (*shape, *unmapped(site, "bound"), *no_wrap(fn, site))
        return unfit or self._exceeded(fn, site)

    def _exceeded(self, fn: Function, site: LoopSite) -> tuple[Obstacle, ...]:
        end, most = self._end(fn, site.loop), promote(site.loop.type).most
        inside = any(always(fn, site.path, Bin("<=", e, end)) for e in ends_of(site.loop))
        if inside and always(fn, site.path, Bin("<=", site.loop.lo, _less(most, end, site.loop))):
            return ()
        text = f"the loop over '{site.loop.var}' may have more than {self.count} iterations"
        remedy = f"assume {expr_text(site.loop.hi)}<={self.count} before, or give a larger number"
        return (Obstacle("LX225", text, site.loop.origin.loc, remedy=remedy),)

    def _end(self, fn: Function, loop: For) -> Expr:
        count = parse_size(fn, self.count)
        assert not isinstance(count, Obstacle)
        return simplify(Bin("+", loop.lo, Bin("*", count, loop.step)))

    def rewrite(self, fn: Function) -> Function:
        site = trusted(one_loop(fn, self.loop))
        end = least([self._end(fn, site.loop), *ends_of(site.loop)])
        bounded = replace(site.loop, hi=end, origin=site.loop.origin.then(str(self)))
        return replace_at(fn, site.path, (bounded,))

    def reason(self, fn: Function) -> str:
        loop = trusted(one_loop(fn, self.loop)).loop
        return f"{expr_text(loop.hi)} <= {expr_text(self._end(fn, loop))}"


def _less(most: int, end: Expr, loop: For) -> Expr:
    """The largest start from which the end is a value of the type."""
    return simplify(Bin("-", Const(most), Bin("-", end, loop.lo)))
