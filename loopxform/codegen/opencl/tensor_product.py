"""Loops that compute products of tiles (the step `tensorise`), in two forms:

if (LX_TENSOR) {
  for (k = 0; k < Tk; k += 4) {
    A_reg[i] = A_loc[k + term][...];       of its own rows, another term for each neighbour along x
    B_reg[q] = B_loc[k + term][...];       of one column of each tile: that of its row in the warp
    LX_MMA_16_8_4(acc[i][j], ..., A_reg[i], A_reg[i + 1], B_reg[j/2]);
  }
} else {
  the loop as it is
}

LX_TENSOR is 1 where the host has found that the device computes the same bits so. What is in
registers before and after is the same in both forms.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from loopxform.codegen.opencl.work_item import ItemWriter, indented, unrolled
from loopxform.errors import EmitError
from loopxform.ir.affine import simplify, value_of
from loopxform.ir.nodes import Bin, Const, Expr, For, Load, Var
from loopxform.ir.tensor_tiles import TENSOR_TILES, TensorTile
from loopxform.ir.visit import substitute, substitute_body
from loopxform.transforms.latency.register_pipeline import parts
from loopxform.transforms.mapping.tensorise import TileProduct, tile_product

TENSOR = "LX_TENSOR"
PRODUCT = "LX_MMA"
"""Whether tiles are multiplied, and the product of two (templates/kernels.cl.j2)."""


@dataclass
class TensorWriter(ItemWriter):
    """Writes both forms of such loops; `tensor` where products may be fused with sums."""

    tensor: bool = False

    def tile_products(self, s: For) -> list[str]:
        plain = self._loop(s, self._items(s.body))
        if not self.has_tiles(s):
            return plain
        declared = [line for d in parts(s)[0] for line in self._declaration(d)]
        body = [*declared, *self.fragments(s, Var(s.var)), *self.products(s)]
        return self.either(self._loop(replace(s, step=Const(self.depth(s))), body), plain)

    def has_tiles(self, loop: For) -> bool:
        """Whether a loop has both forms."""
        return self.tensor and bool(loop.tensor)

    def either(self, tiles: list[str], plain: list[str]) -> list[str]:
        """Both forms of statements."""
        return [f"if ({TENSOR}) {{", *indented(tiles), "} else {", *indented(plain), "}"]

    def fragments(self, loop: For, first: Expr, which: str = "") -> list[str]:
        """Reads the operands of a product, for the terms from `first` on, into registers, of two
        the ones of the number `which`."""
        tile, product = self._product(loop)
        term = simplify(Bin("+", first, Var(self.own.term)))
        moved = {loop.var: term}
        plain = self.dialect
        if which:
            both = (product.left.target, product.right.target)
            self.dialect = plain.with_pairs(dict.fromkeys(both, which))
        (left,) = substitute_body((product.left,), moved)
        out = [*self._item(left), *self._columns(product, tile, moved)]
        self.dialect = plain
        return out

    def _columns(self, product: TileProduct, tile: TensorTile, moved: dict[str, Expr]) -> list[str]:
        """Of each tile one column: from that of the work-item's first element, as many further as
        its row in the warp is from twice its place in it."""
        c, index = self.own.c0, list[Expr]()
        for x in product.right.slices:
            lo = substitute(x.lo, moved)
            if x.size is not None:
                turns = self.mapping.dealt(x.lo)
                if turns is None:
                    raise EmitError("columns are not dealt out", loc=product.rows.origin.loc)
                apart = Bin("*", turns.count, Const(tile.own_columns))
                place = Bin("+", Bin("*", Var(c), apart), Var(self.own.shift))
                lo = Bin("+", lo, place)
            index.append(lo)
        read = self._text(Load(product.right.source, tuple(index)))
        line = f"{self.dialect.held(product.right.target)}[{c}] = {read};"
        return unrolled(c, str(self._tiles(product.columns, tile.own_columns)), "1", [line])

    def products(self, loop: For, which: str = "") -> list[str]:
        """Multiplies what is in registers: down and up the rows, so that neighbours share one."""
        tile, product = self._product(loop)
        d, c, r = self.dialect, self.own.c0, self.own.c1
        rows, columns = product.rows, product.columns
        high = self._tiles(rows, tile.own_rows)
        i, j = (f"const {d.counter_type(x.type)} {d.name(x.var)}" for x in (rows, columns))
        plain = self.dialect
        if which:
            both = (product.left.target, product.right.target)
            self.dialect = plain.with_pairs(dict.fromkeys(both, which))
        results = [
            self._text(_at(product, rows, n, columns, m))
            for n in range(tile.own_rows)
            for m in range(tile.own_columns)
        ]
        left = [
            self._text(Load(product.left.target, (_next(rows, n),))) for n in range(tile.own_rows)
        ]
        right = f"{self.dialect.held(product.right.target)}[{c}]"
        self.dialect = plain
        name = f"{PRODUCT}_{tile.rows}_{tile.columns}_{tile.depth}"
        inner = [
            f"{i} = ({c} % 2 ? {high - 1} - {r} : {r}) * {tile.own_rows};",
            f"{name}({', '.join((*results, *left, right))});",
        ]
        across = [f"{j} = {c} * {tile.own_columns};", *unrolled(r, str(high), "1", inner)]
        return unrolled(c, str(self._tiles(columns, tile.own_columns)), "1", across)

    def depth(self, loop: For) -> int:
        """Terms of a product."""
        return TENSOR_TILES[loop.tensor].depth

    def _tiles(self, loop: For, own: int) -> int:
        """How many tiles the elements of a work-item along a loop are of."""
        return (value_of(loop.hi) or own) // own

    def _product(self, loop: For) -> tuple[TensorTile, TileProduct]:
        product = tile_product(loop)
        assert product is not None, loop.var
        return TENSOR_TILES[loop.tensor], product


def _next(loop: For, n: int) -> Expr:
    return Bin("+", Var(loop.var), Const(n)) if n else Var(loop.var)


def _at(product: TileProduct, rows: For, n: int, columns: For, m: int) -> Load:
    """The result so many rows and columns further."""
    moved = {rows.var: _next(rows, n), columns.var: _next(columns, m)}
    target = product.target
    return Load(target.array, tuple(substitute(e, moved) for e in target.index))
