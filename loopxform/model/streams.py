"""What a kernel takes that computes stages along a stream of rows.

Times are counted in multiply-adds of floats for an element that is stored: a row of a tile costs a
work-item `Costs.row` whatever there is to compute, then its arithmetic, the words that are moved
between registers, and those of local memory (`Costs.local_read`). Groups that are few on a unit
hide less of what they wait for (`Costs.busy_warps`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import prod

from loopxform.ir.nodes import Bin, Call
from loopxform.ir.types import FLOAT, Scalar
from loopxform.ir.typing import type_of
from loopxform.ir.visit import walk_expr
from loopxform.targets.target import Limits
from loopxform.transforms.overlapped.stages import Field, Template
from loopxform.transforms.overlapped.streaming import Stream, Version

ITEMS: dict[int, tuple[tuple[int, ...], ...]] = {
    2: ((128,), (256,), (512,)),
    3: ((8, 32), (16, 32), (32, 32), (8, 64), (16, 64)),
}
"""Work-items that are tried, by the dimensions of tiles."""

ROWS = (32, 64, 128)
"""Rows of a tile that are tried."""

FUSED = 0.6
"""What is left of an operation where compilers fuse multiplications and additions."""

FILLED = 0.8
"""What four groups on a unit, which wait at barriers at different times, get of its time."""

ELEMENTS = 1 << 24
"""Of an array whose size is not known."""

LAST_WAVE = 0.5
"""How much of a wave of groups is lost as the last one is not full."""

BESIDES = 24
"""Registers for addresses, coordinates and bounds."""


class StreamModel:
    """What a kernel takes that computes a stream; `stored` are the fields that it writes."""

    def __init__(
        self,
        flow: Stream,
        found: Iterable[Template],
        stored: Iterable[Field],
        types: Mapping[str, Scalar],
        limits: Limits,
    ) -> None:
        self.flow, self.types, self.limits, self.stored = flow, dict(types), limits, [*stored]
        self.arithmetic = {id(t): _arithmetic(t, self.types, limits) for t in found}

    def time(self, rows: int, items: tuple[int, ...]) -> float | None:
        """Multiply-adds for an element that is stored; None where the tile does not fit."""
        flow, costs = self.flow, self.limits.costs
        valid = [n - a - b for n, a, b in zip(items, flow.low[1:], flow.high[1:])]
        if min(valid) < 1 or prod(items) > self.limits.group_size:
            return None
        words, local = self._registers(), self._local(items)
        most = min(self.limits.registers, costs.unit_registers // prod(items))
        if words > most or local > self.limits.local_bytes:
            return None
        groups = costs.unit_registers // (words * prod(items))
        busy = groups * prod(items) / (costs.busy_warps * self.limits.warp)
        hidden = min(1.0, busy, groups / (groups + 1) / FILLED)
        more = prod(items) / prod(valid) * (rows + flow.low[0] + flow.delay) / rows
        stored = prod(valid) * rows
        waves = ELEMENTS / (stored * groups * (self.limits.compute_units or costs.units))
        last = 1 + LAST_WAVE / waves
        return max(self._row() * more / hidden, self._bytes(more)) * last

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

    def _row(self) -> float:
        """A work-item's part of a row of each stage."""
        read, total = self.limits.costs.local_read, self.limits.costs.row
        for v in self.flow.versions:
            words = self._type(v).bytes / FLOAT.bytes
            across = sum(last - first for first, last in v.across.values())
            total += max((self.arithmetic[id(s.template)] for s in v.pieces), default=0)
            total += words * (read * (len(v.across) + bool(v.across)) + v.kept + across)
        return total

    def _bytes(self, more: float) -> float:
        moved = sum(self._type(v).bytes for v in self.flow.inputs) * more
        moved += sum(self.types[f.array].bytes for f in self.stored)
        return moved * self.limits.costs.balance / 2

    def _registers(self) -> int:
        total = BESIDES
        for v in self.flow.versions:
            across = sum(last - first + 1 for first, last in v.across.values() if last > first)
            kept = v.kept + 1 if v.kept else 0
            total += (kept + across) * -(-self._type(v).bytes // FLOAT.bytes)
        return total

    def _local(self, items: tuple[int, ...]) -> int:
        total = 0
        for v in self.flow.versions:
            widths = zip(items, zip(*((map(abs, a)) for a in v.across)))
            total += v.ring * prod(n + 2 * max(a) for n, a in widths) * self._type(v).bytes
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
