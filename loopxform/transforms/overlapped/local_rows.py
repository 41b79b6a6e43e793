"""Rows of versions in local memory: rings of the last ones, with the elements that neighbours read.

    one element an item:  row[2][5][1 + W + 1]        item x of version 3 has row[slot][3][1 + x]
    four of them:         row[2][5][2][1 + W / 4 + 1] numbers 0 and 3 of each, those of one number
                                                      side by side: items read neighbouring words

Versions of equal rows share an array: an address is then computed once for all of them. Where
work-items wait for each other after each stage, those of every second one share the same row.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from loopxform.ir.nodes import Const, Expr
from loopxform.ir.types import Scalar
from loopxform.records import record
from loopxform.transforms.overlapped.kernel_parts import Shape, shifted
from loopxform.transforms.overlapped.stages import Field
from loopxform.transforms.overlapped.streaming import Stream, Version


@record
class LocalRows:
    """The rows of some `versions` (their numbers) of one type: a `ring` of each, with the `numbers`
    of each work-item's elements that others read, and `margins`: what is read before the first and
    behind the last work-item, for each dimension of these. Of versions that share the same row, the
    `turn` is that of all first, or of all second ones."""

    type: Scalar
    ring: int
    shape: Shape
    numbers: tuple[int, ...]
    margins: tuple[tuple[int, int], ...]
    versions: tuple[int, ...] = ()
    turn: int | None = None

    @property
    def extents(self) -> tuple[int, ...]:
        """Those of the array."""
        ends = zip(self.shape.items, self.margins)
        return (*self.fronts, *(n + before + behind for n, (before, behind) in ends))

    @property
    def fronts(self) -> tuple[int, ...]:
        """Those in front of the dimensions of work-items."""
        return (self.ring, *(len(x) for x in (self._apart, self.numbers) if len(x) > 1))

    @property
    def _apart(self) -> tuple[int, ...]:
        """The versions that have rows of their own."""
        return self.versions if self.turn is None else ()

    def index(
        self, v: Version, slot: Expr, item: tuple[Expr, ...], place: tuple[int, ...]
    ) -> tuple[Expr, ...]:
        """The subscripts of the element at a place in a row, counted from the first element of the
        work-item."""
        number, away = _place(place, self.shape.elements)
        apart = (n + before for n, (before, _) in zip(away, self.margins))
        picked = ((self._apart, v.number), (self.numbers, number))
        which = (Const(x.index(n)) for x, n in picked if len(x) > 1)
        return (slot, *which, *(shifted(x, n) for x, n in zip(item, apart)))


def local_rows(flow: Stream, types: Mapping[Field, Scalar], shape: Shape) -> list[LocalRows]:
    """The arrays for all versions of which neighbours read something."""
    alike: dict[LocalRows, list[int]] = {}
    for n, v in enumerate(v for v in flow.versions if v.ring):
        places = [_place(place, shape.elements) for place in v.across]
        numbers = tuple(sorted({number for number, _ in places}))
        spans = zip(*(away for _, away in places))
        margins = tuple((max(0, -min(span)), max(0, *span)) for span in spans)
        turn = n % 2 if flow.in_step else None
        rows = LocalRows(types[v.field], v.ring, shape, numbers, margins, turn=turn)
        alike.setdefault(rows, []).append(v.number)
    return [replace(x, versions=tuple(found)) for x, found in alike.items()]


def _place(place: tuple[int, ...], elements: int) -> tuple[int, tuple[int, ...]]:
    """The number of an element in its work-item, and where that one is."""
    away, number = divmod(place[0], elements)
    return number, (away, *place[1:])
