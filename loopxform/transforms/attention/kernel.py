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

from dataclasses import replace
from functools import partial

from loopxform.ir.affine import simplify
from loopxform.ir.nodes import (
    Assign,
    Bin,
    Call,
    Const,
    Decl,
    Expr,
    For,
    If,
    Load,
    Select,
    Stmt,
    Var,
)
from loopxform.ir.renaming import rename
from loopxform.ir.types import INT_MAX, Level, Scalar
from loopxform.ir.visit import map_exprs, substitute, substitute_body, walk
from loopxform.source import Origin
from loopxform.transforms.attention.nests import Attention
from loopxform.transforms.attention.products import Product
from loopxform.transforms.attention.text import LEAST, KernelText, Tile
from loopxform.transforms.overlapped.kernel_parts import Names

TOGETHER = 4
"""Terms of a sum that are added in a row."""


class AttentionKernel(KernelText):
    """Builds the nest for nests that are attention (`found`)."""

    def __init__(
        self, found: Attention, tile: Tile, types: dict[str, Scalar], names: Names, origin: Origin
    ) -> None:
        super().__init__(tile, types, types[found.weights], names, origin)
        self.found, new = found, names.new
        self.outer = found.rows.loops[:-1]
        self.queries, self.keys = found.scores.loops[-2:]
        self.h = [new(s.var) for s in self.outer]
        self.ib, self.jb = new(f"{self.queries.var}_b"), new(f"{self.keys.var}_b")
        self.most, self.total, self.result = new("most"), new("total"), new("result")
        self.score = new("score")
        self.q_loc, self.k_loc, self.p_loc = new("q_loc"), new("k_loc"), new("p_loc")
        self.v_loc, self.row_loc = new("v_loc"), new("row_loc")

    def filling(self, groups: int) -> list[Expr]:
        """That there are so many tiles."""
        loops = self.found.rows.loops
        count: Expr = Const(1)
        for s in loops[:-1]:
            count = Bin("*", count, s.hi)
        rows = Bin("+", loops[-1].hi, Const(self.tile.queries - 1))
        count = Bin("*", count, Bin("/", rows, Const(self.tile.queries)))
        return [Bin("<=", Const(groups), simplify(count))]

    def many(self, scores: int) -> list[Expr]:
        """That there are more scores, in products that 64 bits hold."""
        count: Expr = Const(1)
        most = Const(INT_MAX)
        for end in (*(s.hi for s in self.found.rows.loops), self.found.keys(self.queries.hi)):
            count = Bin("*", Bin("max", Bin("min", count, most), Const(0)), end)
        return [Bin("<", Const(scores), simplify(count))]

    def countable(self) -> list[Expr]:
        """That an int can number rows, keys and terms beyond the last tile."""
        p, t = self.found.scores, self.tile
        rows = self.queries.hi
        ends = ((rows, t.queries), (self.found.keys(rows), t.columns), (p.terms.hi, t.depth))
        return [Bin("<=", end, Const(INT_MAX - n)) for end, n in ends]

    @property
    def _end(self) -> Expr:
        """The key behind those that the rows of a group have."""
        behind = Bin("+", Var(self.ib), Const(self.tile.queries))
        last = Bin("-", Bin("min", self.queries.hi, behind), Const(1))
        return self.found.keys(last)

    def nest(self) -> For:
        """The loops over groups."""
        body = self._group()
        body = (self._loop(self.ib, self.queries.hi, self.tile.queries, body, Level("grid", 0)),)
        for n, s in reversed([*enumerate(self.outer)]):
            level = Level("grid", min(2, len(self.outer) - n))
            body = (self._loop(self.h[n], s.hi, 1, body, level),)
        (nest,) = body
        assert isinstance(nest, For)
        return nest

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
        walk_keys = self._loop(self.jb, self._end, t.columns, self._keys())
        return (*declared, self._started(), walk_keys, *self._finished())

    def _started(self) -> For:
        r, e = self.names.new("r"), self.names.new("e")
        first = self.found.rows.first or LEAST
        zero = self._set(self._own(self.result, Var(r), Var(e)), Const(0))
        body: list[Stmt] = [
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

    def _staged_terms(self, c: str) -> For:
        """Parts of queries and of keys, transposed."""
        t, (q, k) = self.tile, self._factors()
        tiles = (
            (self.q_loc, q, self.queries, self.ib, self.queries.hi, t.queries),
            (self.k_loc, k, self.keys, self.jb, self._end, t.columns),
        )
        return self._items(
            *(
                self._staged(rows, t.depth, partial(self._term, c, tile, load, loop, first, end))
                for tile, load, loop, first, end, rows in tiles
            )
        )

    def _term(
        self,
        c: str,
        tile: str,
        load: Load,
        loop: For,
        first: str,
        end: Expr,
        own: Expr,
        term: Expr,
    ) -> Stmt:
        """An element of a part of queries or of keys."""
        scores = self.found.scores
        at, column = Bin("+", Var(first), own), Bin("+", Var(c), term)
        values = {loop.var: at, scores.terms.var: column, **self._outer_values(scores)}
        there = Bin("&&", Bin("<", at, end), Bin("<", column, scores.terms.hi))
        return self._filled(Load(tile, (term, own)), there, substitute(load, values))

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
        outer = self.names.new(c)
        body = [*self._index(c, Bin("+", Var(outer), Var(u))), *body]
        return self._items(
            self._loop(outer, t.depth, together, [self._unrolled(u, together, *body)])
        )

    def _type_of(self, tile: str) -> Scalar:
        q, k = self._factors()
        arrays = {self.q_loc: q.array, self.k_loc: k.array}
        arrays[self.v_loc] = self.found.values.factors[1].array
        return self.types[arrays[tile]] if tile in arrays else self.type

    # ------------------------------------------------------------ rows

    def _largest(self) -> For:
        """The scores, and the largest of a work-item in each row."""
        t, p = self.tile, self.found.scores
        r, e, top = (self.names.new(x) for x in ("r", "e", "top"))
        own = self._own(self.score, Var(r), Var(e))
        i = Bin("+", Var(self.ib), self._row(r))
        j = Bin("+", Var(self.jb), self._column(Var(e), t.keys))
        values = {**self._outer_values(p), self.queries.var: i, self.keys.var: j}
        there = Bin("&&", Bin("<", i, self.queries.hi), Bin("<", j, self.found.keys(i)))
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
        scalars = (s.name for _, s in walk(p.loops[-1].body) if isinstance(s, Decl) and not s.shape)
        own = {name: self.names.new(name) for name in dict.fromkeys(scalars)}
        body = map_exprs(p.rest, lambda e: _register(e, stored))
        body = _stored_to(body, stored)
        start: list[Stmt] = []
        for name, new in own.items():
            start.append(self._decl(new, type=self.types[name]))
        start.append(self._set(Var(own.get(p.total, p.total)), total))
        kept = rename(tuple(s for s in body if not isinstance(s, Decl)), own)
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
        there = Bin("&&", Bin("<", at, self._end), Bin("<", c, self.found.width))
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
        some = Bin("<", Const(0), self.found.keys(i))
        result = self._own(self.result, Var(r), Var(e))
        value: Expr = Bin("+", result, Var(odd))
        if isinstance(rows.divided, Bin):
            by = substitute(rows.divided.right, {rows.total: Var(whole)})
            value = Select(some, Bin(rows.divided.op, value, by), result)
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
