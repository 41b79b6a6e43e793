"""Shift inwards: for (ii = 0; ii < n; ii += T) for (i = ii; i < min(n, ii + T); i++) S(i)
          -> for (ii = 0; ii < n; ii += T) for (i = b; i < b + T; i++) S'(i),  b = min(ii, n - T)

where S' is S with `if (ii <= i)` around its stores. The last tile begins earlier, so that every
tile is whole: no copy has to be clamped, and no loop is cut short. The iterations that it shares
with the tile before run twice, and the second time store nothing.

    forall i < n by tiles  is legal  iff  n >= T, and for each statement x of S that is not a store:
    x writes what S declares, and reads nothing that S stores

so that an iteration that runs twice computes the same both times, and no tile reads what another
one stores. Stores are whole statements, `C[i] += ...` and what it reads included: each runs once.
(Halide's TailStrategy::ShiftInwards.)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import groupby
from typing import ClassVar

from loopxform.analysis.context import always
from loopxform.errors import Obstacle
from loopxform.ir.affine import poly, simplify, value_of
from loopxform.ir.condition_text import condition_text
from loopxform.ir.nodes import (
    Assign,
    Bin,
    Const,
    Copy,
    Decl,
    Expr,
    For,
    Function,
    If,
    Load,
    Stmt,
    Var,
)
from loopxform.ir.types import Space
from loopxform.ir.visit import (
    LoopSite,
    bodies,
    declared,
    loads,
    names,
    replace_at,
    stmt_exprs,
    walk,
    writes,
)
from loopxform.records import record
from loopxform.transforms.base import Step
from loopxform.transforms.edges.bounds import fixed_trips, guarded, least, operands
from loopxform.transforms.sites import fixed_header, one_loop, trusted, unmapped, whole_loop


@record
class ShiftInwards(Step):
    """Lets the last tile of the loop `loop` over tiles begin earlier, so that it is whole."""

    loop: str

    verb: ClassVar[str] = "shift-inwards"
    usage: ClassVar[str] = "shift-inwards LOOP"

    def open_questions(self, fn: Function) -> tuple[Expr, ...]:
        """What the host would have to ask: that there are as many iterations as a tile has."""
        site = one_loop(fn, self.loop)
        if isinstance(site, Obstacle) or (needed := _whole_tile(site.loop)) is None:
            return ()
        return tuple(e for e in needed if not always(fn, site.path, e))

    def check(self, fn: Function) -> tuple[Obstacle, ...]:
        site = one_loop(fn, self.loop)
        if isinstance(site, Obstacle):
            return (site,)
        inner = _tile(site.loop)
        if inner is None:
            text = f"the loop over '{self.loop}' does not hold just a loop over a tile"
            remedy = "stripmine a loop that counts by 1, and name the loop over its tiles"
            return (Obstacle("LX284", text, site.loop.origin.loc, remedy=remedy),)
        if not _cuts(inner):
            text = f"every tile of the loop over '{self.loop}' is whole"
            remedy = "there is nothing to gain: no tile is cut short"
            return (Obstacle("LX284", text, site.loop.origin.loc, remedy=remedy),)
        headers = (*fixed_header(site), *fixed_header(LoopSite((*site.path, 0), inner)))
        mapped = (*unmapped(site, "shift"), *unmapped(LoopSite((*site.path, 0), inner), "shift"))
        problems = (*whole_loop(LoopSite((*site.path, 0), inner)), *headers, *mapped)
        return (*problems, *self._too_short(fn, site), *_obstacles(site.loop, inner))

    def _too_short(self, fn: Function, site: LoopSite) -> Iterator[Obstacle]:
        needed = _whole_tile(site.loop)
        if needed is None:
            text = f"the loop over '{self.loop}' begins at no number: whether it has a whole tile "
            text += "cannot be asked"
            yield Obstacle("LX284", text, site.loop.origin.loc, remedy="normalise it first")
            return
        for e in (e for e in needed if not always(fn, site.path, e)):
            text = f"the loop over '{self.loop}' may have fewer iterations than a tile"
            remedy = f"assume before that it has as many: assume {condition_text(e)}"
            remedy = remedy if names(e) else "take smaller tiles"
            yield Obstacle("LX284", text, site.loop.origin.loc, remedy=remedy)

    def rewrite(self, fn: Function) -> Function:
        site = trusted(one_loop(fn, self.loop))
        inner = _tile(site.loop)
        assert inner is not None
        size, first = site.loop.step, Var(site.loop.var)
        last = [simplify(Bin("-", e, size)) for e in operands(site.loop.hi)]
        begin = least([first, *last])
        body = _stores_once(inner.body, Bin("<=", first, Var(inner.var)), _own(inner))
        origin = inner.origin.then(str(self))
        whole = replace(inner, lo=begin, hi=Bin("+", begin, size), body=body, origin=origin)
        return replace_at(fn, (*site.path, 0), (whole,))

    def reason(self, fn: Function) -> str:  # noqa: ARG002
        return "what the last tile computes again, it does not store"


def _tile(outer: For) -> For | None:
    """The loop over a tile, where it is all that the loop over tiles does, and counts by 1."""
    inner = outer.body[0] if len(outer.body) == 1 else None
    if not isinstance(inner, For):
        return None
    if value_of(inner.step) != 1 or (value_of(outer.step) or 0) < 1 or inner.lo != Var(outer.var):
        return None
    cuts, known = _cuts(inner), {simplify(e) for e in operands(outer.hi)}
    fixed = fixed_trips(inner)
    whole = fixed is not None and fixed[0] == poly(outer.step)
    return inner if whole and known.issuperset(map(simplify, cuts)) else None


def _cuts(inner: For) -> list[Expr]:
    """What cuts the loop over a tile short."""
    fixed = fixed_trips(inner)
    return [] if fixed is None else fixed[1]


def _whole_tile(outer: For) -> tuple[Expr, ...] | None:
    """That the loop has as many iterations as a tile; None where it begins at no number."""
    begin, size = value_of(outer.lo), value_of(outer.step)
    if begin is None or size is None:
        return None
    return tuple(Bin(">=", e, Const(begin + size)) for e in operands(outer.hi))


def _own(inner: For) -> frozenset[str]:
    """What an iteration has for itself."""
    return frozenset(n for n, d in declared(inner.body).items() if d.space is not Space.GLOBAL)


def _is_store(s: Stmt, own: frozenset[str]) -> bool:
    """Whether a statement, with all it holds, writes nothing but what others see."""
    return bool(writes((s,))) and all(_stores(x, own) for _, x in walk((s,)))


def _stores(s: Stmt, own: frozenset[str]) -> bool:
    if isinstance(s, Assign):
        return isinstance(s.target, Load) and s.target.array not in own
    return isinstance(s, If) or (isinstance(s, For) and not s.live_out)


def _stores_once(body: tuple[Stmt, ...], first: Expr, own: frozenset[str]) -> tuple[Stmt, ...]:
    """The statements, those that store under a condition."""
    out: list[Stmt] = []
    for store, run in groupby(body, lambda s: _is_store(s, own)):
        for s in (*guarded([first], tuple(run)),) if store else run:
            if isinstance(s, For) and not store:
                s = replace(s, body=_stores_once(s.body, first, own))
            elif isinstance(s, If) and not store:
                then, orelse = (_stores_once(x, first, own) for x in (s.then, s.orelse))
                s = replace(s, then=then, orelse=orelse)
            out.append(s)
    return tuple(out)


def _repeated(body: tuple[Stmt, ...], own: frozenset[str]) -> Iterator[Stmt]:
    """The statements that run twice, outermost first."""
    for s in body:
        if not _is_store(s, own):
            yield s
            for inner in bodies(s):
                yield from _repeated(inner, own)


def _written(s: Stmt) -> frozenset[str]:
    """What a statement sets itself, besides what it holds."""
    if isinstance(s, For):
        return frozenset([s.var] if s.live_out else [])
    return writes((s,)) if isinstance(s, Assign | Copy) else frozenset()


def _obstacles(outer: For, inner: For) -> Iterator[Obstacle]:
    own = _own(inner)
    stored = writes(outer.body) - own
    for s in _repeated(inner.body, own):
        read = {x.array for e in stmt_exprs(s) for x in loads(e)}
        read |= {s.source} if isinstance(s, Copy) else set()
        problem = None
        if not isinstance(s, Assign | Copy | Decl | For | If):
            problem = "it is not known what it does"
        elif written := _written(s) - own:
            problem = f"it sets '{min(written)}', which is not its own"
        elif read & stored:
            problem = f"it reads '{min(read & stored)}', which other tiles may have stored by then"
        if problem:
            text = f"a statement of the loop over '{inner.var}' cannot run twice: {problem}"
            remedy = "let the last tile be partial"
            yield Obstacle("LX285", text, s.origin.loc or inner.origin.loc, remedy=remedy)
