"""The shape of a tile and the time that it takes: of several, the quickest for a number of tiles.

A device with so many compute units works on that many tiles at a time, in waves; with few tiles,
the last wave of large ones leaves much of it without work:

    time(shape) = ceil(tiles / units) * the time of one tile + what it takes to start

where times are numbers that only matter in proportion. (Wave quantisation: NVIDIA, "Matrix
multiplication background user's guide".)
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from math import prod

from loopxform.ir.nodes import Bin, Const, Expr
from loopxform.ir.types import INT_MAX, Scalar
from loopxform.ir.typing import type_of
from loopxform.records import record

MOST_BITS = 20
"""Of the number of tiles up to which waves are counted."""

MOST_TIME = 1024
"""Of a tile, and to start: then no time of so many tiles overflows an int."""


@record
class Shape:
    """The sizes of a tile along a nest of loops, the time that it takes, and that it takes to
    start."""

    sizes: tuple[int, ...]
    time: int
    start: int = 0

    @property
    def cost(self) -> str:
        """The times in words."""
        return f"{self.time} a wave" + (f", {self.start} to start" if self.start else "")

    def tiles(self, trips: Sequence[int]) -> int:
        """How many there are."""
        return prod(-(-n // t) for n, t in zip(trips, self.sizes))

    def taken(self, trips: Sequence[int], units: int) -> int:
        """The time of all of them on so many compute units."""
        return -(-self.tiles(trips) // units) * self.time + self.start


def quickest(shapes: Sequence[Shape], trips: Sequence[int], units: int) -> int:
    """Which of the shapes takes the least time (`least` asks the same)."""
    times = [s.taken(trips, units) for s in shapes]
    return times.index(min(times))


def least(
    shape: Shape,
    others: Sequence[Shape],
    trips: Sequence[Expr],
    units: int,
    types: dict[str, Scalar],
) -> tuple[Expr, ...]:
    """When a shape takes less time than all others, asked without a product that overflows."""
    most = 1 << MOST_BITS // len(trips)
    asked: list[Expr] = []
    for n, *sizes in zip(trips, shape.sizes, *(s.sizes for s in others)):
        if not type_of(n, types).is_unsigned:
            asked.append(Bin(">=", n, Const(0)))
        asked.append(Bin("<", n, Const(min(most * min(sizes), INT_MAX - max(sizes)))))
    own = _time(trips, shape, units)
    return (*asked, *(Bin("<", own, _time(trips, other, units)) for other in others))


def _time(trips: Sequence[Expr], shape: Shape, units: int) -> Expr:
    counts = [_rounded(n, t) for n, t in zip(trips, shape.sizes)]
    tiles = reduce(lambda a, b: Bin("*", a, b), counts)
    time: Expr = Bin("*", _rounded(tiles, units), Const(shape.time))
    return Bin("+", time, Const(shape.start)) if shape.start else time


def _rounded(n: Expr, size: int) -> Expr:
    """How many parts of that size something has, the last one perhaps not whole."""
    return n if size == 1 else Bin("/", Bin("+", n, Const(size - 1)), Const(size))
