"""Several iterations for each work-item, where data say how long one takes:

    forall i: { A; while (c) S; B }
 -> forall ii (a group): forall i_t < Tx:
      for (i = ii + i_t; i < ii + Tx*Ry; i += Tx): { A; while (c) S; B }
 -> the same with the loop over i and the one in it as one (`flatten`)

Work-items that run in lockstep wait for the longest of theirs. Here one that is done goes on with
its next iteration, so that they wait for the longest sum of Ry iterations once, and sums differ
less. Every Tk iterations of the inner loop a work-item asks whether it is done. Fits where there is
one such loop, beside statements without loops. (von Hanxleden and Kennedy, "Relaxing SIMD control
flow constraints using loop transformations", 1992; Aila and Laine, "Understanding the efficiency of
ray traversal on GPUs", 2009.)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar

from loopxform.ir.names import fresh
from loopxform.ir.nodes import For, If, Stmt
from loopxform.ir.visit import names, walk, writes
from loopxform.ir.whiles import condition
from loopxform.model.choice import Choice
from loopxform.model.divergence import is_short, lengths_differ, touches_memory
from loopxform.model.layouts import one_each
from loopxform.model.reuse import Dim
from loopxform.prepare.parallel_band import Nest
from loopxform.recipes.base import EVEN, Mapped, Question
from loopxform.recipes.deriving import Work, levels
from loopxform.schedule.params import KINDS, Options, Recipe, Tiles
from loopxform.targets.target import Costs, Limits
from loopxform.transforms import Flatten, MapTo, RoundRobin, Stripmine, WarpTile


class Uneven:
    name: ClassVar[Recipe] = "uneven"

    def match(self, question: Question) -> Choice | str:
        nest = question.facts.nest
        if uneven_loop(nest) is None:
            return EVEN
        *outer, x = nest.parallel[-2:]
        dims = (Dim(outer[0], "Ty", "Ry"), Dim(x, "Tx")) if outer else (Dim(x, "Tx", "Ry"),)
        tiles = _tiles(question.costs, rows=bool(outer))
        return Choice(self.name, dims, x, tiles=tiles, more=("Tk",))

    def map(self, w: Work, nest: Nest, choice: Choice, options: Options, limits: Limits) -> Mapped:
        inner = uneven_loop(nest)
        assert inner is not None
        w.stage("Several iterations for each work-item, a group apart")
        if len(nest.parallel) == 1:
            y = nest.parallel[0]
            group, item = levels(w.fn, Dim(y, "Tx")).group, fresh(w.fn, f"{y}_t")
            w.do(Stripmine(y, w.size("Tx", "Ry"), group), RoundRobin(y, w.size("Tx"), item))
            w.stage("Mapping to groups and work-items")
            w.do(MapTo(group, "group.x"), MapTo(item, "thread.x"))
        else:
            y, x = _map_rows(w, nest, limits, options)
            choice = replace(choice, dims=(Dim(y, "Ty", "Ry"), Dim(x, "Tx")), neighbours=x)
        w.stage("One loop, in which a work-item goes on with its next iteration")
        w.do(Flatten(y, inner.var, w.size("Tk")))
        return Mapped(choice)


def _map_rows(w: Work, nest: Nest, limits: Limits, options: Options) -> tuple[str, str]:
    """Maps the loops: several rows are a work-item's. Returns the loops over them, and over
    neighbours."""
    near = one_each(nest, w.sizes, limits).neighbours
    chain = list(nest.parallel)
    wanted = [*(v for v in chain if v != near), near]
    if wanted != chain:
        w.order(chain, wanted)
    *others, y, x = wanted
    rows, columns = levels(w.fn, Dim(y, "Ty")).group, levels(w.fn, Dim(x, "Tx")).group
    w.do(Stripmine(y, w.size("Ty", "Ry"), rows), Stripmine(x, w.size("Tx"), columns))
    w.order([rows, y, columns, x], [rows, columns, y, x])
    item = fresh(w.fn, f"{y}_t")
    w.do(RoundRobin(y, w.size("Ty"), item))
    w.order([y, x], [x, y])
    w.stage("Mapping to groups and work-items")
    w.do(*(MapTo(v, "group.z") for v in others))
    # Some implementations (PoCL 3) run a work-item twice where only the first dimension is empty.
    a, b = ("x", "y") if w.sizes["Tx"] == 1 else ("y", "x")
    w.do(MapTo(rows, f"group.{a}"), MapTo(columns, f"group.{b}"))
    w.do(MapTo(item, f"thread.{a}"), MapTo(x, f"thread.{b}"))
    high, wide = limits.warp_tile if options.warp_tile is None else options.warp_tile
    if wide and not (w.sizes["Ty"] % high or w.sizes["Tx"] % wide):
        w.stage("Neighbours in a rectangle")
        w.attempt(WarpTile(rows, str(high), str(wide)))
    return y, x


def _tiles(costs: Costs, *, rows: bool) -> Tiles:
    """A group of `uneven_items`, as high as it is wide where it has rows."""
    items = costs.uneven_items
    wide = 1 << items.bit_length() // 2 if rows else items
    high = max(1, items // wide)
    each = costs.uneven_iterations if costs.uneven_iterations > 1 else KINDS["uneven"].tiles.Ry
    return Tiles(Ty=high, Tx=wide, Tk=costs.uneven_run, Ry=each, Rx=1)


def uneven_loop(nest: Nest) -> For | None:
    """The one loop in the body, under one condition at most and beside statements without loops, if
    data say where it ends or begins. Rows between starts are not meant (`csr_stream`)."""
    body = nest.innermost.body
    every = [s for _, s in walk(body) if isinstance(s, For)]
    held = [s for s in _held(body) if isinstance(s, For)]
    if len(held) != 1 or len(every) != 1 + sum(isinstance(s, For) for _, s in walk(held[0].body)):
        return None
    (loop,) = held
    if condition(loop) is not None:
        return loop
    scalars = {p.name for p in nest.function.objects if not p.array}
    known = {*nest.parallel, *scalars} - writes(nest.function.body)
    return loop if (names(loop.lo) <= known) != (names(loop.hi) <= known) else None


def _held(body: tuple[Stmt, ...]) -> Iterator[Stmt]:
    """The statements of a body, and those under its conditions."""
    for s in body:
        yield s
        if isinstance(s, If):
            yield from (*s.then, *s.orelse)


def pays(nest: Nest, limits: Limits) -> bool:
    """Whether work-items take several iterations without being asked to: their lengths may differ
    by more than what runs between two tests, and what they do in the loop is not to wait for
    memory, which they would do in step."""
    costs = limits.costs
    loop = uneven_loop(nest) if costs.uneven_iterations > 1 else None
    if loop is None or is_short(loop, costs.uneven_run) or touches_memory(nest.function, loop):
        return False
    grid = len(nest.parallel) > 1
    return lengths_differ(nest.function, nest.innermost.body, loop, grid=grid)
