"""The kernel of a stream of stages, as a nest: groups for tiles of a chunk of rows, a loop over the
rows that all work-items of a group run in step, and in it one loop over the work-items.

    forall rows_b (group.y): forall cols_b (group.x):
      T A_0[W][2], A_1[W][2] ...;  local T A_0_row[2][W + 2] ...
      for r:
        forall t (thread.x): { A_0[t][0] = A[r][col];  if (...) A_1[t][0] = f(A_0 ...);  ...
                               if (...) A_next[r - 3][col] = A_3[t][0];  A_0[t][1] = A_0[t][0]; }
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import reduce

from loopxform.ir.affine import poly
from loopxform.ir.nodes import Assign, Bin, Const, Decl, Expr, For, If, Load, Stmt, Var
from loopxform.ir.types import Level, Scalar, Space
from loopxform.records import record
from loopxform.source import Origin
from loopxform.transforms.edges.bounds import conjunction
from loopxform.transforms.overlapped.boxes import covers, inside, least, moved
from loopxform.transforms.overlapped.stages import (
    Box,
    Field,
    Stage,
    reads_others,
    value_at,
)
from loopxform.transforms.overlapped.streaming import Stream, Version


class Names:
    """New names, none of them used."""

    def __init__(self, used: Iterable[str]) -> None:
        self._used = {n.replace(".", "_") for n in used}

    def new(self, wanted: str) -> str:
        """`wanted`, or that with a number."""
        name, n = wanted, 2
        while name in self._used:
            name, n = f"{wanted}_{n}", n + 1
        self._used.add(name)
        return name


@record
class Shape:
    """The tile of a group: `rows` that it stores, and the work-items along the other dimensions of
    space."""

    rows: int
    items: tuple[int, ...]


@record
class Memory:
    """Where a field is found before the pass, the hull of the elements that the program touches,
    and the type of elements. Behind a plain pointer, there need not be any before the `first` and
    behind the `last` one that is touched, in storage order; the last coordinate of the latter is
    exclusive."""

    type: Scalar
    source: str
    place: Field
    touched: Box
    first: tuple[Expr, ...] = ()
    last: tuple[Expr, ...] = ()

    def there(self, at: tuple[Expr, ...]) -> Expr:
        """Whether an element is there."""
        tests = inside(at, self.touched)
        if self.first:
            tests.append(_follows(at, self.first, "<="))
            tests.append(_follows(self.last, at, "<"))
        return conjunction(tests)

    @property
    def certain(self) -> Box:
        """Elements that are all there."""
        if not self.first:
            return self.touched
        (lo, hi), *rest = self.touched
        return ((Bin("+", lo, Const(1)), Bin("-", hi, Const(1))), *rest)

    def element(self, at: tuple[Expr, ...]) -> Load:
        """The element at coordinates of space."""
        return Load(self.source, self.place.index(at))


@record
class Store:
    """Where the last version of a field is stored: the elements of `boxes`, if `when` holds."""

    target: str
    place: Field
    boxes: tuple[Box, ...]
    when: Expr | None = None


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
    _own: dict[int, str] = field(default_factory=dict)
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
        ends = zip(self.shape.items, self.stream.low[1:], self.stream.high[1:])
        return tuple(items - low - high for items, low, high in ends)

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
        for v in self.stream.versions:
            name = self.names.new(f"{v.field.array}_{v.number}")
            self._own[v.number] = name
            if not v.pieces:
                self._ahead[v.number] = self.names.new(f"{name}_ahead")
                declared.append(self._decl(self._ahead[v.number], v, shape))
            if v.kept:
                declared.append(self._decl(name, v, (*shape, Const(v.kept + 1))))
                cleared += [self._set(self._value(v, n), Const(0)) for n in range(v.kept + 1)]
            for away, (first, last) in v.across.items():
                text = "_".join(f"{'l' if n < 0 else 'r'}{abs(n)}" for n in away)
                side = self._sides[v.number, away] = self.names.new(f"{name}_{text}")
                if last > first:
                    declared.append(self._decl(side, v, (*shape, Const(last - first + 1))))
                    every = range(last - first + 1)
                    cleared += [self._set(self._side(v, away, n), Const(0)) for n in every]
            if v.ring:
                rows = self._rows[v.number] = self.names.new(f"{name}_row")
                widths = [Const(w + b + a) for w, (b, a) in zip(self.shape.items, self._margins(v))]
                declared.append(self._decl(rows, v, (Const(v.ring), *widths), Space.LOCAL))
                cleared.append(self._cleared(v, rows))
        up, top = self.stream.low[0], self._tile[0]
        ahead = [self._read_ahead(v, -up, top) for v in self.stream.inputs]
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
        dims = range(self.stream.rank - 1)
        every = [*v.across]
        return [(max(0, *(-a[d] for a in every)), max(0, *(a[d] for a in every))) for d in dims]

    def _cleared(self, v: Version, rows: str) -> Stmt:
        """Sets all of the rows in local memory to 0: what edges of tiles compute is of no use, but
        is computed."""
        counters = [self.names.new("n"), *(self.names.new(f"{t}_n") for t in self._item)]
        inside: Stmt = self._set(Load(rows, tuple(map(Var, counters))), Const(0))
        for d in reversed(range(len(self._item))):
            items, (before, behind) = self.shape.items[d], self._margins(v)[d]
            hi, own = Const(items + before + behind), Var(self._item[d])
            inside = self._loop(counters[d + 1], own, hi, items, (inside,))
        return self._loop(counters[0], Const(0), Const(v.ring), 1, (inside,))

    # ------------------------------------------------------------ elements

    def _value(self, v: Version, age: int = 0) -> Var | Load:
        """The element of a work-item's own column, some iterations before."""
        name = self._own[v.number]
        if not v.kept:
            return Var(name)
        return Load(name, (*map(Var, self._item), Const(age)))

    def _side(self, v: Version, away: tuple[int, ...], age: int = 0) -> Var | Load:
        """The element in another column; age 0 is that of this iteration."""
        name, (first, last) = self._sides[v.number, away], v.across[away]
        if first == last:
            return Var(name)
        return Load(name, (*map(Var, self._item), Const(age)))

    def _in_ring(self, v: Version, away: tuple[int, ...], age: int) -> Load:
        """The element in local memory."""
        count: Expr = Bin("-", Var(self._row), Var(self._tile[0]))
        count = Bin("+", count, Const(self.stream.low[0] + (v.ring - age) % v.ring))
        slot = Bin("&", count, Const(v.ring - 1))
        if v.ring & (v.ring - 1):
            slot = Bin("%", count, Const(v.ring))
        places = (
            Bin("+", Var(t), Const(n + before)) if n + before else Var(t)
            for t, n, (before, _) in zip(self._item, away, self._margins(v))
        )
        return Load(self._rows[v.number], (slot, *places))

    def _coordinates(self, lag: int) -> tuple[Expr, ...]:
        row = Bin("-", Var(self._row), Const(lag)) if lag else Var(self._row)
        return (*map(Var, self._plane), row, *map(Var, self._at))

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
        if any(s.template.divides for s in stages):
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
            if not v.kept:
                out.append(self._decl(self._own[v.number], v, ()))
            out += self._computed(v, whole) if v.pieces else self._loaded(v, whole)
            if v.ring:
                centre = tuple(0 for _ in self._item)
                out.append(self._set(self._in_ring(v, centre, 0), self._value(v)))
            out += self._stored(v, whole)
        out += self._shifted()
        return tuple(out)

    def _columns(self) -> list[Stmt]:
        """The coordinates of a work-item."""
        out: list[Stmt] = []
        for d, (name, item) in enumerate(zip(self._at, self._item), 1):
            value: Expr = Bin("+", Var(self._tile[d]), Var(item))
            low = self.stream.low[d]
            value = Bin("-", value, Const(low)) if low else value
            out += [Decl(name, self.coordinate, origin=self.origin), self._set(Var(name), value)]
        return out

    def _sides_of(self, v: Version) -> list[Stmt]:
        """What neighbours computed in earlier iterations is read from local memory."""
        out: list[Stmt] = []
        for away, (first, last) in v.across.items():
            if first == last:
                out.append(self._decl(self._sides[v.number, away], v, ()))
            out.append(self._set(self._side(v, away), self._in_ring(v, away, first)))
        return out

    def _loaded(self, v: Version, whole: bool) -> list[Stmt]:
        """A row of an array, which was read an iteration ahead, as is the next one."""
        ahead = Load(self._ahead[v.number], (*map(Var, self._item),))
        return [self._set(self._value(v), ahead), self._read_ahead(v, 1, self._row, whole=whole)]

    def _read_ahead(self, v: Version, rows: int, of: str, *, whole: bool = False) -> Stmt:
        """Reads the element of the row that is so many rows from another."""
        at = (*map(Var, self._plane), _after(of, rows), *map(Var, self._at))
        own, memory = Load(self._ahead[v.number], (*map(Var, self._item),)), self.memory[v.field]
        element = self._set(own, memory.element(at))
        if whole:
            return element
        test = memory.there(at)
        return If(test, (element,), (self._set(own, Const(0)),), origin=self.origin)

    def _computed(self, v: Version, whole: bool) -> tuple[Stmt, ...]:
        at = self._coordinates(v.lag)
        body = self._outside(v, at)
        fields = frozenset(f.array for f in self.memory)
        pieces = [*enumerate(v.pieces)]
        largest, only = _largest(v.pieces)
        always = len(pieces) == 1 and not body
        always = always and not reads_others(only, fields) and not only.template.divides
        if whole or always:
            return self._evaluated(v, largest, only, at)
        for n, stage in reversed(pieces):
            inner = self._evaluated(v, n, stage, at)
            test = conjunction(inside(at, stage.domain))
            orelse = body or (self._set(self._value(v), Const(0)),)
            body = (If(test, inner, orelse, origin=self.origin),)
        return body

    def _outside(self, v: Version, at: tuple[Expr, ...]) -> tuple[Stmt, ...]:
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
        kept = self._set(self._value(v), memory.element(at))
        return (If(test, (kept,), (self._set(self._value(v), Const(0)),), origin=self.origin),)

    def _evaluated(
        self, v: Version, n: int, stage: Stage, at: tuple[Expr, ...]
    ) -> tuple[Stmt, ...]:
        def read(x: Load) -> Expr | None:
            known = v.sources.get((n, x))
            if known is None:
                return None
            source, away = known
            age = v.age(source, away)
            if not any(away[1:]):
                return self._value(source, age)
            return self._side(source, away[1:], age - source.across[away[1:]][0])

        scalars, value = value_at(stage, at, read, self.names.new)
        out: list[Stmt] = []
        for name, type, e in scalars:
            out += [Decl(name, type, origin=self.origin), self._set(Var(name), e)]
        return (*out, self._set(self._value(v), value))

    def _stored(self, v: Version, whole: bool) -> list[Stmt]:
        store = self.stores.get(v.field)
        if store is None or self.stream.last[v.field] is not v:
            return []
        at = self._coordinates(v.lag)
        row = at[self.stream.batch]
        tests: list[Expr] = [Bin("<=", Var(self._tile[0]), row)]
        if not whole or self.stream.delay > v.lag:
            tests.append(Bin("<", row, self._end))
        ends = zip(self._item, self.stream.low[1:], self._valid)
        for item, low, valid in ends:
            tests += [Bin("<=", Const(low), Var(item)), Bin("<", Var(item), Const(low + valid))]
        if not whole:
            tests.append(reduce(_or, (conjunction(inside(at, box)) for box in store.boxes)))
        if store.when is not None:
            tests = [store.when, *tests]
        target = Load(store.target, store.place.index(at))
        return [If(conjunction(tests), (self._set(target, self._value(v)),), origin=self.origin)]

    def _shifted(self) -> list[Stmt]:
        """What was computed becomes what was computed an iteration before."""
        out: list[Stmt] = []
        for v in self.stream.versions:
            for age in range(v.kept, 0, -1):
                out.append(self._set(self._value(v, age), self._value(v, age - 1)))
            for away, (first, last) in v.across.items():
                for age in range(last - first, 0, -1):
                    older = self._side(v, away, age), self._side(v, away, age - 1)
                    out.append(self._set(*older))
        return out


def _largest(pieces: tuple[Stage, ...]) -> tuple[int, Stage]:
    """The piece that is no row or column of a fixed number of elements, as far as is known."""

    def open_ends(piece: tuple[int, Stage]) -> int:
        return sum((poly(hi) - poly(lo)).value is None for lo, hi in piece[1].domain)

    return max(enumerate(pieces), key=open_ends)


def _follows(a: tuple[Expr, ...], b: tuple[Expr, ...], op: str) -> Expr:
    """Whether element `a` comes behind `b` in storage order, or with `<=` is that."""
    test: Expr = Bin(op, b[-1], a[-1])
    for x, y in [*zip(a, b)][-2::-1]:
        test = Bin("||", Bin("<", y, x), Bin("&&", Bin("==", y, x), test))
    return test


def _or(a: Expr, b: Expr) -> Expr:
    return Bin("||", a, b)


def _after(name: str, distance: int) -> Expr:
    op = "+" if distance > 0 else "-"
    return Bin(op, Var(name), Const(abs(distance))) if distance else Var(name)
