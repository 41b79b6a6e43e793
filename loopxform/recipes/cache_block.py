"""Cache blocking, on devices that run the work-items of a group in turn:

    forall i: forall j: B[j, i] = A[i, j]
 -> forall i_v, j_v (a work-item): for j of Ry: for i of Rx: B[j, i] = A[i, j]

Fits where an iteration reads along rows in another loop than it writes. Whole lines of all arrays
lie in a block, and the caches hold them until the work-item is done; it writes along rows, and the
next one goes on where rows are read. The loops are those whose block touches the fewest lines for
each iteration, where these are fewer than a group of the recipe naive touches. (Lam, Rothberg and
Wolf, "The cache performance and optimizations of blocked algorithms", ASPLOS 1991.)
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import permutations
from typing import ClassVar

from loopxform.ir.names import fresh
from loopxform.ir.nodes import For
from loopxform.ir.typing import symbols
from loopxform.ir.visit import loops, loops_around, walk, writes
from loopxform.model.accesses import Kind
from loopxform.model.choice import Choice
from loopxform.model.layouts import one_each
from loopxform.model.lines import lines
from loopxform.model.reuse import Dim
from loopxform.prepare.parallel_band import Nest
from loopxform.recipes.base import ALONG_LINES, IN_LOCKSTEP, Mapped, Question
from loopxform.recipes.deriving import Work
from loopxform.recipes.naive import TILES_IN_TURN, one_item_each
from loopxform.schedule.params import KINDS, Options, Recipe, Tiles
from loopxform.targets.target import Limits
from loopxform.transforms import (
    Interchange,
    SeparateFullTiles,
    Sequentialise,
    Stripmine,
    TurnTile,
)
from loopxform.transforms.latency.turn_tile import tile_sides


class CacheBlock:
    name: ClassVar[Recipe] = "cache-block"

    def match(self, question: Question) -> Choice | str:
        """Where a block touches fewer lines than what naive runs in a group."""
        nest, limits = question.facts.nest, question.limits
        if limits.warp > 1:
            return IN_LOCKSTEP
        inside = any(isinstance(s, For) for _, s in walk(nest.innermost.body))
        if len(nest.parallel) < 2 or inside:
            return ALONG_LINES
        side = _blocks(nest, limits)
        blocks = {
            (y, x): lines(nest, (y, x), (side.Ry, side.Rx), limits)
            for y, x in permutations(nest.parallel, 2)
        }
        least = min(blocks.values())
        usual = TILES_IN_TURN
        near = one_each(nest, usual.numbers, limits)
        pair = tuple(d.loop for d in near.dims)
        if not question.asked and least >= lines(nest, pair, (usual.Ty, usual.Tx), limits):
            return ALONG_LINES
        best = [pair for pair, n in blocks.items() if n == least]
        y, x = min(best, key=lambda pair: _written(nest, pair, side.Rx, limits))
        dims = (Dim(y, "Ty"), Dim(x, "Tx"))
        return Choice(self.name, dims, x, more=("Ry", "Rx"), tiles=side)

    def map(self, w: Work, nest: Nest, choice: Choice, options: Options, limits: Limits) -> Mapped:
        """Raises TransformError where the loops of a block cannot be innermost."""
        del options  # nothing is computed otherwise
        y, x = (d.loop for d in choice.dims)
        w.stage("Blocks whose lines the caches hold")
        outer = {v: fresh(w.fn, f"{v}_v") for v in (y, x)}
        sizes = {y: w.size("Ry"), x: w.size("Rx")}
        chain = list[str]()
        for v in nest.parallel:
            if v in outer:
                w.do(Stripmine(v, sizes[v], outer[v]))
                chain.append(outer[v])
            chain.append(v)
        others = [v for v in nest.parallel if v not in outer]
        w.order(chain, [*others, outer[y], outer[x], y, x])
        w.do(Sequentialise(y), Sequentialise(x))
        blocks = Nest(w.derivation, (*others, outer[y], outer[x]), ()).of(w.derivation)
        _, remark = one_item_each(w, blocks)
        if limits.turned_tiles:
            _turn_tiles(w, nest, y, x)
        return Mapped(choice, remark=remark)


def _turn_tiles(w: Work, nest: Nest, y: str, x: str) -> None:
    """Has whole blocks of the loops y and x turned in registers, where they are made of tiles."""
    before = w.derivation
    inner = next(s for s in loops(w.fn) if s.loop.var == x)
    *_, group = (v for v in loops_around(w.fn, inner.path) if v.level and v.level.kind == "grid")
    rows, columns = tile_sides(_narrowest(nest))
    tiles = {v: fresh(w.fn, f"{v}_b") for v in (y, x)}
    w.stage("Tiles that are turned in registers")
    turned = w.attempt(
        SeparateFullTiles(group.var),
        Stripmine(f"{y}#1", str(rows), tiles[y]),
        Stripmine(f"{x}#1", str(columns), tiles[x]),
        Interchange(f"{y}#1", tiles[x]),
        TurnTile(f"{y}#1"),
    )
    if not turned:
        w.derivation = before


def _blocks(nest: Nest, limits: Limits) -> Tiles:
    """The sizes of blocks, in which whole tiles that are turned have room."""
    usual = KINDS["cache-block"].tiles
    rows, columns = tile_sides(_narrowest(nest)) if limits.turned_tiles else (1, 1)
    return replace(usual, Ry=max(usual.Ry, rows), Rx=max(usual.Rx, columns))


def _narrowest(nest: Nest) -> int:
    """The bytes of the narrowest element that is written."""
    types = symbols(nest.function)
    return min((types[a].bytes for a in writes(nest.innermost.body) if a in types), default=4)


def _written(nest: Nest, pair: tuple[str, str], row: int, limits: Limits) -> Fraction:
    """The lines that a row of a block is written to, for each iteration."""
    written: tuple[Kind, ...] = ("write",)
    return lines(nest, pair, (1, row), limits, written)
