"""Products of tiles that the work-items of a warp compute together: who has which element.

Each work-item of a warp has a few elements of the operands and of the result. It is one of `high`
rows of `wide` neighbours, as `warp-tile` arranges them: `y` says which row, `x` which place in it.

    result    rows y, y + high, ...   columns 2*x, 2*x + 1
    left      rows y, y + high, ...   term x, x + wide, ...
    right     column y                term x, x + wide, ...

(NVIDIA, PTX ISA, "Matrix fragments for mma.m16n8k4, m16n8k8 and m16n8k16 with .f64".)
"""

from __future__ import annotations

from loopxform.ir.types import DOUBLE, Scalar
from loopxform.records import record

BANKS = 128
"""Bytes that local memory gives at once."""


@record
class TensorTile:
    """`rows` by `columns` results, each of which `depth` terms are added to, in ascending order,
    each product and sum rounded once. A warp has `high` by `wide` work-items."""

    rows: int
    columns: int
    depth: int
    type: Scalar
    high: int = 8
    wide: int = 4

    @property
    def name(self) -> str:
        """`16x8x4`, as steps have it."""
        return f"{self.rows}x{self.columns}x{self.depth}"

    @property
    def row(self) -> int:
        """Elements that the banks of local memory give at once."""
        return BANKS // self.type.bytes

    @property
    def moved(self) -> int:
        """How many elements further a term has its neighbours in local memory than the one before
        it, so that those that a warp reads together lie in different banks."""
        return self.row // self.wide

    @property
    def own_rows(self) -> int:
        """Rows of the result that a work-item has elements of."""
        return self.rows // self.high

    @property
    def own_columns(self) -> int:
        """Columns of the result that a work-item has elements of, neighbours."""
        return self.columns // self.wide


TENSOR_TILES = {t.name: t for t in (TensorTile(16, 8, 4, DOUBLE),)}
"""By their names. Those of m16n8k8 and m16n8k16 give the same bits, and were slower on an H100
(docs/performance.md)."""
