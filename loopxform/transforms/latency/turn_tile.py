"""Tiles turned in registers: for j < W: for i < W: B[j0 + j, i0 + i] = A[i0 + i, j0 + j]
-> W vectors along the rows of A, turned in registers, W along the rows of B.

    float16 v[16];  v[k] = A[i0 + k][j0 .. j0 + 15];  turn v;  B[j0 + k][i0 .. i0 + 15] = v[k];

A CPU reads each line of memory before it changes a part of it. A vector as long as a line that is
stored past the caches needs no such read: the rows of a tile are as long as a line, in as many
vectors as that takes. What does not begin where a vector does is stored through the caches, and
compilers that have no such stores keep the loops. Legal where neither loop carries a dependence,
and all that is read along the outer loop exists for certain. The listing keeps the order of the
program; the loop is marked.

Elements of its own that a work-item reads along rows, and uses across them, are turned in the same
way: float t[W][W]; for j < W: for i < W: t[j, i] = A[i0 + i, j0 + j]; W is a power of 2 then, and
a row at most as long as a line. (Intel, "64 and IA-32 Architectures Optimization Reference Manual",
non-temporal stores; Eklundh, "A fast computer method for matrix transposing", 1972.)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar, TypeGuard

from loopxform.analysis.legality import reverse_obstacles
from loopxform.errors import Obstacle
from loopxform.ir.affine import simplify, value_of
from loopxform.ir.nodes import Assign, Bin, Decl, Expr, For, Function, Load, Select, Stmt, Var
from loopxform.ir.types import BOOL, HALF, Space
from loopxform.ir.typing import symbols
from loopxform.ir.visit import LoopSite, loads, loops_around, names, replace_at, walk, walk_expr
from loopxform.records import record
from loopxform.transforms.base import Step
from loopxform.transforms.edges.bounds import fixed_trips
from loopxform.transforms.latency.store_vectors import factor, in_memory
from loopxform.transforms.sites import one_loop, trusted

LINE = 64
"""Bytes of a line of a CPU's caches: what vectors past the caches should fill."""
WIDEST = 16
"""Elements of the longest vector of OpenCL."""
DIGITS = 6
"""Of the bytes between what is read and what is fetched ahead."""
VECTORS = (2, 4, 8, WIDEST)
"""Elements of vectors of which so many are turned."""


@record
class TurnTile(Step):
    """Moves what `loop` and the one in it compute in vectors that are turned in registers; of a
    work-item's own elements, caches fetch what lies so many bytes `ahead` in each row."""

    loop: str
    ahead: str = ""

    verb: ClassVar[str] = "turn-tile"
    usage: ClassVar[str] = "turn-tile LOOP [BYTES]"

    def check(self, fn: Function) -> tuple[Obstacle, ...]:
        site = one_loop(fn, self.loop)
        if isinstance(site, Obstacle):
            return (site,)
        problem = next(_problems(fn, site), None) or self._apart(fn, site)
        if problem is not None:
            return (_no(site, problem),)
        inside = (*site.path, 0)
        return (*reverse_obstacles(fn, site.path), *reverse_obstacles(fn, inside))

    def _apart(self, fn: Function, site: LoopSite) -> str | None:
        """Why rows cannot be fetched ahead."""
        tile = turned_tile(site.loop)
        if not self.ahead:
            return None
        if not (self.ahead.isascii() and self.ahead.isdecimal()) or len(self.ahead) > DIGITS:
            return f"'{self.ahead}' is no number of bytes"
        if tile is not None and not is_own(fn, tile.target.array):
            return f"'{tile.target.array}' is not what a work-item keeps: nothing is fetched ahead"
        return None

    def rewrite(self, fn: Function) -> Function:
        site = trusted(one_loop(fn, self.loop))
        origin = site.loop.origin.then(str(self))
        made = replace(site.loop, turned=True, ahead=int(self.ahead or 0), origin=origin)
        return replace_at(fn, site.path, (made,))

    def reason(self, fn: Function) -> str:
        tile = turned_tile(trusted(one_loop(fn, self.loop)).loop)
        assert tile is not None
        if is_own(fn, tile.target.array):
            return f"rows of {tile.target.array} are whole vectors of a work-item"
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


def is_own(fn: Function, array: str) -> bool:
    """Whether an array is declared in what a work-item does."""
    return any(
        isinstance(s, Decl)
        and s.name == array
        and s.space in (None, Space.PRIVATE)
        and any(x.level and x.level.kind == "group" for x in loops_around(fn, path))
        for path, s in walk(fn.body)
    )


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
    elif is_own(fn, tile.target.array):
        yield from _own(fn, tile)
    else:
        yield from _shape(fn, tile)
        yield from _elements(fn, tile)


def _own(fn: Function, tile: TurnedTile) -> Iterator[str]:
    """Why elements of a work-item are not whole vectors that are read along rows."""
    target, side = tile.target, tile.height
    numbers = tuple(simplify(Bin("-", Var(x.var), x.lo)) for x in _both(tile))
    shape = next(s.shape for _, s in walk(fn.body) if _declares(s, target.array))
    kind = symbols(fn)[target.array]
    if not _plain(tile) or side != tile.width or side not in VECTORS or side * kind.bytes > LINE:
        yield f"'{target.array}' has no {' or '.join(map(str, VECTORS))} rows that are vectors"
    elif tuple(map(simplify, target.index)) != numbers or [*map(value_of, shape)] != [side, side]:
        yield f"it does not set the elements of '{target.array}' one after the other"
    elif tile.rows.var in names(tile.columns.lo):
        yield f"rows begin at different values of '{tile.columns.var}'"
    elif (tile.value,) != tile.reads or kind in (BOOL, HALF):
        yield f"'{target.array}' is no copy of numbers that are read along '{tile.rows.var}'"
    else:
        yield from _sources(fn, tile)


def _declares(s: Stmt, array: str) -> TypeGuard[Decl]:
    return isinstance(s, Decl) and s.name == array


def _plain(tile: TurnedTile) -> bool:
    """Whether neither loop is marked as anything else."""
    return all(not (x.level or x.dealt or x.stores or x.live_out) for x in _both(tile))


def _shape(fn: Function, tile: TurnedTile) -> Iterator[str]:
    sides = tile_sides(symbols(fn)[tile.target.array].bytes)
    if not _plain(tile) or (tile.height, tile.width) != sides:
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
    yield from _sources(fn, tile)


def _sources(fn: Function, tile: TurnedTile) -> Iterator[str]:
    """Why what is read is no vectors of elements like those that are set."""
    types = symbols(fn)
    kind, target = types[tile.target.array], tile.target
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
