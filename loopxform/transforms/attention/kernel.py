"""The kernel of attention, as a nest: groups for tiles of rows (queries); each walks over tiles of
keys, and keeps the largest score of each row, the sum of its weights and its weighted values.

    forall h (group.y): forall i_b (group.x):
      T most[Y][X][R], total[Y][X][R], result[Y][X][R][C];  local T q_loc[D][...], k_loc, p_loc ...
      for j_b:
        scores of the tile, in registers:  score[y][x][r][e] += q_loc[c][...] * k_loc[c][...]
        the largest score of each row, from all work-items that have scores of it (local memory)
        result *= exp(most - new);  score = exp(score - new);  total += score
        result[y][x][r][e] += p_loc[j][...] * v_loc[j][...]
      out[i][c] = result / total

(Dao et al., "FlashAttention", 2022, algorithm 1; Milakov and Gimelshein, 2018, algorithm 3.)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from loopxform.ir.affine import simplify
from loopxform.ir.nodes import (
    Assign,
    Bin,
    Call,
    Const,
    Copy,
    Decl,
    Expr,
    For,
    If,
    Load,
    Select,
    Slice,
    Stmt,
    Un,
    Var,
)
from loopxform.ir.renaming import rename
from loopxform.ir.types import FLOAT, INT_MAX, Level, Scalar, Space
from loopxform.ir.visit import map_exprs, substitute, substitute_body, walk
from loopxform.source import Origin
from loopxform.transforms.attention.nests import Attention, Product
from loopxform.transforms.overlapped.kernel_parts import Names

TOGETHER = 4
"""Terms of a sum that are added in a row."""

LEAST = Un("-", Bin("/", Const(1.0, FLOAT, "1.0f"), Const(0.0, FLOAT, "0.0f")))


@dataclass(frozen=True)
class Tile:
    """The tile of a group: work-items along rows and along keys, rows and keys of each, the most
    components of values, and how many terms of a sum are in local memory at a time."""

    y: int
    x: int
    rows: int
    keys: int
    width: int
    depth: int

    @property
    def queries(self) -> int:
        """The rows of a group."""
        return self.y * self.rows

    @property
    def columns(self) -> int:
        """The keys of a tile."""
        return self.x * self.keys

    @property
    def components(self) -> int:
        """Those of a value that a work-item has."""
        return self.width // self.x

    def problem(self) -> str:
        """Why these sizes make no tile ("": they do)."""
        if self.width % self.x or self.columns % self.depth or self.depth % self.x:
            return "work-items along keys must divide the width and the depth, and that the keys"
        return ""

    @property
    def local_elements(self) -> int:
        """What a group has in local memory."""
        wide = self.queries + 4  # as kernels pad rows
        return self.depth * (2 * wide + self.columns + self.width) + self.x * wide


@dataclass
class AttentionKernel:
    """Builds the nest for nests that are attention; `types` are those of names."""

    found: Attention
    tile: Tile
    types: dict[str, Scalar]
    names: Names
    origin: Origin

    def filling(self, groups: int) -> list[Expr]:
        """That there are so many tiles."""
        loops = self.found.rows.loops
        count: Expr = Const(1)
        for s in loops[:-1]:
            count = Bin("*", count, s.hi)
        rows = Bin("+", loops[-1].hi, Const(self.tile.queries - 1))
        count = Bin("*", count, Bin("/", rows, Const(self.tile.queries)))
        return [Bin("<=", Const(groups), simplify(count))]

    def countable(self) -> list[Expr]:
        """That an int can number rows, keys and terms beyond the last tile."""
        p, t = self.found.scores, self.tile
        ends = ((p.loops[-2], t.queries), (p.loops[-1], t.columns), (p.terms, t.depth))
        return [Bin("<=", s.hi, Const(INT_MAX - n)) for s, n in ends]

    def nest(self) -> For:
        """The loops over groups."""
        a, t = self.found, self.tile
        self.type = self.types[a.weights]
        self.outer = a.rows.loops[:-1]
        self.queries, self.keys = a.scores.loops[-2], a.scores.loops[-1]
        new = self.names.new
        self.h = [new(s.var) for s in self.outer]
        self.ib, self.jb = new(f"{self.queries.var}_b"), new(f"{self.keys.var}_b")
        self.ty, self.tx = new("row"), new("column")
        for word in ("most", "total", "result", "score"):
            setattr(self, word, new(word))
        for word in ("q_loc", "k_loc", "p_loc", "v_loc", "row_loc"):
            setattr(self, word, new(word))
        body = self._group()
        body = (self._loop(self.ib, self.queries.hi, t.queries, body, Level("grid", 0)),)
        for n, s in reversed([*enumerate(self.outer)]):
            level = Level("grid", min(2, len(self.outer) - n))
            body = (self._loop(self.h[n], s.hi, 1, body, level),)
        (nest,) = body
        assert isinstance(nest, For)
        return nest

    # ------------------------------------------------------------ parts of the text

    def _loop(
        self, var: str, hi: Expr | int, step: int, body: Sequence[Stmt], level: Level | None = None
    ) -> For:
        end = Const(hi) if isinstance(hi, int) else hi
        parallel = level is not None
        kind = self.queries.type
        return For(
            var,
            Const(0),
            end,
            Const(step),
            tuple(body),
            parallel=parallel,
            level=level,
            type=kind,
            origin=self.origin,
        )

    def _items(self, *body: Stmt) -> For:
        """The loops over the work-items of a group."""
        inner = self._loop(self.tx, self.tile.x, 1, body, Level("group", 0))
        return self._loop(self.ty, self.tile.y, 1, (inner,), Level("group", 1))

    def _unrolled(self, var: str, hi: int, *body: Stmt) -> For:
        return replace(self._loop(var, hi, 1, body), unroll=True)

    def _set(self, target: Var | Load, value: Expr, op: str = "") -> Assign:
        return Assign(target, value, op, origin=self.origin)

    def _decl(
        self, name: str, *shape: int, local: bool = False, type: Scalar | None = None
    ) -> Decl:
        sizes, space = tuple(map(Const, shape)), Space.LOCAL if local else None
        return Decl(name, type or self.type, sizes, space, origin=self.origin)

    def _scalar(self, name: str, value: Expr, type: Scalar | None = None) -> list[Stmt]:
        return [self._decl(name, type=type), self._set(Var(name), value)]

    def _index(self, name: str, value: Expr) -> list[Stmt]:
        return self._scalar(name, value, self.queries.type)

    def _own(self, array: str, *index: Expr) -> Load:
        """What a work-item keeps in registers."""
        return Load(array, (Var(self.ty), Var(self.tx), *index))

    def _row(self, r: str) -> Expr:
        """A row of the tile."""
        return Bin("+", Bin("*", Var(self.ty), Const(self.tile.rows)), Var(r))

    def _column(self, e: Expr, each: int) -> Expr:
        """The place of an element of a work-item: vectors are dealt out in turns."""
        v = min(4, each)
        turn = Bin("*", Bin("/", e, Const(v)), Const(v * self.tile.x))
        first = Bin("+", turn, Bin("*", Var(self.tx), Const(v)))
        return Bin("+", first, Bin("%", e, Const(v)))

    @property
    def _item(self) -> Expr:
        return Bin("+", Bin("*", Var(self.ty), Const(self.tile.x)), Var(self.tx))

    # ------------------------------------------------------------ a group

    def _group(self) -> tuple[Stmt, ...]:
        t = self.tile
        wide = t.queries
        q, k = self._factors()
        v = self.found.values.factors[1]
        declared = [
            self._decl(self.most, t.y, t.x, t.rows),
            self._decl(self.total, t.y, t.x, t.rows),
            self._decl(self.result, t.y, t.x, t.rows, t.components),
            self._decl(self.q_loc, t.depth, wide, local=True, type=self.types[q.array]),
            self._decl(self.k_loc, t.depth, t.columns, local=True, type=self.types[k.array]),
            self._decl(self.p_loc, t.depth, wide, local=True),
            self._decl(self.v_loc, t.depth, t.width, local=True, type=self.types[v.array]),
            self._decl(self.row_loc, t.x, wide, local=True),
        ]
        walk_keys = self._loop(self.jb, self.keys.hi, t.columns, self._keys())
        return (*declared, self._started(), walk_keys, *self._finished())

    def _started(self) -> For:
        r, e = self.names.new("r"), self.names.new("e")
        first = self.found.rows.first or LEAST
        zero = self._set(self._own(self.result, Var(r), Var(e)), Const(0))
        body = [
            self._set(self._own(self.most, Var(r)), first),
            self._set(self._own(self.total, Var(r)), Const(0)),
            self._unrolled(e, self.tile.components, zero),
        ]
        return self._items(self._unrolled(r, self.tile.rows, *body))

    def _keys(self) -> list[Stmt]:
        """What a group does with a tile of keys."""
        t = self.tile
        r, e, c = (self.names.new(x) for x in "rec")
        zero = self._set(self._own(self.score, Var(r), Var(e)), Const(0))
        clear = self._items(self._unrolled(r, t.rows, self._unrolled(e, t.keys, zero)))
        terms = self.found.scores.terms
        parts = [
            self._staged_terms(c),
            self._multiplied(self.q_loc, self.k_loc, self.score, t.keys),
        ]
        scores = self._loop(c, terms.hi, t.depth, parts)
        chunk = self.names.new("part")
        weigh = [
            self._staged_values(chunk),
            self._multiplied(self.p_loc, self.v_loc, self.result, t.components),
        ]
        values = self._unrolled(chunk, t.columns // t.depth, *weigh)
        declared = self._decl(self.score, t.y, t.x, t.rows, t.keys)
        return [declared, clear, scores, self._largest(), self._rescaled(), values]

    def _factors(self) -> tuple[Load, Load]:
        """The element of a query and that of a key."""
        a, b = self.found.scores.factors
        return (a, b) if any(_mentions(i, self.queries.var) for i in a.index) else (b, a)

    def _staged(self, rows: int, fast: int, element: Callable[[Expr, Expr], Stmt]) -> Stmt:
        """All elements of a tile, those of a row of `fast` next to each other, each computed from
        its place. Each work-item has as many, along a column, where that can be."""
        n, items = self.names.new("n"), self.tile.y * self.tile.x
        if (rows * fast) % items == 0 and items % fast == 0:
            first = Bin("/", self._item, Const(fast))
            row = Bin("+", first, Bin("*", Var(n), Const(items // fast)))
            column = Bin("%", self._item, Const(fast))
            return self._unrolled(n, rows * fast // items, element(row, column))
        place = Bin("/", Var(n), Const(fast)), Bin("%", Var(n), Const(fast))
        return replace(self._loop(n, rows * fast, items, [element(*place)]), lo=self._item)

    def _staged_terms(self, c: str) -> For:
        """Parts of queries and of keys, transposed."""
        t, (q, k) = self.tile, self._factors()
        tiles = (
            (self.q_loc, q, self.queries, self.ib, t.queries),
            (self.k_loc, k, self.keys, self.jb, t.columns),
        )
        return self._items(
            *(
                self._staged(rows, t.depth, partial(self._term, c, tile, load, loop, first))
                for tile, load, loop, first, rows in tiles
            )
        )

    def _term(
        self, c: str, tile: str, load: Load, loop: For, first: str, own: Expr, term: Expr
    ) -> Stmt:
        """An element of a part of queries or of keys."""
        scores = self.found.scores
        at, column = Bin("+", Var(first), own), Bin("+", Var(c), term)
        values = {loop.var: at, scores.terms.var: column, **self._outer_values(scores)}
        there = Bin("&&", Bin("<", at, loop.hi), Bin("<", column, scores.terms.hi))
        return self._filled(Load(tile, (term, own)), there, substitute(load, values))

    def _filled(self, target: Load, there: Expr, value: Expr) -> If:
        kept, zero = self._set(target, value), self._set(target, Const(0))
        return If(there, (kept,), (zero,), origin=self.origin)

    def _outer_values(self, p: Product) -> dict[str, Expr]:
        return {s.var: Var(h) for s, h in zip(p.loops, self.h)}

    def _multiplied(self, rows: str, columns: str, sums: str, each: int) -> For:
        """Adds products of what is in local memory to the sums of each work-item."""
        t, v = self.tile, min(4, each)
        c, r, e, u = (self.names.new(x) for x in "creu")
        left = self.names.new("left")
        parts = [self.names.new("right") for _ in range(each // v)]
        first = Bin("*", Var(self.ty), Const(t.rows))
        kinds = {n: self._type_of(n) for n in (rows, columns)}
        body: list[Stmt] = [self._decl(left, t.rows, type=kinds[rows])]
        body += [self._decl(n, v, type=kinds[columns]) for n in parts]
        body.append(self._read(left, rows, c, first, t.rows))
        for n, part in enumerate(parts):
            at = Bin("+", Const(n * v * t.x), Bin("*", Var(self.tx), Const(v)))
            body.append(self._read(part, columns, c, at, v))
        sums_of = list[Stmt]()
        for n, part in enumerate(parts):
            target = self._own(sums, Var(r), Bin("+", Const(n * v), Var(e)))
            term = Bin("*", Load(left, (Var(r),)), Load(part, (Var(e),)))
            sums_of.append(self._unrolled(e, v, self._set(target, term, "+")))
        body.append(self._unrolled(r, t.rows, *sums_of))
        together = next(n for n in (TOGETHER, 2, 1) if t.depth % n == 0)
        first = self.names.new(c)
        body = [*self._index(c, Bin("+", Var(first), Var(u))), *body]
        return self._items(
            self._loop(first, t.depth, together, [self._unrolled(u, together, *body)])
        )

    def _type_of(self, tile: str) -> Scalar:
        q, k = self._factors()
        arrays = {self.q_loc: q.array, self.k_loc: k.array}
        arrays[self.v_loc] = self.found.values.factors[1].array
        return self.types[arrays[tile]] if tile in arrays else self.type

    def _read(self, target: str, tile: str, c: str, first: Expr, count: int) -> Copy:
        """Copies elements of a row of a tile into registers, in vectors."""
        slices = (Slice(Var(c), None), Slice(first, Const(count)))
        width = next(n for n in (4, 2, 1) if count % n == 0)
        return Copy(target, tile, slices, collective=False, width=width, origin=self.origin)

    # ------------------------------------------------------------ rows

    def _largest(self) -> For:
        """The scores, and the largest of a work-item in each row."""
        t, p = self.tile, self.found.scores
        r, e, top = (self.names.new(x) for x in ("r", "e", "top"))
        own = self._own(self.score, Var(r), Var(e))
        i = Bin("+", Var(self.ib), self._row(r))
        j = Bin("+", Var(self.jb), self._column(Var(e), t.keys))
        values = {**self._outer_values(p), self.queries.var: i, self.keys.var: j}
        there = Bin("&&", Bin("<", i, self.queries.hi), Bin("<", j, self.keys.hi))
        rest = self._completed(p, values, own, {self.found.weights: own})
        score = If(there, rest, (self._set(own, LEAST),), origin=self.origin)
        larger = self._set(Var(top), own)
        test = If(Bin(">", own, Var(top)), (larger,), origin=self.origin)
        body = [
            *self._scalar(top, LEAST),
            self._unrolled(e, t.keys, score, test),
            self._set(Load(self.row_loc, (Var(self.tx), self._row(r))), Var(top)),
        ]
        return self._items(self._unrolled(r, t.rows, *body))

    def _completed(
        self, p: Product, values: dict[str, Expr], total: Expr, stored: dict[str, Expr]
    ) -> tuple[Stmt, ...]:
        """What stands behind a sum, with names of its own, for the sum and elements that are
        registers here."""
        own = {s.name: self.names.new(s.name) for _, s in walk(p.loops[-1].body) if _is_scalar(s)}
        body = map_exprs(p.rest, lambda e: _register(e, stored))
        body = _stored_to(body, stored)
        start: list[Stmt] = []
        for name, new in own.items():
            start.append(self._decl(new, type=self.types[name]))
        start.append(self._set(Var(own.get(p.total, p.total)), total))
        kept = tuple(s for s in body if not isinstance(s, Decl))
        kept = rename(kept, own)
        return (*start, *substitute_body(kept, values))

    def _rescaled(self) -> For:
        """The largest score so far, and all sums in proportion to it."""
        t, rows = self.tile, self.found.rows
        r, e, n, top = (self.names.new(x) for x in ("r", "e", "n", "top"))
        by, shift = self.names.new("by"), self.names.new("shift")
        most, total = self._own(self.most, Var(r)), self._own(self.total, Var(r))
        own = self._own(self.score, Var(r), Var(e))
        shared = Load(self.row_loc, (Var(n), self._row(r)))
        larger = If(Bin(">", shared, Var(top)), (self._set(Var(top), shared),), origin=self.origin)
        same, none = Bin("==", Var(top), most), Bin("==", Var(top), LEAST)
        grown = Call(rows.function, (Bin("-", most, Var(top)),))
        weight = Call(rows.function, (Bin("-", own, Var(shift)),))
        result = self._own(self.result, Var(r), Var(e))
        body = [
            *self._scalar(top, most),
            self._unrolled(n, t.x, larger),
            *self._scalar(by, Select(same, Const(1), grown)),
            *self._scalar(shift, Select(none, Const(0), Var(top))),
            self._set(most, Var(top)),
            self._set(total, Var(by), "*"),
            self._unrolled(e, t.components, self._set(result, Var(by), "*")),
            self._unrolled(e, t.keys, self._set(own, weight), self._set(total, own, "+")),
        ]
        return self._items(self._unrolled(r, t.rows, *body))

    def _staged_values(self, chunk: str) -> For:
        """Weights of some keys, and the values of these."""
        t = self.tile
        each = t.depth // t.x
        r, e = self.names.new("r"), self.names.new("e")
        number = Bin("+", Bin("*", Var(chunk), Const(each)), Var(e))
        place = Bin("+", Bin("*", Var(e), Const(t.x)), Var(self.tx))
        weight = self._own(self.score, Var(r), number)
        store = self._set(Load(self.p_loc, (place, self._row(r))), weight)
        weights = self._unrolled(e, each, self._unrolled(r, t.rows, store))
        return self._items(weights, self._staged(t.depth, t.width, partial(self._value, chunk)))

    def _value(self, chunk: str, own: Expr, c: Expr) -> Stmt:
        """A component of the value that row `own` of the tile is of, as weights are: that of
        element `own / x` of the work-item `own % x`."""
        t, p = self.tile, self.found.values
        v = min(4, t.keys)
        each = t.depth // t.x
        element = Bin("+", Bin("*", Var(chunk), Const(each)), Bin("/", own, Const(t.x)))
        turn = Bin("*", Bin("/", element, Const(v)), Const(v * t.x))
        item = Bin("*", Bin("%", own, Const(t.x)), Const(v))
        key = Bin("+", Bin("+", turn, item), Bin("%", element, Const(v)))
        at = Bin("+", Var(self.jb), key)
        there = Bin("&&", Bin("<", at, self.keys.hi), Bin("<", c, self.found.width))
        values = {p.terms.var: at, p.loops[-1].var: c, **self._outer_values(p)}
        return self._filled(Load(self.v_loc, (own, c)), there, substitute(p.factors[1], values))

    # ------------------------------------------------------------ results

    def _finished(self) -> list[Stmt]:
        """The sum of each row, from all work-items, and the results."""
        t, rows, p = self.tile, self.found.rows, self.found.values
        r, n, e, whole, odd = (self.names.new(x) for x in ("r", "n", "e", "whole", "odd"))
        shared = Load(self.row_loc, (Var(self.tx), self._row(r)))
        share = self._set(shared, self._own(self.total, Var(r)))
        most = self._own(self.most, Var(r))
        i = Bin("+", Var(self.ib), self._row(r))
        c = self._column(Var(e), t.components)
        part = Load(self.row_loc, (Var(n), self._row(r)))
        some = Bin("<", Const(0), self.keys.hi)
        result = self._own(self.result, Var(r), Var(e))
        value: Expr = Bin("+", result, Var(odd))
        if isinstance(rows.divided, Bin):
            by = substitute(rows.divided.right, {rows.total: Var(whole)})
            value = Bin(rows.divided.op, value, by)
        kept = {a: substitute(x, {rows.total: Var(whole)}) for a, x in rows.stored.items()}
        values = {**self._outer_values(p), p.loops[-2].var: i, p.loops[-1].var: c}
        done = self._completed(p, values, value, kept)
        store = If(Bin("<", c, self.found.width), done, origin=self.origin)
        body = [
            *self._scalar(odd, Select(some, Bin("-", most, most), Const(0))),
            *self._scalar(whole, Bin("+", rows.start, Var(odd))),
            self._unrolled(n, t.x, self._set(Var(whole), part, "+")),
            self._unrolled(e, t.components, store),
        ]
        inside = If(Bin("<", i, self.queries.hi), tuple(body), origin=self.origin)
        return [
            self._items(self._unrolled(r, t.rows, share)),
            self._items(self._unrolled(r, t.rows, inside)),
        ]


def _is_scalar(s: Stmt) -> bool:
    return isinstance(s, Decl) and not s.shape


def _mentions(e: Expr, name: str) -> bool:
    return substitute(e, {name: Const(0)}) != e


def _register(e: Expr, kept: dict[str, Expr]) -> Expr:
    """What stands for an element that is in a register."""
    return kept[e.array] if isinstance(e, Load) and e.array in kept else e


def _stored_to(body: tuple[Stmt, ...], kept: dict[str, Expr]) -> tuple[Stmt, ...]:
    """Stores to such elements."""

    def own(s: Stmt) -> Stmt:
        if isinstance(s, Assign) and isinstance(s.target, Load) and s.target.array in kept:
            target = kept[s.target.array]
            assert isinstance(target, Load)
            return replace(s, target=target)
        return s

    return tuple(map(own, body))
