"""Operands of products of tiles that a warp reads as matrices of 8 rows of 16 bytes, four at once:
each work-item says where one of these rows lies, and gets its words of all four matrices.

    LX_MATRICES(A_reg[i][0], A_reg[i + 1][0], A_reg[i][1], A_reg[i + 1][1], &A_loc[row][k]);
    LX_MATRICES_TURNED(B_reg[j][0], B_reg[j][1], B_reg[j + 1][0], B_reg[j + 1][1], &B_loc[k][j0]);

Turned ones are given as they lie in memory, terms by columns. (NVIDIA, PTX ISA, `ldmatrix`.)
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from loopxform.codegen.opencl.work_item import ItemWriter, unrolled
from loopxform.errors import EmitError
from loopxform.ir.affine import value_of
from loopxform.ir.nodes import Bin, Const, Copy, Expr, For, Load, Var
from loopxform.ir.tensor_tiles import MATRIX, MATRIX_LOADS, MATRIX_ROWS, TensorTile

PLAIN, TURNED = MATRIX_LOADS
"""The macros that read them (templates/kernels.cl.j2)."""


@dataclass
class MatrixWriter(ItemWriter):
    """Writes how they are read."""

    def is_in_matrices(self, array: str, tile: TensorTile) -> bool:
        """Whether a tile of local memory is read so: it lies as in global memory."""
        return tile.matrices and self.dialect.tiles[array].packed == 1

    def left_matrices(self, copy: Copy, loop: For, tile: TensorTile) -> list[str]:
        """Two rows of matrices with two terms of words each: work-items 8 to 15 and 24 to 31 have
        the rows of the second one, those from 16 on the second words."""
        c, d = self.own.c0, self.dialect.name(copy.target)
        second = Bin("%", Bin("/", Var(self.own.lane), Const(MATRIX_ROWS)), Const(2))
        lanes = self._lanes(copy, second, Var(c), tile.own_rows)
        (size,) = (x.size for x in copy.slices if x.size is not None)
        term = self._term(loop, tile, Bin("/", Var(self.own.lane), Const(2 * MATRIX_ROWS)))
        index = tuple(term if x.size is None else lanes for x in copy.slices)
        words = [f"{d}[{x}][{n}]" for n in range(tile.words) for x in _next(c, tile.own_rows)]
        line = self._matrices_at(PLAIN, words, Load(copy.source, index))
        return unrolled(c, str(value_of(size) or 1), str(tile.own_rows), [line])

    def right_matrices(self, copy: Copy, loop: For, tile: TensorTile) -> list[str]:
        """Two columns of matrices with two terms of words each: work-items from 16 on have the rows
        of the second one, each second 8 of them those of the second words."""
        c, d, lane = self.own.c0, self.dialect.name(copy.target), Var(self.own.lane)
        own = next(x for x in copy.slices if x.size is not None)
        turns = self.mapping.dealt(own.lo)
        if turns is None or own.size is None:
            raise EmitError("columns are not dealt out", loc=loop.origin.loc)
        apart = Bin("*", turns.count, Const(tile.own_columns))
        number = Bin("+", Var(c), Bin("/", lane, Const(2 * MATRIX_ROWS)))
        column: Expr = Bin("+", own.lo, Bin("*", number, apart))
        turned = copy.slices[-1] is own
        within = Bin("%", lane, Const(MATRIX_ROWS))
        if turned:
            term: Expr = Bin("+", Var(loop.var), Bin("%", lane, Const(2 * MATRIX_ROWS)))
        else:
            second = Bin("%", Bin("/", lane, Const(MATRIX_ROWS)), Const(2))
            term, column = self._term(loop, tile, second), Bin("+", column, within)
        index = tuple(term if x.size is None else column for x in copy.slices)
        words = [f"{d}[{x}][{n}]" for x in _next(c, 2) for n in range(tile.words)]
        line = self._matrices_at(TURNED if turned else PLAIN, words, Load(copy.source, index))
        tiles = (value_of(own.size) or 1) // tile.own_columns
        return unrolled(c, str(tiles), "2", [line])

    def _lanes(self, copy: Copy, second: Expr, first: Expr, own: int) -> Expr:
        """The row whose place a work-item says."""
        (lo,) = (x.lo for x in copy.slices if x.size is not None)
        turns = self.mapping.dealt(lo)
        if turns is None or turns.cyclic % own == 0:
            more: Expr = Bin("+", turns.element(first) if turns else first, second)
        else:
            more = turns.element(Bin("+", first, second))
        return Bin("+", lo, more)

    def _term(self, loop: For, tile: TensorTile, number: Expr) -> Expr:
        """The first term of the row of a matrix."""
        terms = Const(MATRIX * tile.packed // tile.word)
        return Bin("+", Var(loop.var), Bin("*", terms, number))

    def _matrices_at(self, macro: str, words: Iterable[str], first: Load) -> str:
        """The statement, with rows and columns as the work-items have them that say where rows of
        matrices lie."""
        plain, own = self.dialect, (self.own.lane_x, self.own.lane_y)
        places = {
            t.loop.var: t.value(own[t.dimension]) for t in self.mapping.threads if t.dimension < 2
        }
        self.dialect = replace(plain, threads={**plain.threads, **places})
        at = self.dialect.element(first)
        self.dialect = plain
        return f"{macro}({', '.join(words)}, &{at});"


def _next(counter: str, count: int) -> list[str]:
    return [counter, *(f"{counter} + {n}" for n in range(1, count))]
