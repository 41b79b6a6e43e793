"""How tiles of local memory are laid out."""

from __future__ import annotations

from dataclasses import replace

from loopxform.ir.affine import Poly, constant, poly, to_expr, value_of
from loopxform.ir.nodes import Bin, Const, Decl, Expr, Var
from loopxform.ir.tensor_tiles import BANKS, MATRIX
from loopxform.ir.warp_groups import GROUP_ROWS, PANEL, Rows
from loopxform.records import record


@record
class Blocks:
    """A row of a tile of which each of the `items` work-items along a dimension of the group reads
    `rows` neighbours, `width` at a time: first come the first vectors of all work-items, then the
    second ones."""

    dimension: int
    items: int
    rows: int
    width: int

    def place(self, at: Expr, *, whole: bool = False) -> Expr:
        """Where an element of the row is kept; `whole` ones begin a vector."""
        if self.rows == self.width:
            return at
        block = Bin("/", Bin("%", at, Const(self.rows)), Const(self.width))
        vector = Bin("*", Bin("/", at, Const(self.rows)), Const(self.width))
        first = Bin("+", Bin("*", block, Const(self.items * self.width)), vector)
        return first if whole else Bin("+", first, Bin("%", at, Const(self.width)))

    def own(self, number: Expr, item: str) -> Expr:
        """Where a work-item's vector of that number begins."""
        return Bin(
            "+",
            Bin("*", number, Const(self.items * self.width)),
            Bin("*", Var(item), Const(self.width)),
        )


@record
class Pieces:
    """An operand that four warps read from local memory (`ir.warp_groups`), of elements of so many
    `bytes`: in rows of terms, or `panels` of columns. Where rows are those of the result, `paired`
    neighbours lie 8 apart."""

    rows: Rows
    bytes: int
    panels: bool = False
    paired: bool = False

    def index(self, row: Expr, at: Expr) -> tuple[Expr, ...]:
        """Where an element is kept."""
        panel: tuple[Expr, ...] = ()
        if self.panels:
            width = PANEL // self.bytes
            panel, at = (_quotient(at, width),), _rest(at, width)
        if self.paired:
            row = _apart(row)
        piece = MATRIX // self.bytes
        turn = Bin("%", _quotient(row, self.rows.alike), Const(self.rows.pieces))
        return (*panel, row, Bin("^", at, Bin("*", turn, Const(piece))))


def _apart(row: Expr) -> Expr:
    """The place of a row of which neighbours lie 8 apart, of 16 each."""
    half = GROUP_ROWS // 2
    first = Bin("*", Bin("/", row, Const(GROUP_ROWS)), Const(GROUP_ROWS))
    own = Bin("/", Bin("%", row, Const(GROUP_ROWS)), Const(2))
    second = Bin("*", Bin("%", row, Const(2)), Const(half))
    return Bin("+", Bin("+", first, own), second)


@record
class LocalTile:
    """A tile in local memory: dimensions in storage order, slowest first. `pad` columns more than
    it needs let neighbours that walk along another dimension than the fastest find their elements
    in different banks; so do elements that are `moved`: in each row by so many more than in the one
    before, within `BANKS` bytes. Where work-items read vectors of it, `blocks` says how these lie.
    It has several `buffers` where others are filled while one is in use. Of two dimensions, so many
    neighbours along the slower one may be `packed` in a word, and words are `moved`; or so many
    short rows are `folded` into one, that banks give at once; rows may be `turned` by so many
    elements more. Of three dimensions, those that are neighbours along the last one stay together,
    and are moved along the second one, further in `every` so many rows. What four warps read
    together lies in `pieces`."""

    decl: Decl
    order: tuple[int, ...]
    pad: int = 0
    blocks: Blocks | None = None
    buffers: int = 1
    moved: int = 0
    packed: int = 1
    folded: int = 1
    turned: int = 0
    every: int = 1
    pieces: Pieces | None = None

    @property
    def shape(self) -> tuple[Expr, ...]:
        *slow, fast = (self.decl.shape[n] for n in self.order)
        if self.pieces is not None and self.pieces.panels:
            width = Const(PANEL // self.decl.type.bytes)
            slow, fast = [Bin("/", fast, width), *slow], width
        if self.packed > 1:
            slow = [Bin("/", slow[0], Const(self.packed))]
            fast = Bin("*", fast, Const(self.packed))
        if self.folded > 1:
            slow = [Bin("/", slow[0], Const(self.folded))]
            fast = Bin("*", fast, Const(self.folded))
        if self.buffers > 1:
            slow = [Const(self.buffers), *slow]
        return (*slow, Bin("+", fast, Const(self.pad)) if self.pad else fast)

    def holds(self, width: int) -> bool:
        """Whether every `width` neighbours from a multiple of it on are a vector in memory."""
        whole = (value_of(self.shape[-1]) or 0) % width == 0
        if self.packed > 1:
            return width == 1
        if self.pieces is not None:
            return whole and MATRIX // self.decl.type.bytes % width == 0
        if self.moved and len(self.order) < 3:
            return whole and self.moved % width == 0 == self.turned % width
        return whole and (self.blocks is None or self.blocks.width % width == 0)

    def place(self, row: Expr, at: Expr, *, whole: bool = False) -> Expr:
        """Where an element is kept in a row; `whole` ones begin a vector."""
        if self.moved:
            rows = BANKS // (self.decl.type.bytes * self.packed) // self.moved
            by = Bin("*", Bin("%", row, Const(rows)), Const(self.moved))
            if self.packed > 1:  # neighbours are copied down the rows
                turn = Bin("%", Bin("/", row, Const(rows)), Const(rows))
                by = Bin("+", by, Bin("*", turn, Const(self.moved // rows)))
            moved = Bin("^", at, by)
            return Bin("^", moved, Const(self.turned)) if self.turned else moved
        return self.blocks.place(at, whole=whole) if self.blocks else at

    def in_words(self, row: Expr, at: Expr, *, whole: bool = False) -> tuple[Expr, Expr]:
        """Where an element is kept of neighbours along rows in words; `whole` ones begin a word."""
        number = _word(row, self.packed) if whole else _quotient(row, self.packed)
        first = Bin("*", self.place(number, at), Const(self.packed))
        return number, first if whole else Bin("+", first, _rest(row, self.packed))

    def in_lines(self, row: Expr, at: Expr) -> tuple[Expr, Expr]:
        """Where an element is kept of short rows that are folded."""
        short = self.decl.shape[self.order[-1]]
        line = _quotient(row, self.folded)
        return line, self.place(line, Bin("+", Bin("*", _rest(row, self.folded), short), at))

    def in_pairs(self, row: Expr, at: Expr) -> Expr:
        """Where neighbours along the last dimension are kept in a row."""
        together = self.decl.type.bytes * (value_of(self.shape[-1]) or 1)
        turns = BANKS // together // self.moved
        by = Bin("%", _quotient(row, self.every), Const(turns))
        return Bin("^", at, Bin("*", by, Const(self.moved)))

    @property
    def bytes(self) -> int:
        total = self.decl.type.bytes
        for d in replace(self, packed=1, folded=1).shape:
            total *= value_of(d) or 0
        return total


def _quotient(e: Expr, n: int) -> Expr:
    exact = poly(e).divide(constant(n))
    return Bin("/", e, Const(n)) if exact is None else to_expr(exact)


def _word(e: Expr, n: int) -> Expr:
    """The number of the word that begins at `e`, a sum of multiples of `n`."""
    parts = (to_expr(Poly((t,))) for t in poly(e).terms)
    return to_expr(sum((poly(_quotient(x, n)) for x in parts), constant(0)))


def _rest(e: Expr, n: int) -> Expr:
    return Bin("%", e, Const(n)) if poly(e).divide(constant(n)) is None else Const(0)
