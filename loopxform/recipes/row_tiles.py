"""Short rows, a tile of them in the local memory of a group:

    forall i < n: { for j < m: s += x[i, j];  for j < m: y[i, j] = x[i, j] / s }
 -> forall ii < n, by T: { x_row[T, C]; y_row[T, C]
      forall i < T, p < m: x_row[i, p] = x[ii + i, p]
      forall i < T: { for j: s += x_row[i, j];  for j: y_row[i, j] = x_row[i, j] / s }
      forall i < T, p < m: y[ii + i, p] = y_row[i, p] }

A work-item runs an iteration, in order. What it reads and writes in memory the group copies, along
rows: neighbours touch neighbours, and each element is read and written once. C is odd, so that
work-items that walk along their rows read different banks.

What takes long (functions, quotients) is no work for the few work-items that have a row each: all
of the group share it. Terms of sums become rows of their own, and what is computed element by
element afterwards is stored along rows, without a copy of these.

      forall i < T: for j: top = max(x_row[i, j])
      forall i < T, j < m: t_row[i, j] = exp(x_row[i, j] - top[i])
      forall i < T: for j: s += t_row[i, j]
      forall i < T, j < m: y[ii + i, j] = exp(x_row[i, j] - top[i]) / s[i]
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from loopxform.analysis.verdict import judge
from loopxform.errors import LoopxformError
from loopxform.ir.affine import value_of
from loopxform.ir.condition_text import condition_text
from loopxform.ir.names import outer_name
from loopxform.ir.nodes import Assign, Bin, Const, Decl, Expr, For, Load
from loopxform.ir.visit import (
    declared,
    loads,
    loops,
    names,
    reads,
    resolve,
    stmt_exprs,
    walk,
    writes,
)
from loopxform.prepare.parallel_band import Nest
from loopxform.prepare.perfect_nest import told_apart
from loopxform.recipes.bounded_arrays import longest
from loopxform.recipes.deriving import Work
from loopxform.recipes.in_step import takes_long, with_terms_apart
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
    Scalarise,
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
        found = _SharedTile(nest, rows, words).nest() or _Tile(nest, rows, words).nest()
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
        assumed, apart = self.w.fn.assumes, self.apart()
        if apart is None:
            return None
        own, rows = self.own_rows(apart), self.buffers(apart)
        buffers = [*rows, *own]
        if not rows or not all(self.bounded(name, len(buffers)) for name in buffers):
            return None
        fits = tuple(e for e in self.w.fn.assumes if e not in assumed)
        tiles = outer_name(self.w.fn, self.loop)
        alone = (*self.copies(buffers), *apart)
        steps = (
            Stripmine(self.loop, str(self.rows), tiles),
            *(Expand(name, (self.loop,)) for name in (*buffers, *self.passed(apart))),
            Distribute((self.loop,), tuple(dict.fromkeys(alone))),
        )
        if not self.w.attempt(*steps):
            return None
        parallel = (*self.before.parallel[:-1], tiles)
        self.w.derivation = told_apart(self.w.derivation)
        self.accumulate(tiles)
        made = Nest(self.w.derivation, parallel, (), self.before.reserved)
        return made.of(made.derivation), fits

    def accumulate(self, tiles: str) -> None:
        """Keeps in registers what a work-item sums up of its row."""
        (site,) = resolve(self.w.fn, tiles)
        passed = {s.name for s in site.loop.body if isinstance(s, Decl) and len(s.shape) == 1}
        for rows in (s for s in site.loop.body if isinstance(s, For)):
            inside = tuple(s for s in rows.body if isinstance(s, For))
            for name in sorted(passed & writes(inside)):
                self.w.attempt(Scalarise(name, rows.var))

    def apart(self) -> tuple[str, ...] | None:
        """The loops of an iteration that all work-items of a group share; None where these tiles
        are not for the nest."""
        return ()

    def passed(self, apart: tuple[str, ...]) -> list[str]:
        """What an iteration computes for the loops that stand apart."""
        body = resolve(self.w.fn, self.loop)[0].loop.body
        scalars = {n for n, d in declared(body).items() if not d.shape}
        return sorted(scalars & reads(tuple(resolve(self.w.fn, v)[0].loop for v in apart)))

    def own_rows(self, apart: tuple[str, ...]) -> list[str]:
        """Arrays that the loops that stand apart fill for others of the iteration."""
        body = resolve(self.w.fn, self.loop)[0].loop.body
        rows = {n for n, d in declared(body).items() if len(d.shape) == 1}
        return sorted(rows & writes(tuple(resolve(self.w.fn, v)[0].loop for v in apart)))

    def buffers(self, apart: tuple[str, ...]) -> list[str]:
        """Buffers for the rows of all arrays that the loops of an iteration walk along, but for
        those that only loops that stand apart do; none where one of these has no rows."""
        found = list[str]()
        for array in self.walked(apart):
            known = declared(self.w.fn.body).keys()
            if not self.w.attempt(BufferSlice(array, self.loop)):
                return []
            found += [n for n in declared(self.w.fn.body) if n not in known]
        return found

    def walked(self, apart: tuple[str, ...]) -> list[str]:
        """Arrays of which an iteration uses elements of its own in loops."""
        (site,) = resolve(self.w.fn, self.loop)
        body = site.loop.body
        own, inner = declared(body), {s.var for _, s in walk(body) if isinstance(s, For)}
        rest = tuple(s for s in body if not (isinstance(s, For) and s.var in apart))
        used = [x for _, s in walk(rest) for e in stmt_exprs(s) for x in loads(e)]
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


class _SharedTile(_Tile):
    """The same where what takes long is shared by all work-items of a group."""

    def apart(self) -> tuple[str, ...] | None:
        (site,) = resolve(self.w.fn, self.loop)
        inside = [s for s in site.loop.body if isinstance(s, For)]
        long = [s.var for s in inside if takes_long(self.w.fn, [s])]
        if not long or any(len(resolve(self.w.fn, v)) != 1 for v in long):
            return None
        known = {s.loop.var for s in loops(self.w.fn)}
        for var in long:
            if not self.parallel(var) and not self.split(var):
                return None
        made = [s.loop.var for s in loops(self.w.fn)]
        found = [v for v in made if v in long or v not in known]
        shared = tuple(v for v in found if self.parallel(v))
        left = [resolve(self.w.fn, v)[0].loop for v in found if v not in shared]
        return None if takes_long(self.w.fn, left) else shared

    def split(self, var: str) -> bool:
        """Gives what takes long in a loop that sums up a loop of its own, terms if need be."""
        (site,) = resolve(self.w.fn, var)
        if len(site.loop.body) < 2 or not self.w.attempt(Distribute((var,))):
            apart = with_terms_apart(self.before.of(self.w.derivation), [var])
            self.w.derivation = told_apart(apart.derivation)
            if not self.w.attempt(Distribute((var,))):
                return False
        self.w.derivation = told_apart(self.w.derivation)
        return True

    def parallel(self, var: str) -> bool:
        """Whether iterations of a loop may run at the same time."""
        verdicts = judge(self.w.fn, inlined=True, at=resolve(self.w.fn, var)[0].path)
        return next(v.parallel for v in verdicts if v.var == var) == "yes"
