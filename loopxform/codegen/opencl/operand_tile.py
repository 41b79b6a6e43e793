"""How the operands of products of tiles lie in local memory (`ir.tensor_tiles`).

As in global memory, where the device copies them on its own, 16 bytes at a time, so that none of
their elements part; rows that are shorter than the banks share a line of these:

    double A_loc[Ty*Ry / 2][2 * Tk];         A_loc[row / 2][(row % 2 * 8 + k) ^ 4 * (row / 2 % 4)]

Of two tiles that have one term of an iteration each, the second one lies in other banks; of pairs,
these are moved:

    double Ai_loc[Ty*Ry / 2][2 * Tk];        Ai_loc[row / 2][(row % 2 * 8 + k) ^ ... ^ 2]
    double A_loc[Ty*Ry][Tk][2];              A_loc[row][k ^ 2 * (row / 2 % 4)][term]

Of operands that are made words of on the way, terms that are neighbours make a word. Rows that do
not fill the banks are not moved: elements would leave them.
"""

from __future__ import annotations

from loopxform.codegen.opencl.local_tile import LocalTile
from loopxform.ir.affine import value_of
from loopxform.ir.nodes import Copy, Decl, For, Function
from loopxform.ir.tensor_tiles import BANKS, MATRIX, TENSOR_TILES, TensorTile
from loopxform.ir.visit import walk
from loopxform.records import record
from loopxform.transforms.mapping.tile_product import TileProduct, tile_product


@record
class Operand:
    """Of a product of tiles: the copy of what a work-item has of it, which is the term of that
    `number` of those of an iteration."""

    tile: TensorTile
    product: TileProduct
    copy: Copy
    number: int


def operand_tile(
    fn: Function, decl: Decl, order: tuple[int, ...], buffers: int
) -> LocalTile | None:
    """The layout of an operand; None for other tiles. `order` has the dimension last along which
    work-items have elements of their own."""
    operand = _operand(fn, decl.name)
    if operand is None:
        return None
    tile = operand.tile
    if len(order) == 3 and tile.terms > 1:
        return _pairs(decl, operand, buffers) or LocalTile(decl, order, buffers=buffers)
    if len(order) != 2:
        return LocalTile(decl, order, 0, None, buffers, 0, tile.packed)
    lines = None
    if tile.alone or (tile.matrices and _in_matrices(fn, decl, operand)):
        lines = _lines(decl, operand, buffers)
    if lines is not None:
        return lines
    moved = 0 if tile.alone else tile.moved
    return LocalTile(decl, order, 0, None, buffers, moved, tile.packed)


def _lines(decl: Decl, operand: Operand, buffers: int) -> LocalTile | None:
    """Rows as in global memory, where they fill the banks."""
    tile = operand.tile
    rows, short = (value_of(e) or 1 for e in decl.shape)
    each = short * decl.type.bytes
    folded = BANKS // each if BANKS % each == 0 == rows % (BANKS // each) else 1
    if folded * each % BANKS:
        return None
    moved = MATRIX // decl.type.bytes if tile.matrices else tile.moved
    along = operand.copy.slices[-1].size is None
    turned = operand.number * tile.depth * (1 if along else moved)
    return LocalTile(decl, (0, 1), 0, None, buffers, moved, folded=folded, turned=turned)


def _pairs(decl: Decl, operand: Operand, buffers: int) -> LocalTile | None:
    """Pairs of the terms of an iteration, as in global memory, where rows of them fill the
    banks."""
    count, pair = (value_of(e) or 1 for e in decl.shape[1:])
    whole = BANKS // (pair * decl.type.bytes)
    if pair != operand.tile.terms or count % whole:
        return None
    if operand.copy.slices[1].size is None:
        moved, every = operand.tile.depth, operand.tile.own_rows
    else:
        moved, every = whole // operand.tile.depth, 1
    return LocalTile(decl, (0, 1, 2), 0, None, buffers, moved, every=every)


def _operand(fn: Function, name: str) -> Operand | None:
    for s in (s for _, s in walk(fn.body) if isinstance(s, For) and s.tensor):
        product = tile_product(s)
        for copy in (*product.lefts, *product.rights) if product is not None else ():
            if product is not None and copy.source == name:
                terms = ((t.left.copy, t.right.copy) for t in product.sums[0].terms)
                number = next((n for n, both in enumerate(terms) if copy in both), 0)
                return Operand(TENSOR_TILES[s.tensor], product, copy, number)
    return None


def _in_matrices(fn: Function, decl: Decl, operand: Operand) -> bool:
    """Whether warps read matrices of a tile: what is copied are whole rows of these, which have
    terms of a row of the left operand; of the right one two are read at once."""
    filled = [s for _, s in walk(fn.body) if isinstance(s, Copy) and s.target == decl.name]
    sizes = [value_of(e) or 1 for e in decl.shape]
    whole = all(n * decl.type.bytes % MATRIX == 0 for n in sizes)
    rows = all(s.width * decl.type.bytes == MATRIX for s in filled)
    if operand.copy in operand.product.lefts:
        fits = operand.copy.slices[-1].size is None
    else:
        columns = value_of(operand.product.columns.hi) or 1
        fits = columns % (2 * operand.tile.own_columns) == 0
    return whole and rows and fits and _lines(decl, operand, 1) is not None
