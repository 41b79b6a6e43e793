"""Unstripmine: for (ii = lo; ii < hi; ii += T) for (i = ii; i < min(hi, ii + T); i++) S(i)
            -> for (i = lo; i < hi; i++) S(i).

The inverse of `stripmine`, for loops that were blocked by hand. Legal where each tile begins where
the one before ends, nothing but the bounds mentions the loop over tiles, and the body does not
change the bounds: the iterations and their order stay the same. Tiles may be numbered
(for i = T*b to T*b + T), and the last one may end earlier than the others. The loop is parallel
where both were.
"""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from loopxform.analysis.context import always
from loopxform.errors import Obstacle
from loopxform.ir.affine import Poly, constant, poly, to_expr, value_of
from loopxform.ir.nodes import Bin, Expr, For, Function, Var
from loopxform.ir.visit import LoopSite, names, reads, replace_at, writes
from loopxform.records import record
from loopxform.transforms.base import Step
from loopxform.transforms.edges.bounds import counted_without_overflow, least, operands, trips_to
from loopxform.transforms.sites import (
    ascending,
    fixed_header,
    nested_pair,
    no_wrap,
    unmapped,
    whole_loop,
)


@record
class Unstripmine(Step):
    """Makes one loop of a loop over tiles and the loop over one tile, perfectly nested in it."""

    outer: str
    inner: str

    verb: ClassVar[str] = "unstripmine"
    usage: ClassVar[str] = "unstripmine OUTER INNER"
    keeps_order: ClassVar[bool] = True
    restores: ClassVar[bool] = True

    def check(self, fn: Function) -> tuple[Obstacle, ...]:
        found = nested_pair(fn, self.outer, self.inner)
        if isinstance(found, Obstacle):
            return (found,)
        structure = tuple(
            o
            for s in found
            for question in (whole_loop, fixed_header, ascending, _unmapped)
            for o in question(s)
        )
        if structure:
            return structure
        outer, inner = found
        whole = whole_range(fn, outer, inner.loop)
        return (whole,) if isinstance(whole, Obstacle) else no_wrap(fn, outer)

    def rewrite(self, fn: Function) -> Function:
        found = nested_pair(fn, self.outer, self.inner)
        assert not isinstance(found, Obstacle)
        outer, inner = found
        bounds = whole_range(fn, outer, inner.loop)
        assert not isinstance(bounds, Obstacle)
        lo, hi = bounds
        parallel = outer.loop.parallel and inner.loop.parallel
        origin = outer.loop.origin.then(str(self))
        loop = replace(inner.loop, lo=lo, hi=hi, parallel=parallel, origin=origin)
        return replace_at(fn, outer.path, (loop,))

    def reason(self, fn: Function) -> str:  # noqa: ARG002
        return "the same iterations in the same order: each tile begins where the one before ends"


def _unmapped(site: LoopSite) -> tuple[Obstacle, ...]:
    return unmapped(site, "unstripmine")


def whole_range(fn: Function, outer: LoopSite, inner: For) -> tuple[Expr, Expr] | Obstacle:
    """The bounds that `inner` has over all iterations of the loop `outer`, which is around it, or
    why these are not tiles of one loop. Both loops count upwards."""
    tiles, var = outer.loop, outer.loop.var
    start, stride = poly(inner.lo), value_of(tiles.step) or 0
    factor, rest = start.coefficient(var).value, start.without(var)
    if factor is None or rest + constant(factor) * poly(Var(var)) != start:
        return _no(outer, inner, f"does not begin at a multiple of '{var}'")
    size = factor * stride
    ends = operands(inner.hi)
    own = [e for e in ends if poly(e) - start == constant(size)]
    others = [e for e in ends if e not in own]
    if size <= 0 or not own or any(var in names(e) for e in others):
        return _no(outer, inner, f"does not end where the next iteration of '{var}' begins")
    if size % (value_of(inner.step) or size + 1):
        return _no(outer, inner, f"has a step that does not divide the {size} of a tile")
    if var in reads(inner.body) | writes(inner.body):
        return _no(outer, inner, f"holds statements that read '{var}'")
    if tiles.type != inner.type:
        return _no(outer, inner, f"counts in {inner.type}, that over '{var}' in {tiles.type}")
    first = rest + constant(factor) * poly(tiles.lo)
    last: list[Expr] = []
    for end in operands(tiles.hi):
        full = first + constant(size) * _count(tiles, end)
        exact = first == poly(tiles.lo) and any(poly(x) == poly(end) for x in others)
        if exact or _ends_before(fn, outer, others, to_expr(full)):
            continue
        if not counted_without_overflow(tiles, end):
            return _no(outer, inner, f"may end beyond the last number that '{var}' can have")
        last.append(to_expr(full))
    return to_expr(first), least([*others, *last])


def _count(tiles: For, end: Expr) -> Poly:
    """How many tiles begin before `end`."""
    count = trips_to(tiles, end)
    assert count is not None  # the step is a number
    return count


def _ends_before(fn: Function, site: LoopSite, ends: list[Expr], full: Expr) -> bool:
    return any(always(fn, site.path, Bin("<=", x, full)) for x in ends)


def _no(site: LoopSite, inner: For, what: str) -> Obstacle:
    tiles = site.loop.var
    return Obstacle(
        "LX135",
        f"the loop over '{inner.var}' runs over no tile of '{tiles}': it {what}",
        inner.origin.loc,
        remedy=f"write it from '{tiles}' to the next value of '{tiles}'",
    )
