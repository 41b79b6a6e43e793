"""Speculate: for j: S -> before = sums; for j: quick S; if (a size was unusual) { sums = before;
for j: S }

    for (j) w = m[j] / sqrt(r); s += w*d;  ->  s_before = s;
                                               for (j) w = quick m[j] / sqrt(r); s += w*d;
                                               if (unusual) { s = s_before; for (j) ... }

Quotients and square roots of floats are computed without the branches for rare operands, so that
the arithmetic of neighbouring iterations overlaps; where one came up, the loop runs again with
them. Legal where running it twice is as good as once: it sets private variables alone, its bounds
and subscripts do not depend on what it computes, and it has a quotient or a square root of floats.
The listing keeps the loop, which is marked.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar

from loopxform.errors import Obstacle
from loopxform.ir import whiles
from loopxform.ir.functions import base_name
from loopxform.ir.nodes import (
    Assign,
    Bin,
    Call,
    Const,
    Copy,
    Decl,
    Expr,
    For,
    Function,
    If,
    Load,
    Var,
)
from loopxform.ir.types import FLOAT, Scalar, Space
from loopxform.ir.typing import symbols, type_of
from loopxform.ir.visit import (
    LoopSite,
    declared,
    loads,
    loops_around,
    names,
    reads,
    replace_at,
    stmt_exprs,
    walk,
    walk_expr,
    writes,
)
from loopxform.records import record
from loopxform.transforms.base import Step
from loopxform.transforms.sites import one_loop, trusted


@record
class Speculate(Step):
    """Runs `loop` without the rare cases of quotients and roots, and again where one came up."""

    loop: str

    verb: ClassVar[str] = "speculate"
    usage: ClassVar[str] = "speculate LOOP"
    keeps_order: ClassVar[bool] = True

    def check(self, fn: Function) -> tuple[Obstacle, ...]:
        site = one_loop(fn, self.loop)
        return (site,) if isinstance(site, Obstacle) else obstacles(fn, site)

    def rewrite(self, fn: Function) -> Function:
        site = trusted(one_loop(fn, self.loop))
        origin = site.loop.origin.then(str(self))
        return replace_at(fn, site.path, (replace(site.loop, speculated=True, origin=origin),))

    def reason(self, fn: Function) -> str:
        loop = trusted(one_loop(fn, self.loop)).loop
        return f"{', '.join(sorted(changed(loop)))} can be set back, and nothing else is set"


def changed(loop: For) -> frozenset[str]:
    """What a loop sets that it does not declare."""
    inside = {s.var for _, s in walk((loop,)) if isinstance(s, For)}
    return writes(loop.body) - frozenset(declared(loop.body)) - inside


def set_back(loop: For) -> frozenset[str]:
    """What is to be as it was before the loop runs again: what it sets, but for what each iteration
    sets before anything else is done with it."""
    anew, seen = set[str](), set[str]()
    for s in loop.body:
        used = reads((s,))
        match s:
            case Assign(Var(name), op="") if name not in seen | used:
                anew.add(name)
        seen |= used | writes((s,))
    header = names(loop.lo) | names(loop.hi) | names(loop.step)
    return changed(loop) - (anew - header)


def obstacles(fn: Function, site: LoopSite) -> tuple[Obstacle, ...]:
    """Why a loop cannot run twice in place of once."""
    return tuple(_no(site, why) for why in _problems(fn, site))[:1]


def _problems(fn: Function, site: LoopSite) -> Iterator[str]:
    loop, types = site.loop, symbols(fn)
    inside = [s for _, s in walk((loop,))]
    around = loops_around(fn, site.path)
    if any(x.speculated for x in around if x is not loop):
        yield "it stands in one that may run again"
    if any(isinstance(s, For) and (s.level is not None or whiles.is_while(s)) for s in inside):
        yield "it holds work-items, or a loop that data end"
    private = _own(fn)
    for s in inside:
        if isinstance(s, Copy) and s.collective:
            yield "work-items share what it sets"
        elif isinstance(s, Assign) and s.atomic:
            yield "its updates are atomic"
        elif not isinstance(s, Assign | Copy | Decl | For | If):
            yield "it does more than compute"
    if shared := changed(loop) - private:
        yield f"it sets '{min(shared)}', which is no variable of a work-item's own"
    places = {n for s in inside for e in _places(s) for n in names(e)}
    moving = (places & writes(loop.body)) - {s.var for s in inside if isinstance(s, For)}
    if moving:
        yield f"a bound or a subscript depends on '{min(moving)}', which it computes"
    if not any(_is_slow(e, types) for s in inside for x in stmt_exprs(s) for e in walk_expr(x)):
        yield "it has no quotient or square root of floats"


def _own(fn: Function) -> frozenset[str]:
    """The variables of a work-item, and its arrays of a fixed size: others go to global memory."""
    fixed = {name for name, _ in fn.tiles}
    return frozenset(
        d.name
        for d in declared(fn.body).values()
        if d.space is not Space.LOCAL and all(names(e) <= fixed for e in d.shape if e is not None)
    )


def _places(s: object) -> Iterator[Expr]:
    """What says how often a statement runs, and where it reads and stores."""
    if isinstance(s, For):
        yield from (s.lo, s.hi, s.step)
    if isinstance(s, Copy):
        yield from (e for x in s.slices for e in x.places)
    if isinstance(s, Assign | If | For | Copy | Decl):
        yield from (i for e in stmt_exprs(s) for x in loads(e) for i in x.index)
    if isinstance(s, Assign) and isinstance(s.target, Load):
        yield from s.target.index


def _is_slow(e: Expr, types: dict[str, Scalar]) -> bool:
    match e:
        case Bin("/", _, Const()):
            return False
        case Bin("/"):
            return type_of(e, types) == FLOAT
        case Call(name):
            return base_name(name) == "sqrt" and type_of(e, types) == FLOAT
    return False


def _no(site: LoopSite, why: str) -> Obstacle:
    text = f"the loop over '{site.loop.var}' cannot run again where a rare case came up: {why}"
    return Obstacle("LX267", text, site.loop.origin.loc, remedy="keep the loop as it is")
