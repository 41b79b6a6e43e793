"""Short rows, a tile of them in the local memory of a group:

    forall i < n: { for j < m: s += x[i, j];  for j < m: y[i, j] = x[i, j] / s }
 -> forall ii < n, by T: { x_row[T, C]; y_row[T, C]
      forall i < T, p < m: x_row[i, p] = x[ii + i, p]
      forall i < T: { for j: s += x_row[i, j];  for j: y_row[i, j] = x_row[i, j] / s }
      forall i < T, p < m: y[ii + i, p] = y_row[i, p] }

A work-item runs an iteration, in order. What it reads and writes in memory the group copies, along
rows: neighbours touch neighbours, and each element is read and written once. C is odd, so that
work-items that walk along their rows read different banks.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from loopxform.errors import LoopxformError
from loopxform.ir.affine import value_of
from loopxform.ir.condition_text import condition_text
from loopxform.ir.names import outer_name
from loopxform.ir.nodes import Assign, Bin, Const, Expr, For, Load
from loopxform.ir.visit import declared, loads, names, resolve, stmt_exprs, walk, writes
from loopxform.prepare.parallel_band import Nest
from loopxform.prepare.perfect_nest import told_apart
from loopxform.recipes.bounded_arrays import longest
from loopxform.recipes.deriving import Work
from loopxform.recipes.row_registers import REGISTER
from loopxform.recipes.tile_nest import one_nest
from loopxform.recipes.tiled import Tiled
from loopxform.recipes.versions import REFUSALS
from loopxform.records import record
from loopxform.schedule.params import Options
from loopxform.targets.target import Limits
from loopxform.transforms import (
    Assume,
    BoundExtent,
    BufferSlice,
    Distribute,
    Expand,
    Stripmine,
    possible,
)
from loopxform.transforms.storage.bound_extent import possible_values


@record
class RowTiles:
    """A nest with a group for each tile of so many rows, with so many words of each, and when these
    fit."""

    tiled: Tiled
    rows: int
    words: int
    fits: tuple[Expr, ...]

    @property
    def label(self) -> str:
        """The label of the version."""
        return f"tiles of {self.rows} rows, {self.words} words of each in local memory"


def in_row_tiles(
    nest: Nest, limits: Limits, options: Options, enough: int | None
) -> Iterator[RowTiles]:
    """The nest for rows that fit each of `row_tiles`, the shortest first, up to the first that has
    room for all below `enough` elements; none where iterations walk along other memory as well."""
    for text in limits.row_tiles:
        (rows, words), group = (map(int, part.split("x")) for part in text.split())
        found = _Tile(nest, rows, words).nest()
        if found is None:
            return
        sizes = dict(zip(("Ty", "Tx"), group))
        derive = partial(one_nest, found[0], sizes, "group", limits, options, strict=True)
        done = possible(derive, *REFUSALS)
        if isinstance(done, LoopxformError):
            return
        yield RowTiles(done, rows, words, found[1])
        if not found[1] or (enough and longest(found[1]) >= enough - 1):
            return


class _Tile:
    """So many `rows` of a nest, of so many `words` each, of all arrays together."""

    def __init__(self, nest: Nest, rows: int, words: int) -> None:
        self.before, self.rows, self.words = nest, rows, words
        self.w = Work(nest.derivation.titled("Rows of a tile"), {})
        self.loop = nest.parallel[-1]

    def nest(self) -> tuple[Nest, tuple[Expr, ...]] | None:
        """The nest of tiles, and what it assumes."""
        assumed = self.w.fn.assumes
        buffers = self.buffers()
        if not buffers or not all(self.bounded(name, len(buffers)) for name in buffers):
            return None
        fits = tuple(e for e in self.w.fn.assumes if e not in assumed)
        tiles = outer_name(self.w.fn, self.loop)
        copies = tuple(self.copies(buffers))
        steps = (
            Stripmine(self.loop, str(self.rows), tiles),
            *(Expand(name, (self.loop,)) for name in buffers),
            Distribute((self.loop,), copies),
        )
        if not self.w.attempt(*steps):
            return None
        parallel = (*self.before.parallel[:-1], tiles)
        made = Nest(told_apart(self.w.derivation), parallel, (), self.before.reserved)
        return made.of(made.derivation), fits

    def buffers(self) -> list[str]:
        """Buffers for the rows of all arrays that the loops of an iteration walk along; none where
        one of these has no rows."""
        found = list[str]()
        for array in self.walked():
            known = declared(self.w.fn.body).keys()
            if not self.w.attempt(BufferSlice(array, self.loop)):
                return []
            found += [n for n in declared(self.w.fn.body) if n not in known]
        return found

    def walked(self) -> list[str]:
        """Arrays of which an iteration uses elements of its own in loops."""
        body = self.before.innermost.body
        own, inner = declared(body), {s.var for _, s in walk(body) if isinstance(s, For)}
        used = [x for _, s in walk(body) for e in stmt_exprs(s) for x in loads(e)]
        of_rows = (x for x in used if x.array not in own and {*names(Load("", x.index))} & inner)
        mine = {x.array for x in used if self.loop in names(Load("", x.index))} | writes(body)
        return list(dict.fromkeys(x.array for x in of_rows if x.array in mine))

    def bounded(self, name: str, count: int) -> bool:
        """Gives a buffer, one of so many, an odd number of elements in each row."""
        decl = declared(self.w.fn.body)[name]
        if len(decl.shape) != 1:
            return False
        most = self.words // count * REGISTER // max(decl.type.bytes, REGISTER)
        (extent,), size = decl.shape, most - (most + 1) % 2
        fixed = value_of(extent)
        if fixed is not None:
            return fixed <= size and self.w.attempt(BoundExtent(name, (str(fixed | 1),)))
        asked = [Bin("<=", e, Const(size)) for e in possible_values(extent) if value_of(e) is None]
        assumed = [Assume(condition_text(e)) for e in asked]
        return self.w.attempt(*assumed, BoundExtent(name, (str(size),)))

    def copies(self, buffers: list[str]) -> Iterator[str]:
        """The loops that fill buffers, and those that copy them back."""
        (site,) = resolve(self.w.fn, self.loop)
        for s in site.loop.body:
            move = s.body[0] if isinstance(s, For) and len(s.body) == 1 else None
            if isinstance(s, For) and isinstance(move, Assign) and not move.op:
                ends = [x for x in (move.target, move.value) if isinstance(x, Load)]
                if len(ends) == 2 and {x.array for x in ends} & {*buffers}:
                    yield s.var
