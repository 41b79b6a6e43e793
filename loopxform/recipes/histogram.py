"""A histogram for each group, in local memory:

    forall y, x: atomic h[a[y, x]] += e
 -> forall y_g, x_g (a group): { h_own[N] in local memory;
      forall x_t < Tx: for (k = x_t; k < N; k += Tx): h_own[k] = 0
      for y < Ry: for x_c < Rx: forall x < Tx: atomic h_own[a[y, x]] += e
      forall x_t < Tx: for (k = x_t; ...): if (h_own[k] != 0) atomic h[k] += h_own[k] }

Fits where parallel loops update arrays atomically, numbers say how much of them, and one has room
in local memory: work-items wait for each other in the group alone. Where rows that they read along
are vectors in memory, each has a vector at a time, but for those that are cut short. (Kirk and Hwu,
"Programming Massively Parallel Processors", chapter 9.)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from math import prod
from typing import ClassVar

from loopxform.errors import Obstacle, TransformError
from loopxform.ir.affine import poly
from loopxform.ir.names import fresh
from loopxform.ir.nodes import Assign, For, Function, Load
from loopxform.ir.typing import symbols
from loopxform.ir.visit import resolve, walk
from loopxform.model.choice import Choice
from loopxform.model.cost import WORD
from loopxform.model.footprint import linear
from loopxform.model.reuse import Dim, Facts
from loopxform.prepare.parallel_band import Nest
from loopxform.recipes.base import NO_UPDATES, Mapped, Question
from loopxform.recipes.deriving import Work, levels
from loopxform.records import record
from loopxform.schedule.params import Options, Recipe, Tiles
from loopxform.targets.target import Limits
from loopxform.transforms import (
    CopyToPrivate,
    MapTo,
    Normalise,
    Parallelise,
    PrivatiseUpdates,
    PromoteToLocal,
    RoundRobin,
    SeparateFullTiles,
    Sequentialise,
    Stripmine,
    Unroll,
    Vectorise,
    possible,
)
from loopxform.transforms.reductions.privatise_updates import in_memory, updated_extents

IN_A_ROW = Tiles(Ty=1, Tx=256, Ry=1, Rx=64)
"""Where there is one parallel loop."""
ALONE = Tiles(Ty=1, Tx=1, Ry=1, Rx=65536)
ROWS_ALONE = Tiles(Ty=1, Tx=1, Ry=64, Rx=1024)
"""Where a device runs the work-items of a group in turn: one of them needs nothing atomic in local
memory (2^22 bytes on PoCL: 20 ms of two cores with 256 work-items, 1.0 with one)."""


class Histogram:
    name: ClassVar[Recipe] = "histogram"

    def match(self, question: Question) -> Choice | str:
        nest = question.facts.nest
        if not _updated(nest.function, nest.outermost):
            return NO_UPDATES
        *outer, x = nest.parallel[-2:]
        alone = question.limits.warp == 1
        if not outer:
            tiles = ALONE if alone else IN_A_ROW
            return Choice(self.name, (Dim(x, "Tx"),), x, group=("Rx",), tiles=tiles)
        rows = ROWS_ALONE if alone else None
        return Choice(self.name, (Dim(x, "Tx"),), x, group=("Ry", "Rx"), tiles=rows)

    def map(self, w: Work, nest: Nest, choice: Choice, options: Options, limits: Limits) -> Mapped:
        widest = limits.vector_width if options.vector is None else options.vector
        arrays = () if limits.vector else _contiguous(nest)
        width = _width(w, arrays, widest)
        if width > 1 and w.sizes["Rx"] % width == 0:
            vectors = Work(w.derivation, w.sizes)
            refused = possible(partial(_mapped, vectors, nest, limits, width), TransformError)
            if not isinstance(refused, TransformError) and _in_vectors(vectors, refused, arrays):
                w.derivation = vectors.derivation
                return Mapped(choice, group=refused.groups[0])
        return Mapped(choice, group=_mapped(w, nest, limits, 1).groups[0])


@record
class _Loops:
    """The loops over groups, outermost first, and over the steps and the elements of a work-item
    (of several)."""

    groups: tuple[str, ...]
    step: str
    item: str
    element: str
    width: int


def _mapped(w: Work, nest: Nest, limits: Limits, width: int) -> _Loops:
    """Every step; work-items have `width` neighbours at a time. Raises TransformError."""
    *others, x = nest.parallel
    row = others.pop() if others else ""
    w.stage("Tiles of iterations for the groups")
    columns, in_step, item = levels(w.fn, Dim(x, "Tx")), [fresh(w.fn, f"{x}_c")], x
    w.do(Stripmine(x, w.size("Tx", "Rx"), columns.group))
    w.do(Stripmine(x, f"{w.size('Tx')}*{width}" if width > 1 else w.size("Tx"), in_step[0]))
    if width > 1:
        item = fresh(w.fn, f"{x}_t")
        w.do(Stripmine(x, str(width), item))
    groups = [columns.group]
    if row:
        rows = levels(w.fn, Dim(row, "Ty"))
        w.do(Stripmine(row, w.size("Ry"), rows.group))
        groups.insert(0, rows.group)
        in_step.insert(0, row)
        w.order([rows.group, row, columns.group, *in_step[1:], item], [*groups, *in_step, item])
    w.do(*(Sequentialise(v) for v in in_step), *([Sequentialise(x)] if width > 1 else []))
    w.stage("A copy of the result in the local memory of each group")
    copies, items = list(_copied(w, groups[-1], item, limits)), list[str]()
    for counter in (v for step in copies for v in step.counters):
        w.do(Parallelise(counter))
        items.append(_along_items(w, counter))
    if width > 1:
        w.stage("Whole vectors")
        w.do(SeparateFullTiles(in_step[-1]), Normalise(f"{x}*"))
    w.stage("Mapping tiles to groups, and iterations to work-items")
    w.do(*(MapTo(v, "group.z") for v in others))
    w.do(*(MapTo(v, f"group.{axis}") for v, axis in zip(groups, "yx"[-len(groups) :])))
    w.do(*(MapTo(v, "thread.x") for v in (f"{item}*", *items)))
    w.do(*(PromoteToLocal(step.copy) for step in copies))
    return _Loops(tuple(groups), in_step[-1], item, x, width)


def _in_vectors(w: Work, found: _Loops, arrays: tuple[str, ...]) -> bool:
    """Reads what the work-items walk along in vectors, wherever these are whole; whether that
    could be."""
    w.stage("Vectors")
    for array in arrays:
        name = fresh(w.fn, f"{array}_reg")
        copy = CopyToPrivate(array, f"{found.item}#1", name)
        if not w.attempt(copy, Vectorise(name, str(found.width))):
            return False
    w.do(Unroll(f"{found.element}#1"))
    return True


def _contiguous(nest: Nest) -> tuple[str, ...]:
    """The arrays that neighbouring iterations read neighbours of, and nothing else."""
    x, reads = nest.parallel[-1], Facts(nest).reads
    near = {r.array for r in reads if not r.loops and linear(poly(r.index[-1]), x) == 1}
    return tuple(sorted(near - {r.array for r in reads if r.loops}))


def _width(w: Work, arrays: tuple[str, ...], widest: int) -> int:
    """As many elements as `widest` words of 32 bits have; 1 where those of arrays differ."""
    sizes = {symbols(w.fn)[a].bytes for a in arrays}
    return max(1, widest * WORD // sizes.pop()) if len(sizes) == 1 else 1


def _updated(fn: Function, nest: For) -> tuple[str, ...]:
    """The arrays of the caller's that a nest updates atomically, as much of them as numbers say."""
    updates = (s for _, s in walk(nest.body) if isinstance(s, Assign) and s.atomic and s.op)
    targets = (s.target for s in updates)
    arrays = dict.fromkeys(t.array for t in targets if isinstance(t, Load))
    own = [a for a in arrays if in_memory(fn, a)]
    return tuple(a for a in own if updated_extents(fn, nest, a) is not None)


def _elements(fn: Function, nest: For, array: str) -> int:
    return prod(updated_extents(fn, nest, array) or ())


def _along_items(w: Work, var: str) -> str:
    """Deals the iterations of a parallel loop out to the work-items of a group."""
    item = levels(w.fn, Dim(var, "Tx")).group
    w.do(RoundRobin(var, w.size("Tx"), item))
    return item


def _copied(w: Work, group: str, item: str, limits: Limits) -> Iterator[PrivatiseUpdates]:
    """Gives a group copies of the arrays that it updates, as many as there is room for, several of
    each for the loop over its work-items where that leaves room for another group. Raises
    TransformError where there is none for any."""
    room, refused = limits.local_bytes, list[TransformError]()
    (site,) = resolve(w.fn, group)
    arrays, types = _updated(w.fn, site.loop), symbols(w.fn)
    sizes = {a: _elements(w.fn, site.loop, a) * types[a].bytes for a in arrays}
    for array in sorted(arrays, key=lambda a: sizes[a]):
        own = fresh(w.fn, f"{array}_own")
        step = PrivatiseUpdates(array, group, own)
        share = limits.local_bytes // limits.costs.resident_groups // len(arrays)
        copies = min(limits.costs.update_copies, share // max(1, sizes[array]))
        if copies > 1 and not limits.vector:
            step = replace(step, copies=str(1 << copies.bit_length() - 1), by=item)
        taken = sizes[array] * int(step.copies or 1)
        if sizes[array] > room:
            text = f"'{array}' has {sizes[array]} bytes, and there is room for {room}"
            refused.append(TransformError(str(step), (Obstacle("LX204", text),)))
        elif (why := w.refusal(step)) is not None:
            refused.append(why)
        else:
            room -= taken
            yield step
    if room == limits.local_bytes:
        raise refused[0]
