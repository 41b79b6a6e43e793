"""Products of tiles as the work-items of a warp compute them together (`ir.tensor_tiles`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from loopxform.ir.tensor_tiles import MATRIX_ROWS, Instruction, TensorTile
from loopxform.ir.types import DOUBLE, FLOAT, HALF, USHORT, Scalar
from loopxform.ir.warp_groups import GroupInstruction
from loopxform.verify.arith import fused
from loopxform.verify.group.builtins import bits as bits_of
from loopxform.verify.group.builtins import half_value
from loopxform.verify.group.unset import Unset, f32


def own_products(
    product: Instruction, place: int, shown: Sequence[Sequence[Any]], sums: Sequence[Any]
) -> tuple[Any, ...]:
    """The `sums` of a work-item, of its `place` in the warp, with the products of what all of them
    have `shown`: their words of the left operand, then of the right one."""
    tile = product.tile
    if tile.function:
        return _column(product, place, shown, sums)
    row, column = place // tile.wide, tile.own_columns * (place % tile.wide)
    out = []
    for n, start in enumerate(sums):
        half, m = divmod(n, tile.own_columns)
        left = _terms(tile, product.left, shown, row, half, tile.own_rows)
        right = _terms(tile, product.right, shown, column + m, tile.own_rows * tile.words, 1)
        out.append(_added(product, start, left, right))
    return tuple(out)


def _column(
    product: Instruction, place: int, shown: Sequence[Sequence[Any]], sums: Sequence[Any]
) -> tuple[Any, ...]:
    """The `sums` of a work-item that has a column: of its row of the left operand each work-item of
    the sub-group shows a word, of the right one it has all."""
    tile = product.tile
    own = shown[place][tile.own_rows :]
    right = [x for w in own for x in _parts(w, product.right, tile.packed)]
    out = []
    for row, start in enumerate(sums):
        words = (words[row] for words in shown)
        left = [x for w in words for x in _parts(w, product.left, tile.left_packed)]
        out.append(_added(product, start, left, right))
    return tuple(out)


def lines_of(product: GroupInstruction, number: int) -> tuple[list[int], list[int]]:
    """The rows and the columns of an operand in local memory that a work-item of that number among
    those of four warps has results of."""
    tile = product.tile
    warp, place = divmod(number, tile.high * tile.wide)
    row, x = divmod(place, tile.wide)
    rows = [tile.rows * warp + row + n * tile.high for n in range(tile.own_rows)]
    each = tile.own_columns
    columns = [
        first + each * x + n for first in range(0, tile.across, tile.columns) for n in range(each)
    ]
    return rows, columns


def own_sums(
    product: GroupInstruction,
    left: Sequence[Sequence[Any]],
    right: Sequence[Sequence[Any]],
    sums: Sequence[Any],
) -> tuple[Any, ...]:
    """The `sums` of a work-item, with the products of the terms of its rows and columns."""
    both = [
        [[x for word in line for x in _parts(word, product.type, 1)] for line in lines]
        for lines in (left, right)
    ]
    own = Instruction(product.tile, product.type, product.type)
    return tuple(
        _added(own, start, both[0][row], both[1][column])
        for start, (row, column) in zip(sums, product.results)
    )


WARP = 32
"""Work-items that read matrices together: each 8 say where the rows of one of four lie."""


def own_words(place: int, rows: Sequence[Sequence[Any]], *, turned: bool) -> tuple[Any, ...]:
    """The words of a work-item, of its `place` in the warp, of matrices with these rows of 16 bits
    each: two neighbours of a row, or of a column of `turned` ones. (PTX ISA, `ldmatrix`.)"""
    line, first = place // 4, place % 4 * 2
    out = []
    for start in range(0, WARP, MATRIX_ROWS):
        matrix = rows[start : start + MATRIX_ROWS]
        pair = [matrix[n][line] if turned else matrix[line][n] for n in (first, first + 1)]
        unset = [x for x in pair if x.__class__ is Unset]
        out.append(unset[0] if unset else pair[0] | pair[1] << 16)
    return tuple(out)


def _terms(
    tile: TensorTile, kind: Scalar, shown: Sequence[Sequence[Any]], line: int, first: int, step: int
) -> list[Any]:
    """All terms of a row or column: a work-item of its line in the warp has every word whose number
    is its place in it; these are each `step` further among what it shows, from `first` on."""
    words = [
        shown[tile.wide * line + x][first + step * n]
        for n in range(tile.words)
        for x in range(tile.wide)
    ]
    if kind == DOUBLE:
        return words
    return [x for w in words for x in _parts(w, kind, tile.packed)]


def _parts(word: Any, kind: Scalar, count: int) -> list[Any]:
    """The numbers in a word, the first one in its lowest bits."""
    if word.__class__ is Unset:
        return [word] * count
    bits = 8 * kind.bytes
    parts = [word >> bits * n & ((1 << bits) - 1) for n in range(count)]
    if kind == USHORT:
        return [bits_of(x << 16, "I", "f") for x in parts]
    if kind.is_float:
        return [half_value(x) if kind == HALF else bits_of(x, "I", "f") for x in parts]
    return [x - (1 << bits) if x > kind.most else x for x in parts]


def _added(product: Instruction, start: Any, left: Sequence[Any], right: Sequence[Any]) -> Any:
    """A chain of multiply-adds, each rounded once; of integers the sum modulo 2^32, of floats the
    sum of products, which are exact in double, rounded once: devices are free to do it in another
    way."""
    kind = product.tile.sums[0]
    if kind == DOUBLE:
        for a, b in zip(left, right):
            start = fused(a, b, start)
        return start
    total = start + sum(a * b for a, b in zip(left, right))
    if kind == FLOAT:
        return f32(total)
    return (total - kind.least) % (1 << 8 * kind.bytes) + kind.least
