"""What a group keeps of a stream: elements of its work-items, sums that are not complete, rows in
local memory, and what is on its way from memory.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from loopxform.ir.nodes import Assign, Bin, Const, Decl, Expr, Load, Stmt, Var
from loopxform.ir.types import Scalar, Space
from loopxform.ir.visit import names
from loopxform.source import Origin
from loopxform.transforms.edges.bounds import conjunction, conjuncts
from loopxform.transforms.overlapped.kernel_parts import (
    CoordinateLoops,
    Memory,
    Names,
    Shape,
    Store,
)
from loopxform.transforms.overlapped.local_rows import LocalRows, local_rows
from loopxform.transforms.overlapped.partial_sums import PartialSum
from loopxform.transforms.overlapped.stages import Box, Field
from loopxform.transforms.overlapped.streaming import Stream, Version

AHEAD = 2
"""Iterations before that of its use in which a row is read."""

AHEAD_IN_STEP = 1
"""The same where work-items wait for each other after each stage: an iteration is long then."""


@dataclass
class KeptElements(CoordinateLoops):
    """Declares them, and has their names. `cover` are the elements that the groups share,
    `coordinate` is the type of coordinates."""

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
    _rows: dict[int, tuple[str, LocalRows]] = field(default_factory=dict)
    _sides: dict[tuple[int, tuple[int, ...]], str] = field(default_factory=dict)
    _sums: dict[tuple[int, str], str] = field(default_factory=dict)
    _tests: dict[Expr, str] = field(default_factory=dict)
    _phase: int = 0
    _whole: bool = False

    def _name(self) -> None:
        """Names the loops."""
        rank, batch = self.stream.rank, self.stream.batch
        axes = "zyx"[-rank:]
        self._plane = [self.names.new(f"plane_{n}" if n else "plane") for n in range(batch)]
        self._tile = [self.names.new(f"{axis}_b") for axis in axes]
        self._item = [self.names.new(f"{axis}_t") for axis in axes[1:]]
        self._row = self.names.new("row")
        self._at = [self.names.new(axis) for axis in axes[1:]]

    @property
    def _valid(self) -> tuple[int, ...]:
        """How many elements a tile stores along the dimensions of work-items."""
        ends = zip(self.shape.widths, self.stream.low[1:], self.stream.high[1:])
        return tuple(width - low - high for width, low, high in ends)

    @property
    def _numbers(self) -> range:
        """The elements of a work-item."""
        return range(self.shape.elements)

    @property
    def _rows_ahead(self) -> int:
        """How many iterations before that of its use a row is read."""
        return AHEAD_IN_STEP if self.stream.in_step else AHEAD

    # ------------------------------------------------------------ storage

    def _kept(self) -> tuple[list[Stmt], list[Stmt]]:
        """The declarations, and what sets them to 0."""
        declared: list[Stmt] = []
        cleared: list[Stmt] = []
        shape = tuple(map(Const, self.shape.items))
        more = (Const(self.shape.elements),) if self.shape.elements > 1 else ()
        for v in self.stream.versions:
            name = self.names.new(f"{v.field.array}_{v.number}")
            for c in self._numbers:
                alone = self._lasting(v) or not more
                self._own[v.number, c] = name if alone else self.names.new(f"{name}_{c}")
            if not v.pieces:
                self._ahead[v.number] = self.names.new(f"{name}_ahead")
                declared.append(
                    self._decl(self._ahead[v.number], v, (*shape, *more, Const(self._rows_ahead)))
                )
            if self._lasting(v):
                declared.append(self._decl(name, v, (*shape, *more, Const(v.kept + 1))))
                every = [(n, c) for c in self._numbers for n in range(v.kept + 1)]
                cleared += [self._set(self._value(v, n, c), Const(0)) for n, c in every]
            for place, (first, last) in v.across.items():
                text = "_".join(f"{'l' if n < 0 else 'r'}{abs(n)}" for n in place)
                side = self._sides[v.number, place] = self.names.new(f"{name}_{text}")
                if self.stream.in_step or last > first:
                    declared.append(self._decl(side, v, (*shape, Const(last - first + 1))))
                    ages = range(last - first + 1)
                    cleared += [self._set(self._side(v, place, n), Const(0)) for n in ages]
            for partial in v.split.sums if v.split else ():
                own = self._sums[v.number, partial.name] = self.names.new(f"{name}_sum")
                extents = (*shape, *more, Const(partial.first - partial.at))
                declared.append(Decl(own, partial.type, extents, origin=self.origin))
                every = [(n, c) for c in self._numbers for n in range(partial.at, partial.first)]
                cleared += [self._set(self._sum(v, partial, n + 1, c), Const(0)) for n, c in every]
        types = {f: m.type for f, m in self.memory.items()}
        for rows in local_rows(self.stream, types, self.shape):
            array = self.stream.versions[rows.versions[0]].field.array
            name = self.names.new(f"{array}_row")
            self._rows |= dict.fromkeys(rows.versions, (name, rows))
            extents = tuple(map(Const, rows.extents))
            declared.append(Decl(name, rows.type, extents, Space.LOCAL, origin=self.origin))
            cleared.append(self._cleared(name, rows))
        return declared, cleared

    def _decl(
        self, name: str, v: Version, shape: tuple[Expr, ...], space: Space | None = None
    ) -> Decl:
        return Decl(name, self.memory[v.field].type, shape, space, origin=self.origin)

    def _asked(self, test: Expr) -> Expr:
        """A test, of whose parts those about columns are asked once for all rows where work-items
        are in step."""
        every = conjuncts(test)
        columns = [e for e in every if not names(e).isdisjoint(self._at)]
        if not self.stream.in_step or any(self._row in names(e) for e in columns):
            return test
        if not columns:
            return test
        whole = conjunction(columns)
        if whole not in self._tests:
            self._tests[whole] = self.names.new("inside")
        rest = (e for e in every if e not in columns)
        return conjunction([*rest, self._test(self._tests[whole])])

    def _test(self, name: str) -> Load:
        return Load(name, tuple(map(Var, self._item)))

    def _set(self, target: Var | Load, value: Expr) -> Assign:
        return Assign(target, value, origin=self.origin)

    def _cleared(self, name: str, rows: LocalRows) -> Stmt:
        """Sets all of the rows in local memory to 0: what edges of tiles compute is of no use, but
        is computed."""
        fronts = [self.names.new("n") for _ in rows.fronts]
        items = [self.names.new(f"{t}_n") for t in self._item]
        place = tuple(map(Var, (*fronts, *items)))
        inside: Stmt = self._set(Load(name, place), Const(0))
        widths = rows.extents[len(fronts) :]
        for n, t, step, extent in reversed([*zip(items, self._item, self.shape.items, widths)]):
            inside = self._loop(n, Var(t), Const(extent), step, (inside,))
        for n, extent in reversed([*zip(fronts, rows.fronts)]):
            inside = self._loop(n, Const(0), Const(extent), 1, (inside,))
        return inside

    # ------------------------------------------------------------ elements

    def _value(self, v: Version, age: int, c: int) -> Var | Load:
        """A work-item's own element of number `c`, some iterations before."""
        name = self._own[v.number, c]
        return Load(name, (*self._numbered(c), Const(age))) if self._lasting(v) else Var(name)

    def _lasting(self, v: Version) -> bool:
        """Whether a work-item's own elements are used by later statements of the group."""
        return bool(v.kept) or self.stream.in_step

    def _numbered(self, c: int) -> tuple[Expr, ...]:
        """The subscripts of what a work-item has of its own for an element."""
        return (*map(Var, self._item), *([Const(c)] if self.shape.elements > 1 else []))

    def _side(self, v: Version, place: tuple[int, ...], age: int = 0) -> Var | Load:
        """The element at another place; age 0 is that of this iteration."""
        name, (first, last) = self._sides[v.number, place], v.across[place]
        if first == last and not self.stream.in_step:
            return Var(name)
        return Load(name, (*map(Var, self._item), Const(age)))

    def _sum(self, v: Version, partial: PartialSum, early: int, c: int) -> Load:
        """What there is of a sum that is to be complete so many iterations later."""
        number = Const(early - partial.at - 1)
        return Load(self._sums[v.number, partial.name], (*self._numbered(c), number))

    def _in_ring(self, v: Version, place: tuple[int, ...], age: int) -> Load:
        """The element in local memory."""
        name, rows = self._rows[v.number]
        slot = self._slot(v.ring, (v.ring - age) % v.ring)
        return Load(name, rows.index(v, slot, tuple(map(Var, self._item)), place))

    def _slot(self, ring: int, behind: int) -> Expr:
        """Where in a ring the row is that an iteration, or one so many later, computes."""
        if ring == 1:
            return Const(0)
        if self._whole and self._rows_ahead % ring == 0:
            return Const((self._phase + behind) % ring)
        count: Expr = Bin("-", Var(self._row), Var(self._tile[0]))
        count = Bin("+", count, Const(self.stream.low[0] + self._phase + behind))
        if ring & (ring - 1):
            return Bin("%", count, Const(ring))
        return Bin("&", count, Const(ring - 1))

    def _on_its_way(self, v: Version, c: int, number: int) -> Load:
        return Load(self._ahead[v.number], (*self._numbered(c), Const(number)))

    def _first(self, d: int) -> Expr:
        """Where in a row of the tile a work-item's elements begin."""
        item, elements = Var(self._item[d]), self.shape.elements
        return Bin("*", item, Const(elements)) if d == 0 and elements > 1 else item
