"""The kernel of a stream of stages, as a nest: groups for tiles of a chunk of rows, a loop over the
rows that all work-items of a group run in step, and in it one loop over the work-items.

    forall rows_b (group.y): forall cols_b (group.x):
      T A_0[W][2], A_1[W][2] ...;  local T A_0_row[2][W + 2] ...
      for r:
        forall t (thread.x): { A_0[t][0] = A[r][col];  if (...) A_1[t][0] = f(A_0 ...);  ...
                               if (...) A_next[r - 3][col] = A_3[t][0];  A_0[t][1] = A_0[t][0]; }
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import reduce

from loopxform.ir.affine import poly
from loopxform.ir.nodes import Assign, Bin, Const, Decl, Expr, For, If, Load, Stmt, Var
from loopxform.ir.types import Level, Scalar, Space
from loopxform.source import Origin
from loopxform.transforms.edges.bounds import conjunction
from loopxform.transforms.overlapped.boxes import covers, inside, least, moved
from loopxform.transforms.overlapped.kernel_parts import Memory, Names, Shape, Store
from loopxform.transforms.overlapped.stages import (
    Box,
    Field,
    Stage,
    reads_others,
    value_at,
)
from loopxform.transforms.overlapped.streaming import Stream, Version, is_own, place_of


@dataclass
class StreamedKernel:
    """Builds the nest. `cover` are the elements that the groups share, `coordinate` is the type of
    coordinates."""

    stream: Stream
    memory: dict[Field, Memory]
    stores: dict[Field, Store]
    cover: Box
    shape: Shape
    names: Names
    coordinate: Scalar
    origin: Origin
    _own: dict[tuple[int, int], str] = field(default_factory=dict)
    _ahead: dict[int, str] = field(default_factory=dict)
    _rows: dict[int, str] = field(default_factory=dict)
    _sides: dict[tuple[int, tuple[int, ...]], str] = field(default_factory=dict)

    def nest(self) -> For:
        """The loops over groups."""
        rank, batch = self.stream.rank, self.stream.batch
        axes = "zyx"[-rank:]
        self._plane = [self.names.new(f"plane_{n}" if n else "plane") for n in range(batch)]
        self._tile = [self.names.new(f"{axis}_b") for axis in axes]
        self._item = [self.names.new(f"{axis}_t") for axis in axes[1:]]
        self._row = self.names.new("row")
        self._at = [self.names.new(axis) for axis in axes[1:]]
        body: tuple[Stmt, ...] = self._group()
        steps = (*([1] * batch), self.shape.rows, *self._valid)
        for d, var in reversed([*enumerate((*self._plane, *self._tile))]):
            lo, hi = self.cover[d]
            level = Level("grid", min(2, rank + batch - 1 - d))
            body = (self._loop(var, lo, hi, steps[d], body, level),)
        (nest,) = body
        assert isinstance(nest, For)
        return nest

    @property
    def _valid(self) -> tuple[int, ...]:
        """How many elements a tile stores along the dimensions of work-items."""
        ends = zip(self.shape.widths, self.stream.low[1:], self.stream.high[1:])
        return tuple(width - low - high for width, low, high in ends)

    @property
    def _numbers(self) -> range:
        """The elements of a work-item."""
        return range(self.shape.elements)

    def _loop(
        self,
        var: str,
        lo: Expr,
        hi: Expr,
        step: int,
        body: tuple[Stmt, ...],
        level: Level | None = None,
    ) -> For:
        parallel = level is not None
        return For(
            var,
            lo,
            hi,
            Const(step),
            body,
            parallel=parallel,
            level=level,
            type=self.coordinate,
            origin=self.origin,
        )

    # ------------------------------------------------------------ storage

    def _group(self) -> tuple[Stmt, ...]:
        declared: list[Stmt] = []
        cleared: list[Stmt] = []
        shape = tuple(map(Const, self.shape.items))
        more = (Const(self.shape.elements),) if self.shape.elements > 1 else ()
        for v in self.stream.versions:
            name = self.names.new(f"{v.field.array}_{v.number}")
            for c in self._numbers:
                alone = v.kept or not more
                self._own[v.number, c] = name if alone else self.names.new(f"{name}_{c}")
            if not v.pieces:
                self._ahead[v.number] = self.names.new(f"{name}_ahead")
                declared.append(self._decl(self._ahead[v.number], v, (*shape, *more)))
            if v.kept:
                declared.append(self._decl(name, v, (*shape, *more, Const(v.kept + 1))))
                every = [(n, c) for c in self._numbers for n in range(v.kept + 1)]
                cleared += [self._set(self._value(v, n, c), Const(0)) for n, c in every]
            for place, (first, last) in v.across.items():
                text = "_".join(f"{'l' if n < 0 else 'r'}{abs(n)}" for n in place)
                side = self._sides[v.number, place] = self.names.new(f"{name}_{text}")
                if last > first:
                    declared.append(self._decl(side, v, (*shape, Const(last - first + 1))))
                    ages = range(last - first + 1)
                    cleared += [self._set(self._side(v, place, n), Const(0)) for n in ages]
            if v.ring:
                rows = self._rows[v.number] = self.names.new(f"{name}_row")
                ends = zip(self.shape.widths, self._margins(v))
                widths = [Const(w + b + a) for w, (b, a) in ends]
                declared.append(self._decl(rows, v, (Const(v.ring), *widths), Space.LOCAL))
                cleared.append(self._cleared(v, rows))
        up, top = self.stream.low[0], self._tile[0]
        inputs = [(v, c) for v in self.stream.inputs for c in self._numbers]
        ahead = [self._read_ahead(v, c, -up, top) for v, c in inputs]
        before = [self._items((*cleared, *self._columns(), *ahead))]
        return (*declared, *before, *self._walks())

    def _decl(
        self, name: str, v: Version, shape: tuple[Expr, ...], space: Space | None = None
    ) -> Decl:
        return Decl(name, self.memory[v.field].type, shape, space, origin=self.origin)

    def _set(self, target: Var | Load, value: Expr) -> Assign:
        return Assign(target, value, origin=self.origin)

    def _margins(self, v: Version) -> list[tuple[int, int]]:
        """How many elements before and behind those of the tile neighbours read."""
        last = (self.shape.elements - 1, *(0 for _ in self._item[1:]))
        spans = [(min(p), max(p) - n) for *p, n in zip(*v.across, last)]
        return [(max(0, -low), max(0, high)) for low, high in spans]

    def _cleared(self, v: Version, rows: str) -> Stmt:
        """Sets all of the rows in local memory to 0: what edges of tiles compute is of no use, but
        is computed."""
        counters = [self.names.new("n"), *(self.names.new(f"{t}_n") for t in self._item)]
        inside: Stmt = self._set(Load(rows, tuple(map(Var, counters))), Const(0))
        for d in reversed(range(len(self._item))):
            width, (before, behind) = self.shape.widths[d], self._margins(v)[d]
            hi, own = Const(width + before + behind), Var(self._item[d])
            inside = self._loop(counters[d + 1], own, hi, self.shape.items[d], (inside,))
        return self._loop(counters[0], Const(0), Const(v.ring), 1, (inside,))

    # ------------------------------------------------------------ elements

    def _value(self, v: Version, age: int, c: int) -> Var | Load:
        """A work-item's own element of number `c`, some iterations before."""
        name = self._own[v.number, c]
        return Load(name, (*self._numbered(c), Const(age))) if v.kept else Var(name)

    def _numbered(self, c: int) -> tuple[Expr, ...]:
        """The subscripts of what a work-item has of its own for an element."""
        return (*map(Var, self._item), *([Const(c)] if self.shape.elements > 1 else []))

    def _side(self, v: Version, place: tuple[int, ...], age: int = 0) -> Var | Load:
        """The element at another place; age 0 is that of this iteration."""
        name, (first, last) = self._sides[v.number, place], v.across[place]
        if first == last:
            return Var(name)
        return Load(name, (*map(Var, self._item), Const(age)))

    def _in_ring(self, v: Version, place: tuple[int, ...], age: int) -> Load:
        """The element in local memory."""
        count: Expr = Bin("-", Var(self._row), Var(self._tile[0]))
        count = Bin("+", count, Const(self.stream.low[0] + (v.ring - age) % v.ring))
        slot = Bin("&", count, Const(v.ring - 1))
        if v.ring & (v.ring - 1):
            slot = Bin("%", count, Const(v.ring))
        margins = self._margins(v)
        places = (
            _plus(self._first(d), n + before)
            for d, (n, (before, _)) in enumerate(zip(place, margins))
        )
        return Load(self._rows[v.number], (slot, *places))

    def _first(self, d: int) -> Expr:
        """Where in a row of the tile a work-item's elements begin."""
        item, elements = Var(self._item[d]), self.shape.elements
        return Bin("*", item, Const(elements)) if d == 0 and elements > 1 else item

    def _coordinates(self, row: Expr, c: int) -> tuple[Expr, ...]:
        """Those of an element of a row."""
        first, *rest = map(Var, self._at)
        return (*map(Var, self._plane), row, _plus(first, c), *rest)

    def _behind(self, v: Version) -> Expr:
        """The row that an iteration computes."""
        return _after(self._row, -v.lag)

    # ------------------------------------------------------------ an iteration

    def _walks(self) -> tuple[Stmt, ...]:
        """The loop over rows; one without tests for tiles that lie inside of all domains."""
        inner = self._inner()
        if inner is None:
            return (self._walk(whole=False),)
        fast, safe = self._walk(whole=True), self._walk(whole=False)
        return (If(inner, (fast,), (safe,), origin=self.origin),)

    def _inner(self) -> Expr | None:
        """Whether all that a group computes are iterations of the program; None where that cannot
        be asked."""
        stages = [_largest(v.pieces)[1] for v in self.stream.versions if v.pieces]
        if any(s.template.exact for s in stages):
            return None
        fields = frozenset(f.array for f in self.memory)
        others = any(reads_others(s, fields) for s in stages)
        before = self.stream.low[0] + (self.stream.delay if others else 0)
        ends = [(0, 1)] * self.stream.batch
        ends.append((before, self.shape.rows + self.stream.delay + 1))
        ends += list(zip(self.stream.low[1:], map(sum, zip(self._valid, self.stream.high[1:]))))
        tests: dict[Expr, None] = {}
        for box in (*(s.domain for s in stages), *(m.certain for m in self.memory.values())):
            for d, (low, high) in enumerate(ends):
                var = (*self._plane, *self._tile)[d]
                first, last = _after(var, -low), _after(var, high)
                tests |= {Bin("<=", box[d][0], first): None, Bin("<=", last, box[d][1]): None}
        return conjunction([*tests])

    def _walk(self, *, whole: bool) -> For:
        up, delay = self.stream.low[0], self.stream.delay
        first, last = Var(self._tile[0]), self._end
        if whole:
            last = _after(self._tile[0], self.shape.rows)
        lo = Bin("-", first, Const(up)) if up else first
        hi = Bin("+", last, Const(delay)) if delay else last
        return self._loop(self._row, lo, hi, 1, (self._items(self._iteration(whole=whole)),))

    @property
    def _end(self) -> Expr:
        """The row behind those that a group stores."""
        chunk = Bin("+", Var(self._tile[0]), Const(self.shape.rows))
        return least([chunk, self.cover[self.stream.batch][1]])

    def _items(self, body: tuple[Stmt, ...]) -> For:
        """The loops over the work-items of a group."""
        for d in reversed(range(len(self._item))):
            level = Level("group", len(self._item) - 1 - d)
            items = Const(self.shape.items[d])
            body = (self._loop(self._item[d], Const(0), items, 1, body, level),)
        (nest,) = body
        assert isinstance(nest, For)
        return nest

    def _iteration(self, *, whole: bool) -> tuple[Stmt, ...]:
        """What a work-item computes of a row; `whole` ones need no tests."""
        out: list[Stmt] = [*self._columns()]
        for v in self.stream.versions:
            out += self._sides_of(v)
            for c in self._numbers:
                if not v.kept:
                    out.append(self._decl(self._own[v.number, c], v, ()))
                out += self._computed(v, c, whole) if v.pieces else self._loaded(v, c, whole)
            shared = {place[0] % self.shape.elements for place in v.across}
            for c in sorted(shared):
                centre = (c, *(0 for _ in self._item[1:]))
                out.append(self._set(self._in_ring(v, centre, 0), self._value(v, 0, c)))
            for c in self._numbers:
                out += self._stored(v, c, whole)
        out += self._shifted()
        return tuple(out)

    def _columns(self) -> list[Stmt]:
        """The coordinates of a work-item."""
        out: list[Stmt] = []
        for d, name in enumerate(self._at, 1):
            value: Expr = Bin("+", Var(self._tile[d]), self._first(d - 1))
            low = self.stream.low[d]
            value = Bin("-", value, Const(low)) if low else value
            out += [Decl(name, self.coordinate, origin=self.origin), self._set(Var(name), value)]
        return out

    def _sides_of(self, v: Version) -> list[Stmt]:
        """What neighbours computed in earlier iterations is read from local memory."""
        out: list[Stmt] = []
        for place, (first, last) in v.across.items():
            if first == last:
                out.append(self._decl(self._sides[v.number, place], v, ()))
            out.append(self._set(self._side(v, place), self._in_ring(v, place, first)))
        return out

    def _loaded(self, v: Version, c: int, whole: bool) -> list[Stmt]:
        """An element of a row, which was read an iteration ahead, as is that of the next one."""
        ahead = Load(self._ahead[v.number], self._numbered(c))
        following = self._read_ahead(v, c, 1, self._row, whole=whole)
        return [self._set(self._value(v, 0, c), ahead), following]

    def _read_ahead(self, v: Version, c: int, rows: int, of: str, *, whole: bool = False) -> Stmt:
        """Reads the element of the row that is so many rows from another."""
        at, memory = self._coordinates(_after(of, rows), c), self.memory[v.field]
        own = Load(self._ahead[v.number], self._numbered(c))
        element = self._set(own, memory.element(at))
        if whole:
            return element
        test = memory.there(at)
        return If(test, (element,), (self._set(own, Const(0)),), origin=self.origin)

    def _computed(self, v: Version, c: int, whole: bool) -> tuple[Stmt, ...]:
        at = self._coordinates(self._behind(v), c)
        body = self._outside(v, c, at)
        fields = frozenset(f.array for f in self.memory)
        pieces = [*enumerate(v.pieces)]
        largest, only = _largest(v.pieces)
        always = len(pieces) == 1 and not body
        always = always and not reads_others(only, fields) and not only.template.exact
        if whole or always:
            return self._evaluated(v, c, largest, only, at)
        for n, stage in reversed(pieces):
            inner = self._evaluated(v, c, n, stage, at)
            nothing = (self._set(self._value(v, 0, c), Const(0)),)
            if stage.template.exact:
                needed = conjunction(self._needed(v, c, at[self.stream.batch]))
                inner = (If(needed, inner, nothing, origin=self.origin),)
            test = conjunction(inside(at, stage.domain))
            body = (If(test, inner, body or nothing, origin=self.origin),)
        return body

    def _needed(self, v: Version, c: int, row: Expr) -> list[Expr]:
        """That the tile needs an element: then all that it is computed from is what the program
        computes it from."""
        tests: list[Expr] = [Bin("<=", _after(self._tile[0], -v.low[0]), row)]
        ends = zip(self.stream.low[1:], self._valid, v.low[1:], v.high[1:])
        for d, (low, valid, before, behind) in enumerate(ends):
            place = _plus(self._first(d), 0 if d else c)
            tests.append(Bin("<=", Const(low - before), place))
            tests.append(Bin("<", place, Const(low + valid + behind)))
        return tests

    def _outside(self, v: Version, c: int, at: tuple[Expr, ...]) -> tuple[Stmt, ...]:
        """Elements that the program reads, but no stage writes, are what they were at the start;
        empty where there are none."""
        planes = (0,) * self.stream.batch
        read = [
            moved(user.pieces[n].domain, (*planes, *away))
            for user in self.stream.versions
            for (n, _), (source, away) in user.sources.items()
            if source is v
        ]
        store = self.stores.get(v.field)
        if store is not None and self.stream.last[v.field] is v:
            read += store.boxes
        if all(any(covers(stage.domain, box) for stage in v.pieces) for box in read):
            return ()
        memory = self.memory[v.field]
        test = memory.there(at)
        kept = self._set(self._value(v, 0, c), memory.element(at))
        nothing = self._set(self._value(v, 0, c), Const(0))
        return (If(test, (kept,), (nothing,), origin=self.origin),)

    def _evaluated(
        self, v: Version, c: int, n: int, stage: Stage, at: tuple[Expr, ...]
    ) -> tuple[Stmt, ...]:
        def read(x: Load) -> Expr | None:
            known = v.sources.get((n, x))
            if known is None:
                return None
            source, away = known
            age, place = v.age(source, away), place_of(away, c)
            if is_own(place, self.shape.elements):
                return self._value(source, age, place[0])
            return self._side(source, place, age - source.across[place][0])

        scalars, value = value_at(stage, at, read, self.names.new, self.coordinate)
        out: list[Stmt] = []
        for name, type, e in scalars:
            out += [Decl(name, type, origin=self.origin), self._set(Var(name), e)]
        return (*out, self._set(self._value(v, 0, c), value))

    def _stored(self, v: Version, c: int, whole: bool) -> list[Stmt]:
        store = self.stores.get(v.field)
        if store is None or self.stream.last[v.field] is not v:
            return []
        at = self._coordinates(self._behind(v), c)
        row = at[self.stream.batch]
        tests: list[Expr] = [Bin("<=", Var(self._tile[0]), row)]
        if not whole or self.stream.delay > v.lag:
            tests.append(Bin("<", row, self._end))
        for d, (low, valid) in enumerate(zip(self.stream.low[1:], self._valid)):
            place = _plus(self._first(d), 0 if d else c)
            tests += [Bin("<=", Const(low), place), Bin("<", place, Const(low + valid))]
        if not whole:
            tests.append(reduce(_or, (conjunction(inside(at, box)) for box in store.boxes)))
        if store.when is not None:
            tests = [store.when, *tests]
        target = Load(store.target, store.place.index(at))
        return [
            If(conjunction(tests), (self._set(target, self._value(v, 0, c)),), origin=self.origin)
        ]

    def _shifted(self) -> list[Stmt]:
        """What was computed becomes what was computed an iteration before."""
        out: list[Stmt] = []
        for v in self.stream.versions:
            for c in self._numbers:
                for age in range(v.kept, 0, -1):
                    out.append(self._set(self._value(v, age, c), self._value(v, age - 1, c)))
            for place, (first, last) in v.across.items():
                for age in range(last - first, 0, -1):
                    older = self._side(v, place, age), self._side(v, place, age - 1)
                    out.append(self._set(*older))
        return out


def _largest(pieces: tuple[Stage, ...]) -> tuple[int, Stage]:
    """The piece that is no row or column of a fixed number of elements, as far as is known."""

    def open_ends(piece: tuple[int, Stage]) -> int:
        return sum((poly(hi) - poly(lo)).value is None for lo, hi in piece[1].domain)

    return max(enumerate(pieces), key=open_ends)


def _or(a: Expr, b: Expr) -> Expr:
    return Bin("||", a, b)


def _after(name: str, distance: int) -> Expr:
    return _plus(Var(name), distance)


def _plus(e: Expr, distance: int) -> Expr:
    op = "+" if distance > 0 else "-"
    return Bin(op, e, Const(abs(distance))) if distance else e
