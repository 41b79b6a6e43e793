"""Rows that follow one another in memory, by tiles of rows:

    forall i: { s = 0; for (k = row[i]; k < row[i + 1]; k++) s += e(k); y[i] = s; }
 -> forall ii (a group): s_terms[Tk] in local memory
      for Tk terms at a time of rows ii to ii + Ty:
        forall q: s_terms[q] = e(...)                     neighbours read neighbours
        forall i: s += those terms that belong to row i   in the order of the program

Neighbouring work-items read neighbouring terms, whatever the rows are: short ones, of which many
share the terms in local memory, or one that is longer than all others. Where sums may be in any
order, Tx work-items of a group share those of a row. (Greathouse and Daga, "Efficient sparse
matrix-vector multiplication on GPUs using the CSR storage format", SC 2014.)
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import ClassVar

from loopxform.errors import Obstacle, TransformError
from loopxform.ir.affine import value_of
from loopxform.ir.names import fresh
from loopxform.ir.nodes import Decl, For
from loopxform.ir.visit import reads, resolve, walk, writes
from loopxform.model.choice import Choice
from loopxform.model.reuse import Dim
from loopxform.prepare.parallel_band import Nest, sequential
from loopxform.recipes.base import Mapped, Question
from loopxform.recipes.deriving import Work, levels
from loopxform.schedule.params import Options, Recipe
from loopxform.targets.target import Limits
from loopxform.transforms import MapTo, PromoteToLocal, RoundRobin, StageTerms, Stripmine, Unroll
from loopxform.transforms.storage.rows_of_terms import KEPT, unlike_rows

NO_ROWS = "not one loop over rows that holds one over their terms"


class CsrStream:
    name: ClassVar[Recipe] = "csr-stream"

    def match(self, question: Question) -> Choice | str:
        nest = question.facts.nest
        found = sequential(nest.innermost.body)
        if len(found) != 1 or len(nest.parallel) != 1:
            return NO_ROWS
        rows, k = nest.innermost, found[0].var
        problem = unlike_rows(nest.function, rows, found[0])
        if problem is not None:
            text, remedy = problem
            return text if remedy == KEPT else f"{text}; {remedy}"
        return Choice(self.name, (), k, group=("Ty", "Tx"), shared=((k,),), more=("Tk",))

    def map(self, w: Work, nest: Nest, choice: Choice, options: Options, limits: Limits) -> Mapped:
        (rows,) = nest.parallel
        (terms,) = sequential(nest.innermost.body)
        tile = levels(w.fn, Dim(rows, "Ty")).group
        w.stage("The terms of a tile of rows side by side")
        w.do(Stripmine(rows, w.size("Ty"), tile))
        allowed = "reassociate" if options.reassociate else ""
        in_parts = StageTerms(terms.var, w.size("Tk"), w.size("Tx"), allowed)
        if w.sizes["Tx"] == 1 or not w.attempt(in_parts):
            w.do(StageTerms(terms.var, w.size("Tk")))
        (site,) = resolve(w.fn, tile)
        _, summing, *_ = _spread(site.loop)
        (inner,) = (s.var for _, s in walk(summing.body) if isinstance(s, For))
        w.attempt(Unroll(inner, str(limits.costs.row_unrolled)))
        local = tuple(_shared(site.loop))
        _require_room(local, limits)
        w.stage("Mapping each tile of rows to a group")
        filling, *others = dict.fromkeys(x.var for x in _spread(site.loop))
        w.do(RoundRobin(filling, w.size("Ty", "Tx"), item := fresh(w.fn, f"{filling}_t")))
        w.do(MapTo(tile, "group.x"), MapTo(item, "thread.x"))
        w.do(*(MapTo(f"{v}*", "thread.x") for v in others))
        w.do(*(PromoteToLocal(x.name) for x in local))
        return Mapped(choice)


def _spread(tile: For) -> list[For]:
    """The loops of a tile that its work-items share: first the one that computes terms, and the one
    that sums them up."""
    (chunks,) = (s for s in tile.body if isinstance(s, For) and not s.parallel)
    return [s for s in (*chunks.body, *tile.body) if isinstance(s, For) and s.parallel]


def _shared(tile: For) -> Iterator[Decl]:
    """The arrays that work-items write for others: what loops over different things use."""
    for s in (s for _, s in walk(tile.body) if isinstance(s, Decl) and s.shape):
        users = {x.var for x in _spread(tile) if s.name in reads(x.body) | writes(x.body)}
        if len(users) > 1:
            yield s


def _require_room(local: tuple[Decl, ...], limits: Limits) -> None:
    """Raises TransformError where a group has none for the arrays."""
    used = sum(s.type.bytes * prod(value_of(e) or 1 for e in s.shape) for s in local)
    if used > limits.local_bytes:
        text = f"the terms take {used} bytes, and there is room for {limits.local_bytes}"
        raise TransformError("promote-to-local", (Obstacle("LX169", text),))
