"""Skipping empty tiles:
forall jj: { S; for kk < n: T; U } -> forall jj: { S; for kk < (c ? n : 0): T; U }.

    for i: for j <= i: ...     in tiles: groups above the diagonal hold no point of the triangle

A group without any iteration (not c) copies no tile and meets no barrier: its sequential loops are
empty. Legal where c is proven to hold wherever a statement runs that writes what others see: it is
what the guards of these statements say about the iteration of the group in which they come true
first.
"""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar, TypeGuard

from loopxform.analysis.context import always
from loopxform.errors import Obstacle
from loopxform.ir.affine import Poly, constant, poly, to_expr, value_of
from loopxform.ir.nodes import (
    Assign,
    Bin,
    Cast,
    Copy,
    Decl,
    Expr,
    For,
    Function,
    If,
    Select,
    Stmt,
    Var,
)
from loopxform.ir.types import LLONG
from loopxform.ir.visit import (
    LoopSite,
    Path,
    enclosing,
    loads,
    map_expr,
    names,
    replace_at,
    walk,
    writes,
)
from loopxform.records import record
from loopxform.transforms.base import Step
from loopxform.transforms.edges.bounds import conjunction, conjuncts, ends_of, fixed_trips
from loopxform.transforms.sites import one_loop, trusted


@record
class SkipEmptyTiles(Step):
    """Leaves out the groups that hold no iteration; `loop` is the innermost one over groups."""

    loop: str

    verb: ClassVar[str] = "skip-empty-tiles"
    former: ClassVar[tuple[str, ...]] = ("trim",)
    usage: ClassVar[str] = "skip-empty-tiles LOOP"
    keeps_order: ClassVar[bool] = True

    def check(self, fn: Function) -> tuple[Obstacle, ...]:
        site = one_loop(fn, self.loop)
        if isinstance(site, Obstacle):
            return (site,)
        loop = site.loop
        if not _is_grid(loop) or any(_is_grid(s) for _, s in walk(loop.body)):
            text = f"the loop over '{loop.var}' is not the innermost one over groups"
            remedy = "map the loops first, and name the innermost one mapped to groups"
            return (Obstacle("LX172", text, loop.origin.loc, remedy=remedy),)
        if not _conditions(fn, site):
            text = f"every group of the loop over '{loop.var}' may hold iterations"
            remedy = "there is nothing to gain: no guard excludes a whole group"
            return (Obstacle("LX174", text, loop.origin.loc, remedy=remedy),)
        return ()

    def rewrite(self, fn: Function) -> Function:
        site = trusted(one_loop(fn, self.loop))
        cond, origin = conjunction(_conditions(fn, site)), site.loop.origin.then(str(self))
        body = tuple(
            replace(s, hi=Select(cond, s.hi, s.lo), origin=origin) if _is_sequential(s) else s
            for s in site.loop.body
        )
        return replace_at(fn, site.path, (replace(site.loop, body=body, origin=origin),))

    def reason(self, fn: Function) -> str:  # noqa: ARG002
        return "the groups that are left out write nothing"


def _is_sequential(s: Stmt) -> TypeGuard[For]:
    return isinstance(s, For) and s.level is None and not s.parallel


def _is_grid(s: Stmt) -> bool:
    return isinstance(s, For) and s.level is not None and s.level.kind == "grid"


def _conditions(fn: Function, site: LoopSite) -> list[Expr]:
    """What holds of every group that writes something, and not of all groups."""
    effects = _effects(site)
    again = any(isinstance(s, For) and isinstance(s.hi, Select) for s in site.loop.body)
    if not effects or again or not any(map(_is_sequential, site.loop.body)):
        return []
    found = dict.fromkeys(c for g in _guards(fn, site, effects[0]) for c in _of_group(site, g))
    inside = (*site.path, 0)
    return [
        c
        for c in found
        if not always(fn, inside, c) and all(always(fn, path, c) for path in effects)
    ]


def _effects(site: LoopSite) -> list[Path]:
    """The statements that write what is not declared in the loop."""
    own = {s.name for _, s in walk(site.loop.body) if isinstance(s, Decl)}
    return [
        (*site.path, *p)
        for p, s in walk(site.loop.body)
        if (isinstance(s, Assign) or (isinstance(s, Copy) and s.target not in own))
        and writes((s,)) - own
    ]


def _guards(fn: Function, site: LoopSite, path: Path) -> list[Expr]:
    """What is asked around the statement at `path`, inside the group."""
    depth = len(site.path)
    parents = enclosing(fn, path)
    return [
        c
        for n, s in enumerate(parents[:-1])
        if n >= depth and isinstance(s, If) and path[n + 1] >= 0
        for c in conjuncts(s.cond)
    ]


def _of_group(site: LoopSite, cond: Expr) -> list[Expr]:
    """Conditions on the group that `cond` implies; none where they cannot be told."""
    match cond:
        case Bin("<", a, b):
            gaps = [poly(a) - poly(b)]
        case Bin("<=", a, b) | Bin(">=", b, a):
            gaps = [poly(a) - poly(b) - constant(1)]
        case Bin(">", a, b):
            gaps = [poly(b) - poly(a)]
        case _:
            return []
    for loop in reversed([s for _, s in walk(site.loop.body) if isinstance(s, For)]):
        gaps = [p for gap in gaps for p in _least(gap, loop)]
    changed = writes(site.loop.body)
    below = [_negative(p) for p in dict.fromkeys(gaps)]
    return [c for c in below if not names(c) & changed and not any(loads(c))]


def _negative(gap: Poly) -> Expr:
    """gap < 0, without a minus, in a type in which the end of a tile beyond that of its loop is a
    number."""
    low = Poly(tuple((m, c) for m, c in gap.terms if c > 0))
    sides = (map_expr(to_expr(p), _wide) for p in (low, low - gap))
    return Bin("<", *sides)


def _wide(e: Expr) -> Expr:
    return Cast(LLONG, e) if isinstance(e, Var) else e


def _least(gap: Poly, loop: For) -> list[Poly]:
    """The least values of `gap` over the loop, as far as they can be told."""
    if not gap.mentions(loop.var):
        return [gap]
    factor, rest = gap.coefficient(loop.var), gap.without(loop.var)
    c = factor.value
    if c is None or rest + factor * poly(Var(loop.var)) != gap or (value_of(loop.step) or 0) < 1:
        return []
    if c > 0:
        return [rest + factor * poly(loop.lo)]
    fixed = fixed_trips(loop)
    if fixed is not None:
        return [rest + factor * (poly(loop.lo) + poly(loop.step) * (fixed[0] - constant(1)))]
    return [rest + factor * (poly(e) - constant(1)) for e in ends_of(loop)]
