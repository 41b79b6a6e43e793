"""Reduce-then-scan: for k: { s += e(k); out[k] = s; }
  -> part[C]; forall kk: { own = 0; for k in chunk kk: own += e(k); part[kk/T] = own; }
     for c: { run = part[c]; part[c] = s; s += run; }
     forall kk: { own = part[kk/T]; for k in chunk kk: { own += e(k); out[k] = own; } }

    prefix sums and products, running extrema     part[c] is reduced with the same operator
    s = m(k)*s + e(k)                             a chunk makes mul*s + own of s: two numbers
    if (f(k)) s = e(k); s += ...                  a chunk may begin anew: what it reduces to then is
                                                  all there is, which a flag says
    if (p(k)) out[s++] = e(k)                     compaction: a chunk begins with what those before
                                                  it count, so that no two store to one element

Every chunk of T iterations is run twice: first for what it makes of the running values, whatever
they are, then with their values at its beginning, which the loop over chunks finds in between. That
loop has running values itself. Legal where nothing decides with a running value about how it goes
on (`analysis.running`), and but for running values no dependence leads from chunk to chunk. Sums
and products of integers wrap around, and are the same; of real numbers they are rounded
differently, and need `reassociate`. Extrema stay in order. (Merrill and Garland, "Single-pass
parallel prefix scan with decoupled look-back", 2016, section 2; Kirk and Hwu, "Programming
Massively Parallel Processors", section 11.7.)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import ClassVar

from loopxform.analysis.legality import parallel_obstacles
from loopxform.analysis.running import NoScan, Scan, scan_of
from loopxform.analysis.running_updates import RunningValue
from loopxform.errors import Obstacle
from loopxform.ir.affine import to_expr
from loopxform.ir.names import fresh, outer_name
from loopxform.ir.nodes import Assign, Bin, Const, Expr, For, Function, If, Load, Stmt, Var
from loopxform.ir.renaming import rename
from loopxform.ir.types import promote
from loopxform.ir.typing import symbols, type_of
from loopxform.ir.visit import LoopSite, Path, at, bodies, declared, enclosing, replace_at, walk
from loopxform.records import record
from loopxform.transforms.base import Step
from loopxform.transforms.edges.bounds import (
    conjunction,
    fixed_trips,
    iteration_number,
    least,
    positive,
    trips_to,
)
from loopxform.transforms.edges.bounds import operands as operands_of
from loopxform.transforms.edges.largest import most_iterations
from loopxform.transforms.reductions.chunk_state import chunk_state, operands
from loopxform.transforms.reductions.factoring import placed
from loopxform.transforms.reductions.partial import inseparable, rounded
from loopxform.transforms.restructure.stripmine import Stripmine
from loopxform.transforms.sites import no_wrap, one_loop, trusted


@record
class ReduceThenScan(Step):
    """Computes the running values of `loop` in chunks of `size` iterations, which then run at the
    same time. `reassociate` (the word) allows floating-point sums and products to round
    differently."""

    loop: str
    size: str
    reassociate: str = ""

    verb: ClassVar[str] = "reduce-then-scan"
    usage: ClassVar[str] = "reduce-then-scan LOOP SIZE [reassociate]"
    flags: ClassVar[Mapping[str, str]] = {"reassociate": "reassociate"}

    def check(self, fn: Function) -> tuple[Obstacle, ...]:
        site = one_loop(fn, self.loop)
        if isinstance(site, Obstacle):
            return (site,)
        where = site.loop.origin.loc
        if self.reassociate not in ("", "reassociate"):
            text = f"'{self.reassociate}' says nothing about the order"
            return (Obstacle("LX025", text, where, remedy=self.usage),)
        structure = (*Stripmine(self.loop, self.size).check(fn), *no_wrap(fn, site))
        if structure:
            return structure
        if site.loop.parallel:
            text = f"the loop over '{site.loop.var}' is parallel"
            return (Obstacle("LX205", text, where, remedy="name a loop that runs in order"),)
        scan = scan_of(fn, site.path)
        if isinstance(scan, NoScan):
            return (Obstacle("LX205", scan.message, scan.loc or where, remedy=scan.remedy),)
        problems = tuple(
            o
            for v in scan.values
            if (o := in_parts_problem(fn, v, reassociate=bool(self.reassociate)))
        )
        if problems:
            return problems
        return tuple(self._dependences(fn, site, scan))

    def _dependences(self, fn: Function, site: LoopSite, scan: Scan) -> Iterator[Obstacle]:
        """What leads from chunk to chunk but for running values. A witness would count chunks,
        which the program that is looked at does not have."""
        alone = without(fn, scan.compacted)
        parts = self._parts(alone, site, scan, parallel=False)
        *outer, n = site.path
        place = (*outer, n + len(parts.arrays) * (1 if n >= 0 else -1))
        text = "the chunks depend on one another: "
        for chunks in (parts.reduced, *parts.scanned):
            made = replace_at(alone, site.path, (*parts.arrays, chunks))
            for o in parallel_obstacles(made, place):
                yield Obstacle("LX205", text + o.message, o.loc, remedy=o.remedy)

    def rewrite(self, fn: Function) -> Function:
        site = trusted(one_loop(fn, self.loop))
        scan = scan_of(fn, site.path)
        assert isinstance(scan, Scan)
        parts = self._parts(fn, site, scan, parallel=True)
        first, last = (*parts.arrays, parts.reduced), (parts.between, *parts.scanned)
        return placed(fn, site.path, first, last)[0]

    def _parts(self, fn: Function, site: LoopSite, scan: Scan, *, parallel: bool) -> _Parts:
        types, origin = symbols(fn), site.loop.origin.then(str(self))
        chunk = outer_name(fn, site.loop.var)
        outer = at(Stripmine(self.loop, self.size, chunk).rewrite(fn), site.path)
        loop = at(fn, site.path)
        assert isinstance(outer, For)
        assert isinstance(loop, For)
        outer = replace(outer, parallel=parallel, origin=origin)
        states = [chunk_state(fn, v, iteration_number(outer)) for v in scan.values]
        used = [x for x in states if x.value.used]
        unused = (u.path for x in states if not x.value.used for u in x.value.updates)
        idle = {q for p in unused for q in (p, (*p, 0))}
        following = {u.path: x.tracked(u) for x in states for u in x.value.updates}
        reducing = those(loop.body, site.path, scan.needed.__contains__, following)
        scanning = those(loop.body, site.path, lambda p: p not in idle, {})
        reduced = _around(
            outer,
            [s for x in states for s in x.begun()],
            rename(reducing, {x.name: x.own for x in states}),
            [s for x in states for s in x.stored()],
        )
        begun = [s for x in used for s in x.resumed(types[x.name])]
        last = _around(outer, begun, rename(scanning, {x.name: x.run for x in used}))
        step, count = fresh(fn, f"{outer.var}_c"), chunk_count(outer)
        passed = tuple(s for x in states for s in x.passed(fn, Var(step)))
        kind = promote(type_of(count, types))
        between = For(step, Const(0), count, Const(1), passed, type=kind, origin=origin)
        arrays = tuple(d for x in states for d in x.arrays(room(fn, site, outer), origin))
        return _Parts(arrays, reduced, between, (last,) if _has_effects(scanning) else ())

    def reason(self, fn: Function) -> str:
        scan = scan_of(fn, trusted(one_loop(fn, self.loop)).path)
        assert isinstance(scan, Scan)
        what = ", ".join(f"{v.var} ({v.op or '='})" for v in scan.values)
        allowed = "; it may be rounded differently" if self.reassociate else ""
        return f"{what} can be computed in parts, and nothing else leads from part to part{allowed}"


def in_parts_problem(fn: Function, v: RunningValue, *, reassociate: bool) -> Obstacle | None:
    """Why a running value cannot be computed in parts; None: it can."""
    types = symbols(fn)
    why = rounded(v.var, "+" if v.op == "linear" else v.op, types)
    if why and not reassociate:
        return Obstacle("LX191", why, v.loc, remedy="allow it: --fp reassociate")
    restarts = (u.value for u in v.updates if u.form == "set" and u.value is not None)
    if v.op and types[v.var].is_integer and any(type_of(e, types).is_float for e in restarts):
        text = f"'{v.var}' is set to a real number, which a part would convert to another type"
        return Obstacle("LX205", text, v.loc, remedy=f"convert it to {types[v.var]} first")
    apart = inseparable(v.var, v.op, operands(fn, v), types) if v.op else None
    if v.op == "linear" and v.restarts and types[v.var].is_float:
        apart = "it begins anew, and infinities times 0 are no numbers", "split the loop"
    if apart is None:
        return None
    text = f"the values of '{v.var}' cannot be computed in parts: {apart[0]}"
    return Obstacle("LX205", text, v.loc, remedy=apart[1])


def room(fn: Function, site: LoopSite, chunks: For) -> Expr:
    """As many chunks as there may be: a number, or what is known before all loops."""
    fixed = fixed_trips(chunks)
    if fixed is not None:
        return positive(to_expr(fixed[0]))
    around = (x for x in enclosing(fn, site.path)[:-1] if isinstance(x, For))
    return positive(most_iterations(chunks, tuple(x for x in around if not x.parallel)))


def chunk_count(chunks: For) -> Expr:
    """How many chunks there are: of ends in a min, the least count."""
    counts = [trips_to(chunks, end) for end in operands_of(chunks.hi)]
    return least([to_expr(n) for n in counts if n is not None])


@record
class _Parts:
    """The arrays of what chunks make of running values, the loop that fills them, the loop over
    chunks in order, and the loop over chunks that run with their values, where these have uses."""

    arrays: tuple[Stmt, ...]
    reduced: For
    between: For
    scanned: tuple[For, ...]


def _around(
    chunks: For, first: Sequence[Stmt], body: tuple[Stmt, ...], last: Sequence[Stmt] = ()
) -> For:
    """A loop over chunks whose iterations have another body, and what stands around them."""
    (inner,) = chunks.body
    assert isinstance(inner, For)
    return replace(chunks, body=(*first, replace(inner, body=body), *last))


def those(
    body: tuple[Stmt, ...],
    path: Path,
    wanted: Callable[[Path], bool],
    following: Mapping[Path, tuple[Stmt, ...]],
    *,
    orelse: bool = False,
) -> tuple[Stmt, ...]:
    """The statements of a body at `path` whose paths are wanted, with what holds them, and what
    follows some of them."""
    made: list[Stmt] = []
    for n, s in enumerate(body):
        place = (*path, -1 - n if orelse else n)
        if place in following or not isinstance(s, For | If):
            if wanted(place):
                made += (s, *following.get(place, ()))
            continue
        inside: Stmt
        if isinstance(s, For):
            inside = replace(s, body=those(s.body, place, wanted, following))
        else:
            then = those(s.then, place, wanted, following)
            other = those(s.orelse, place, wanted, following, orelse=True)
            inside = replace(s, then=then, orelse=other)
        if any(bodies(inside)) or (wanted(place) and not any(bodies(s))):
            made.append(inside)
    return tuple(made)


def _has_effects(body: tuple[Stmt, ...]) -> bool:
    """Whether statements set more than what they declare."""
    own = declared(body).keys()
    targets = (s.target for _, s in walk(body) if isinstance(s, Assign))
    return any(isinstance(t, Load) or t.name not in own for t in targets)


def without(fn: Function, stores: Iterable[Path]) -> Function:
    """A program that reads what stores do, and does not store it."""
    for place in stores:
        s = at(fn, place)
        assert isinstance(s, Assign)
        read = (s.value, *(s.target.index if isinstance(s.target, Load) else ()))
        reads = conjunction([Bin("==", e, e) for e in read])
        fn = replace_at(fn, place, (If(reads, (), origin=s.origin),))
    return fn
