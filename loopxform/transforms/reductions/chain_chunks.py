"""Chunks in a chain: for k: { s += e(k); out[k] = s; }
  -> s_pass[C + 1]; s_pass[0] = s;
     for kk: { run = s_pass[kk/T]; for k in chunk kk: { run += e(k); out[k] = run; }
               s_pass[kk/T + 1] = run; }
     s = s_pass[C];

The iterations stay in order: each chunk of T of them takes over the running values that the one
before it has left, and leaves its own. The loop over chunks is then known to pass nothing else on:
the step `look-back` has groups find the values that their chunks begin with. The words by which
they tell each other are zero before. Legal for running values (`analysis.running`) of types that
such words hold, where but for them no dependence leads from chunk to chunk. The value at the end is
left out where nobody reads it; a number at the beginning needs no variable. (Merrill and
Garland, "Single-pass parallel prefix scan with decoupled look-back", 2016, section 4.)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import ClassVar

from loopxform.analysis.compaction import filled
from loopxform.analysis.legality import parallel_obstacles
from loopxform.analysis.running import NoScan, Scan, scan_of
from loopxform.analysis.running_updates import RunningValue
from loopxform.errors import Obstacle
from loopxform.ir.affine import simplify, value_of
from loopxform.ir.names import fresh, outer_name
from loopxform.ir.nodes import Assign, Bin, Const, Decl, Expr, For, Function, If, Load, Stmt, Var
from loopxform.ir.renaming import rename
from loopxform.ir.types import BOOL, HALF, ULONG, Scalar, promote
from loopxform.ir.typing import symbols, type_of
from loopxform.ir.visit import LoopSite, Path, at, declared, enclosing, reads, replace_at, writes
from loopxform.records import record
from loopxform.transforms.base import Step
from loopxform.transforms.edges.bounds import iteration_number
from loopxform.transforms.reductions.chunk_state import ChunkState, chunk_state
from loopxform.transforms.reductions.reduce_then_scan import chunk_count, room, without
from loopxform.transforms.restructure.stripmine import Stripmine
from loopxform.transforms.sites import no_wrap, one_loop, parse_size, trusted

WORD = 4
"""Bytes of a number that a word of 64 bits holds, besides what says that it is there."""


@record
class ChainChunks(Step):
    """Passes the running values of `loop` on from chunk to chunk of `size` iterations."""

    loop: str
    size: str

    verb: ClassVar[str] = "chain-chunks"
    usage: ClassVar[str] = "chain-chunks LOOP SIZE"

    def check(self, fn: Function) -> tuple[Obstacle, ...]:
        site = one_loop(fn, self.loop)
        if isinstance(site, Obstacle):
            return (site,)
        structure = (*Stripmine(self.loop, self.size).check(fn), *no_wrap(fn, site))
        if structure:
            return structure
        where = site.loop.origin.loc
        if site.loop.parallel:
            text = f"the loop over '{site.loop.var}' is parallel"
            return (Obstacle("LX205", text, where, remedy="name a loop that runs in order"),)
        scan = scan_of(fn, site.path)
        if isinstance(scan, NoScan):
            return (Obstacle("LX205", scan.message, scan.loc or where, remedy=scan.remedy),)
        problems = tuple(o for v in scan.values if (o := _problem(fn, v)))
        return problems or tuple(self._dependences(fn, site, scan))

    def _dependences(self, fn: Function, site: LoopSite, scan: Scan) -> Iterator[Obstacle]:
        """What leads from chunk to chunk but for running values. A witness would count chunks,
        which the program that is looked at does not have."""
        alone = without(fn, scan.compacted)
        chain = self._chain(alone, site, scan)
        body = tuple(s for s in chain.chunks.body if not _stores(s, chain.arrays))
        made = replace_at(alone, site.path, (*chain.storage, replace(chain.chunks, body=body)))
        *outer, n = site.path
        place = (*outer, n + len(chain.storage) * (1 if n >= 0 else -1))
        text = "the chunks depend on one another: "
        for o in parallel_obstacles(made, place):
            yield Obstacle("LX205", text + o.message, o.loc, remedy=o.remedy)

    def rewrite(self, fn: Function) -> Function:
        site = trusted(one_loop(fn, self.loop))
        scan = scan_of(fn, site.path)
        assert isinstance(scan, Scan)
        chain = self._chain(fn, site, scan)
        made = replace_at(fn, site.path, (*chain.storage, chain.first, chain.chunks, *chain.last))
        idle = (_first(fn, site, v.var) for v in scan.values)
        for path in sorted((p for p, e in idle if e is not None), reverse=True):
            made = replace_at(made, path, ())
        return made

    def _chain(self, fn: Function, site: LoopSite, scan: Scan) -> _Chain:
        types, origin = symbols(fn), site.loop.origin.then(str(self))
        loop = site.loop
        outer = at(Stripmine(self.loop, self.size, outer_name(fn, loop.var)).rewrite(fn), site.path)
        assert isinstance(outer, For)
        number, count = iteration_number(outer), chunk_count(outer)
        kind = promote(type_of(count, types))
        total = Bin("max", count, Const(0, kind))
        rows = Bin("+", room(fn, site, outer), Const(1))
        words = fresh(fn, f"{loop.var}_words")
        passed = {v.var: fresh(fn, f"{v.var}_pass") for v in scan.values}
        runs = {v.var: fresh(fn, f"{v.var}_run") for v in scan.values}
        width = Const(words_of(chunk_state(fn, v, Const(0)) for v in scan.values))
        storage = [Decl(words, ULONG, (_times(rows, width),), origin=origin)]
        storage += [Decl(a, types[v], (rows,), origin=origin) for v, a in passed.items()]
        (inner,) = outer.body
        assert isinstance(inner, For)
        body: list[Stmt] = []
        for v, array in passed.items():
            body.append(Decl(runs[v], types[v]))
            begin = Load(array, (number,))
            body.append(Assign(Var(runs[v]), begin, label=f"take_over_{v}"))
        body.append(replace(inner, body=rename(inner.body, runs)))
        following = simplify(Bin("+", number, Const(1)))
        for v, array in passed.items():
            body.append(Assign(Load(array, (following,)), Var(runs[v]), label=f"pass_{v}"))
        marks = (words, *passed.values())
        each = parse_size(fn, self.size)
        assert not isinstance(each, Obstacle)
        size = str(value_of(each))
        full = tuple(
            (a, passed[v], size)
            for a, v in filled(fn, site.path, scan.values, scan.compacted).items()
        )
        chunks = replace(outer, body=tuple(body), chained=marks, filled=full, origin=origin)
        step = fresh(fn, f"{words}_q")
        begun = tuple(
            Assign(Load(a, (Const(0),)), _first(fn, site, v)[1] or Var(v), label=f"first_{v}")
            for v, a in passed.items()
        )
        unset = Assign(Load(words, (Var(step),)), Const(0, ULONG), label="no_words")
        first = For(
            step,
            Const(0, kind),
            _times(Bin("+", total, Const(1)), width),
            Const(1),
            (unset, If(Bin("==", Var(step), Const(0)), begun)),
            parallel=True,
            type=kind,
            origin=origin,
        )
        last = tuple(
            Assign(Var(v), Load(a, (total,)), label=f"last_{v}")
            for v, a in passed.items()
            if _lives_on(fn, site, v)
        )
        return _Chain(tuple(storage), first, chunks, last, frozenset(passed.values()))

    def reason(self, fn: Function) -> str:
        scan = scan_of(fn, trusted(one_loop(fn, self.loop)).path)
        assert isinstance(scan, Scan)
        what = ", ".join(f"{v.var} ({v.op or '='})" for v in scan.values)
        return f"the same iterations in order; nothing but {what} leads from chunk to chunk"


@record
class _Chain:
    """What the loop becomes: arrays, the loop that sets them before, the chunks, and what they
    leave. `arrays` hold the values that are passed on."""

    storage: tuple[Stmt, ...]
    first: For
    chunks: For
    last: tuple[Stmt, ...]
    arrays: frozenset[str]


def _first(fn: Function, site: LoopSite, name: str) -> tuple[Path, Const | None]:
    """The number that a running value begins with, and where it is set to that, among the
    statements in front of the loop; None where that is not known."""
    *outer, n = site.path
    for place in range(n - 1, -1, -1) if n >= 0 else ():
        path = (*outer, place)
        s = at(fn, path)
        if isinstance(s, Assign) and s.target == Var(name):
            number = s.value if isinstance(s.value, Const) and not s.op else None
            return path, number
        if not isinstance(s, Decl) and name in reads((s,)) | writes((s,)):
            break
    return (), None


def words_of(states: Iterable[ChunkState]) -> int:
    """How many words a chunk tells others what it makes of the running values by; where that is
    rounded, and of the values at its end."""
    every = (
        (x.type, *((x.other_type,) if x.other else ()), *((x.type,) if x.rounds else ()))
        for x in states
    )
    return sum(pieces(t) for types in every for t in types)


def pieces(kind: Scalar) -> int:
    """The words that hold a number."""
    return -(-kind.bytes // WORD)


def _problem(fn: Function, v: RunningValue) -> Obstacle | None:
    kind = symbols(fn)[v.var]
    if kind not in (BOOL, HALF) and (kind.is_integer or kind.is_float) and kind.bytes <= 2 * WORD:
        return None
    text = f"'{v.var}' is of type {kind}, which is not passed on from chunk to chunk"
    return Obstacle("LX205", text, v.loc, remedy="use int, float or double")


def _times(rows: Expr, width: Const) -> Expr:
    return rows if width.value == 1 else Bin("*", rows, width)


def _stores(s: Stmt, arrays: frozenset[str]) -> bool:
    return isinstance(s, Assign) and isinstance(s.target, Load) and s.target.array in arrays


def _lives_on(fn: Function, site: LoopSite, name: str) -> bool:
    """Whether anything may read a running value after the loop."""
    if name not in declared(fn.body) or any(
        isinstance(s, For) for s in enclosing(fn, site.path)[:-1]
    ):
        return True
    return name in reads(replace_at(fn, site.path, ()).body)
