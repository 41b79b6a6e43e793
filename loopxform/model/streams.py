"""What a kernel takes that computes stages along a stream of rows.

Times are counted in multiply-adds of floats for an element that is stored: a row of a tile costs a
work-item `Costs.row` whatever there is to compute, then its arithmetic, the words that are moved
between registers, and those of local memory (`Costs.shared_word`). Groups that are few on a unit
hide less of what they wait for (`Costs.busy_warps`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import product
from math import prod

from loopxform.ir.nodes import Bin, Call
from loopxform.ir.types import FLOAT, Scalar
from loopxform.ir.typing import type_of
from loopxform.ir.visit import walk_expr
from loopxform.records import record
from loopxform.targets.target import Limits
from loopxform.transforms.overlapped.stages import Field
from loopxform.transforms.overlapped.streaming import Stream, Version
from loopxform.transforms.overlapped.templates import Template

ITEMS: dict[int, tuple[tuple[int, ...], ...]] = {
    2: ((128,), (256,), (512,)),
    3: ((8, 32), (16, 32), (32, 32), (8, 64), (16, 64)),
}
"""Work-items that are tried, by the dimensions of tiles."""

ELEMENTS_OF_ITEM = (1, 2, 4)
"""Elements of a work-item that are tried."""

ROWS = (32, 64, 128)
"""Rows of a tile that are tried."""

FUSED = 0.6
"""What is left of an operation where compilers fuse multiplications and additions."""

FILLED = 0.8
"""What four groups on a unit, which wait at barriers at different times, get of its time."""

ELEMENTS = 1 << 24
"""Of an array whose size is not known."""

LAST_WAVE = 0.2
"""How much of a wave of groups is lost as the last one is not full."""

STRIDED = 0.25
"""What each further element of a work-item adds to the cost of a row, for each, where these are
neighbours in memory: accesses of a warp are spread over as many more segments."""

BESIDES = 24
"""Registers for addresses, coordinates and bounds."""


@record
class Tile:
    """The tile of a group: `rows`, and `items` along the other dimensions, with so many `elements`
    each along the first of them; for a loop over time, how many `steps` a pass has."""

    rows: int
    items: tuple[int, ...]
    elements: int = 1
    steps: int = 1

    @property
    def words(self) -> tuple[str, tuple[str, ...], str]:
        """Rows, items and elements as steps have them."""
        return str(self.rows), tuple(map(str, self.items)), str(self.elements)

    @property
    def option(self) -> str:
        """As options have it, without the steps."""
        elements = (self.elements,) if self.elements > 1 else ()
        return "x".join(map(str, (self.rows, *elements, *self.items)))

    @property
    def text(self) -> str:
        """As reports have it."""
        items = "x".join(map(str, self.items))
        each = f" with {self.elements} elements each" if self.elements > 1 else ""
        return f"tiles of {self.rows} rows, {items} items{each}"


def tiles(rank: int) -> Iterator[Tile]:
    """Those that are tried, by the dimensions of a tile."""
    for rows, items, elements in product(ROWS, ITEMS.get(rank, ()), ELEMENTS_OF_ITEM):
        yield Tile(rows, items, elements)


class StreamModel:
    """What a kernel takes that computes a stream; `stored` are the fields that it writes."""

    def __init__(
        self,
        flow: Callable[[int], Stream],
        found: Iterable[Template],
        stored: Iterable[Field],
        types: Mapping[str, Scalar],
        limits: Limits,
    ) -> None:
        self.types, self.limits, self.stored = dict(types), limits, [*stored]
        self.flows = {n: flow(n) for n in ELEMENTS_OF_ITEM}
        self.flow = self.flows[1]
        self.arithmetic = {id(t): _arithmetic(t, self.types, limits) for t in found}

    def time(self, tile: Tile) -> float | None:
        """Multiply-adds for an element that is stored; None where the tile does not fit."""
        costs, items = self.limits.costs, prod(tile.items)
        flow = self.flows.get(tile.elements) or self.flow
        widths = (tile.items[0] * tile.elements, *tile.items[1:])
        valid = [n - a - b for n, a, b in zip(widths, flow.low[1:], flow.high[1:])]
        if len(widths) != flow.rank - 1 or min(valid) < 1 or items > self.limits.group_size:
            return None
        if tile.elements > 1 and self._shared(flow, tile.elements) > costs.shared_words:
            return None
        words, local = self._registers(flow, tile.elements), self._local(flow, widths)
        most = min(self.limits.registers, costs.unit_registers // items)
        if words > most or local > self.limits.local_bytes:
            return None
        groups = costs.unit_registers // (words * items)
        busy = groups * items * tile.elements / (costs.busy_warps * self.limits.warp)
        hidden = min(1.0, busy, groups / (groups + 1) / FILLED)
        more = prod(widths) / prod(valid) * (tile.rows + flow.low[0] + flow.delay) / tile.rows
        stored = prod(valid) * tile.rows
        waves = ELEMENTS / (stored * groups * (self.limits.compute_units or costs.units))
        last = 1 + LAST_WAVE / waves
        row = self._row(flow, tile.elements)
        return max(row * more / hidden, self._bytes(more)) * last

    def untiled(self) -> float:
        """Multiply-adds for an element where each stage is a kernel of its own."""
        costs, total = self.limits.costs, 0.0
        for v in (v for v in self.flow.versions if v.pieces):
            fields = {r.field for s in v.pieces for r in s.reads}
            moved = self._type(v).bytes * (1 + len(fields)) * costs.balance / 2
            reads = max(len(s.reads) for s in v.pieces) * costs.local_read
            work = max(self.arithmetic[id(s.template)] for s in v.pieces)
            total += max(moved / costs.stencil_bandwidth, work + reads)
        return total

    def _type(self, v: Version) -> Scalar:
        return self.types[v.field.array]

    def _row(self, flow: Stream, elements: int) -> float:
        """A work-item's part of a row of each stage, for one of its elements."""
        read, row = self.limits.costs.shared_word, self.limits.costs.row
        along_rows = flow.rank == 2
        total = row * (1 + STRIDED * (elements - 1)) if along_rows else row / elements
        for v in flow.versions:
            words = self._type(v).bytes / FLOAT.bytes
            moves = sum(last - first for first, last in v.across.values()) / elements
            shared = len(v.across) + len({place[0] % elements for place in v.across})
            total += max((self.arithmetic[id(s.template)] for s in v.pieces), default=0)
            total += words * (read * shared / elements + v.kept + moves)
        return total

    def _bytes(self, more: float) -> float:
        moved = sum(self._type(v).bytes for v in self.flow.inputs) * more
        moved += sum(self.types[f.array].bytes for f in self.stored)
        return moved * self.limits.costs.balance / 2

    def _registers(self, flow: Stream, elements: int) -> int:
        total = BESIDES
        for v in flow.versions:
            across = sum(last - first + 1 for first, last in v.across.values() if last > first)
            kept = (v.kept + 1 if v.kept else 0) * elements
            total += (kept + across) * -(-self._type(v).bytes // FLOAT.bytes)
        return total

    def _shared(self, flow: Stream, elements: int) -> float:
        """Words of a row that a work-item gives its neighbours."""
        every = (v for v in flow.versions if v.across)
        return elements * sum(self._type(v).bytes / FLOAT.bytes for v in every)

    def _local(self, flow: Stream, widths: tuple[int, ...]) -> int:
        total = 0
        for v in flow.versions:
            ends = zip(widths, zip(*((map(abs, a)) for a in v.across)))
            total += v.ring * prod(n + 2 * max(a) for n, a in ends) * self._type(v).bytes
        return total


def _arithmetic(t: Template, types: dict[str, Scalar], limits: Limits) -> float:
    """Multiply-adds of a stage; doubles count twice."""
    total, costs = 0.0, limits.costs
    types = {**types, **{name: type for name, type, _ in t.scalars}}
    for e in (t.value, *(value for _, _, value in t.scalars)):
        for x in walk_expr(e):
            if isinstance(x, Bin | Call):
                words = type_of(x, types).bytes / FLOAT.bytes
                total += words * (costs.function / 2 if isinstance(x, Call) else FUSED)
                if isinstance(x, Bin) and x.op == "/":
                    total += words * costs.native_quotient / 2
    return total
