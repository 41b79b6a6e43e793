"""The shape of a tile and the time that it takes: of several, the quickest for a number of tiles.

A device with so many compute units works on that many tiles at a time, in waves; with few tiles,
the last wave of large ones leaves much of it without work:

    time(shape) = (waves * time of a tile + time to start) * iterations / 1024
                  + waves * time of its epilogue,    waves = ceil(tiles / units)

where times are numbers that only matter in proportion: those of a tile, and to start, for 1024
iterations of the sequential loop inside; the epilogue writes the results. (Wave quantisation:
NVIDIA, "Matrix multiplication background user's guide".) With split-K, every chunk of the
iterations has tiles of its own, which take the time of a chunk:

    time(shape) = waves * time of a tile + time to start,    waves = ceil(tiles * chunks / units)

Where work-groups that share a compute unit end at the same time, the next ones take their places
together: beyond the first, waves come in rounds of so many (`resident`), and a round that is not
full takes as long as one that is.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import reduce
from math import prod

from loopxform.ir.condition_text import long_constant
from loopxform.ir.nodes import Bin, Const, Expr, Var
from loopxform.ir.types import INT, INT_MAX, Scalar
from loopxform.ir.typing import type_of
from loopxform.records import record

MOST_BITS = 20
"""Of the number of tiles up to which waves are counted."""

MOST_TIME = 1024
"""Of a tile, to start, and of an epilogue: then no time of so many tiles overflows an int, and with
their iterations a long long."""

LONG_BITS = 44
"""Of the number of tiles up to which waves are counted in 64 bits."""

MOST_RATIO = 32
"""How many times as long a tile may take there."""

MOST_CHUNK_TIME = 16 * MOST_TIME
"""Of a tile of a chunk."""

MOST_CHUNKS = 1 << 14
"""Of the iterations, up to which they are counted."""

ITERATIONS = 1024
"""Those that a tile takes its time for."""


@record
class Shape:
    """The sizes of a tile along a nest of loops, the time that it takes for so many ITERATIONS,
    that it takes to start, and that of its epilogue; or that it takes for a `chunk` of so many
    iterations, and to start. Waves beyond the first round come in rounds of `resident`."""

    sizes: tuple[int, ...]
    time: int
    start: int = 0
    epilogue: int = 0
    chunk: int = 0
    resident: int = 1

    @property
    def cost(self) -> str:
        """The times in words."""
        start = f", {self.start} to start" if self.start else ""
        epilogue = f", {self.epilogue} at its end" if self.epilogue else ""
        rounds = f", in rounds of {self.resident}" if self.resident > 1 else ""
        return f"{self.time} a wave{start}{epilogue}{rounds}"

    @property
    def numbers(self) -> str:
        """The times alone."""
        return f"{self.time} + {self.start} + {self.epilogue}"

    def tiles(self, trips: Sequence[int]) -> int:
        """How many there are."""
        return prod(-(-n // t) for n, t in zip(trips, self.sizes))

    def taken(self, trips: Sequence[int], units: int, iterations: int = ITERATIONS) -> int:
        """The time of all of them on so many compute units, times ITERATIONS, with so many
        iterations of the sequential loop."""
        if self.chunk:
            waves = -(-self.tiles(trips) * -(-iterations // self.chunk) // units)
            return (waves * self.time + self.start) * ITERATIONS
        waves = self.waves(trips, units)
        return (waves * self.time + self.start) * iterations + waves * self.epilogue * ITERATIONS

    def waves(self, trips: Sequence[int], units: int) -> int:
        """How many there are on so many compute units, whole rounds beyond the first."""
        count = -(-self.tiles(trips) // units)
        whole = count <= self.resident
        return count if whole else -(-count // self.resident) * self.resident


def quickest(
    shapes: Sequence[Shape], trips: Sequence[int], units: int, iterations: int = ITERATIONS
) -> int:
    """Which of the shapes takes the least time (`least` asks the same)."""
    times = [s.taken(trips, units, iterations) for s in shapes]
    return times.index(min(times))


def least(
    shape: Shape,
    others: Sequence[Shape],
    trips: Sequence[Expr],
    units: int,
    types: dict[str, Scalar],
    iterations: Expr | None = None,
) -> tuple[Expr, ...]:
    """When a shape takes less time than all others, asked without a product that overflows; for
    so many ITERATIONS where those of the sequential loop are not known."""
    most = 1 << MOST_BITS // len(trips)
    asked: list[Expr] = []
    for n, *sizes in zip(trips, shape.sizes, *(s.sizes for s in others)):
        # A difference may be none that an int holds.
        number = Const if isinstance(n, Var) else long_constant
        if not type_of(n, types).is_unsigned:
            asked.append(Bin(">=", n, number(0)))
        asked.append(Bin("<", n, number(min(most * min(sizes), INT_MAX - max(sizes)))))
    if iterations is not None and shape.chunk:
        asked.append(Bin("<", iterations, long_constant(MOST_CHUNKS * shape.chunk)))
    elif iterations is not None and type_of(iterations, types).bytes > INT.bytes:
        asked.append(Bin("<=", iterations, long_constant(INT_MAX)))
    own, *rest = (_time(trips, s, units, iterations) for s in (shape, *others))
    return (*asked, *(Bin("<", own, other) for other in rest))


def _time(trips: Sequence[Expr], shape: Shape, units: int, iterations: Expr | None) -> Expr:
    counts = [_rounded(n, t) for n, t in zip(trips, shape.sizes)]
    if shape.chunk and iterations is not None:
        chunks = Bin("+", iterations, long_constant(shape.chunk - 1))
        counts.append(Bin("/", chunks, Const(shape.chunk)))
    waves = _rounded(reduce(lambda a, b: Bin("*", a, b), counts), units)
    if shape.resident > 1:
        waves = _in_rounds(waves, shape.resident)
    if shape.chunk:
        time = Bin("*", waves, long_constant(shape.time * ITERATIONS))
        return Bin("+", time, long_constant(shape.start * ITERATIONS))
    if iterations is None:
        time = Bin("*", waves, Const(shape.time + shape.epilogue))
        return Bin("+", time, Const(shape.start)) if shape.start else time
    steady: Expr = Bin("*", waves, long_constant(shape.time))
    if shape.start:
        steady = Bin("+", steady, long_constant(shape.start))
    time = Bin("*", steady, iterations)
    if shape.epilogue:
        end = Bin("*", waves, long_constant(shape.epilogue * ITERATIONS))
        time = Bin("+", time, end)
    return time


def _in_rounds(waves: Expr, count: int) -> Expr:
    """As many waves as there are in whole rounds; those of the first round as they are."""
    before = Bin("/", Bin("-", waves, Const(1)), Const(count))
    rounded = Bin("+", Bin("*", before, Const(count)), Const(count))
    return Bin("max", waves, Bin("min", Bin("*", before, Const(2 * count)), rounded))


def long_time(
    trips: Sequence[Expr], shape: Shape, units: int, ratio: Fraction = Fraction(1)
) -> Expr:
    """The time of all tiles, `ratio` times that of the shape, for so many ITERATIONS, in 64 bits:
    these hold it where there are up to 2 to the power of LONG_BITS tiles."""
    tiles: Expr = long_constant(1)
    for n, size in zip(trips, shape.sizes):
        tiles = Bin("*", tiles, _rounded(n, size))
    waves = _rounded(tiles, units)
    if shape.resident > 1:
        waves = _in_rounds(waves, shape.resident)
    time, start = (min(round(x * ratio), MOST_RATIO * MOST_TIME) for x in (shape.time, shape.start))
    return Bin("+", Bin("*", waves, Const(time)), Const(start))


def _rounded(n: Expr, size: int) -> Expr:
    """How many parts of that size something has, the last one perhaps not whole."""
    return n if size == 1 else Bin("/", Bin("+", n, Const(size - 1)), Const(size))
