"""Expansion of an array that lives longer than the loops: what the last iteration left in it is
copied back."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from loopxform.analysis.context import always
from loopxform.analysis.extent import NoExtent, explain
from loopxform.analysis.last_write import last_writes
from loopxform.analysis.legality import opaque_obstacles
from loopxform.analysis.liveness import array_read_elsewhere
from loopxform.errors import Obstacle
from loopxform.ir.affine import simplify, value_of
from loopxform.ir.names import fresh
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
    Param,
    Stmt,
    Un,
)
from loopxform.ir.renaming import rename
from loopxform.ir.types import Scalar
from loopxform.ir.typing import symbols
from loopxform.ir.visit import (
    LoopSite,
    Path,
    enclosing,
    loops_around,
    map_exprs,
    names,
    reads,
    replace_at,
    walk,
    writes,
)
from loopxform.records import record
from loopxform.transforms.edges.bounds import (
    guarded,
    iteration_number,
    iteration_value,
    positive,
    replace_iterator,
    trip_count,
    trips,
)
from loopxform.transforms.sites import fixed_header, no_wrap, one_loop, unmapped


@record
class Outliving:
    """An array declared outside the loops from `outer` to `inner`, which are perfectly nested but
    for statements that do not use it."""

    fn: Function
    array: Decl | Param
    sites: tuple[LoopSite, ...]

    @property
    def name(self) -> str:
        return self.array.name

    @property
    def outer(self) -> LoopSite:
        return self.sites[0]

    @property
    def inner(self) -> LoopSite:
        return self.sites[-1]

    @property
    def inside(self) -> frozenset[str]:
        """What changes in the loops."""
        counted = (s.var for _, s in walk((self.outer.loop,)) if isinstance(s, For))
        return writes(self.outer.loop.body).union(counted)

    def obstacles(self) -> tuple[Obstacle, ...]:
        """Why the iterations may not have arrays of their own, or what they leave is not known."""
        headers = [
            o
            for s in self.sites
            for o in (*unmapped(s, "expand"), *fixed_header(s), *no_wrap(self.fn, s))
        ]
        odd = (*opaque_obstacles(self.fn, self.outer.path), *headers)
        return odd or tuple(self._used()) or tuple(self._counts()) or self._shape() or self._left()

    def _used(self) -> Iterator[Obstacle]:
        name, outer, inner = self.name, self.outer.loop, self.inner
        if name not in writes((outer,)):
            text = f"'{name}' is not written in the loop over '{outer.var}'"
            remedy = "name an array that the body writes"
            yield Obstacle("LX140", text, outer.origin.loc, remedy=remedy)
            return
        emptied = replace_at(self.fn, inner.path, (replace(inner.loop, body=()),))
        around = enclosing(emptied, self.outer.path)[-1:]
        if name in reads(around) | writes(around):
            text = f"'{name}' is used outside of the loop over '{inner.loop.var}' too"
            remedy = "expand over fewer loops"
            yield Obstacle("LX140", text, inner.loop.origin.loc, remedy=remedy)
        every = [s for _, s in walk((outer,))]
        if any(isinstance(s, Copy) and name in (s.source, s.target) for s in every):
            text = f"'{name}' is staged already"
            yield Obstacle("LX146", text, outer.origin.loc, remedy="expand before staging")
        if isinstance(self.array, Decl):
            after = array_read_elsewhere(self.fn, self.outer.path, name)
            if after is False:
                text = f"nothing reads '{name}' outside of the loop over '{outer.var}'"
                remedy = f"declare it in there: privatise {name} {inner.loop.var}"
                yield Obstacle("LX140", text, outer.origin.loc, remedy=remedy)

    def _counts(self) -> Iterator[Obstacle]:
        for s in self.sites:
            changing = names(s.loop.lo) | names(s.loop.hi) | names(s.loop.step)
            known = not changing & self.inside and value_of(s.loop.step)
            if not known or self._trips(s.loop) is None:
                yield Obstacle(
                    "LX142",
                    f"the trip count of '{s.loop.var}' is not known before the loop over "
                    f"'{self.outer.loop.var}'",
                    s.loop.origin.loc,
                    remedy="stripmine it by a tile size, or expand over fewer loops",
                )

    def _trips(self, loop: For) -> Expr | None:
        return trips(loop, lambda e: not names(e) & self.inside)

    def _shape(self) -> tuple[Obstacle, ...]:
        shape = self._extents()
        if isinstance(shape, Obstacle):
            return (shape,)
        changed = {n for d in shape for n in names(d)} & writes(self.fn.body)
        if not changed:
            return ()
        text = f"the extent of '{self.name}' depends on '{min(changed)}', which changes"
        remedy = f"copy {min(changed)} into a variable of its own first"
        return (Obstacle("LX145", text, self.outer.loop.origin.loc, remedy=remedy),)

    def _extents(self) -> tuple[Expr, ...] | Obstacle:
        """What the function touches of each dimension, or what C states."""
        shape = self.array.shape
        stated = tuple(d for d in shape if d is not None)
        if isinstance(self.array, Decl):
            return stated
        found = explain(self.fn, self.name)
        if isinstance(found, NoExtent):
            return stated if len(stated) == len(shape) else found.obstacle
        return found.upper

    def _left(self) -> tuple[Obstacle, ...]:
        found = last_writes(self.fn, self.outer.path, self.inner.path, self.name)
        if isinstance(found, Obstacle):
            return (found,)
        return tuple(o for p in found if (o := self._changes(p)) is not None)

    def _changes(self, path: Path) -> Obstacle | None:
        """A statement is repeated behind the loops: what its subscripts, and the loops and
        conditions around it mention must be the same there."""
        *around, s = enclosing(self.fn, path)[len(self.inner.path) :]
        assert isinstance(s, Assign)
        used = {n for x in around for e in _header(x) for n in names(e)} | names(s.target)
        held = {x.var for x in around if isinstance(x, For)} | {x.loop.var for x in self.sites}
        changed = (used - held - {self.name}) & self.inside
        if not changed:
            return None
        text = f"the elements of '{self.name}' that are written depend on '{min(changed)}'"
        return Obstacle("LX144", text, s.origin.loc, remedy="subscript with loop variables")

    # ---------------------------------------------------------------- rewriting

    def expanded(self, step: str) -> Function:
        """The array of the iterations in front of the loops, the copy of the last one behind."""
        fn, new, outer = self.fn, fresh(self.fn, self.name), self.outer.loop
        shape = self._extents()
        writers = last_writes(fn, self.outer.path, self.inner.path, self.name)
        assert not isinstance(shape, Obstacle)
        assert not isinstance(writers, Obstacle)
        chosen = [s.loop for s in self.sites]
        sizes = [n for x in chosen if (n := self._trips(x)) is not None]
        origin = outer.origin.then(step)
        wide = tuple(self._positive(n) for n in (*sizes, *shape))
        own = Decl(new, self.array.type, wide, origin=origin)
        number = tuple(iteration_number(x) for x in chosen)
        body = map_exprs(outer.body, lambda e: _moved(e, self.name, new, number))
        copies = tuple(self._copy(p, new, step) for p in writers)
        runs = [_runs(x) for x in chosen]
        asked = [c for c in runs if not always(fn, self.outer.path, c)]
        last = guarded(asked, copies)
        return replace_at(fn, self.outer.path, (own, replace(outer, body=body), *last))

    def _positive(self, extent: Expr) -> Expr:
        known = always(self.fn, self.outer.path, Bin(">=", extent, Const(1)))
        return extent if known else positive(extent)

    def _copy(self, path: Path, new: str, step: str) -> Stmt:
        """What the statement at `path` wrote in the last iteration, with the loops and conditions
        around it."""
        way = enclosing(self.fn, path)
        depth, s = len(self.inner.path), way[-1]
        assert isinstance(s, Assign)
        assert isinstance(s.target, Load)
        last = tuple(_last_number(x.loop) for x in self.sites)
        kept = Load(new, (*last, *s.target.index))
        out: Stmt = Assign(s.target, kept, label=f"last_{self.name}", origin=s.origin.then(step))
        for n in range(len(way) - 2, depth - 1, -1):
            x, origin = way[n], way[n].origin.then(step)
            if isinstance(x, If):
                cond = x.cond if path[n + 1] >= 0 else Un("!", x.cond)
                out = If(cond, (out,), origin=origin)
            elif isinstance(x, For) and x.var in reads((out,)):
                out = replace(x, body=(out,), parallel=False, live_out=False, origin=origin)
            elif isinstance(x, For) and not always(self.fn, path[: n + 1], _runs(x)):
                out = If(_runs(x), (out,), origin=origin)
        return self._after(out)

    def _after(self, s: Stmt) -> Stmt:
        """A statement of the last iteration, behind the loops: with their last values, and loops
        of its own."""
        types = symbols(self.fn)
        own = {x.var: fresh(self.fn, x.var) for _, x in walk((s,)) if isinstance(x, For)}
        body = rename((s,), own)
        for x in self.sites:
            body = replace_iterator(body, x.loop.var, _last_value(x.loop, types))
        (out,) = body
        return out


def outliving(
    fn: Function, array: Decl | Param, refs: tuple[str, ...]
) -> Outliving | tuple[Obstacle, ...]:
    """The array and the loops it is to be expanded over, or why these are no nest."""
    sites = [one_loop(fn, ref) for ref in refs]
    missing = tuple(s for s in sites if isinstance(s, Obstacle))
    if missing:
        return missing
    found = tuple(s for s in sites if isinstance(s, LoopSite))
    first, last = found[0], found[-1]
    if enclosing(fn, last.path)[len(first.path) - 1 :] == tuple(s.loop for s in found):
        return Outliving(fn, array, found)
    text = f"the loops over {', '.join(refs)} are not nested directly in one another"
    remedy = "name each loop from the outermost to the innermost"
    return (Obstacle("LX140", text, first.loop.origin.loc, remedy=remedy),)


def array_outside(fn: Function, name: str, refs: tuple[str, ...]) -> Decl | Param | None:
    """The array `name`, where it is declared outside of the loops; None where nothing is."""
    places = [(p, s) for p, s in walk(fn.body) if isinstance(s, Decl) and s.name == name]
    if not places:
        return next((p for p in fn.objects if p.name == name and p.shape), None)
    path, found = places[0]
    held = any(loop.var in refs for loop in loops_around(fn, path))
    return found if found.shape and not held and len(places) == 1 else None


def _header(s: Stmt) -> tuple[Expr, ...]:
    """What decides how often a statement runs what is in it."""
    return (s.lo, s.hi, s.step) if isinstance(s, For) else (s.cond,) if isinstance(s, If) else ()


def _runs(loop: For) -> Expr:
    """A condition for the loop to have an iteration."""
    return Bin("<" if (value_of(loop.step) or 0) > 0 else ">", loop.lo, loop.hi)


def _moved(e: Expr, name: str, new: str, number: tuple[Expr, ...]) -> Expr:
    if isinstance(e, Load) and e.array == name:
        return replace(e, array=new, index=(*number, *e.index))
    return e


def _last_number(loop: For) -> Expr:
    return simplify(Bin("-", trip_count(loop), Const(1)))


def _last_value(loop: For, types: dict[str, Scalar]) -> Expr:
    return iteration_value(loop, _last_number(loop), types)
