"""Products that four warps compute together (`ir.warp_groups`), where the host has found that the
device does: each instruction is given where both operands begin in local memory, and adds to what
the work-items have in registers.

    LX_WARPS_START();
    for (k = 0; k < Tk; k += 16)
      LX_WGMMA_64_128_16(acc, &A_loc[stage][2*group_y][k], SHAPE, &B_loc[stage][0][k][0], SHAPE);
    LX_WARPS_DONE_64(acc);
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from loopxform.codegen.opencl.matrices import MatrixWriter
from loopxform.codegen.opencl.work_item import indented
from loopxform.ir.affine import value_of
from loopxform.ir.nodes import Const, Copy, For, Var
from loopxform.ir.tensor_tiles import TensorTile
from loopxform.ir.warp_groups import PANEL, GroupInstruction
from loopxform.transforms.mapping.tile_product import TileProduct

WARPS = "LX_WARP_GROUPS"
"""Whether warps multiply together (templates/kernels.cl.j2)."""

START, SEEN_BY_WARPS = "LX_WARPS_START", "LX_SEEN_BY_WARPS"
"""Before such products, and behind copies that they read."""


@dataclass
class WarpGroupWriter(MatrixWriter):
    """Writes such products."""

    def are_read_together(self, product: TileProduct) -> bool:
        """Whether both operands lie as warps read them, and registers hold nothing but rows and
        columns of the result."""
        tiles, (total,) = self.dialect.tiles, product.sums
        kept = [total.target.index[n] for n in self.mapping.kept.get(total.target.array, ())]
        alone = kept == [Var(product.rows.var), Var(product.columns.var)]
        return alone and all(tiles[c.source].pieces for c in (product.left, product.right))

    def by_warps(self, loop: For, product: TileProduct, tile: TensorTile) -> list[str]:
        """The products of all terms of both tiles."""
        d, (total,) = self.dialect, product.sums
        right = d.tiles[product.right.source].pieces
        assert right is not None
        instruction = GroupInstruction(tile, d.types[product.left.source], right.panels)
        sums = d.held(total.target.array)
        operands = (
            x
            for c, first in ((product.left, self._first_row(product.left)), (product.right, "0"))
            for x in (f"&{self._begin(c, loop, first)}", f"{self._shape(c):#x}ul")
        )
        line = f"{instruction.macro}({', '.join((sums, *operands))});"
        few = replace(loop, step=Const(tile.depth), unroll=True)
        return [f"{START}();", *self._loop(few, [line]), f"{instruction.done}({sums});"]

    def otherwise(self, together: list[str], others: list[str]) -> list[str]:
        """Both forms of statements, of which the second has forms of its own."""
        first, *rest = others
        return [f"if ({WARPS}) {{", *indented(together), f"}} else {first}", *rest]

    def _first_row(self, copy: Copy) -> str:
        """The row of the result that the warps of a work-item begin at."""
        (own,) = (x for x in copy.slices if x.size is not None)
        rows = {
            t.loop.var: t.value(self.own.group_y) for t in self.mapping.threads if t.dimension == 1
        }
        plain = self.dialect
        return replace(plain, threads={**plain.threads, **rows}).placed_text(own.lo)

    def _begin(self, copy: Copy, loop: For, row: str) -> str:
        """Where the terms of an operand begin that an instruction multiplies: in the first row, of
        rows of 8 or more, or in the row of that term of the first panel."""
        d, k = self.dialect, self.dialect.name(loop.var)
        pieces = d.tiles[copy.source].pieces
        assert pieces is not None
        index = f"[0][{k}][0]" if pieces.panels else f"[{row}][{k}]"
        return f"{d.buffer_of(copy.source)}{index}"

    def _shape(self, copy: Copy) -> int:
        """How an operand lies."""
        tile = self.dialect.tiles[copy.source]
        pieces = tile.pieces
        assert pieces is not None
        rows = value_of(tile.decl.shape[0]) or 1
        return pieces.rows.shape(PANEL * rows if pieces.panels else 0)
