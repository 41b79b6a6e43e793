"""How the operands of products of tiles lie in local memory (`ir.tensor_tiles`).

As in global memory, where the device copies them on its own, 16 bytes at a time, so that none of
their elements part; rows that are shorter than the banks share a line of these:

    double A_loc[Ty*Ry / 2][2 * Tk];         A_loc[row / 2][(row % 2 * 8 + k) ^ 4 * (row / 2 % 4)]

Of two tiles that have one term of an iteration each, the second one lies in other banks; of pairs,
these are moved:

    double Ai_loc[Ty*Ry / 2][2 * Tk];        Ai_loc[row / 2][(row % 2 * 8 + k) ^ ... ^ 2]
    double A_loc[Ty*Ry][Tk][2];              A_loc[row][k ^ 2 * (row / 2 % 4)][term]

Of products that four warps compute together, pieces of 16 bytes change places in rows of 64 or 128
bytes (`ir.warp_groups`), as long as the device copies both operands on its own:

    half A_loc[Ty*Ry][Tk];                   A_loc[row / 16 * 16 + ...][k ^ 8 * (... / 2 % 4)]
    half B_loc[Tx*Rx / 64][Tk][64];          B_loc[column / 64][k][column % 64 ^ 8 * (k % 8)]

Of operands that are made words of on the way, terms that are neighbours make a word. Rows that do
not fill the banks are not moved: elements would leave them.

Of products by functions, neighbours read terms of a left row that are neighbours, and words of
right columns that are: they lie in rows of terms, and in words that are not moved.

    half A_loc[Ty*Ry][Tk], B_loc[Tk / 2][Tx*Rx * 2];
"""

from __future__ import annotations

from dataclasses import replace

from loopxform.codegen.opencl.local_tile import LocalTile, Pieces
from loopxform.ir.affine import value_of
from loopxform.ir.nodes import Copy, Decl, For, Function
from loopxform.ir.tensor_tiles import BANKS, MATRIX, MATRIX_ROWS, TENSOR_TILES, TensorTile
from loopxform.ir.visit import declared, walk, writes
from loopxform.ir.warp_groups import GROUP_ROWS, PANEL, ROW, Rows
from loopxform.records import record
from loopxform.transforms.mapping.tile_product import TileProduct, tile_product


@record
class Operand:
    """Of a product of tiles that a `loop` computes: the copy of what a work-item has of it, which
    is the term of that `number` of those of an iteration."""

    tile: TensorTile
    loop: For
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
    if tile.function and operand.copy in operand.product.lefts:
        return LocalTile(decl, order[::-1], buffers=buffers)
    if len(order) != 2 or tile.function:
        return LocalTile(decl, order, 0, None, buffers, 0, tile.packed)
    if tile.warps > 1 and _are_read_together(fn, operand):
        pieces = _pieces(decl, operand)
        if pieces is not None:
            return LocalTile(decl, (0, 1), buffers=buffers, pieces=pieces)
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


def _pieces(decl: Decl, operand: Operand) -> Pieces | None:
    """Rows of an operand that four warps read: where its last dimension is that of columns of the
    result, these lie in panels."""
    size = decl.type.bytes
    rows, row = (value_of(e) or 1 for e in decl.shape)
    if operand.copy.slices[-1].size is None:
        left = operand.copy in operand.product.lefts
        fits = row * size == ROW and rows % GROUP_ROWS == 0
        return Pieces(Rows(row * size), size, paired=left) if fits else None
    fits = row * size % PANEL == 0 == rows % MATRIX_ROWS
    return Pieces(Rows(PANEL), size, panels=True) if fits else None


def _are_read_together(fn: Function, operand: Operand) -> bool:
    """Whether both operands of a product lie as warps read them, and are copied by the device in
    the loop around it, so that they can be waited for."""
    product, decls = operand.product, declared(fn.body)
    both = product.left, product.right
    if product.left.slices[-1].size is not None:
        return False
    sources = {c.source for c in both}
    copies = [s for _, s in walk(fn.body) if isinstance(s, Copy) and s.target in sources]
    vectors = all(s.width * decls[s.target].type.bytes == MATRIX for s in copies)
    ahead = (s for _, s in walk(fn.body) if isinstance(s, For) and s.asynchronous)
    around = any(
        operand.loop in (x for _, x in walk(s.body)) and sources <= writes(s.body) for s in ahead
    )
    each = (_pieces(decls[c.source], replace(operand, copy=c)) for c in both)
    return vectors and around and all(each)


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
                return Operand(TENSOR_TILES[s.tensor], s, product, copy, number)
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
