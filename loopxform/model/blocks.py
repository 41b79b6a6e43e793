"""What a kernel takes that computes stages in overlapped block tiles.

Times are counted as those of streams are (`model.streams`), for a whole tile: every element of a
box costs its arithmetic, the words that are read for it, and the arithmetic of its place; then what
is moved, as a group waits at barriers for what it reads. Kernels of pyramids, of an interpolation
and of a camera took 0.6 to 1.6 times as long on an H100.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from itertools import product
from math import prod

from loopxform.errors import MalformedIR
from loopxform.ir.affine import value_of
from loopxform.ir.evaluate import evaluate
from loopxform.ir.memo import remembered
from loopxform.ir.nodes import Bin, Expr, Load
from loopxform.ir.types import FLOAT, Scalar
from loopxform.ir.visit import loads, names
from loopxform.model.predicted import Predicted
from loopxform.model.streams import arithmetic
from loopxform.records import record
from loopxform.targets.target import Limits
from loopxform.transforms.overlapped.block_frames import schedule
from loopxform.transforms.overlapped.block_places import counts
from loopxform.transforms.overlapped.block_regions import Region
from loopxform.transforms.overlapped.block_stages import Piece
from loopxform.transforms.overlapped.refusal import NotStages
from loopxform.transforms.overlapped.spans import line
from loopxform.transforms.overlapped.templates import Template
from loopxform.transforms.overlapped.tile_stages import BlockGroup

LAST: dict[int, tuple[tuple[int, ...], ...]] = {
    1: ((256,), (1024,)),
    2: ((8, 32), (16, 32), (8, 64), (16, 64), (32, 32), (32, 64)),
}
"""Sizes along the last dimensions that are tried."""

ITEMS = (128, 256, 512)
"""Work-items that are tried."""

FEW = 4
"""The most elements of a dimension further out of which a tile may have all."""

PLACE = 16.0
"""Multiply-adds for where an element is."""

TESTS = 2.0
"""For whether an element is one of those of a loop that computes several."""

SUBSCRIPT = 0.5
"""And for each that is read."""

WAITING = 16
"""With n warps on a unit it takes 1 + `WAITING` / n times as long, as they wait at barriers and for
memory."""

UNIT_ITEMS = 2048
"""Work-items of a unit at most."""

SIZE = 2048
"""Stands for sizes that are not known."""


@record
class BlockTile:
    """The tile of a group: its `sizes`, and how many work-items compute it."""

    sizes: tuple[int, ...]
    items: int

    @property
    def words(self) -> tuple[tuple[str, ...], str]:
        """Sizes and items as steps have them."""
        return tuple(map(str, self.sizes)), str(self.items)

    @property
    def option(self) -> str:
        """As options have it."""
        return "x".join(map(str, (*self.sizes, self.items)))

    @property
    def text(self) -> str:
        """As reports have it."""
        return f"tiles of {'x'.join(map(str, self.sizes))} elements, {self.items} work-items"


def block_tiles(extents: tuple[Expr, ...]) -> Iterator[BlockTile]:
    """Those that are tried for an array of some extents."""
    inner = min(2, len(extents))
    outer: list[tuple[int, ...]] = []
    for e in extents[: len(extents) - inner]:
        n = value_of(e)
        outer.append((1, n) if n is not None and 1 < n <= FEW else (1,))
    for first, last, items in product(product(*outer), LAST[inner], ITEMS):
        yield BlockTile((*first, *last), items)


@remembered(1024)
def elements(t: Template) -> float:
    """About how many elements a stage has."""
    return prod(max(1, _number(Bin("-", x.hi, x.lo))) for x in t.loops)


def _number(e: Expr) -> int:
    try:
        return evaluate(e, dict.fromkeys(names(e), SIZE))
    except (MalformedIR, ZeroDivisionError):
        return SIZE


def untiled(t: Template, types: Mapping[str, Scalar], limits: Limits) -> Predicted:
    """For a stage that is a kernel of its own."""
    costs, target = limits.costs, types[t.target.array]
    read = {x.array for e in t.values for x in loads(e)}
    moved = target.bytes + sum(types[a].bytes for a in read)
    work = arithmetic(t, dict(types), limits) + _reads(t) * costs.local_read
    slow = moved * costs.balance / 2 / costs.stencil_bandwidth
    return Predicted(max(slow, work), moved, 1.0, 1.0).times(elements(t))


def _reads(t: Template) -> int:
    return len({x for e in t.values for x in loads(e)})


class BlockModel:
    """What a kernel takes that computes regions."""

    def __init__(self, group: BlockGroup, types: Mapping[str, Scalar], limits: Limits) -> None:
        self.group, self.regions = group, group.every
        self.types, self.limits = dict(types), limits
        self.fields = {r.field.array for r in self.regions}
        self.schedule = schedule(self.regions)
        pieces = [p for r in self.regions for p in r.pieces]
        self.costs = {p.number: (self._element(p), self._read(p)) for p in pieces}

    def predicted(self, tile: BlockTile) -> Predicted | None:
        """For all tiles; None where they do not fit."""
        costs, limits = self.limits.costs, self.limits
        try:
            widths = self.group.widths(tile.sizes)
        except NotStages:
            return None
        tiles_of = [(r, self.schedule.tile(r, widths[r.field], tile.sizes)) for r in self.regions]
        local = sum(self._bytes(r) * prod(n) for r, n in tiles_of if n is not None)
        if tile.items > limits.group_size or local > limits.local_bytes:
            return None
        there = costs.unit_local_bytes or costs.resident_groups * limits.local_bytes
        groups = there // max(local, 1)
        warps = max(1, min(groups, UNIT_ITEMS // tile.items)) * tile.items / limits.warp
        work, moved, elements_of_tile = 0.0, 0.0, 0.0
        for x in (x for loops in self.schedule.phases for x in loops):
            framed = x.frame.widths(tile.sizes) if x.frame and len(x.members) > 1 else None
            for m in x.members:
                element, read = self.costs[m.piece.number]
                computed = prod(counts(m.piece, widths[m.region.field]))
                turns = -(-(prod(framed) if framed else computed) // tile.items)
                place = PLACE / len(x.members) + TESTS if framed else PLACE
                work += turns * tile.items * (place + element)
                moved += computed * read
                elements_of_tile += computed
        for r in self.regions:
            if r.shared:
                share = prod(tile.sizes[axis] * scale for axis, scale in r.shared)
                moved += float(share) * self._bytes(r)
        last = self.group.reference.pieces
        written = (elements(p.template) * prod(a.factor for a in p.along) for p in last)
        tiles = max(written) / prod(tile.sizes)
        slow = work / min(1.0, warps / costs.busy_warps)
        time = (slow + moved * costs.balance / 2) * (1 + WAITING / warps)
        each = sum(elements(t) for t in self.group.templates)
        return Predicted(tiles * time, tiles * moved, tiles * elements_of_tile, each)

    def _bytes(self, r: Region) -> int:
        return self.types[r.field.array].bytes

    def _element(self, p: Piece) -> float:
        reads = _reads(p.template)
        words = self.types[p.field.array].bytes / FLOAT.bytes
        work = arithmetic(p.template, self.types, self.limits)
        return reads * (SUBSCRIPT + self.limits.costs.local_read * words) + work

    def _read(self, p: Piece) -> float:
        """Bytes of memory that are read for an element, each once."""
        every: dict[str, Fraction] = {}
        for x in (x for e in p.template.values for x in loads(e)):
            if x.array not in self.fields:
                every[x.array] = max(every.get(x.array, Fraction(0)), _scale(p, x))
        return sum(float(n) * self.types[a].bytes for a, n in every.items())


def _scale(p: Piece, x: Load) -> Fraction:
    """How many elements of another array there are for one that is written."""
    out = Fraction(1)
    for a in (a for a in p.along if a.var):
        of = [line(e, a.var) for e in x.index if a.var in names(e)]
        out *= next((y.factor / a.factor for y in of if y is not None), Fraction(1))
    return out
