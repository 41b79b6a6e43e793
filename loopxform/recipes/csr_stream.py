"""Rows that follow one another in memory, by tiles of rows:

    forall i: { s = 0; for (k = row[i]; k < row[i + 1]; k++) s += e(k); y[i] = s; }
 -> forall ii (a group): s_terms[Tk] in local memory
      for Tk terms at a time of rows ii to ii + Ty:
        forall q: s_terms[q] = e(...)                     neighbours read neighbours
        forall i: s += those terms that belong to row i   in the order of the program

Neighbouring work-items read neighbouring terms, whatever the rows are: short ones, of which many
share the terms in local memory, or one that is longer than all others. (Greathouse and Daga,
"Efficient sparse matrix-vector multiplication on GPUs using the CSR storage format", SC 2014.)
"""

from __future__ import annotations

from math import prod
from typing import ClassVar

from loopxform.errors import Obstacle, TransformError
from loopxform.ir.affine import value_of
from loopxform.ir.nodes import Decl, For
from loopxform.ir.visit import loops, resolve, walk
from loopxform.model.choice import Choice
from loopxform.model.reuse import Dim
from loopxform.prepare.parallel_band import Nest, sequential
from loopxform.recipes.base import Mapped, Question
from loopxform.recipes.deriving import Work, levels
from loopxform.schedule.params import Options, Recipe
from loopxform.targets.target import Limits
from loopxform.transforms import MapTo, PromoteToLocal, RoundRobin, StageTerms, Stripmine

NO_ROWS = "not one loop over rows that holds one over their terms"


class CsrStream:
    name: ClassVar[Recipe] = "csr-stream"

    def match(self, question: Question) -> Choice | str:
        nest = question.facts.nest
        found = sequential(nest.innermost.body)
        if len(found) != 1 or len(nest.parallel) != 1:
            return NO_ROWS
        k = found[0].var
        return Choice(self.name, (), k, group=("Ty", "Tx"), shared=((k,),), more=("Tk",))

    def map(self, w: Work, nest: Nest, choice: Choice, options: Options, limits: Limits) -> Mapped:
        del options
        (rows,) = nest.parallel
        (terms,) = sequential(nest.innermost.body)
        tiles = levels(w.fn, Dim(rows, "Ty"))
        w.stage("The terms of a tile of rows side by side")
        known = {s.loop.var for s in loops(w.fn)}
        w.do(Stripmine(rows, w.size("Ty"), tiles.group), StageTerms(terms.var, w.size("Tk")))
        made = _local(w, tiles.group, limits)
        new = [s.loop for s in loops(w.fn) if s.loop.var not in {*known, tiles.group}]
        (number,) = (x.var for x in new if x.parallel)
        w.do(RoundRobin(number, w.size("Ty", "Tx"), item := f"{number}_t"))
        w.stage("Mapping each tile of rows to a group")
        w.do(MapTo(tiles.group, "group.x"), MapTo(f"{rows}*", "thread.x"), MapTo(item, "thread.x"))
        w.do(PromoteToLocal(made.name))
        return Mapped(choice)


def _local(w: Work, group: str, limits: Limits) -> Decl:
    """The array of terms. Raises TransformError where a group has no room for it."""
    (site,) = resolve(w.fn, group)
    inside = (s for x in site.loop.body if isinstance(x, For) for _, s in walk(x.body))
    (made,) = (s for s in inside if isinstance(s, Decl) and s.shape)
    used = made.type.bytes * prod(value_of(e) or 1 for e in made.shape)
    if used > limits.local_bytes:
        text = f"the terms take {used} bytes, and there is room for {limits.local_bytes}"
        raise TransformError("promote-to-local", (Obstacle("LX169", text),))
    return made
