"""Interleaved reduction: for k: s += e(k)
  -> part[C]; forall k_t < C: { own = 0; for (k = lo + k_t; k < hi; k += C) own += e(k);
                                part[k_t] = own; }
     for c: s += part[c];

Partial result c takes every C-th iteration from iteration c on, so that neighbours among the parts
read neighbouring elements in each of their iterations. Legal where `rfactor` is and the operators
are commutative besides: sums and products of real numbers need `reassociate`, and so does an
extremum of them that is found by comparison (of a zero and its negative, the first one stays). The
loop must not begin beyond its end, and be bounded by parameters. (Seed 000, section 7.3.1; seed 004
on neighbours.)
"""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from loopxform.analysis.context import always
from loopxform.errors import Obstacle
from loopxform.ir.affine import simplify, value_of
from loopxform.ir.names import fresh
from loopxform.ir.nodes import Bin, Const, Expr, For, Function, Var
from loopxform.ir.types import promote
from loopxform.ir.typing import symbols
from loopxform.ir.visit import LoopSite, names, writes
from loopxform.records import record
from loopxform.transforms.edges.bounds import iteration_value, operands
from loopxform.transforms.reductions.factoring import Factoring
from loopxform.transforms.sites import (
    ascending,
    fixed_header,
    no_wrap,
    parse_size,
    unmapped,
    whole_loop,
)


@record
class Interleave(Factoring):
    """Reduces `size` interleaved parts of `loop` at the same time. `reassociate` (the word) allows
    floating-point sums and products to round differently, and zeros to change their signs."""

    verb: ClassVar[str] = "interleave"
    usage: ClassVar[str] = "interleave LOOP PARTS [reassociate]"
    in_order: ClassVar[bool] = False

    def unfit(self, fn: Function, site: LoopSite) -> tuple[Obstacle, ...]:
        count = parse_size(fn, self.size)
        if isinstance(count, Obstacle):
            return (replace(count, loc=site.loop.origin.loc),)
        return (
            *whole_loop(site),
            *ascending(site),
            *fixed_header(site),
            *unmapped(site, "interleave"),
            *no_wrap(fn, site),
            *_in_range(fn, site, count),
        )

    def parts(self, fn: Function, site: LoopSite) -> For:
        loop = site.loop
        count = parse_size(fn, self.size)
        assert not isinstance(count, Obstacle)
        name = fresh(fn, f"{loop.var}_t")
        kind, origin = promote(loop.type), loop.origin.then(str(self))
        first = iteration_value(loop, Var(name), {**symbols(fn), name: kind})
        stride = simplify(Bin("*", count, loop.step))
        inner = replace(loop, lo=first, step=stride, type=kind, origin=origin)
        return For(name, Const(0), count, Const(1), (inner,), type=kind, origin=origin)


def _in_range(fn: Function, site: LoopSite, count: Expr) -> tuple[Obstacle, ...]:
    """Where the parts begin and end must be values of the loop variable's type, which the caller
    can see to where the loop is bounded by parameters."""
    loop, kind = site.loop, promote(site.loop.type)
    stride, first = value_of(Bin("*", count, loop.step)) or 0, value_of(loop.lo)
    most = 1 << (8 * kind.bytes - (0 if kind.is_unsigned else 1))
    if first is None and always(fn, site.path, Bin("<=", loop.lo, loop.hi)):
        first = 0
    sizes = {p.name for p in fn.objects if not p.shape} - writes(fn.body)
    bounded = any(names(e) <= sizes for e in operands(loop.hi))
    if bounded and first is not None and stride < most and first + stride < most:
        return ()
    remedy = "take fewer parts" if value_of(loop.lo) is not None else f"normalise {loop.var} first"
    where, remedy = ("begin", remedy) if bounded else ("end", "bound the loop by a parameter")
    return (
        Obstacle(
            "LX137",
            f"the parts of '{loop.var}' may {where} beyond the largest {kind}",
            loop.origin.loc,
            remedy=remedy,
        ),
    )
