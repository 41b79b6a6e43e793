"""A histogram for each group, in local memory:

    forall y, x: atomic h[a[y, x]] += e
 -> forall y_g, x_g (a group): { h_own[N] in local memory;
      forall x_t < Tx: for (k = x_t; k < N; k += Tx): h_own[k] = 0
      for y < Ry: for x_c < Rx: forall x < Tx: atomic h_own[a[y, x]] += e
      forall x_t < Tx: for (k = x_t; ...): if (h_own[k] != 0) atomic h[k] += h_own[k] }

Fits where parallel loops update arrays whose extents are numbers atomically, and one of them has
room in local memory: work-items wait for each other in the group alone. (Kirk and Hwu, "Programming
Massively Parallel Processors", chapter 9.)
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import ClassVar

from loopxform.errors import Obstacle, TransformError
from loopxform.ir.affine import value_of
from loopxform.ir.names import fresh
from loopxform.ir.nodes import Assign, Expr, For, Function, Load
from loopxform.ir.visit import resolve, walk
from loopxform.model.choice import Choice
from loopxform.model.reuse import Dim
from loopxform.prepare.parallel_band import Nest
from loopxform.recipes.base import NO_UPDATES, Mapped, Question
from loopxform.recipes.deriving import Work, levels
from loopxform.schedule.params import Options, Recipe, Tiles
from loopxform.targets.target import Limits
from loopxform.transforms import (
    MapTo,
    Parallelise,
    PrivatiseUpdates,
    PromoteToLocal,
    RoundRobin,
    Sequentialise,
    Stripmine,
)

IN_A_ROW = Tiles(Ty=1, Tx=256, Ry=1, Rx=64)
"""Where there is one parallel loop."""


class Histogram:
    name: ClassVar[Recipe] = "histogram"

    def match(self, question: Question) -> Choice | str:
        nest = question.facts.nest
        if not _updated(nest.function, nest.outermost):
            return NO_UPDATES
        *outer, x = nest.parallel[-2:]
        if not outer:
            return Choice(self.name, (Dim(x, "Tx"),), x, group=("Rx",), tiles=IN_A_ROW)
        return Choice(self.name, (Dim(x, "Tx"),), x, group=("Ry", "Rx"))

    def map(self, w: Work, nest: Nest, choice: Choice, options: Options, limits: Limits) -> Mapped:
        del options  # nothing is staged
        *others, x = nest.parallel
        row = others.pop() if others else ""
        w.stage("Tiles of iterations for the groups")
        columns, in_step = levels(w.fn, Dim(x, "Tx")), [fresh(w.fn, f"{x}_c")]
        w.do(Stripmine(x, w.size("Tx", "Rx"), columns.group))
        w.do(Stripmine(x, w.size("Tx"), in_step[0]))
        groups = [columns.group]
        if row:
            rows = levels(w.fn, Dim(row, "Ty"))
            w.do(Stripmine(row, w.size("Ry"), rows.group))
            groups.insert(0, rows.group)
            in_step.insert(0, row)
            w.order([rows.group, row, columns.group, *in_step[1:], x], [*groups, *in_step, x])
        w.do(*(Sequentialise(v) for v in in_step))
        items = [x]
        w.stage("A copy of the result in the local memory of each group")
        copies = list(_copied(w, groups[-1], limits))
        for counter in (v for step in copies for v in step.counters):
            w.do(Parallelise(counter))
            items.append(_along_items(w, counter))
        w.stage("Mapping tiles to groups, and iterations to work-items")
        w.do(*(MapTo(v, "group.z") for v in others))
        w.do(*(MapTo(v, f"group.{axis}") for v, axis in zip(groups, "yx"[-len(groups) :])))
        w.do(*(MapTo(v, "thread.x") for v in items))
        w.do(*(PromoteToLocal(step.copy) for step in copies))
        return Mapped(choice, group=groups[0])


def _updated(fn: Function, nest: For) -> tuple[str, ...]:
    """The arrays of the caller's that a nest updates atomically, and whose extents are numbers."""
    targets = (s.target for _, s in walk(nest.body) if isinstance(s, Assign) and s.atomic)
    arrays = dict.fromkeys(t.array for t in targets if isinstance(t, Load))
    fixed = {p.name for p in fn.objects if p.shape and _size(p.shape) is not None}
    return tuple(a for a in arrays if a in fixed)


def _size(shape: tuple[Expr | None, ...]) -> int | None:
    """The elements of an array, if that is a number."""
    extents = [None if e is None else value_of(e) for e in shape]
    return prod(n for n in extents if n is not None) if None not in extents else None


def _along_items(w: Work, var: str) -> str:
    """Deals the iterations of a parallel loop out to the work-items of a group."""
    item = levels(w.fn, Dim(var, "Tx")).group
    w.do(RoundRobin(var, w.size("Tx"), item))
    return item


def _copied(w: Work, group: str, limits: Limits) -> Iterator[PrivatiseUpdates]:
    """Gives a group copies of the arrays that it updates, as many as there is room for. Raises
    TransformError where there is none for any."""
    room, refused = limits.local_bytes, list[TransformError]()
    sizes = {p.name: (_size(p.shape) or 0) * p.type.bytes for p in w.fn.objects if p.shape}
    (site,) = resolve(w.fn, group)
    for array in sorted(_updated(w.fn, site.loop), key=lambda a: sizes[a]):
        own = fresh(w.fn, f"{array}_own")
        step = PrivatiseUpdates(array, group, own)
        if sizes[array] > room:
            text = f"'{array}' has {sizes[array]} bytes, and there is room for {room}"
            refused.append(TransformError(str(step), (Obstacle("LX204", text),)))
        elif (why := w.refusal(step)) is not None:
            refused.append(why)
        else:
            room -= sizes[array]
            yield step
    if room == limits.local_bytes:
        raise refused[0]
