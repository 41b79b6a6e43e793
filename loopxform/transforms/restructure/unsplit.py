"""Unsplit: for (i = lo; i < p; i++) S(i)  for (i = p; i < hi; i++) S(i)
        -> for (i = lo; i < hi; i++) S(i).

The inverse of `split`, for a loop and the rest of its iterations behind it. Legal where both do the
same, the second one begins where the first one ends, and that is proven not to be behind the end of
the second. The second one may begin at what the first one leaves in its variable.
"""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from loopxform.analysis.context import always
from loopxform.analysis.fusion import next_statement
from loopxform.errors import Obstacle
from loopxform.ir.affine import poly, value_of
from loopxform.ir.nodes import Assign, Bin, Const, Decl, Expr, For, Function, Stmt, Var
from loopxform.ir.renaming import rename
from loopxform.ir.visit import LoopSite, after, map_body, reads, replace_at, walk, writes
from loopxform.records import record
from loopxform.source import Origin
from loopxform.transforms.base import Step
from loopxform.transforms.edges.bounds import conjunction, replace_iterator
from loopxform.transforms.sites import (
    ascending,
    ends_early,
    fixed_header,
    one_loop,
    trusted,
    unmapped,
)


@record
class Unsplit(Step):
    """Makes one loop of `loop` and the loop behind it, which goes on where it ends."""

    loop: str

    verb: ClassVar[str] = "unsplit"
    usage: ClassVar[str] = "unsplit LOOP   (and the loop behind it)"
    keeps_order: ClassVar[bool] = True
    restores: ClassVar[bool] = True

    def check(self, fn: Function) -> tuple[Obstacle, ...]:
        site = one_loop(fn, self.loop)
        if isinstance(site, Obstacle):
            return (site,)
        rest = _rest(fn, site)
        if rest is None:
            return (_no(site, "no loop is directly behind it"),)
        early = ends_early(rest.site)
        if early is not None:
            return (early,)
        structure = tuple(
            o
            for s in (site, rest.site)
            for question in (ascending, fixed_header, _unmapped)
            for o in question(s)
        )
        return structure or _apart(fn, site, rest)

    def rewrite(self, fn: Function) -> Function:
        site = trusted(one_loop(fn, self.loop))
        rest = _rest(fn, site)
        assert rest is not None
        return _joined(fn, site, rest, site.loop.origin.then(str(self)))

    def reason(self, fn: Function) -> str:  # noqa: ARG002
        return "the second loop does the same, and begins where the first one ends"


@record
class _Rest:
    """The loop behind another one; `start` is the variable that keeps where that ended ("": none),
    by an assignment between the two."""

    site: LoopSite
    start: str = ""


def _rest(fn: Function, site: LoopSite) -> _Rest | None:
    place, declared = after(site.path), ""
    found = next_statement(fn, site.path)
    if isinstance(found, Decl) and not found.shape:
        place, declared, found = after(place), found.name, next_statement(fn, place)
    match found:
        case For() if not declared:
            return _Rest(LoopSite(place, found))
        case Assign(Var(name), Var(var), "") if var == site.loop.var and declared in ("", name):
            loop = next_statement(fn, place)
            return _Rest(LoopSite(after(place), loop), name) if isinstance(loop, For) else None
        case _:
            return None


def _unmapped(site: LoopSite) -> tuple[Obstacle, ...]:
    return unmapped(site, "unsplit")


def _apart(fn: Function, site: LoopSite, rest: _Rest) -> tuple[Obstacle, ...]:
    """Why the second loop is not the rest of the first."""
    first, second = site.loop, rest.site.loop
    step, same_name = value_of(first.step), first.var == second.var
    if value_of(second.step) != step or second.type != first.type:
        return (_no(site, "that loop counts in other steps, or in another type"),)
    if first.live_out and not same_name:
        return (_no(site, f"'{first.var}' may be read after that loop"),)
    if _plain(rename(second.body, {second.var: first.var}), first) != _plain(first.body, first):
        return (_no(site, "that loop does something else"),)
    if not (_goes_on(first, second, rest.start) and _on_stride(first)):
        return (_no(site, "that loop is not known to begin where this one ends"),)
    inside = Bin("<=", first.hi, second.hi)
    follows = rest.start or second.lo == Var(first.var)
    begun = Bin("<=", first.lo, first.hi)
    idle, over = Bin("<=", first.hi, first.lo), Bin("<=", second.hi, first.hi)
    runs = (inside,) if follows else (begun, inside)
    nothing: list[Expr] = [idle] if follows else [idle, over] if not second.live_out else [Const(0)]
    proven = all(always(fn, site.path, Bin("||", conjunction(nothing), c)) for c in runs)
    if not proven:
        return (_no(site, "it may run past the end of that loop"),)
    made = _joined(fn, site, rest, first.origin)
    if rest.start and rest.start in reads(made.body):
        return (_no(site, f"'{rest.start}' is read elsewhere"),)
    return ()


def _plain(body: tuple[Stmt, ...], loop: For) -> tuple[Stmt, ...]:
    """With subscripts in a form that compares."""
    return replace_iterator(body, loop.var, Var(loop.var))


def _goes_on(first: For, second: For, start: str) -> bool:
    """Whether the second loop begins at what the first one leaves in its variable, or at its
    bound."""
    if start:
        return second.lo == Var(start) and start != first.var
    own = first.live_out and second.lo == Var(first.var)
    return own or poly(second.lo) == poly(first.hi)


def _on_stride(loop: For) -> bool:
    """Whether the variable takes the value of the bound."""
    gap = poly(loop.hi) - poly(loop.lo)
    return value_of(loop.step) == 1 or gap.divide(poly(loop.step)) is not None


def _joined(fn: Function, site: LoopSite, rest: _Rest, origin: Origin) -> Function:
    second = rest.site.loop
    whole = replace(
        site.loop, hi=second.hi, live_out=second.live_out, parallel=False, origin=origin
    )
    fn = replace_at(fn, rest.site.path, ())
    if rest.start:
        last = rest.site.path[-1]
        fn = replace_at(fn, (*site.path[:-1], last - 1 if last >= 0 else last + 1), ())
    fn = replace_at(fn, site.path, (whole,))
    return _without(_without(fn, rest.start), site.loop.var)


def _without(fn: Function, name: str) -> Function:
    """The declaration of a variable goes where nothing but loops that count with it mention it."""
    kept = map_body(fn.body, lambda s: () if _counts(s, name) else (s,))
    counted = any(isinstance(s, For) and s.var == name for _, s in walk(kept))
    if counted or name in reads(kept) | writes(kept):
        return fn
    return replace(fn, body=map_body(fn.body, lambda s: () if _declares(s, name) else (s,)))


def _counts(s: Stmt, name: str) -> bool:
    return isinstance(s, For) and s.var == name and not s.live_out


def _declares(s: Stmt, name: str) -> bool:
    return isinstance(s, Decl) and s.name == name


def _no(site: LoopSite, why: str) -> Obstacle:
    text = f"the loop over '{site.loop.var}' does not continue in the loop behind it: {why}"
    remedy = "let the second loop begin at the end of the first, with the same statements"
    return Obstacle("LX126", text, site.loop.origin.loc, remedy=remedy)
