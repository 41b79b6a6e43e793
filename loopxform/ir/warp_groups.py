"""Products that four warps compute together, whose operands they read from local memory.

    left      a row of terms for each row of the result
    right     rows of columns, a row for each term, in panels of 64 columns; or, as the left one,
              a row of terms for each column of the result

Rows of terms have 64 bytes, those of a panel 128; they follow each other. Of their pieces of
16 bytes each lies as many further as `Rows.turn` says of its row (by exclusive or), so that those
that are read together lie in different banks. Of 16 rows that a warp computes, its work-items have
the ones `y` and `y + 8` (`ir.tensor_tiles`): neighbours in the program are 8 rows apart here.

An instruction gets the place of an operand and its `shape`, the upper bits of what PTX calls a
matrix descriptor. (NVIDIA, PTX ISA, "Asynchronous warpgroup-level matrix instructions": "Shared
memory matrix layout", "Matrix descriptor format".)

OpenCL's compiler knows no such instructions. Kernels have them as comments in PTX, which begin with
MARK; the host makes instructions of them in the PTX of a program, and loads that.
"""

from __future__ import annotations

from collections.abc import Iterator

from loopxform.ir.tensor_tiles import FACTORS, MATRIX, SUMS, TENSOR_TILES, TensorTile
from loopxform.ir.types import Scalar
from loopxform.records import record

MARK = "//LX_WARP_GROUP "
"""Begins such an instruction in PTX."""

TARGET, OWN_TARGET = ".target sm_90,", ".target sm_90a,"
"""The devices that PTX is for, as OpenCL's compiler has it, and those that have them."""

START = "wgmma.fence.sync.aligned;"
COMMIT = "wgmma.commit_group.sync.aligned;"
WAIT = "wgmma.wait_group.sync.aligned 0;"
SEEN = "fence.proxy.async.shared::cta;"
"""Makes what work-items have copied into local memory visible to instructions that read it on their
own."""

ALIGNED = 1024
"""Bytes: 8 rows of 128."""

PANEL = 128
"""Bytes of a row of a panel."""

ROW = 64
"""Bytes of a row of terms. (PTX has others, which no host has compared with plain products.)"""

GROUP_ROWS = 16
"""Rows of the result that a warp computes."""

_MODES = {PANEL: 1, ROW: 2}


@record
class Rows:
    """Rows of so many bytes of an operand."""

    bytes: int

    @property
    def pieces(self) -> int:
        """Those of 16 bytes in a row."""
        return self.bytes // MATRIX

    @property
    def alike(self) -> int:
        """Neighbours whose pieces change places in the same way."""
        return PANEL // self.bytes

    def turn(self, row: int) -> int:
        """How many pieces further, by exclusive or, those of a row lie."""
        return row // self.alike % self.pieces

    def shape(self, panel: int = 0) -> int:
        """The upper bits of the descriptor; panels are of so many bytes."""
        lead, stride = panel or MATRIX, 8 * self.bytes
        return lead // 16 << 16 | stride // 16 << 32 | _MODES[self.bytes] << 62


@record
class Shape:
    """What the upper bits of a descriptor say."""

    lead: int
    stride: int
    rows: Rows

    def cells(self, first: int, line: int, depth: int, *, panels: bool) -> list[int]:
        """The bytes at which the terms of a row or column of an operand of two bytes each begin,
        of one that begins `first` bytes behind a multiple of ALIGNED."""
        out = []
        for k in range(depth):
            if panels:
                inner = k // 8 * self.stride + k % 8 * PANEL + 2 * line % PANEL
                at = first + 2 * line // PANEL * self.lead + inner
            else:
                at = first + line // 8 * self.stride + line % 8 * self.rows.bytes + 2 * k
            out.append(at ^ self.rows.turn(at // self.rows.bytes) * MATRIX)
        return out


def shape_of(bits: int) -> Shape:
    """What they say."""
    size = next(n for n, mode in _MODES.items() if mode == bits >> 62)
    return Shape((bits >> 16 & 0x3FFF) * 16, (bits >> 32 & 0x3FFF) * 16, Rows(size))


@record
class GroupInstruction:
    """The product of tiles of one type of numbers. The right operand lies in `panels`, or has rows
    of terms."""

    tile: TensorTile
    type: Scalar
    panels: bool

    @property
    def macro(self) -> str:
        """`LX_WGMMA_64_128_16`."""
        t = self.tile
        name = f"LX_WGMMA_{t.rows * t.warps}_{t.across}_{t.depth}"
        kind = "" if self.type == t.operands[0] else f"_{FACTORS[self.type].upper()}"
        return f"{name}{kind}" if self.panels else f"{name}{kind}_TERMS"

    @property
    def done(self) -> str:
        """The macro that waits for the results."""
        return f"LX_WARPS_DONE_{len(self.results)}"

    @property
    def results(self) -> tuple[tuple[int, int], ...]:
        """The row and the column of each result of a work-item, of its own."""
        each = self.tile.own_columns
        return tuple(
            (row, column + n)
            for column in range(0, self.tile.across // self.tile.wide, each)
            for row in range(self.tile.own_rows)
            for n in range(each)
        )

    @property
    def result_rows(self) -> list[str]:
        """Those of an array `c`, as operands of an instruction that changes them, in rows."""
        each = [f'"+f"(c[{row}][{column}])' for row, column in self.results]
        return [", ".join(each[n : n + 8]) for n in range(0, len(each), 8)]

    @property
    def instruction(self) -> str:
        """What is to be computed, with the number of results of a work-item behind them: places
        and shapes of both operands."""
        t, n = self.tile, len(self.results)
        factor, total = FACTORS[self.type], SUMS[t.sums[0]]
        kinds = f"{total}.{factor}.{factor}"
        sums = ", ".join(f"%{i}" for i in range(n))
        place = (
            f"shr.u32 x, %{n + at}, 4; cvt.u64.u32 {d}, x; or.b64 {d}, {d}, %{n + at + 1};"
            for at, d in ((0, "a"), (2, "b"))
        )
        head = f"wgmma.mma_async.sync.aligned.m{t.rows * t.warps}n{t.across}k{t.depth}.{kinds}"
        product = f"{head} {{{sums}}}, a, b, 1, 1, 1, 0, {int(self.panels)};"
        return f"{{ .reg .b32 x; .reg .b64 a, b; {' '.join(place)} {product} }}"

    @property
    def text(self) -> str:
        """As kernels have it."""
        return MARK + self.instruction


def _instructions() -> Iterator[GroupInstruction]:
    for tile in (t for t in TENSOR_TILES.values() if t.warps > 1):
        for kind in tile.operands:
            yield from (GroupInstruction(tile, kind, panels) for panels in (True, False))


GROUP_INSTRUCTIONS = {i.macro: i for i in _instructions()}
"""By their macros."""

OF_GROUP_TEXT = {i.text: i for i in GROUP_INSTRUCTIONS.values()}
"""By what they are in PTX."""


def as_instructions(ptx: str) -> str | None:
    """PTX in which these are instructions, for the devices that have them; as it is where it has
    none, None where it is not for those devices."""
    if MARK not in ptx:
        return ptx
    if TARGET not in ptx:
        return None
    return ptx.replace(TARGET, OWN_TARGET, 1).replace(MARK, " " * len(MARK))
