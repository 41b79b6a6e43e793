"""Decoupled look-back: for kk: { ...; run = s_pass[kk/T];
                                for c: { v = p[c]; p[c] = run; run += v; }
                                ...; s_pass[kk/T + 1] = run; }
  -> for kk: { ...; own = 0; for c: own += p[c]; sum[0] = own;
               once: begin[0] = s_pass[kk/T]; s_pass[kk/T + 1] = begin[0] + sum[0];    ! looks back
               run = begin[0]; for c: { v = p[c]; p[c] = run; run += v; } ... }

The chunks of `chain-chunks` as groups of one launch. `loop` is the one in a chunk that goes on from
the value at its beginning; what it makes of that, whatever it is, is computed before, so that
chunks wait for each other in one place only. As far as the tree says, chunks run in order. On the
device the groups take numbers as they begin, tell what their chunks make of the running values, and
look back at what the `window` chunks before have told, up to the last one that knew the value at
its end. A group waits for groups only that have begun before it: legal to map where these go on,
whatever others do, and so only on devices of which that is known (`forward_progress`).

Legal for a loop over chunks that `chain-chunks` has made, before it is mapped, and for running
values that can be computed in parts (as in `reduce-then-scan`). Sums and products of real numbers
need `reassociate`; they are combined in the order of the chunks, and are the same in each run.
(Merrill and Garland, "Single-pass parallel prefix scan with decoupled look-back", 2016, section
4.)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import ClassVar

from loopxform.analysis.running import NoScan, Scan, scan_of
from loopxform.errors import Obstacle
from loopxform.ir.affine import poly, simplify, value_of
from loopxform.ir.names import fresh
from loopxform.ir.nodes import Assign, Bin, Const, Decl, Expr, For, Function, Load, Stmt, Var
from loopxform.ir.renaming import rename
from loopxform.ir.types import INT, ULONG, Level, Space
from loopxform.ir.typing import symbols
from loopxform.ir.visit import (
    LoopSite,
    enclosing,
    loads,
    reads,
    replace_at,
    stmt_exprs,
    walk,
    writes,
)
from loopxform.records import record
from loopxform.transforms.base import Step
from loopxform.transforms.edges.bounds import iteration_number
from loopxform.transforms.reductions.chain_chunks import words_of
from loopxform.transforms.reductions.chunk_state import ChunkState, chunk_state
from loopxform.transforms.reductions.reduce_then_scan import in_parts_problem, those
from loopxform.transforms.sites import one_loop, parse_size, trusted


@record
class LookBack(Step):
    """Has the chunks of the loop `chunks` find the values that `loop` begins with by looking back
    at those of up to `window` chunks before. `reassociate` (the word) allows floating-point sums
    and products to round differently."""

    chunks: str
    loop: str
    window: str
    reassociate: str = ""

    verb: ClassVar[str] = "look-back"
    usage: ClassVar[str] = "look-back CHUNKS LOOP WINDOW [reassociate]"
    flags: ClassVar[Mapping[str, str]] = {"reassociate": "reassociate"}

    def check(self, fn: Function) -> tuple[Obstacle, ...]:
        chunks, loop = one_loop(fn, self.chunks), one_loop(fn, self.loop)
        for site in (chunks, loop):
            if isinstance(site, Obstacle):
                return (site,)
        assert isinstance(chunks, LoopSite)
        assert isinstance(loop, LoopSite)
        where = chunks.loop.origin.loc
        if self.reassociate not in ("", "reassociate"):
            text = f"'{self.reassociate}' says nothing about the order"
            return (Obstacle("LX025", text, where, remedy=self.usage),)
        size = parse_size(fn, self.window)
        if isinstance(size, Obstacle):
            return (replace(size, loc=where),)
        used = not chunks.loop.chained or chunks.loop.level or looks_back(chunks.loop)
        if used:
            text = f"the loop over '{chunks.loop.var}' is not one over chunks in a chain"
            return (Obstacle("LX213", text, where, remedy="chain-chunks makes one"),)
        around = (x for x in enclosing(fn, chunks.path)[:-1] if isinstance(x, For))
        if outer := next((x for x in around if x.parallel), None):
            text = f"the chunks lie in the parallel loop over '{outer.var}'"
            return (Obstacle("LX213", text, where, remedy=f"sequentialise {outer.var}"),)
        if loop.path[:-1] != chunks.path or loop.loop.parallel:
            text = f"the loop over '{loop.loop.var}' is not one in order in '{chunks.loop.var}'"
            return (Obstacle("LX213", text, where, remedy="name one that stands directly in it"),)
        scan = scan_of(fn, loop.path)
        if isinstance(scan, NoScan):
            return (Obstacle("LX205", scan.message, scan.loc or where, remedy=scan.remedy),)
        reassociate = bool(self.reassociate)
        problems = (in_parts_problem(fn, v, reassociate=reassociate) for v in scan.values)
        return tuple(o for o in problems if o) or self._links(fn, chunks, loop, scan)

    def _links(
        self, fn: Function, chunks: LoopSite, loop: LoopSite, scan: Scan
    ) -> tuple[Obstacle, ...]:
        """That the chunk takes over each value in front of the loop, passes it on behind it, and
        touches what is passed on nowhere else."""
        links = _links(chunks.loop, loop, scan)
        where = chunks.loop.origin.loc
        if links is None:
            text = f"'{loop.loop.var}' does not go on from all that the chunks pass on"
            return (Obstacle("LX213", text, where, remedy="name the loop that does"),)
        states = _states(fn, scan)
        wanted = words_of(states)
        if wanted > _width(fn, chunks.loop):
            text = f"what a chunk makes of the values takes {wanted} words"
            return (Obstacle("LX213", text, where, remedy="split the loop"),)
        return ()

    def rewrite(self, fn: Function) -> Function:
        chunks, site = trusted(one_loop(fn, self.chunks)), trusted(one_loop(fn, self.loop))
        scan = scan_of(fn, site.path)
        assert isinstance(scan, Scan)
        links = _links(chunks.loop, site, scan)
        assert links is not None
        window = parse_size(fn, self.window)
        assert not isinstance(window, Obstacle)
        origin = chunks.loop.origin.then(str(self))
        made = _Parts(fn, chunks.loop, site, scan, links, window)
        body: list[Stmt] = []
        for s in chunks.loop.body:
            if s is site.loop:
                body += (*made.reduced(), replace(made.link(), origin=origin), *made.resumed(), s)
            elif not links.holds(s):
                body.append(s)
        changed = replace(chunks.loop, body=(*made.arrays(), *body), origin=origin)
        return replace_at(fn, chunks.path, (changed,))

    def reason(self, fn: Function) -> str:
        scan = scan_of(fn, trusted(one_loop(fn, self.loop)).path)
        assert isinstance(scan, Scan)
        what = ", ".join(f"{v.var} ({v.op or '='})" for v in scan.values)
        return f"{what} of a chunk is known but for what it begins with, which is all it waits for"


def obstacles(site: LoopSite) -> Iterator[Obstacle]:
    """Why the loop over chunks in a chain at `site`, which is mapped to groups, would not find the
    values that its chunks begin with."""
    link = looks_back(site.loop)
    others = tuple(s for s in site.loop.body if s is not link)
    passed = {x.array for _, s in walk(others) for e in stmt_exprs(s) for x in loads(e)}
    where = site.loop.origin.loc
    if link is None or passed & set(site.loop.chained):
        text = f"chunks of '{site.loop.var}' do not look back for all that they take over"
        yield Obstacle("LX213", text, where, remedy="look-back after chain-chunks")
        return
    if link.level != Level("group", 0):
        text = f"'{link.var}', which looks back, is not for the work-items of a group"
        yield Obstacle("LX213", text, where, remedy=f"map {link.var} thread.x")
    used = {x.array for _, s in walk((link,)) for e in stmt_exprs(s) for x in loads(e)}
    used.update(link.look_back)
    for s in site.loop.body:
        if isinstance(s, Decl) and s.name in used and s.space is not Space.LOCAL:
            text = f"'{s.name}', by which a group looks back, is not in local memory"
            yield Obstacle("LX213", text, where, remedy=f"promote-to-local {s.name}")


def looks_back(chunks: For) -> For | None:
    """The statement of a loop over chunks that looks back."""
    return next((s for s in chunks.body if isinstance(s, For) and s.look_back), None)


# ---------------------------------------------------------------- what the chunk passes on


@record
class _Links:
    """The statements that take a value over and pass it on, and the array that it is in, for each
    running value."""

    first: tuple[Stmt, ...]
    last: tuple[Stmt, ...]
    arrays: tuple[str, ...]

    def holds(self, s: Stmt) -> bool:
        return any(s is x for x in (*self.first, *self.last))


def _links(chunks: For, loop: LoopSite, scan: Scan) -> _Links | None:
    number = poly(iteration_number(chunks))
    place = loop.path[-1]
    first, last, arrays = [], [], []
    for v in scan.values:
        setting = [
            (n, s) for n, s in enumerate(chunks.body) if v.var in writes((s,)) and n != place
        ]
        if len(setting) != 1 or setting[0][0] > place:
            return None
        s = setting[0][1]
        if not (isinstance(s, Assign) and not s.op and isinstance(s.value, Load)):
            return None
        array = s.value.array
        mentions = [
            (n, x, isinstance(x, Assign) and x.target is e)
            for n, x in enumerate(chunks.body)
            for _, y in walk((x,))
            for e in (z for t in stmt_exprs(y) for z in loads(t))
            if e.array == array
        ]
        if array not in chunks.chained[1:] or len(mentions) != 2:
            return None
        (_, begin, written), (end_at, end, stored) = mentions
        if begin is not s or written or not stored or end_at < place:
            return None
        assert isinstance(end, Assign)
        assert isinstance(end.target, Load)
        plain = not end.op and end.value == Var(v.var)
        at = poly(s.value.index[0]), poly(end.target.index[0]) - poly(Const(1))
        between = (*chunks.body[setting[0][0] + 1 : place], *chunks.body[place + 1 : end_at])
        if not plain or at != (number, number) or v.var in reads(between):
            return None
        first.append(s)
        last.append(end)
        arrays.append(array)
    if sorted(arrays) != sorted(chunks.chained[1:]):
        return None
    return _Links(tuple(first), tuple(last), tuple(arrays))


def _states(fn: Function, scan: Scan) -> list[ChunkState]:
    return [chunk_state(fn, v, Const(0)) for v in scan.values]


def _width(fn: Function, chunks: For) -> int:
    """The words that a chunk has."""
    decl = next(s for _, s in walk(fn.body) if isinstance(s, Decl) and s.name == chunks.chained[0])
    return chunk_words(decl)


def chunk_words(decl: Decl) -> int:
    """How many words of an array each chunk has."""
    (extent,) = decl.shape
    factor = extent.right if isinstance(extent, Bin) and extent.op == "*" else Const(1)
    return value_of(factor) or 1


# ---------------------------------------------------------------- what it becomes


class _Parts:
    """The statements that stand in place of the loop that goes on from values."""

    def __init__(
        self,
        fn: Function,
        chunks: For,
        site: LoopSite,
        scan: Scan,
        links: _Links,
        window: Expr,
    ) -> None:
        self.fn = fn
        self.chunks = chunks
        self.site = site
        self.scan = scan
        self.links = links
        self.window = window
        self.states = _states(fn, scan)
        self.types = symbols(fn)
        self.words = chunks.chained[0]
        taken = fn
        names: dict[str, str] = {}
        for x in self.states:
            far = ("far", "other", "seen_far") if x.other else ()
            ends = ("sum", "begin", "end", "made", "seen", *far)
            for end in ends:
                names[f"{x.name} {end}"] = fresh(taken, f"{x.name}_{end}")
        names["turn"] = fresh(taken, f"{chunks.var}_turn")
        names["near"] = fresh(taken, f"{chunks.var}_near")
        self.names = names

    def name(self, x: ChunkState, end: str) -> str:
        return self.names[f"{x.name} {end}"]

    def arrays(self) -> Iterator[Decl]:
        one = (Const(1),)
        yield Decl(self.names["turn"], INT, one)
        yield Decl(self.names["near"], INT, one)
        for x in self.states:
            yield Decl(self.name(x, "sum"), x.type, one)
            yield Decl(self.name(x, "begin"), self.types[x.name], one)
            seen = _at_least_two(self.window) if x.rounds else self.window
            yield Decl(self.name(x, "seen"), x.type, (seen,))
            if x.other:
                yield Decl(self.name(x, "far"), x.other_type, one)
                yield Decl(self.name(x, "seen_far"), x.other_type, (seen,))

    def reduced(self) -> Iterator[Stmt]:
        """What the chunk makes of the values."""
        for x in self.states:
            yield from x.begun()
        following = {u.path: x.tracked(u) for x in self.states for u in x.value.updates}
        loop = self.site.loop
        body = those(loop.body, self.site.path, self.scan.needed.__contains__, following)
        yield replace(loop, body=rename(body, {x.name: x.own for x in self.states}))
        for x in self.states:
            yield Assign(_only(self.name(x, "sum")), Var(x.own), label=f"made_{x.own}")
            if x.other:
                yield Assign(_only(self.name(x, "far")), Var(x.other), label=f"made_{x.other}")

    def link(self) -> For:
        """The one iteration that looks back."""
        number = iteration_number(self.chunks)
        body: list[Stmt] = [Assign(_only(self.words), Const(1, ULONG), "+", label="take_a_number")]
        marks = [self.words, self.names["turn"], self.names["near"]]
        for x, array in zip(self.states, self.links.arrays):
            end = self.name(x, "end")
            body.append(Decl(end, self.types[x.name]))
            body.append(Assign(Var(end), Load(array, (number,)), label=f"look_back_{x.name}"))
            begin = _only(self.name(x, "begin"))
            body.append(Assign(begin, Var(end), label=f"begin_{x.name}"))
            made, other = self.name(x, "made"), self.name(x, "other") if x.other else ""
            body.append(Decl(made, x.type))
            body.append(Assign(Var(made), _only(self.name(x, "sum")), label=f"own_{x.name}"))
            if x.other:
                body.append(Decl(other, x.other_type))
                far = _only(self.name(x, "far"))
                body.append(Assign(Var(other), far, label=f"other_{x.name}"))
            body += rename(tuple(x.onward(Var(made), Var(other))), {x.name: end})
            after = simplify(Bin("+", number, Const(1)))
            body.append(Assign(Load(array, (after,)), Var(end), label=f"pass_{x.name}"))
            seen_far = self.name(x, "seen_far") if x.other else ""
            marks += [
                array,
                self.name(x, "seen"),
                seen_far,
                "by blocks" if x.rounds else "from the nearest",
            ]
        var = fresh(self.fn, f"{self.chunks.var}_link")
        return For(
            var, Const(0), Const(1), Const(1), tuple(body), parallel=True, look_back=tuple(marks)
        )

    def resumed(self) -> Iterator[Stmt]:
        for x in self.states:
            yield Assign(Var(x.name), _only(self.name(x, "begin")), label=f"take_over_{x.name}")


def _at_least_two(size: Expr) -> Expr:
    return size if (value_of(size) or 0) > 1 else Const(2)


def _only(array: str) -> Load:
    return Load(array, (Const(0),))
