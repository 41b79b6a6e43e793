"""The kernel of a stream of stages, as a nest: groups for tiles of a chunk of rows, a loop over the
rows that all work-items of a group run in step, and in it one loop over the work-items.

    forall rows_b (group.y): forall cols_b (group.x):
      T A_0[W][2], A_1[W][2] ...;  local T A_0_row[2][W + 2] ...
      for r:
        forall t (thread.x): { A_0[t][0] = A[r][col];  if (...) A_1[t][0] = f(A_0 ...);  ...
                               if (...) A_next[r - 3][col] = A_3[t][0];  A_0[t][1] = A_0[t][0]; }

Rows are read `AHEAD` iterations before they are used: memory takes longer than one. Where a group
needs no tests, so many iterations are one of the loop, so that what is on its way is not moved.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import reduce

from loopxform.ir.nodes import Bin, Const, Decl, Expr, For, If, Load, Stmt, Var
from loopxform.ir.types import INT, Level
from loopxform.ir.visit import substitute
from loopxform.transforms.edges.bounds import conjunction
from loopxform.transforms.overlapped.boxes import are_apart, covers, inside, least, moved
from loopxform.transforms.overlapped.kept_elements import KeptElements
from loopxform.transforms.overlapped.kernel_parts import shifted
from loopxform.transforms.overlapped.stages import (
    Box,
    Stage,
    reads_others,
    replaced,
    value_at,
)
from loopxform.transforms.overlapped.streaming import Version, is_own, place_of


@dataclass
class StreamedKernel(KeptElements):
    """Builds the nest."""

    def nest(self) -> For:
        """The loops over groups."""
        self._name()
        rank, batch = self.stream.rank, self.stream.batch
        body: tuple[Stmt, ...] = self._group()
        steps = (*([1] * batch), self.shape.rows, *self._valid)
        for d, var in reversed([*enumerate((*self._plane, *self._tile))]):
            lo, hi = self.cover[d]
            level = Level("grid", min(2, rank + batch - 1 - d))
            body = (self._loop(var, lo, hi, steps[d], body, level),)
        (nest,) = body
        assert isinstance(nest, For)
        return nest

    def _group(self) -> tuple[Stmt, ...]:
        declared, cleared = self._kept()
        up, top = self.stream.low[0], self._tile[0]
        inputs = [(v, c) for v in self.stream.inputs for c in self._numbers]
        ahead = [
            self._read_ahead(v, c, n, shifted(Var(top), n - up))
            for v, c in inputs
            for n in range(self._rows_ahead)
        ]
        walks = self._walks()
        tests = [self._set(self._test(name), e) for e, name in self._tests.items()]
        before = [self._items((*cleared, *self._columns(), *tests, *ahead))]
        shape = tuple(map(Const, self.shape.items))
        declared += [Decl(name, INT, shape, origin=self.origin) for name in self._tests.values()]
        return (*declared, *before, *walks)

    def _coordinates(self, row: Expr, c: int) -> tuple[Expr, ...]:
        """Those of an element of a row."""
        first, *rest = map(Var, self._at)
        return (*map(Var, self._plane), row, shifted(first, c), *rest)

    def _behind(self, v: Version) -> Expr:
        """The row that an iteration computes."""
        return self._now(-v.lag)

    def _now(self, distance: int = 0) -> Expr:
        """The row that is so many behind that of an iteration."""
        return _after(self._row, self._phase + distance)

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
        written = [v for v in self.stream.versions if v.pieces]
        stages = [v.largest[1] for v in written if v.around is None]
        if any(v.largest[1].template.exact for v in written):
            return None
        fields = frozenset(f.array for f in self.memory)
        others = any(reads_others(s, fields) for s in stages)
        before = self.stream.low[0] + (self.stream.delay if others else 0)
        ends = [(0, 1)] * self.stream.batch
        up = self.stream.low[0]
        ends.append((before, self._iterations - up + self._rows_ahead))
        ends += list(zip(self.stream.low[1:], map(sum, zip(self._valid, self.stream.high[1:]))))
        tests: dict[Expr, None] = {}
        for box in (*(s.domain for s in stages), *(m.certain for m in self.memory.values())):
            for d, (low, high) in enumerate(ends):
                var = (*self._plane, *self._tile)[d]
                first, last = _after(var, -low), _after(var, high)
                tests |= {Bin("<=", box[d][0], first): None, Bin("<=", last, box[d][1]): None}
        for v in written:
            if v.around is not None:
                apart = (self._apart(s, v.around, ends) for s in v.pieces)
                tests |= {test: None for test in apart if test is not None}
        return conjunction([*tests])

    def _apart(self, s: Stage, around: Version, ends: list[tuple[int, int]]) -> Expr | None:
        """That a group computes no element of a small stage; None where those of the large one
        around it are none."""
        if are_apart(s.domain, around.largest[1].domain):
            return None
        sides: list[Expr] = []
        for d, (low, high) in enumerate(ends):
            var = (*self._plane, *self._tile)[d]
            first, end = s.domain[d]
            sides += [Bin("<=", end, _after(var, -low)), Bin("<=", _after(var, high), first)]
        return reduce(_or, sides)

    @property
    def _iterations(self) -> int:
        """How many iterations a group without tests has: a multiple of those of the loop."""
        count = self.stream.low[0] + self.shape.rows + self.stream.delay
        return -(-count // self._rows_ahead) * self._rows_ahead

    def _walk(self, *, whole: bool) -> For:
        up, delay = self.stream.low[0], self.stream.delay
        first = Var(self._tile[0])
        last = Bin("+", self._end, Const(delay)) if delay else self._end
        if whole:
            last = shifted(first, self._iterations - up)
        body: list[Stmt] = []
        self._whole = whole
        step = self._rows_ahead if whole else 1
        for self._phase in range(step):
            body += map(self._items, self._iteration(whole=whole))
        self._phase, self._whole = 0, False
        return self._loop(self._row, shifted(first, -up), last, step, tuple(body))

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

    def _iteration(self, *, whole: bool) -> list[tuple[Stmt, ...]]:
        """What a work-item computes of a row, in the parts between which the others are waited
        for; `whole` ones need no tests."""
        out: list[Stmt] = [*self._columns()]
        done: list[tuple[Stmt, ...]] = []
        for v in self.stream.versions:
            out += () if self.stream.in_step else self._sides_of(v)
            for c in self._numbers:
                if not self._lasting(v):
                    out.append(self._decl(self._own[v.number, c], v, ()))
                out += self._computed(v, c, whole) if v.pieces else self._loaded(v, c, whole)
                out += self._added(v, c)
            shared = {place[0] % self.shape.elements for place in v.across}
            for c in sorted(shared):
                centre = (c, *(0 for _ in self._item[1:]))
                out.append(self._set(self._in_ring(v, centre, 0), self._value(v, 0, c)))
            for c in self._numbers:
                out += self._stored(v, c, whole)
            if self.stream.in_step and v.across:
                done.append(tuple(out))
                out = [*self._columns(), *self._sides_of(v)]
        out += self._shifted()
        return [*done, tuple(out)]

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
            if first == last and not self.stream.in_step:
                out.append(self._decl(self._sides[v.number, place], v, ()))
            out.append(self._set(self._side(v, place), self._in_ring(v, place, first)))
        return out

    def _loaded(self, v: Version, c: int, whole: bool) -> list[Stmt]:
        """An element of a row, which was read in an earlier iteration, as one for a later one
        is."""
        number = self._phase if whole else self._rows_ahead - 1
        out: list[Stmt] = [self._set(self._value(v, 0, c), self._on_its_way(v, c, number))]
        if not whole:
            out[0] = self._set(self._value(v, 0, c), self._on_its_way(v, c, 0))
            for n in range(1, self._rows_ahead):
                out.append(self._set(self._on_its_way(v, c, n - 1), self._on_its_way(v, c, n)))
        return [*out, self._read_ahead(v, c, number, self._now(self._rows_ahead), whole=whole)]

    def _read_ahead(
        self, v: Version, c: int, number: int, row: Expr, *, whole: bool = False
    ) -> Stmt:
        """Reads the element of a row."""
        at, memory = self._coordinates(row, c), self.memory[v.field]
        own = self._on_its_way(v, c, number)
        element = self._set(own, memory.element(at))
        if whole:
            return element
        test = self._asked(memory.there(at))
        return If(test, (element,), (self._set(own, Const(0)),), origin=self.origin)

    def _computed(self, v: Version, c: int, whole: bool) -> tuple[Stmt, ...]:
        at = self._coordinates(self._behind(v), c)
        body = self._outside(v, c, at)
        if whole and v.around is not None:
            return body
        fields = frozenset(f.array for f in self.memory)
        pieces = [*enumerate(v.pieces)]
        largest, only = v.largest
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
            test = self._asked(conjunction(inside(at, stage.domain)))
            body = (If(test, inner, body or nothing, origin=self.origin),)
        return body

    def _needed(self, v: Version, c: int, row: Expr) -> list[Expr]:
        """That the tile needs an element: then all that it is computed from is what the program
        computes it from."""
        tests: list[Expr] = [Bin("<=", _after(self._tile[0], -v.low[0]), row)]
        ends = zip(self.stream.low[1:], self._valid, v.low[1:], v.high[1:])
        for d, (low, valid, before, behind) in enumerate(ends):
            place = shifted(self._first(d), 0 if d else c)
            tests.append(Bin("<=", Const(low - before), place))
            tests.append(Bin("<", place, Const(low + valid + behind)))
        return tests

    def _outside(self, v: Version, c: int, at: tuple[Expr, ...]) -> tuple[Stmt, ...]:
        """Elements that the program reads, but no stage writes, are what they were at the start;
        empty where there are none."""
        read = self._boxes_read(v)
        if all(any(covers(stage.domain, box) for stage in v.pieces) for box in read):
            return ()
        if v.under is not None:
            age = v.age(v.under, (0,) * self.stream.rank)
            return (self._set(self._value(v, 0, c), self._value(v.under, age, c)),)
        memory = self.memory[v.field]
        test = self._asked(memory.there(at))
        kept = self._set(self._value(v, 0, c), memory.element(at))
        nothing = self._set(self._value(v, 0, c), Const(0))
        return (If(test, (kept,), (nothing,), origin=self.origin),)

    def _boxes_read(self, v: Version) -> list[Box]:
        """The elements of a version that others read, or that are stored."""
        planes = (0,) * self.stream.batch
        read: list[Box] = []
        for user in self.stream.versions:
            for (n, _, _), (source, away) in user.sources.items():
                if source is v:
                    read.append(moved(user.pieces[n].domain, (*planes, *away)))
            if user.under is v:
                read += self._boxes_read(user)
        store = self.stores.get(v.field)
        if store is not None and self.stream.last[v.field] is v:
            read += store.boxes
        return read

    def _evaluated(
        self, v: Version, c: int, n: int, stage: Stage, at: tuple[Expr, ...]
    ) -> tuple[Stmt, ...]:
        """Sets the element to what a piece, number `n`, computes."""
        if v.split is not None and n == v.largest[0]:
            whole = self._split(v, c, 0)
            template = replace(v.split.template, value=substitute(v.split.template.value, whole))
            stage = replace(stage, template=template)
        read = self._reader(v, n, c, 0)
        scalars, value = value_at(stage, at, read, self.names.new, self.coordinate)
        out: list[Stmt] = []
        for name, type, e in scalars:
            out += [Decl(name, type, origin=self.origin), self._set(Var(name), e)]
        return (*out, self._set(self._value(v, 0, c), value))

    def _reader(self, v: Version, n: int, c: int, early: int) -> Callable[[Load], Expr | None]:
        """What stands for an element that piece `n` reads so many iterations early."""

        def read(x: Load) -> Expr | None:
            known = v.sources.get((n, x, early))
            if known is None:
                return None
            source, away = known
            age, place = v.age(source, away) - early, place_of(away, c)
            if is_own(place, self.shape.elements):
                return self._value(source, age, place[0])
            return self._side(source, place, age - source.across[place][0])

        return read

    def _split(self, v: Version, c: int, early: int) -> dict[str, Expr]:
        """The sums that are complete so many iterations early."""
        whole: dict[str, Expr] = {}
        for partial in v.split.sums if v.split else ():
            if partial.at == early:
                before = self._sum(v, partial, early + 1, c)
                whole[partial.name] = substitute(partial.after(early, before), whole)
        return whole

    def _added(self, v: Version, c: int) -> list[Stmt]:
        """What this iteration adds to sums that are complete in later ones."""
        out: list[Stmt] = []
        sums = v.split.sums if v.split else ()
        number = v.largest[0] if sums else 0
        for early in range(1, 1 + max((s.first for s in sums), default=0)):
            whole, read = self._split(v, c, early), self._reader(v, number, c, early)
            for partial in (s for s in sums if s.at < early <= s.first):
                last = early == partial.first
                before = None if last else self._sum(v, partial, early + 1, c)
                value = substitute(partial.after(early, before), whole)
                value = replaced(value, read)
                out.append(self._set(self._sum(v, partial, early, c), value))
        return out

    def _stored(self, v: Version, c: int, whole: bool) -> list[Stmt]:
        store = self.stores.get(v.field)
        if store is None or self.stream.last[v.field] is not v:
            return []
        at = self._coordinates(self._behind(v), c)
        row = at[self.stream.batch]
        tests: list[Expr] = [Bin("<=", Var(self._tile[0]), row)]
        if not whole or self._iterations > self.stream.low[0] + self.shape.rows + v.lag:
            tests.append(Bin("<", row, self._end))
        for d, (low, valid) in enumerate(zip(self.stream.low[1:], self._valid)):
            place = shifted(self._first(d), 0 if d else c)
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


def _or(a: Expr, b: Expr) -> Expr:
    return Bin("||", a, b)


def _after(name: str, distance: int) -> Expr:
    return shifted(Var(name), distance)
