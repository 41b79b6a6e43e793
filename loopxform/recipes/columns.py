"""Neighbouring results in the lanes of vectors, on devices that run the work-items of a group in
turn:

    forall j: { s = 0;  for i: s += e(i, j);  b[j] = f(s) }
 -> forall j_v (a work-item): { for j < Rx: s[j] = 0
      for i: for j < Rx: s[j] += e(i, j_v + j);   for j < Rx: b[j] = f(s[j]) }

Each result is summed up in order, and what follows one another in memory is read together, where a
work-item for each result would walk down a column. So many as Ry rows are read at a time: a core
waits for several of them together, and has sums in registers meanwhile; vectors are `simd_bytes`
long. (Unroll-and-jam: Allen and
Kennedy, "Optimizing compilers for modern architectures", section 8.4.)
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import ClassVar

from loopxform.errors import Obstacle, TransformError
from loopxform.ir.affine import value_of
from loopxform.ir.names import fresh
from loopxform.ir.nodes import Assign, Decl, For
from loopxform.ir.visit import resolve, stmt_exprs, walk
from loopxform.model.choice import Choice
from loopxform.model.reuse import Dim
from loopxform.prepare.parallel_band import Nest, sequential
from loopxform.recipes.base import IN_LOCKSTEP, NO_COLUMNS, Mapped, Question
from loopxform.recipes.deriving import Work
from loopxform.recipes.lane_loops import in_vectors
from loopxform.recipes.naive import one_item_each
from loopxform.recipes.neighbouring_reads import neighbouring_reads
from loopxform.schedule.params import KINDS, Options, Recipe
from loopxform.targets.target import Limits
from loopxform.transforms import Distribute, Expand, Sequentialise, Stripmine, Unroll
from loopxform.transforms.edges.bounds import trip_count

ROWS = 8
"""Work-items of a group along the loops around: devices take longer to begin a group than an
iteration."""


class Columns:
    name: ClassVar[Recipe] = "columns"

    def match(self, question: Question) -> Choice | str:
        """Where loops inside read more along the innermost parallel loop than along any other."""
        nest, limits = question.facts.nest, question.limits
        if limits.warp > 1:
            return IN_LOCKSTEP
        if not _reads_along(nest):
            return NO_COLUMNS
        x = nest.parallel[-1]
        tiles = replace(KINDS[self.name].tiles, Ty=ROWS if len(nest.parallel) > 1 else 1)
        return Choice(self.name, (Dim(x, "Tx"),), x, group=("Rx",), tiles=tiles, more=("Ry",))

    def map(self, w: Work, nest: Nest, choice: Choice, options: Options, limits: Limits) -> Mapped:
        """Raises TransformError where the strips cannot be innermost."""
        del options  # sums stay in order
        *others, x = nest.parallel
        item = fresh(w.fn, f"{x}_v")
        w.stage("Neighbouring results in the lanes of vectors")
        w.do(Stripmine(x, w.size("Rx"), item), Sequentialise(x))
        (site,) = resolve(w.fn, x)
        _several_rows(w, x)
        own = [s.name for s in site.loop.body if isinstance(s, Decl) and not s.shape]
        w.do(*(Expand(name, (x,)) for name in own), Distribute((x,), ()))
        if not inwards(w, x):
            text = f"no loop inside that over '{x}' can run around it"
            raise TransformError(
                "interchange", (Obstacle("LX110", text, nest.innermost.origin.loc),)
            )
        in_vectors(w, x, limits.costs.simd_bytes)
        strips = Nest(w.derivation, (*others, item), ()).of(w.derivation)
        _, remark = one_item_each(w, strips)
        return Mapped(choice, remark=remark)


def _reads_along(nest: Nest) -> bool:
    """Whether most of what loops inside read follows one another along the innermost parallel
    loop."""
    inside = sequential(nest.innermost.body)
    assigned = (s for loop in inside for _, s in walk(loop.body) if isinstance(s, Assign))
    read = (e for s in assigned for e in stmt_exprs(s))
    around = [s.var for loop in inside for _, s in walk((loop,)) if isinstance(s, For)]
    score = neighbouring_reads(read, (*around, *nest.parallel))
    mine = score.pop(nest.parallel[-1])
    return bool(mine) and all(mine > other for other in score.values())


def _several_rows(w: Work, x: str) -> None:
    """Reads so many as Ry rows in an iteration of each loop directly inside that over `x` which has
    no others inside, unless it is known to have fewer."""
    (site,) = resolve(w.fn, x)
    rows = w.sizes["Ry"]
    for n, s in reversed([*enumerate(site.loop.body)]):
        if not isinstance(s, For) or any(isinstance(y, For) for _, y in walk(s.body)):
            continue
        trips = value_of(trip_count(s))
        if rows > 1 and (trips is None or trips >= rows):
            w.attempt(Unroll(w.ref((*site.path, n)), str(rows)))


def inwards(w: Work, x: str, into: Collection[str] | None = None) -> bool:
    """Moves the loops over `x` to the inside of those that they hold alone, or of these that are
    named; whether there is one."""
    moved = False
    for n in range(len(resolve(w.fn, x))):
        path = resolve(w.fn, x)[n].path
        while True:
            site = next(s for s in resolve(w.fn, x) if s.path == path)
            only = site.loop.body[0]
            if len(site.loop.body) != 1 or not isinstance(only, For):
                break
            if into is not None and only.var not in into:
                break
            w.interchange(path)
            path, moved = (*path, 0), True
    return moved
