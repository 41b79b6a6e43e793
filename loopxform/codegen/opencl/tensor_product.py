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
registers before and after is the same in both forms. Operands of which several words are read, or
words that hold several terms, have registers of their own in the first form:

uint A_reg[Ry][2], B_reg[Rx/2][2];
A_reg[i][w] = LX_WORD(char4, &A_loc[(k + 4*(term + 4*w)) / 4][...]);
LX_MMA_16_8_32_S8_S8(acc[i][j], ..., A_reg[i][0], A_reg[i + 1][0], A_reg[i][1], ...);

Products that warps may compute together have a third form (`codegen.opencl.warp_groups`). Those
that a function computes for a sub-group of 16 (8) have LX_SUB_GROUPS == 16 in place of LX_TENSOR:

ushort A_reg[Ry][1];
uint B_reg[Rx][8];
A_reg[i][0] = A_loc[...][k + term];
B_reg[j][w] = LX_WORD(ushort2, &B_loc[(k + 2*w) / 2][...]);       of its own column
LX_MMA_8_16_16(acc[i][j], ..., A_reg[i][0], A_reg[i + 1][0], ..., B_reg[j][0], ...);
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from loopxform.codegen.opencl.dialect import KernelDialect
from loopxform.codegen.opencl.warp_groups import WarpGroupWriter
from loopxform.codegen.opencl.work_item import indented, unrolled
from loopxform.errors import EmitError
from loopxform.floating_point import SEPARATE, FloatingPoint
from loopxform.ir.affine import simplify, value_of
from loopxform.ir.nodes import Bin, Const, Expr, For, Load, Un, Var
from loopxform.ir.tensor_tiles import TENSOR_TILES, Instruction, TensorTile
from loopxform.ir.visit import substitute, substitute_body
from loopxform.transforms.latency.register_pipeline import parts
from loopxform.transforms.mapping.tile_product import Factor, Fragment, TileProduct, tile_product

TENSOR = "LX_TENSOR"
"""Whether tiles are multiplied (templates/kernels.cl.j2)."""

SUB_GROUPS = "LX_SUB_GROUPS"
"""The work-items of the sub-groups that multiply them, 0 where none do."""

WORD, SHORT_WORD = "LX_WORD", "LX_SHORT_WORD"
"""Read a word of a tile of local memory, of 4 bytes and of 2."""

SPLIT = "LX_SPLIT"
"""Makes a number the sum of two of 11 bits."""

_PARTS = ("[1]", "[0]"), ("[0]", "[1]"), ("[0]", "[0]")
"""Which parts of operands that are sums of two are multiplied, the small products first."""


@dataclass
class TensorWriter(WarpGroupWriter):
    """Writes the forms of such loops, where that is `permitted`."""

    permitted: FloatingPoint = SEPARATE

    def tile_products(self, s: For) -> list[str]:
        plain = self._loop(s, self._items(s.body))
        if not self.has_tiles(s):
            return plain
        if self._product(s)[0].words > 1:
            body = self._by_words(s)
        else:
            declared = [line for d in parts(s)[0] for line in self._declaration(d)]
            body = [*declared, *self.fragments(s, Var(s.var)), *self.products(s)]
        few = replace(s, step=Const(self.depth(s)), unroll=True)
        forms = self.either(self._loop(few, body), plain, s)
        tile, product = self._product(s)
        if tile.warps > 1 and self.are_read_together(product):
            return self.otherwise(self.by_warps(s, product, tile), forms)
        return forms

    def has_tiles(self, loop: For) -> bool:
        """Whether a loop has both forms: products that are added to each other first are so only
        where sums may be in another order."""
        if not (loop.tensor and TENSOR_TILES[loop.tensor].permitted(self.permitted)):
            return False
        return self._product(loop)[1].in_order or self.permitted.reassociate

    def either(self, tiles: list[str], plain: list[str], loop: For) -> list[str]:
        """Both forms of statements of a loop."""
        tile = TENSOR_TILES[loop.tensor]
        test = f"{SUB_GROUPS} == {tile.wide}" if tile.function else TENSOR
        return [f"if ({test}) {{", *indented(tiles), "} else {", *indented(plain), "}"]

    def fragments(self, loop: For, first: Expr, which: str = "") -> list[str]:
        """Reads the operands of a product, for the terms from `first` on, into registers, of two
        the ones of the number `which`."""
        tile, product = self._product(loop)
        iteration: Expr = Var(self.own.term)
        if tile.terms > 1:
            iteration = Bin("/", iteration, Const(tile.terms))
        moved = {loop.var: simplify(Bin("+", first, iteration))}
        plain = self.dialect
        self.dialect = self._paired(product, which)
        if tile.terms > 1:
            out = self._orders(product, tile, moved)
        else:
            (left,) = substitute_body((product.left,), moved)
            rows = [*self._item(left), *self._scaled(product)]
            out = [*rows, *self._columns(product, tile, moved)]
        self.dialect = plain
        return out

    def _paired(self, product: TileProduct, which: str) -> KernelDialect:
        """With registers of which those of that number are in use."""
        copies = (*product.lefts, *product.rights)
        names = dict.fromkeys((c.target for c in copies), which)
        return self.dialect.with_pairs(names) if which else self.dialect

    def _scaled(self, product: TileProduct) -> list[str]:
        """Multiplies rows by the number that they are multiplied by, as the program does before."""
        (term,), c = product.terms, self.own.c0
        if term.left.scale is None:
            return []
        row = self._text(_element(term.left, Var(c)))
        line = f"{row} = {self._text(term.left.scale, 12)} * {row};"
        return unrolled(c, str(value_of(product.rows.hi) or 1), "1", [line])

    def _columns(self, product: TileProduct, tile: TensorTile, moved: dict[str, Expr]) -> list[str]:
        """Of each tile one column, negated where products are subtracted."""
        c, (term,) = self.own.c0, product.terms
        own: Expr = self._column(term.right, tile, moved)
        if term.right.scale is not None:
            own = Bin("*", term.right.scale, own)
        read = self._text(Un("-", own) if term.subtracted else own)
        line = f"{self.dialect.held(product.right.target)}[{c}] = {read};"
        return unrolled(c, str(self._tiles(product.columns, tile.own_columns)), "1", [line])

    def _orders(self, product: TileProduct, tile: TensorTile, moved: dict[str, Expr]) -> list[str]:
        """Of several terms of an iteration the one that is the work-item's, in each order that sums
        have them in."""
        c, lines = self.own.c0, list[str]()
        registers = product.registers() or {}
        across = self._tiles(product.columns, tile.own_columns)
        for fragment in dict.fromkeys(s.left for s in product.sums):
            own = [self._row(f, moved) for f in fragment.factors]
            read = self._own_term(fragment, own, registers[fragment])
            lines += unrolled(c, str(value_of(product.rows.hi) or 1), "1", read)
        for fragment in dict.fromkeys(s.right for s in product.sums):
            own = [self._column(f, tile, moved) for f in fragment.factors]
            read = self._own_term(fragment, own, registers[fragment])
            lines += unrolled(c, str(across), "1", read)
        return lines

    def _own_term(self, fragment: Fragment, loads: Sequence[Load], register: Factor) -> list[str]:
        """What reads a work-item's own term into a register: one address of several, so that each
        reads once."""
        term = self.own.term
        to = self._text(_element(register, Var(self.own.c0)))
        *others, address = (f"&{self._text(x)}" for x in loads)
        sign = " || ".join(
            f"{term} % {len(loads)} == {n}" for n, x in enumerate(fragment.negated) if x
        )
        for n, other in reversed(list(enumerate(others))):
            address = f"{term} % {len(loads)} == {n} ? {other} : {address}"
        lines = [f"{to} = *({address});"]
        return [*lines, f"if ({sign}) {to} = -{to};"] if sign else lines

    def _column(self, factor: Factor, tile: TensorTile, moved: dict[str, Expr]) -> Load:
        """An element of it: from the column of the work-item's first element, as many further as
        its row in the warp is from twice its place in it."""
        c, index = self.own.c0, list[Expr]()
        at = iter(factor.at)
        for x in factor.copy.slices:
            lo = substitute(x.lo, moved)
            known = next(at) if x.size is not None else 0
            if known is None:
                turns = self.mapping.dealt(x.lo)
                if turns is None:
                    raise EmitError("columns are not dealt out")
                apart = Bin("*", turns.count, Const(tile.own_columns))
                place = Bin("+", Bin("*", Var(c), apart), Var(self.own.shift))
                lo = Bin("+", lo, place)
            index.append(_further(lo, known or 0))
        return Load(factor.copy.source, tuple(index))

    def _row(self, factor: Factor, moved: dict[str, Expr]) -> Load:
        """An element of the row of that number of a work-item."""
        c, index = Var(self.own.c0), list[Expr]()
        at = iter(factor.at)
        for x in factor.copy.slices:
            turns, lo = self.mapping.dealt(x.lo), substitute(x.lo, moved)
            more = turns.element(c) if turns else c
            known = next(at) if x.size is not None else 0
            index.append(Bin("+", lo, more) if known is None else _further(lo, known))
        return Load(factor.copy.source, tuple(index))

    def _by_words(self, loop: For) -> list[str]:
        """A product of operands that are read in words."""
        tile, product = self._product(loop)
        c = self.own.c0
        rows = value_of(product.rows.hi) or 1
        across = self._tiles(product.columns, tile.own_columns)
        left, right = (self.dialect.name(x.target) for x in (product.left, product.right))
        lines = self._registers(tile, f"{left}[{rows}]", f"{right}[{across}]")
        (term,) = product.terms
        if self.is_in_matrices(product.left.source, tile):
            lines += self.left_matrices(product.left, loop, tile)
        else:
            firsts = [
                self._row(term.left, {loop.var: k})
                for k in self._terms(loop, tile.left_words, tile.left_packed, tile.wide)
            ]
            lines += self._words(left, rows, firsts, tile.left_packed, tile)
        if self.is_in_matrices(product.right.source, tile):
            lines += self.right_matrices(product.right, loop, tile)
        else:
            apart = 0 if tile.function else tile.wide
            firsts = [
                self._row(term.right, {loop.var: k})
                if tile.function
                else self._column(term.right, tile, {loop.var: k})
                for k in self._terms(loop, tile.words, tile.packed, apart)
            ]
            lines += self._words(right, across, firsts, tile.packed, tile)
        own = [_next(product.rows, n) for n in range(tile.own_rows)]
        for a, b in _PARTS if tile.split else (("", ""),):
            words = [
                f"{left}[{self._text(e)}][{n}]{a}" for n in range(tile.left_words) for e in own
            ]
            words += [f"{right}[{c}][{n}]{b}" for n in range(tile.words)]
            lines += self._multiplied(loop, [words])
        return lines

    def _registers(self, tile: TensorTile, left: str, right: str) -> list[str]:
        """Declares those of words of so many rows and columns."""
        parts = "[2]" if tile.split else ""
        left, right = f"{left}[{tile.left_words}]{parts}", f"{right}[{tile.words}]{parts}"
        if tile.left_word == tile.word:
            return [f"uint {left}, {right};"]
        return [f"ushort {left};", f"uint {right};"]

    def _terms(self, loop: For, count: int, packed: int, apart: int) -> list[Expr]:
        """The first terms of the words of a work-item, so many; those of its neighbours in a row of
        the warp are between them, unless there are none."""
        firsts = (
            _term(self.own.term, packed, apart * n) if apart else Const(packed * n)
            for n in range(count)
        )
        return [simplify(Bin("+", Var(loop.var), e)) for e in firsts]

    def _words(
        self, registers: str, count: int, firsts: Sequence[Load], packed: int, tile: TensorTile
    ) -> list[str]:
        """Reads words of so many rows or columns, which begin with these elements of each."""
        c = self.own.c0
        read = [
            self._word(f"{registers}[{c}][{n}]", first, packed, tile)
            for n, first in enumerate(firsts)
        ]
        return unrolled(c, str(count), "1", read)

    def _word(self, register: str, first: Load, packed: int, tile: TensorTile) -> str:
        """The statement that reads a word that begins with an element."""
        if tile.split:
            return f"{SPLIT}({register}, {self._text(first)})"
        element = self.dialect.element(first, whole=True)
        if packed == 1:
            return f"{register} = {element};"
        kind = f"{self.dialect.memory_name(first.array)}{packed}"
        read = WORD if packed * self.dialect.types[first.array].bytes == tile.word else SHORT_WORD
        return f"{register} = {read}({kind}, &{element});"

    def products(self, loop: For, which: str = "") -> list[str]:
        """Multiplies what is in registers."""
        tile, product = self._product(loop)
        plain, own = self.dialect, [_next(product.rows, n) for n in range(tile.own_rows)]
        registers = product.registers() or {}
        self.dialect = self._paired(product, which)
        each = []
        for s in product.sums:
            left, right = registers[s.left], registers[s.right]
            words = [_element(left, e) for e in own] + [_element(right, Var(self.own.c0))]
            each.append([self._text(x) for x in words])
        self.dialect = plain
        return self._multiplied(loop, each)

    def _multiplied(self, loop: For, each: Sequence[Sequence[str]]) -> list[str]:
        """Multiplies words of operands, those of each sum: down and up the rows, so that neighbours
        share one."""
        tile, product = self._product(loop)
        d, c, r = self.dialect, self.own.c0, self.own.c1
        rows, columns = product.rows, product.columns
        high = self._tiles(rows, tile.own_rows)
        i, j = (f"const {d.counter_type(x.type)} {d.name(x.var)}" for x in (rows, columns))
        kinds = d.types[product.left.source], d.types[product.right.source]
        macro = Instruction(tile, *kinds).macro
        inner = [f"{i} = ({c} % 2 ? {high - 1} - {r} : {r}) * {tile.own_rows};"]
        for s, words in zip(product.sums, each):
            results = [
                self._text(_at(s.target, rows, n, columns, m))
                for n in range(tile.own_rows)
                for m in range(tile.own_columns)
            ]
            inner.append(f"{macro}({', '.join((*results, *words))});")
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


def _term(number: str, packed: int, further: int) -> Expr:
    """The first term of a word of a work-item, so many further than the number of its place in the
    warp's row."""
    return Bin("*", Bin("+", Var(number), Const(further)), Const(packed))


def _next(loop: For, n: int) -> Expr:
    return Bin("+", Var(loop.var), Const(n)) if n else Var(loop.var)


def _element(register: Factor, number: Expr) -> Load:
    """The register of that number."""
    index = (number if n is None else Const(n) for n in register.at)
    return Load(register.copy.target, tuple(index))


def _further(lo: Expr, more: int) -> Expr:
    return Bin("+", lo, Const(more)) if more else lo


def _at(target: Load, rows: For, n: int, columns: For, m: int) -> Load:
    """The result so many rows and columns further."""
    moved = {rows.var: _next(rows, n), columns.var: _next(columns, m)}
    return Load(target.array, tuple(substitute(e, moved) for e in target.index))
