"""One work-item for each iteration of the parallel loops, nothing staged.

Where data end loops of an iteration (escape times, marches along rays), work-items that run in
lockstep wait for the longest of theirs. What is near in both dimensions takes about as long: they
stand in a rectangle (`warp_tile`), in groups of the size that suits the device (`uneven_items`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import ClassVar

from loopxform.errors import TransformError, UnsupportedC
from loopxform.ir.affine import value_of
from loopxform.ir.nodes import For
from loopxform.ir.visit import loops_around, perfect_nest, resolve, walk
from loopxform.ir.whiles import condition
from loopxform.model.choice import Choice, naive
from loopxform.model.layouts import one_each
from loopxform.model.reuse import Dim
from loopxform.prepare.parallel_band import Nest
from loopxform.prepare.perfect_nest import has_few_iterations
from loopxform.recipes.base import Mapped, Question
from loopxform.recipes.deriving import Work, levels
from loopxform.recipes.kept_in_order import is_for_few, kept_in_order
from loopxform.recipes.neighbouring_reads import along_terms
from loopxform.recipes.own_slices import with_own_slices
from loopxform.schedule.params import KINDS, Options, Recipe, Tiles
from loopxform.targets.target import Limits
from loopxform.transforms import (
    Derivation,
    MapTo,
    SeparateFullTiles,
    Sequentialise,
    Stripmine,
    WarpTile,
    possible,
)
from loopxform.transforms.edges.bounds import trip_count

TILES_IN_TURN = replace(KINDS["naive"].tiles, Ty=4, Tx=64)
"""A group on a device that runs its work-items in turn: whole lines follow one another (sums of two
matrices on PoCL take 10.4 ms in groups of 16 x 16, 5.7 of 4 x 64)."""
ROWS_IN_TURN = replace(TILES_IN_TURN, Ty=1, Tx=8)
"""The same where each work-item walks along a row: groups are shared out, and rows may be few."""


class Naive:
    name: ClassVar[Recipe] = "naive"

    def match(self, question: Question) -> Choice | str:
        nest = question.facts.nest
        in_turn = _in_turn(nest) if question.limits.warp == 1 else None
        tiles = _in_lockstep(question.costs.uneven_items) if is_uneven(nest) else in_turn
        return replace(naive(nest), tiles=tiles)

    def map(self, w: Work, nest: Nest, choice: Choice, options: Options, limits: Limits) -> Mapped:
        with_own_slices(w, nest, limits)
        near = one_each(nest, w.sizes, limits).neighbours
        rectangle = limits.warp_tile if options.warp_tile is None else options.warp_tile
        wanted = rectangle if is_uneven(nest) else (0, 0)
        loops, remark = one_item_each(w, nest, near, wanted)
        if limits.warp == 1 and not any(isinstance(s, For) for _, s in walk(nest.innermost.body)):
            _without_conditions(w, loops[-1])
        if not remark and is_for_few(nest, limits):
            remark = kept_in_order(nest)
        dims = tuple(map(Dim, loops[-2:]))
        return Mapped(replace(choice, dims=dims, neighbours=loops[-1]), remark=remark)


def _without_conditions(w: Work, x: str) -> None:
    """Gives whole groups a text of their own, where no work-item asks whether it has an iteration:
    compilers have them in vectors then (a copy of 2^24 floats on PoCL: 10.0 ms of two cores with
    conditions, 3.7 without)."""
    around = loops_around(w.fn, resolve(w.fn, x)[0].path)
    *_, group = (v.var for v in around if v.level and v.level.kind == "grid")
    w.attempt(SeparateFullTiles(group))


def is_uneven(nest: Nest) -> bool:
    """Whether data say how long an iteration takes."""
    inside = (s for _, s in walk(nest.innermost.body) if isinstance(s, For))
    return any(condition(loop) is not None for loop in inside)


def _in_turn(nest: Nest) -> Tiles:
    """A group on a device that runs its work-items in turn."""
    rows = any(not has_few_iterations(loop) for loop in along_terms(nest))
    return ROWS_IN_TURN if rows else TILES_IN_TURN


def _in_lockstep(items: int) -> Tiles:
    """A group of so many work-items (a power of two), about as wide as it is high."""
    wide = 1 << items.bit_length() // 2
    return replace(KINDS["naive"].tiles, Ty=max(1, items // wide), Tx=wide)


def one_item_each(
    w: Work, nest: Nest, near: str = "", rectangle: tuple[int, int] = (0, 0)
) -> tuple[tuple[str, ...], str]:
    """Maps as many of the outermost parallel loops as form a box, neighbours along `near` where
    that can be (else along the innermost), and in a `rectangle` (rows, columns) where it has any,
    and divides the group. Returns them, neighbours last, and why not all of them,
    where that is so. Raises UnsupportedC where not even one can be mapped."""
    problem = ""
    for mapped in _boxes(nest.parallel[: _spread(nest)], near):
        derivation = possible(partial(_mapped, w, nest, mapped, rectangle), TransformError)
        if isinstance(derivation, TransformError):
            problem = problem or derivation.obstacles[0].message
            continue
        w.derivation = derivation
        if len(mapped) == len(nest.parallel):
            return mapped, ""
        if not problem:
            return mapped, ""
        which = ", ".join(nest.parallel[: len(mapped)])
        return mapped, f"only {which} mapped to work-items: {problem}"
    raise UnsupportedC(
        f"the nest cannot be mapped to work-items: {problem}",
        loc=nest.innermost.origin.loc,
        code="LX063",
        help="apply single steps: loopxform explain lists them",
    )


def _boxes(parallel: tuple[str, ...], near: str) -> Iterator[tuple[str, ...]]:
    """The outermost loops, as many as possible first: `near` last where it is one of them, then in
    their own order."""
    for count in range(len(parallel), 0, -1):
        own = parallel[:count]
        if near in own[:-1]:
            yield (*(v for v in own if v != near), near)
        yield own


def _spread(nest: Nest) -> int:
    """How many of the loops are worth spreading: not the inner ones of a single iteration."""
    chain = perfect_nest(nest.outermost)[: len(nest.parallel)]
    count = len(chain)
    while count > 1 and value_of(trip_count(chain[count - 1])) == 1:
        count -= 1
    return count


def _mapped(
    before: Work, nest: Nest, mapped: tuple[str, ...], rectangle: tuple[int, int]
) -> Derivation:
    """Groups of Ty x Tx, or Ty*Tx in a row, over the last of the loops `mapped`; the parallel
    loops further in run in order. Raises TransformError."""
    w = Work(before.derivation, before.sizes)
    w.stage("Mapping each iteration to a work-item")
    w.do(*(Sequentialise(v) for v in nest.parallel[len(mapped) :]))
    w.order(list(nest.parallel[: len(mapped)]), list(mapped))
    if len(mapped) == 1:
        only = levels(w.fn, Dim(mapped[0], "Tx"))
        w.do(Stripmine(only.thread, w.size("Ty", "Tx"), only.group))
        w.do(MapTo(only.group, "group.x"), MapTo(only.thread, "thread.x"))
        return w.derivation
    *others, y, x = mapped
    rows, columns = levels(w.fn, Dim(y, "Ty")), levels(w.fn, Dim(x, "Tx"))
    w.do(Stripmine(y, w.size("Ty"), rows.group), Stripmine(x, w.size("Tx"), columns.group))
    w.order([*rows.inside, *columns.inside], [rows.group, columns.group, y, x])
    # Some implementations (PoCL 3) run a work-item twice where only the first dimension is empty.
    a, b = ("x", "y") if w.sizes["Tx"] == 1 else ("y", "x")
    w.do(*(MapTo(v, "group.z") for v in others))
    w.do(MapTo(rows.group, f"group.{a}"), MapTo(columns.group, f"group.{b}"))
    w.do(MapTo(f"{rows.thread}*", f"thread.{a}"), MapTo(f"{columns.thread}*", f"thread.{b}"))
    high, wide = rectangle
    if wide and not (w.sizes["Ty"] % high or w.sizes["Tx"] % wide):
        w.stage("Neighbours in a rectangle")
        w.attempt(WarpTile(rows.group, str(high), str(wide)))
    return w.derivation
