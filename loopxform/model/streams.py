"""What a kernel takes that computes stages along a stream of rows.

Times are counted in multiply-adds of floats for an element that is stored. A row costs a work-item
`Costs.row`, its arithmetic, what it moves between registers, and the words that pass through local
memory (`Costs.shared_word`). Meanwhile the next rows are on their way from memory: with few
elements in work on a unit it waits for them (`Costs.row_wait`). The two overlap in part: the root
of the sum of their squares was within a sixth of what an H100 took for 60 kernels.

Stages of a pipeline have few operations for a row, so that its barriers and its bytes count too: a
group waits at the former, which is hidden by others of the same unit, and the latter overlap in
part with all else. What tiles read that others read too comes from the cache, as long as that holds
what all groups that run work on (`Costs.cache_bytes`); otherwise memory is slower besides, as it
serves rows far apart. 22 tiles of blur3, Harris corners and an unsharp mask took 8 % more or less.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import product
from math import hypot, pow, prod, sqrt

from loopxform.ir.nodes import Bin, Call, Const, Expr, Load
from loopxform.ir.types import FLOAT, Scalar
from loopxform.ir.typing import type_of
from loopxform.ir.visit import children, loads
from loopxform.model.predicted import NOTHING, Predicted
from loopxform.records import record
from loopxform.targets.target import Limits
from loopxform.transforms.overlapped.kept_elements import AHEAD, AHEAD_IN_STEP
from loopxform.transforms.overlapped.kernel_parts import Shape
from loopxform.transforms.overlapped.local_rows import local_rows
from loopxform.transforms.overlapped.stages import Field
from loopxform.transforms.overlapped.streaming import Stream, Version
from loopxform.transforms.overlapped.templates import Template

ITEMS: dict[int, tuple[tuple[int, ...], ...]] = {
    2: ((128,), (256,), (512,)),
    3: ((8, 32), (16, 32), (32, 32), (8, 64), (16, 64)),
}
"""Work-items that are tried, by the dimensions of tiles."""

ITEMS_IN_STEP: dict[int, tuple[tuple[int, ...], ...]] = {2: ((128,),), 3: ((16, 32), (32, 32))}
"""Work-items that are tried where they wait for each other after each stage: with few of them, many
groups hide that; the large ones of planes have less of their neighbours to compute."""

ELEMENTS_IN_STEP = (2,)
"""Elements of these: 5 points of a plane on an H200 take 1.2 times as long with 4."""

LAST_IN_STEP = 0.25
"""`LAST_WAVE` of these: star2d1r of AN5D took 0.92 of the time with 64 rows in place of 128."""

IN_STEP = 0.85
"""What is left of the time that is counted where work-items wait after each stage: an H200 took
0.64 to 1.0 of it for 11 kernels."""

FEWER_ITEMS = {2: ((64,),)}
"""And for stages of a pipeline, of which a row has fewer operations."""

ELEMENTS_OF_ITEM = (1, 2, 4)
"""Elements of a work-item that are tried."""

ROWS = (32, 64, 128, 256)
"""Rows of a tile that are tried."""

FEWER_ROWS = (8, 16)
"""And for stages of a pipeline that are larger than the cache: then it may hold what groups work on
at a time."""

FUSED = 0.55
"""What is left of an operation where compilers fuse multiplications and additions."""

ELEMENTS = 1 << 24
"""Of an array whose size is not known."""

IMAGE = 1 << 22
"""Elements of an image whose size is not known."""

LARGER = 4
"""How many times as many others have."""

FEW_PLANES = 16
"""Planes of one: more fill a device in any tile."""

LAST_WAVE = 0.2
"""How much of a wave of groups is lost as the last one is not full."""

LAST_OF_PIPELINE = 0.1
"""The same for a pipeline: groups that have a unit for themselves are quicker."""

STRIDED = 0.3
"""What each further element of a work-item adds to the time that memory takes, where these are
neighbours there: accesses of a warp are spread over as many more segments."""

PLANES = 2
"""How many times as long a row takes to come that is a part of a plane: its ends are far apart."""

CACHED_READ = 8.5
"""Multiply-adds in the time of an element that is read through caches, address included."""

FAR_PLANE = 8.5
"""The same for each plane of a space that is read beside an element's own: star3d2r, star3d3r and
star3d4r of AN5D took 1.5 times as long as without it."""

UNIT_ITEMS = 2048
"""Work-items of a unit at most."""

FEW_ITEMS = 384
"""Work-items of a unit below which instructions wait for one another, the longer the fewer there
are: gradient2d of AN5D with 256 of them took 1.5 times as long as with 640 on an H200."""

FEW_IN_STEP = 640
"""Work-items of a unit in step below which nothing hides that they wait, by the same root."""

AT_BARRIERS = 0.8
"""How much of the time of a row a group waits for its last work-item: with n groups on a unit, an
n-th of that is lost."""

SHORT_WAIT = 1 / 6
"""Of `Costs.row_wait`, what stages of a pipeline wait for a row: all that is read is on its way so
many iterations before, not only what a step of time left."""

PIPELINE = 1.35
"""How many times as long as that the pipelines took."""

TOGETHER = 3
"""How well bytes and instructions of pipelines overlap: this root of the sum of such powers."""

IN_CACHE = 0.7
"""Of the bytes of a cache, those that hold what groups work on."""

FAR_APART = 1.07
"""How many times as long memory takes where groups work on more than the cache holds."""

BESIDES = 32
"""Registers for addresses, coordinates and bounds."""

CERTAIN = 0.85
"""Of the registers of a work-item, those that can be counted on."""

REGISTERS = 8
"""Registers that work-items get at a time."""


@record
class Tile:
    """The tile of a group: `rows`, and `items` along the other dimensions, with so many `elements`
    each along the first of them; for a loop over time, how many `steps` a pass has, and whether
    work-items are `in_step` (`Stream`)."""

    rows: int
    items: tuple[int, ...]
    elements: int = 1
    steps: int = 1
    in_step: bool = False

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
        step = ", in step" if self.in_step else ""
        return f"tiles of {self.rows} rows, {items} items{each}{step}"


@record
class Resident:
    """The `groups` of a tile that a unit runs at a time; of an element, the time of its `row` and
    that of the `wait` for the next one, which is `strided` times as long where rows were not read
    ahead, how many times it is computed (`overlap`), and how many `waves` of groups there are."""

    groups: int
    row: float
    wait: float
    strided: float
    overlap: float
    waves: float


def tiles(rank: int, *, in_step: bool = False) -> Iterator[Tile]:
    """Those that are tried, by the dimensions of a tile."""
    if in_step:
        return _product(ROWS, ITEMS_IN_STEP.get(rank, ()), ELEMENTS_IN_STEP)
    return _product(ROWS, ITEMS.get(rank, ()))


def pipeline_tiles(rank: int, *, fewer_rows: bool) -> Iterator[Tile]:
    """Those that are tried for stages of a pipeline."""
    rows = (*FEWER_ROWS, *ROWS) if fewer_rows else ROWS
    return _product(rows, (*FEWER_ITEMS.get(rank, ()), *ITEMS.get(rank, ())))


def _product(
    rows: Iterable[int],
    items: Iterable[tuple[int, ...]],
    elements: Iterable[int] = ELEMENTS_OF_ITEM,
) -> Iterator[Tile]:
    for n, every, several in product(rows, items, elements):
        yield Tile(n, every, several)


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
        found = tuple(found)
        self.arithmetic = {id(t): arithmetic(t, self.types, limits) for t in found}
        read = {x.array for t in found for e in t.values for x in loads(e)}
        self.others = read - {v.field.array for v in self.flow.versions}

    def time(self, tile: Tile) -> float | None:
        """Multiply-adds for an element that is stored; None where the tile does not fit."""
        found = self.predicted(tile)
        return None if found is None else found.time

    def predicted(self, tile: Tile) -> Predicted | None:
        """For an element that is stored; None where the tile does not fit."""
        x = self._resident(tile)
        if x is None:
            return None
        row, moved = hypot(x.row, x.wait * x.strided), self._bytes(x.overlap)
        few, last = FEW_ITEMS, LAST_WAVE
        if self.flow.in_step:
            row, few, last = row * IN_STEP, FEW_IN_STEP, LAST_IN_STEP
        row *= max(1, sqrt(few / (x.groups * prod(tile.items))))
        time = max(row * x.overlap, self._transfer(moved)) * (1 + last / x.waves)
        return Predicted(time, moved, x.overlap * self._stages, self._stages)

    def in_pipeline(self, tile: Tile, elements: float) -> Predicted | None:
        """The same where the stream is one of the stages of a pipeline: the mean over all elements
        of two images, one of so many, or of `IMAGE`, and a larger one."""
        x = self._resident(tile)
        if x is None:
            return None
        image = min(float(IMAGE), elements) * FEW_PLANES**self.flow.batch
        small, large = (self._of_waves(x, x.waves * n * image / ELEMENTS) for n in (1, LARGER))
        time = (small + LARGER * large) / (1 + LARGER)
        moved = self._bytes(x.overlap)
        return Predicted(time * PIPELINE, moved, x.overlap * self._stages, self._stages)

    def tiles(self, tile: Tile, elements: float) -> float:
        """About how many tiles so many elements have; 0 where the tile does not fit."""
        x = self._resident(tile)
        return 0.0 if x is None else elements * x.waves * x.groups * self._units / ELEMENTS

    def exceeds_cache(self, elements: float) -> bool:
        """Whether images of so many elements are larger than the cache, if that is known."""
        return 0 < self.limits.costs.cache_bytes < self._bytes(1) * elements

    def _of_waves(self, x: Resident, waves: float) -> float:
        """The time of an element of a pipeline; fewer groups than units can run wait longer."""
        here, once = min(1.0, waves), self._bytes(1)
        work = once * here * ELEMENTS / x.waves
        cached = work <= self.limits.costs.cache_bytes * IN_CACHE
        moved = once if cached else self._bytes(x.overlap) * FAR_APART
        row = hypot(x.row, x.wait * SHORT_WAIT / here) * (1 + AT_BARRIERS / (x.groups * here))
        both = pow(row * x.overlap, TOGETHER) + pow(self._transfer(moved), TOGETHER)
        return pow(both, 1 / TOGETHER) * (1 + LAST_OF_PIPELINE / waves)

    def _resident(self, tile: Tile) -> Resident | None:
        costs, items = self.limits.costs, prod(tile.items)
        flow = self.flows.get(tile.elements) or self.flow
        shape = Shape(tile.rows, tile.items, tile.elements)
        widths = shape.widths
        valid = [n - a - b for n, a, b in zip(widths, flow.low[1:], flow.high[1:])]
        if len(widths) != flow.rank - 1 or min(valid) < 1 or items > self.limits.group_size:
            return None
        words, local = self._registers(flow, tile.elements), self._local(flow, shape)
        most = min(self.limits.registers, costs.unit_registers // items)
        if words > most * (1 if flow.in_step else CERTAIN) or local > self.limits.local_bytes:
            return None
        groups = min(costs.unit_registers // (words * items), max(1, UNIT_ITEMS // items))
        strided = (1 + STRIDED * (tile.elements - 1)) if flow.rank == 2 else 1.0
        spread = 1 if flow.rank == 2 else PLANES
        wait = costs.row_wait * spread / (groups * prod(widths))
        overlap = prod(widths) / prod(valid) * (tile.rows + flow.low[0] + flow.delay) / tile.rows
        stored = prod(valid) * tile.rows
        waves = ELEMENTS / (stored * groups * self._units)
        return Resident(groups, self._row(flow, tile.elements), wait, strided, overlap, waves)

    def _transfer(self, moved: float) -> float:
        """The time in which memory moves so many bytes."""
        return moved * self.limits.costs.balance / 2

    @property
    def _units(self) -> int:
        return self.limits.compute_units or self.limits.costs.units

    @property
    def _stages(self) -> int:
        return sum(1 for v in self.flow.versions if v.pieces)

    def untiled(self) -> Predicted:
        """For an element where each stage is a kernel of its own."""
        costs, total = self.limits.costs, NOTHING
        for v in (v for v in self.flow.versions if v.pieces):
            fields = {r.field for s in v.pieces for r in s.reads}
            moved = self._type(v).bytes * (1 + len(fields))
            reads = (
                max(len(s.reads) for s in v.pieces)
                * CACHED_READ
                * self._type(v).bytes
                / FLOAT.bytes
            )
            work = max(self.arithmetic[id(s.template)] for s in v.pieces)
            far = {r.away[self.flow.batch] for s in v.pieces for r in s.reads} - {0}
            reads += FAR_PLANE * len(far) if self.flow.rank > 2 else 0
            slow = self._transfer(moved) / costs.stencil_bandwidth
            total += Predicted(max(slow, work + reads), moved, 1.0, 1.0)
        return total

    def _type(self, v: Version) -> Scalar:
        return self.types[v.field.array]

    def _row(self, flow: Stream, elements: int) -> float:
        """A work-item's part of a row of each stage, for one of its elements."""
        read, total = self.limits.costs.shared_word, self.limits.costs.row
        for v in flow.versions:
            words = self._type(v).bytes / FLOAT.bytes
            moves = sum(last - first for first, last in v.across.values()) / elements
            shared = len(v.across) + len({place[0] % elements for place in v.across})
            total += max((self.arithmetic[id(s.template)] for s in v.pieces), default=0)
            total += words * (read * shared / elements + v.kept + moves)
            total += sum(s.moved for s in v.split.sums) if v.split else 0
        return total

    def _bytes(self, more: float) -> float:
        moved = sum(self._type(v).bytes for v in self.flow.inputs) * more
        moved += sum(self.types[name].bytes for name in self.others)
        return moved + sum(self.types[f.array].bytes for f in self.stored)

    def _registers(self, flow: Stream, elements: int) -> int:
        total, ahead = BESIDES, AHEAD_IN_STEP if flow.in_step else AHEAD
        for v in flow.versions:
            total += 0 if v.pieces else ahead * elements * -(-self._type(v).bytes // FLOAT.bytes)
            across = sum(last - first + 1 for first, last in v.across.values() if last > first)
            kept = (v.kept + 1 if v.kept else 0) * elements
            total += (kept + across) * -(-self._type(v).bytes // FLOAT.bytes)
            total += int(v.split.words) * elements if v.split else 0
        return -(-total // REGISTERS) * REGISTERS

    def _local(self, flow: Stream, shape: Shape) -> int:
        types = {v.field: self._type(v) for v in flow.versions}
        every = local_rows(flow, types, shape)
        return sum(prod(rows.extents) * rows.type.bytes for rows in every)


def arithmetic(t: Template, types: dict[str, Scalar], limits: Limits) -> float:
    """Multiply-adds of a stage; doubles count twice."""
    total, costs = 0.0, limits.costs
    types = {**types, **{name: type for name, type, _ in t.scalars}}
    for e in (t.value, *(value for _, _, value in t.scalars)):
        for x in _computed(e):
            if isinstance(x, Bin | Call):
                words = type_of(x, types).bytes / FLOAT.bytes
                total += words * (costs.function / 2 if isinstance(x, Call) else FUSED)
                if isinstance(x, Bin) and x.op == "/":
                    total += words * _quotient(x, costs.native_quotient / 2)
    return total


def _quotient(x: Bin, otherwise: float) -> float:
    """Of a quotient, what the product does not take; the root that it divides by is a reciprocal
    one."""
    match x.right:
        case Const():
            return 0.5
        case Call("sqrtf"):
            return 0.0
        case _:
            return otherwise


def _computed(e: Expr) -> Iterator[Expr]:
    """The parts of an expression, but for subscripts."""
    yield e
    if not isinstance(e, Load):
        for x in children(e):
            yield from _computed(x)
