"""Strided parts of a reduction: for k: s += e(k)
  -> part[C]; forall k_t < C: { own = 0; for (k = lo + k_t; k < hi; k += C) own += e(k);
                                part[k_t] = own; }
     for c: s += part[c];

What `rfactor LOOP PARTS strided` does: partial result c takes every C-th iteration from iteration c
on, so that neighbours among the parts read neighbouring elements in each of their iterations.
(Cholewa-Madsen and Holst, section 7.3.1; Henriksen on neighbours.)
"""

from __future__ import annotations

from dataclasses import replace

from loopxform.analysis.context import always
from loopxform.errors import Obstacle
from loopxform.ir.affine import simplify, value_of
from loopxform.ir.names import fresh
from loopxform.ir.nodes import Bin, Cast, Const, Expr, For, Function, Var
from loopxform.ir.types import INT, LONG, promote
from loopxform.ir.typing import symbols
from loopxform.ir.visit import LoopSite, names, substitute_body, writes
from loopxform.source import Origin
from loopxform.transforms.edges.bounds import iteration_value, operands
from loopxform.transforms.sites import (
    ascending,
    fixed_header,
    no_wrap,
    parse_size,
    unmapped,
    whole_loop,
)


def obstacles(
    fn: Function, site: LoopSite, parts: str, verb: str = "factor"
) -> tuple[Obstacle, ...]:
    """Why a loop cannot be run in so many strided parts, which a step calls `verb`. It
    must not begin beyond its end, and be bounded by parameters, or count ints: a long counts past
    their end."""
    count = parse_size(fn, parts)
    found = not_dealt_out(fn, site, parts, verb)
    return found if isinstance(count, Obstacle) else (*found, *_in_range(fn, site, count))


def not_dealt_out(fn: Function, site: LoopSite, parts: str, verb: str) -> tuple[Obstacle, ...]:
    """Why the iterations of a loop, whatever the range of its type, cannot be dealt out in turn to
    so many parts, which a step calls `verb`."""
    count = parse_size(fn, parts)
    if isinstance(count, Obstacle):
        return (replace(count, loc=site.loop.origin.loc),)
    return (
        *whole_loop(site),
        *ascending(site),
        *fixed_header(site),
        *unmapped(site, verb),
        *no_wrap(fn, site),
    )


def strided(fn: Function, site: LoopSite, parts: str, origin: Origin, outer: str = "") -> For:
    """The loop over the parts, called `outer` where that is given, which holds the loop over the
    iterations of one."""
    loop = site.loop
    count = parse_size(fn, parts)
    assert not isinstance(count, Obstacle)
    name = outer or fresh(fn, f"{loop.var}_t")
    kind, body = promote(loop.type), loop.body
    if _leaves_range(fn, site, count) == "end" and kind == INT:
        kind = LONG
        body = substitute_body(body, {loop.var: Cast(promote(loop.type), Var(loop.var))})
    counted = replace(loop, type=kind)
    first = iteration_value(counted, Var(name), {**symbols(fn), name: kind})
    stride = simplify(Bin("*", count, loop.step))
    inner = replace(loop, lo=first, step=stride, type=kind, body=body, origin=origin)
    return For(name, Const(0), count, Const(1), (inner,), type=kind, origin=origin)


def _leaves_range(fn: Function, site: LoopSite, count: Expr) -> str:
    """Where the parts may begin or end beyond the largest value of the loop variable's type; the
    caller can see to that where the loop is bounded by parameters."""
    loop, kind = site.loop, promote(site.loop.type)
    stride, first = value_of(Bin("*", count, loop.step)) or 0, value_of(loop.lo)
    most = 1 << (8 * kind.bytes - (0 if kind.is_unsigned else 1))
    if first is None and always(fn, site.path, Bin("<=", loop.lo, loop.hi)):
        first = 0
    sizes = {p.name for p in fn.objects if not p.shape} - writes(fn.body)
    bounded = any(names(e) <= sizes for e in operands(loop.hi))
    if bounded and first is not None and stride < most and first + stride < most:
        return ""
    return "begin" if bounded else "end"


def _in_range(fn: Function, site: LoopSite, count: Expr) -> tuple[Obstacle, ...]:
    """Where the parts begin and end must be values of the type that they are counted in."""
    loop, kind = site.loop, promote(site.loop.type)
    where = _leaves_range(fn, site, count)
    if not where or (where == "end" and kind == INT):
        return ()
    remedy = "take fewer parts" if value_of(loop.lo) is not None else f"normalise {loop.var} first"
    remedy = remedy if where == "begin" else "bound the loop by a parameter"
    return (
        Obstacle(
            "LX137",
            f"the parts of '{loop.var}' may {where} beyond the largest {kind}",
            loop.origin.loc,
            remedy=remedy,
        ),
    )
