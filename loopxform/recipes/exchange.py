"""Exchanges: what neighbours read or write far apart, in place too, passes through local memory.

    forall i: forall j > i: { t = A[i, j]; A[i, j] = A[j, i]; A[j, i] = t; }
 -> forall groups: { in[T][T], out[T][T] in local memory;
      forall j, i of the group: in[i, j] = A[j, i]                  along the rows of A
      forall i, j of the group: { t = A[i, j]; A[i, j] = in[i, j]; out[i, j] = t; }
      forall j, i of the group: A[j, i] = out[i, j] }               along the rows of A

Fits two parallel loops around straight-line code where neither can be the one along which all
accesses are near, and boxes cannot be staged because the nest writes the array (recipe
`transposition` does the rest). A work-item has Ry elements of a column of each tile. (Ruetsch and
Micikevicius, "Optimizing Matrix Transpose in CUDA".)
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import ClassVar

from loopxform.errors import Obstacle, TransformError
from loopxform.ir.affine import value_of
from loopxform.ir.names import fresh
from loopxform.ir.nodes import Decl, For
from loopxform.ir.visit import perfect_nest, resolve, walk
from loopxform.model.choice import Choice
from loopxform.model.reuse import Dim
from loopxform.prepare.parallel_band import Nest
from loopxform.recipes.base import Mapped, Question
from loopxform.recipes.deriving import Work, levels
from loopxform.recipes.transposition import ALONG_ROWS
from loopxform.schedule.params import KINDS, Options, Recipe
from loopxform.targets.target import Limits
from loopxform.transforms import (
    MapTo,
    Normalise,
    PromoteToLocal,
    Sequentialise,
    SkipEmptyTiles,
    Stripmine,
    TurnAccesses,
    Unroll,
)
from loopxform.transforms.edges.bounds import trip_count
from loopxform.transforms.storage.turn_accesses import pays

FEWEST = KINDS["exchange"].tiles.Tx // 2
"""Iterations that a tile is worth."""


class Exchange:
    name: ClassVar[Recipe] = "exchange"

    def match(self, question: Question) -> Choice | str:
        nest = question.facts.nest
        if len(nest.parallel) < 2 or question.limits.vector:
            return "" if not question.asked else ALONG_ROWS
        chain = perfect_nest(nest.outermost)[: len(nest.parallel)]
        trips = [value_of(trip_count(loop)) for loop in chain[-2:]]
        wide = all(n is None or n >= FEWEST for n in trips)
        for y, x in (nest.parallel[-2:], nest.parallel[:-3:-1]):
            if wide and pays(nest.innermost, y, x):
                return Choice(self.name, (Dim(y, "Ty"), Dim(x, "Tx")), x, group=("Ry",))
        return "" if not question.asked else ALONG_ROWS

    def map(self, w: Work, nest: Nest, choice: Choice, options: Options, limits: Limits) -> Mapped:
        del options  # the tiles are what is staged
        *others, _, _ = nest.parallel
        y, x = (d.loop for d in choice.dims)
        w.order(list(nest.parallel), [*others, y, x])
        rows, columns = levels(w.fn, Dim(y, "Ty")).group, levels(w.fn, Dim(x, "Tx")).group
        w.stage("Tiles")
        w.do(Stripmine(y, w.size("Ty", "Ry"), rows), Stripmine(x, w.size("Tx"), columns))
        w.order([rows, y, columns, x], [rows, columns, y, x])
        before = {s.name for _, s in walk(w.fn.body) if isinstance(s, Decl)}
        w.stage("Accesses along the outer loop in the other order")
        w.do(TurnAccesses(y, x))
        phases = list(_phases(w, columns))
        w.stage("Mapping to groups and work-items")
        across = {outer: _items(w, outer, inner) for outer, inner in phases}
        w.do(*(MapTo(v, "group.z") for v in others))
        w.do(MapTo(rows, "group.y"), MapTo(columns, "group.x"))
        for outer, inner in phases:
            w.do(MapTo(across[outer], "thread.y"), MapTo(inner, "thread.x"))
        made = [s for _, s in walk(w.fn.body) if isinstance(s, Decl) and s.name not in before]
        _require_room(made, limits)
        w.do(*(PromoteToLocal(s.name) for s in made))
        w.attempt(SkipEmptyTiles(columns))
        return Mapped(choice, group=[*others, rows][0])


def _require_room(made: list[Decl], limits: Limits) -> None:
    """Raises TransformError where the arrays of a tile do not fit into local memory."""
    needed = sum(s.type.bytes * prod(value_of(d) or 1 for d in s.shape) for s in made)
    if needed > limits.local_bytes:
        text = f"a tile needs {needed} bytes, and there is room for {limits.local_bytes}"
        raise TransformError("turn-accesses", (Obstacle("LX169", text),))


def _phases(w: Work, columns: str) -> Iterator[tuple[str, str]]:
    """The loops over a tile, one in the other."""
    (site,) = resolve(w.fn, columns)
    for s in site.loop.body:
        inner = s.body[0] if isinstance(s, For) else None
        if isinstance(s, For) and isinstance(inner, For):
            yield s.var, inner.var


def _items(w: Work, outer: str, inner: str) -> str:
    """Gives each work-item several elements of a column."""
    item = fresh(w.fn, f"{outer}_t")
    w.do(Stripmine(outer, w.size("Ry"), item))
    w.do(Sequentialise(outer))
    w.order([item, outer, inner], [item, inner, outer])
    w.do(Normalise(outer), Unroll(outer))
    return item
