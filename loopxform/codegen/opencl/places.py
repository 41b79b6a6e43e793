"""Where a group stands in the grid, a work-item in its group: counters of loops mapped there.

    forall<group.x> (ii = 0; ii < N; ii += 64)   ->   const int ii = (int)get_group_id(0) * 64;
    forall<thread.x> (i = ii; i < ii + 64; i++)  ->   const int i = ii + l_x;

Groups may be walked in bands (`swizzle-groups`), and several loops may share a dimension.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from loopxform.codegen.opencl.launch import ThreadLoop
from loopxform.codegen.opencl.look_back import turn_of
from loopxform.codegen.opencl.register_pipeline import PreloadWriter
from loopxform.codegen.opencl.tile_starts import Starts
from loopxform.errors import EmitError
from loopxform.ir.affine import poly, value_of
from loopxform.ir.nodes import For
from loopxform.ir.visit import names
from loopxform.transforms.edges.bounds import trip_count


@dataclass
class PlaceWriter(PreloadWriter):
    """Writes these counters."""

    _hoisted: dict[str, object] = field(default_factory=dict)
    _common_names: frozenset[str] = frozenset()

    def _group_offset(self, loop: For) -> str:
        kind = self.dialect.counter_type(loop.type)
        number = self._group_number(loop, kind)
        step = self._text(loop.step, 13)
        text = number + ("" if value_of(loop.step) == 1 else f" * {_wrap(step)}")
        if poly(loop.lo).constant != 0:
            text = f"{self._text(loop.lo, 12)} + {text}"
        return f"const {kind} {self.dialect.name(loop.var)} = {text};"

    def _bands(self) -> list[str]:
        """Where a group stands in its band: bands are walked column by column."""
        own, rows = self.own, self.mapping.bands
        if not rows:
            return []
        band = f"({rows} * get_num_groups(0))"
        return [
            f"const size_t {own.number} = get_group_id(1) * get_num_groups(0) + get_group_id(0);",
            f"const size_t {own.first} = {own.number} / {band} * {rows};",
            f"const size_t {own.rows} = min(get_num_groups(1) - {own.first}, (size_t){rows});",
        ]

    def _group_id(self, dimension: int) -> str:
        """The number of the group along a dimension."""
        own, rows = self.own, self.mapping.bands
        if not rows or dimension == 2:
            return f"get_group_id({dimension})"
        place = f"{own.number} % ({rows} * get_num_groups(0))"
        text = f"{place} / {own.rows}" if dimension == 0 else f"{own.first} + {place} % {own.rows}"
        return f"({text})"

    def _group_number(self, loop: For, kind: str) -> str:
        """Which iteration of a loop over groups this is: its part of the number of the group,
        where several loops share a dimension."""
        assert loop.level is not None
        if loop.chained:
            return turn_of(_link(loop), self.dialect)
        text = self._group_id(loop.level.dimension)
        shared = [x for x in self.mapping.grid if x.level == loop.level]
        place = next(n for n, x in enumerate(shared) if x is loop)
        if value_of(trip_count(loop)) == 1 and len(shared) > 1:
            return "0"
        counts = [trip_count(x) for x in shared]
        faster = [f"({self._text(c)})" for c in counts[place + 1 :] if value_of(c) != 1]
        if faster:
            text = f"{text} / {' / '.join(faster)}"
        if any(value_of(c) != 1 for c in counts[:place]):
            text = f"{text} % ({self._text(trip_count(loop))})"
        return f"({kind})({text})" if len(shared) > 1 else f"({kind}){text}"

    def _starts(self, starts: Starts) -> Iterator[str]:
        """Where tiles begin, of all work-items of the group."""
        for decl, first in starts:
            self._common_names |= {decl.name}
            kind, name = self.dialect.type_name(decl.type), self.dialect.name(decl.name)
            yield f"const {kind} {name} = {self._text(first.value)};"

    def _thread_offsets(self) -> Iterator[str]:
        """Thread loops that run over the same values everywhere are computed once."""
        by_var: dict[str, list[ThreadLoop]] = {}
        for t in self.mapping.threads:
            by_var.setdefault(t.loop.var, []).append(t)
        outside = {loop.var for loop in self.mapping.grid} | self._common_names
        for var, found in by_var.items():
            values = {poly(t.value(self.own.local_ids[t.dimension])) for t in found}
            local = {n for t in found for n in names(t.loop.lo)} - outside
            moving = {s.loop.var for s in found} | _loop_vars(found) & local
            if len(values) == 1 and not moving & local:
                self._hoisted[var] = True
                yield self._thread_offset(found[0])

    def _thread_offset(self, t: ThreadLoop) -> str:
        kind = self.dialect.counter_type(t.loop.type)
        value = self._text(t.value(self.own.local_ids[t.dimension]))
        return f"const {kind} {self.dialect.name(t.loop.var)} = {value};"


def _link(chunks: For) -> For:
    """What looks back in a loop over chunks. Raises EmitError."""
    for s in chunks.body:
        if isinstance(s, For) and s.look_back:
            return s
    raise EmitError(f"the loop over '{chunks.var}' passes values on, and does not look back")


def _loop_vars(found: list[ThreadLoop]) -> set[str]:
    return {n for t in found for n in names(t.loop.lo)}


def _wrap(text: str) -> str:
    return f"({text})" if "*" in text else text
