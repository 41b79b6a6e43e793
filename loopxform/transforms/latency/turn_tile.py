"""Tiles turned in registers: for j < W: for i < W: B[j0 + j, i0 + i] = A[i0 + i, j0 + j]
-> W vectors along the rows of A, turned in registers, W along the rows of B.

    float16 v[16];  v[k] = A[i0 + k][j0 .. j0 + 15];  turn v;  B[j0 + k][i0 .. i0 + 15] = v[k];

A CPU reads each line of memory before it changes a part of it. A vector as long as a line that is
stored past the caches needs no such read: the rows of a tile are as long as a line, in as many
vectors as that takes. What does not begin where a vector does is stored through the caches, and
compilers that have no such stores keep the loops. Legal where neither loop carries a dependence,
and all that is read along the outer loop exists for certain. The listing keeps the order of the
program; the loop is marked. (Intel, "64 and IA-32 Architectures Optimization Reference Manual",
non-temporal stores; Eklundh, "A fast computer method for matrix transposing", 1972.)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar

from loopxform.analysis.legality import reverse_obstacles
from loopxform.errors import Obstacle
from loopxform.ir.affine import value_of
from loopxform.ir.nodes import Assign, Bin, Expr, For, Function, Load, Select
from loopxform.ir.types import BOOL, HALF
from loopxform.ir.typing import symbols
from loopxform.ir.visit import LoopSite, loads, loops_around, names, replace_at, walk_expr
from loopxform.records import record
from loopxform.transforms.base import Step
from loopxform.transforms.edges.bounds import fixed_trips
from loopxform.transforms.latency.store_vectors import factor, in_memory
from loopxform.transforms.sites import one_loop, trusted

LINE = 64
"""Bytes of a line of a CPU's caches: what vectors past the caches should fill."""
WIDEST = 16
"""Elements of the longest vector of OpenCL."""


@record
class TurnTile(Step):
    """Moves what `loop` and the one in it compute in vectors that are turned in registers."""

    loop: str

    verb: ClassVar[str] = "turn-tile"
    usage: ClassVar[str] = "turn-tile LOOP"

    def check(self, fn: Function) -> tuple[Obstacle, ...]:
        site = one_loop(fn, self.loop)
        if isinstance(site, Obstacle):
            return (site,)
        problem = next(_problems(fn, site), None)
        if problem is not None:
            return (_no(site, problem),)
        inside = (*site.path, 0)
        return (*reverse_obstacles(fn, site.path), *reverse_obstacles(fn, inside))

    def rewrite(self, fn: Function) -> Function:
        site = trusted(one_loop(fn, self.loop))
        origin = site.loop.origin.then(str(self))
        return replace_at(fn, site.path, (replace(site.loop, turned=True, origin=origin),))

    def reason(self, fn: Function) -> str:
        tile = turned_tile(trusted(one_loop(fn, self.loop)).loop)
        assert tile is not None
        return f"rows of {tile.target.array} are whole vectors, and so are those that it is made of"


@record
class TurnedTile:
    """`rows` by `columns` iterations, each of which assigns one element along the columns; `reads`
    are along the rows, and all elements in the tile that they name are read."""

    rows: For
    columns: For
    target: Load
    value: Expr
    reads: tuple[Load, ...]

    @property
    def height(self) -> int:
        return _count(self.rows)

    @property
    def width(self) -> int:
        return _count(self.columns)


def turned_tile(loop: For) -> TurnedTile | None:
    """What two loops compute that do nothing but assign one element in each iteration."""
    columns = loop.body[0] if len(loop.body) == 1 else None
    if not isinstance(columns, For) or len(columns.body) != 1:
        return None
    only = columns.body[0]
    if not isinstance(only, Assign) or only.atomic or not isinstance(only.target, Load):
        return None
    value = Bin(only.op, only.target, only.value) if only.op else only.value
    along = (e for e in loads(value) if _runs_along(e, loop.var))
    return TurnedTile(loop, columns, only.target, value, tuple(dict.fromkeys(along)))


def tile_sides(element: int) -> tuple[int, int]:
    """The rows and columns of a tile of elements of so many bytes."""
    side = min(WIDEST, LINE // element)
    return side, max(side, LINE // element)


def obstacles(fn: Function, site: LoopSite) -> Iterator[Obstacle]:
    """What later steps made of a tile, where it cannot be turned any more."""
    yield from (_no(site, text) for text in _problems(fn, site))


def _problems(fn: Function, site: LoopSite) -> Iterator[str]:
    """Why loops are no tile."""
    tile = turned_tile(site.loop)
    around = [x.level.kind for x in loops_around(fn, site.path) if x.level]
    if site.loop.level is not None or "group" not in around:
        yield "it is not what a work-item does"
    elif tile is None:
        yield "it is not one of two that only assign one element of an array"
    else:
        yield from _shape(fn, tile)
        yield from _elements(fn, tile)


def _shape(fn: Function, tile: TurnedTile) -> Iterator[str]:
    sides = tile_sides(symbols(fn)[tile.target.array].bytes)
    plain = all(not (x.level or x.dealt or x.stores or x.live_out) for x in _both(tile))
    if not plain or (tile.height, tile.width) != sides:
        yield f"a tile has {sides[0]} by {sides[1]} iterations, from a place on by 1"
    elif tile.rows.var in names(tile.columns.lo):
        yield f"rows begin at different values of '{tile.columns.var}'"


def _elements(fn: Function, tile: TurnedTile) -> Iterator[str]:
    """Why elements are no vectors in global memory."""
    types = symbols(fn)
    kind, target = types[tile.target.array], tile.target
    choices = any(
        isinstance(e, Select) or (isinstance(e, Bin) and e.op in ("&&", "||"))
        for e in walk_expr(tile.value)
    )
    if not in_memory(fn, target.array) or kind in (BOOL, HALF):
        yield f"'{target.array}' is not an array of its own in global memory, of numbers"
    elif not _runs_along(target, tile.columns.var):
        yield f"'{tile.columns.var}' does not run along the rows of '{target.array}'"
    elif not tile.reads:
        yield f"nothing is read along '{tile.rows.var}'"
    elif choices:
        yield "some of its elements may not be read"
    for e in tile.reads:
        if not in_memory(fn, e.array) or types[e.array] != kind:
            yield f"'{e.array}' has no elements in global memory of the type of '{target.array}'"


def _runs_along(e: Load, var: str) -> bool:
    """Whether iterations of a loop use neighbours of a row, one after the other."""
    *slow, last = e.index
    return factor(last, var) == 1 and not any(var in names(x) for x in slow)


def _both(tile: TurnedTile) -> tuple[For, For]:
    return tile.rows, tile.columns


def _count(loop: For) -> int:
    """Iterations of a loop that runs by 1, 0 where that is not fixed."""
    fixed = fixed_trips(loop)
    count = None if fixed is None or fixed[1] else fixed[0].value
    return int(count or 0) if value_of(loop.step) == 1 else 0


def _no(site: LoopSite, why: str) -> Obstacle:
    text = f"the loop over '{site.loop.var}' is no tile that can be turned: {why}"
    remedy = "let it move single elements"
    return Obstacle("LX259", text, site.loop.origin.loc, remedy=remedy)
