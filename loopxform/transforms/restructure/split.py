"""Index-set splitting: for (i = lo; i < hi; i++) S(i)
        -> for (i = lo; i < min(hi, P); i++) S(i)  for (i = max(lo, P); i < hi; i++) S(i).

Legal where the body changes neither the bounds nor the point P, and P may be computed before the
loop: the same iterations in the same order, whatever P is. Operands of min and max that are proven
not to matter are left out, conditions that hold throughout a part (`if (i < P)`) are dropped, and
so is what never runs in it. With a step other than 1 the second loop starts at the first value of
the loop from P on. `split i lo+1` peels the first iteration; `split kk full-tiles` splits a loop
over tiles behind the last full one (an epilogue; Cholewa-Madsen and Holst, section 4.2.2). (Wolfe,
"High Performance Compilers for Parallel Computing", section 9.6; Allen and Kennedy, section 5.8.)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar

from loopxform.analysis.context import always
from loopxform.errors import Obstacle
from loopxform.ir.affine import poly, simplify, value_of
from loopxform.ir.nodes import Bin, Const, Expr, Function
from loopxform.ir.printer import expr_text
from loopxform.ir.visit import LoopSite, after, replace_at
from loopxform.records import record
from loopxform.transforms.base import Step
from loopxform.transforms.edges import full_tiles
from loopxform.transforms.restructure.guards import drop_impossible, drop_proven
from loopxform.transforms.restructure.points import fits_type, parse_point, safe
from loopxform.transforms.sites import (
    ascending,
    fixed_header,
    one_loop,
    trusted,
    unmapped,
    whole_loop,
)

FULL_TILES = "full-tiles"


@record
class Split(Step):
    """Runs the iterations below a point in one loop and the others in a second one; `full-tiles` is
    the point behind the last full tile of a loop over tiles."""

    loop: str
    point: str

    verb: ClassVar[str] = "split"
    usage: ClassVar[str] = "split LOOP POINT   (n/2, lo+1, hi-1, min(n,4): no blanks; full-tiles)"
    merged: ClassVar[Mapping[str, Mapping[str, str]]] = {"epilogue": {"point": FULL_TILES}}
    keeps_order: ClassVar[bool] = True

    def check(self, fn: Function) -> tuple[Obstacle, ...]:
        site = one_loop(fn, self.loop)
        if isinstance(site, Obstacle):
            return (site,)
        if self.point == FULL_TILES:
            return full_tiles.obstacles(fn, site)
        structure = (
            *whole_loop(site),
            *ascending(site),
            *fixed_header(site),
            *unmapped(site, "split"),
        )
        if structure:
            return structure
        point = parse_point(fn, site, self.point)
        if isinstance(point, Obstacle):
            return (point,)
        start = _start(fn, site, point)
        return (start,) if isinstance(start, Obstacle) else self._one_sided(fn, site, point)

    def rewrite(self, fn: Function) -> Function:
        site = trusted(one_loop(fn, self.loop))
        if self.point == FULL_TILES:
            return full_tiles.at_last_full_tile(fn, site, site.loop.origin.then(str(self)))
        loop, point = site.loop, self._point(fn, site)
        start = _start(fn, site, point)
        assert not isinstance(start, Obstacle)
        parts = replace(loop, unroll=False, origin=loop.origin.then(str(self)))
        before = replace(parts, hi=_end(fn, site, point))
        out = replace_at(fn, site.path, (before, replace(parts, lo=start)))
        for path in (after(site.path), site.path):
            out = drop_impossible(drop_proven(out, path), path)
        return out

    def reason(self, fn: Function) -> str:
        site = trusted(one_loop(fn, self.loop))
        if self.point == FULL_TILES:
            var = site.loop.var
            return f"the same iterations in order: every tile of the first loop over {var} is full"
        text = expr_text(self._point(fn, site))
        return f"the same iterations in the same order: those with {site.loop.var} < {text} first"

    def _point(self, fn: Function, site: LoopSite) -> Expr:
        point = parse_point(fn, site, self.point)
        assert not isinstance(point, Obstacle)
        return point

    def _one_sided(self, fn: Function, site: LoopSite, point: Expr) -> tuple[Obstacle, ...]:
        """Both loops must have something to do."""
        loop = site.loop
        none = Bin(">=", loop.lo, loop.hi)
        for side, out in (("at or above", Bin("<=", point, loop.lo)),
                          ("below", Bin(">=", point, loop.hi))):  # fmt: skip
            if always(fn, site.path, Bin("||", out, none)):
                text = f"every iteration of '{loop.var}' is {side} {expr_text(point)}"
                remedy = "there is nothing to split"
                return (Obstacle("LX139", text, loop.origin.loc, remedy=remedy),)
        return ()


def _end(fn: Function, site: LoopSite, point: Expr) -> Expr:
    """min(hi, P); P where it is not beyond hi, or the loop over the first part is empty anyway."""
    loop = site.loop
    reached = Bin("||", Bin("<=", point, loop.hi), Bin("<=", point, loop.lo))
    return point if always(fn, site.path, reached) else Bin("min", loop.hi, point)


def _start(fn: Function, site: LoopSite, point: Expr) -> Expr | Obstacle:
    """max(lo, P), or the value of the loop that follows it; P where it is not before lo, or the
    loop over the second part is empty anyway. It is a value of the type of the loop variable."""
    loop, step = site.loop, value_of(site.loop.step) or 1
    gap = value_of(Bin("-", point, loop.lo))
    if gap is not None:
        point = simplify(Bin("+", loop.lo, Const(-(-gap // step) * step)))
    reached = Bin("||", Bin(">=", point, loop.lo), Bin(">=", point, loop.hi))
    start = point if always(fn, site.path, reached) else Bin("max", loop.lo, point)
    if (poly(point) - poly(loop.lo)).divide(poly(Const(step))) is None:
        ahead = Bin("-", Bin("+", start, Const(step - 1)), loop.lo)
        tiles = Bin("/", simplify(ahead), Const(step))
        rounded = simplify(Bin("+", loop.lo, Bin("*", tiles, Const(step))))
        found = safe(fn, site, rounded, expr_text(point))
        if isinstance(found, Obstacle):
            return found
        start = found
    within = Bin("||", Bin("<=", start, loop.hi), Bin("<=", start, loop.lo))
    if fits_type(fn, site, start) or always(fn, site.path, within):
        return start
    return Bin("min", loop.hi, start)
