"""Running values of many rows, a work-item for each, in tiles that go through local memory:

    forall r: { s = 0; for j < n: { s += a[r, j]; y[r, j] = s; } }
 -> forall rr (a group): { s[Tx]; forall r of rr (a work-item): s[r] = 0;
      for jj (chunks of Tk): { a_loc = a[rr : rr + Tx, jj : jj + Tk]
        forall r of rr: for j of jj: { s[r] += a_loc[r, j]; y_own[r, j] = s[r]; }
        forall t: y[...] = y_own[...] } }                neighbours store neighbours

Each row is computed in order, so that nothing is rounded differently. (Kirk and Hwu, "Programming
Massively Parallel Processors", sections 6.1 and 6.2, on corner turning and coalescing.)
"""

from __future__ import annotations

from typing import ClassVar

from loopxform.analysis.running import Scan, scan_of
from loopxform.errors import Obstacle, TransformError
from loopxform.ir.names import fresh
from loopxform.ir.nodes import Decl, For
from loopxform.ir.visit import loops, loops_around, resolve
from loopxform.model.choice import Choice
from loopxform.model.reuse import Dim
from loopxform.prepare.parallel_band import Nest, sequential
from loopxform.prepare.perfect_nest import told_apart
from loopxform.recipes.base import NO_CHUNKS, Mapped, Question
from loopxform.recipes.deriving import Work, levels
from loopxform.recipes.scan import along, local_bytes
from loopxform.schedule.params import Options, Recipe
from loopxform.targets.target import Limits
from loopxform.transforms import (
    Coalesce,
    CopyToLocal,
    Distribute,
    Expand,
    Interchange,
    MapTo,
    Normalise,
    Parallelise,
    PromoteToLocal,
    RoundRobin,
    Scalarise,
    SeparateFullTiles,
    StageStores,
    Stripmine,
    Unroll,
)


class ScanTiles:
    name: ClassVar[Recipe] = "scan-tiles"

    def match(self, question: Question) -> Choice | str:
        nest = question.facts.nest
        found = sequential(nest.innermost.body)
        if len(found) != 1 or nest.innermost.chained or not question.asked:
            return NO_CHUNKS
        path = next(s.path for s in loops(nest.function) if s.loop is found[0])
        scan = scan_of(nest.function, path)
        if not isinstance(scan, Scan) or scan.only_reduces:
            return NO_CHUNKS
        k = found[0].var
        return Choice(self.name, (), k, group=("Tx",), shared=((k,),), more=("Tk",))

    def map(self, w: Work, nest: Nest, choice: Choice, options: Options, limits: Limits) -> Mapped:
        del options  # nothing is computed in another order
        *others, rows = nest.parallel
        (loop,) = sequential(nest.innermost.body)
        stored, read = (along(loop, stored=x, directions=(1,)) for x in (True, False))
        tile, chunks = levels(w.fn, Dim(rows, "Tx")).group, levels(w.fn, Dim(loop.var, "Tk")).group
        w.stage("Tiles of rows, a chunk of each row at a time")
        w.do(Stripmine(rows, w.size("Tx"), tile), Stripmine(loop.var, w.size("Tk"), chunks))
        made = _staged(w, stored, loop.var)
        kept = _by_phases(w, rows, chunks)
        w.stage("What the tile reads in local memory")
        for array in read:
            w.attempt(CopyToLocal(array, chunks))
        w.stage("Mapping each tile to a group")
        summing, *storing = _phases(w, chunks)
        for name in kept:
            w.attempt(Scalarise(name, summing))
        w.attempt(Unroll(loop.var, str(limits.costs.row_unrolled)))
        for v in storing[: len(made)]:
            _share_out(w, v)
        w.do(*(MapTo(v, "group.x") for v in (*others, tile)))
        w.do(*(MapTo(v, "thread.x") for x in (tile, chunks) for v in _phases(w, x)))
        w.do(*(PromoteToLocal(x) for x in kept))
        used = local_bytes(w, tile)
        if used > limits.local_bytes:
            text = f"a tile needs {used} bytes, and there is room for {limits.local_bytes}"
            raise TransformError("promote-to-local", (Obstacle("LX169", text),))
        w.attempt(SeparateFullTiles(chunks))
        return Mapped(choice)


def _staged(w: Work, stored: tuple[str, ...], loop: str) -> list[str]:
    """Keeps what is stored for loops of its own, which are parallel."""
    before = {s.loop.var for s in loops(w.fn)}
    for array in stored:
        w.do(StageStores(array, loop))
    made = [s.loop.var for s in loops(w.fn) if s.loop.var not in before]
    w.do(*map(Parallelise, made))
    return made


def _by_phases(w: Work, rows: str, chunks: str) -> list[str]:
    """Gives each part of a tile a loop over rows of its own, inside the chunks where it is; what
    passes from one to another has an element for each row."""
    inside = (resolve(w.fn, v)[0].loop.body for v in (rows, chunks))
    kept = [s.name for body in inside for s in body if isinstance(s, Decl)]
    w.do(*(Expand(name, (rows,)) for name in kept))
    w.do(Distribute((rows,), (chunks,)))
    w.derivation = told_apart(w.derivation)
    around = loops_around(w.fn, resolve(w.fn, chunks)[0].path)[-1].var
    w.do(Interchange(around, chunks))
    if len(resolve(w.fn, around)[0].loop.body) > 1:
        w.do(Distribute((around,)))
        w.derivation = told_apart(w.derivation)
    return kept


def _phases(w: Work, loop: str) -> list[str]:
    """The loops that work-items share in the body of another one."""
    return [s.var for s in resolve(w.fn, loop)[0].loop.body if isinstance(s, For) and s.parallel]


def _share_out(w: Work, rows: str) -> None:
    """Has neighbouring work-items store neighbours."""
    (site,) = resolve(w.fn, rows)
    (inner,) = (s for s in site.loop.body if isinstance(s, For))
    element = fresh(w.fn, f"{rows}_e")
    w.do(Normalise(inner.var, "innermost"), Normalise(rows, "innermost"))
    w.do(Coalesce(rows, inner.var, element))
    w.do(RoundRobin(element, w.size("Tx"), fresh(w.fn, f"{element}_t")))
