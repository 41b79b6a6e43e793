"""OpenCL C as a kernel of ours writes it: names that are free, tiles in storage order, registers
without the dimensions that the work-items share out."""

from __future__ import annotations

from collections.abc import Mapping as Map
from dataclasses import field, replace

from loopxform.codegen.cexpr import Dialect, expr
from loopxform.codegen.opencl import atomics
from loopxform.codegen.opencl.local_tile import LocalTile
from loopxform.codegen.opencl.words import free_name
from loopxform.ir.affine import simplify
from loopxform.ir.nodes import Assign, Bin, Const, Expr, Load
from loopxform.ir.stand_ins import element
from loopxform.ir.visit import loads, substitute
from loopxform.records import record

OFFSET = "LX_OFFSET"
"""Begins an offset: LX_OFFSET(0) one in 32 bits, LX_OFFSET(1) one in those of the device."""

IF = "LX_IF"
"""LX_IF(1, x) is a condition, LX_IF(0, x) none."""


@record
class KernelDialect(Dialect):
    """`tiles` says how local tiles are laid out; `kept` the dimensions of arrays that stay in
    a work-item; `threads` the values of loops mapped to threads. Of tiles with several buffers,
    `buffer` is the one in use; of `pairs` of registers, which. The arrays in `constants` lie in
    constant memory. A kernel that is one of `several` has macros where they may differ. Of arrays
    with `windows`, these say which elements of another one, whose shape they have, are theirs
    (`ir.stand_ins`). Where a group is one work-item, it is `alone` with its local memory."""

    tiles: Map[str, LocalTile] = field(default_factory=dict)
    kept: Map[str, tuple[int, ...]] = field(default_factory=dict)
    threads: Map[str, Expr] = field(default_factory=dict)
    buffer: str = "0"
    pairs: Map[str, str] = field(default_factory=dict)
    constants: frozenset[str] = frozenset()
    several: bool = False
    windows: Map[str, tuple[Expr, ...]] = field(default_factory=dict)
    alone: bool = False

    def offset_type(self, *, narrow: bool) -> str:
        """The cast of what an offset begins with."""
        if self.several:
            return f"{OFFSET}({int(not narrow)})"
        return super().offset_type(narrow=narrow)

    def load(self, e: Load) -> str:
        if e.array in self.tiles:
            return self.element(e)
        if e.array in self.kept:
            kept = self.kept[e.array]
            return self.held(e.array) + self._subscripts(tuple(e.index[n] for n in kept))
        if e.array in self.windows:
            e = Load(e.array, tuple(map(simplify, element(self.windows[e.array], e.index))))
        return super().load(e)

    def update(self, s: Assign) -> str:
        if not isinstance(s.target, Load) or s.target.array in self.kept:
            return ""  # of its own
        local = s.target.array in self.tiles
        if local and self.alone and not self.several:
            return ""
        space: atomics.Space = "local" if local else "global"
        return atomics.update(s, s.target, space, self)

    def memory_name(self, array: str) -> str:
        """The spelling of the type of an array's elements."""
        kind = self.types[array]
        return kind.memory if array in self.packed else self.type_name(kind)

    def held(self, array: str) -> str:
        """The registers of a work-item for an array, of two the ones in use."""
        return self.name(array) + (f"[{self.pairs[array]}]" if array in self.pairs else "")

    def element(self, e: Load, *, whole: bool = False, at: Expr | None = None) -> str:
        """The text of an element of a tile; `whole` ones begin a vector; `at` says where in the row
        it is kept, if that is known."""
        return self.buffer_of(e.array) + self._subscripts(self._place(e, whole=whole, at=at))

    def cell(self, e: Load) -> tuple[str, Expr]:
        """The first element of the buffer of a tile that is in use, and how many elements further
        one is kept, which begins a vector."""
        first, *others = self._place(e, whole=True)
        lengths = self.tiles[e.array].shape[-len(others) :] if others else ()
        for length, position in zip(lengths, others):
            first = Bin("+", Bin("*", first, length), position)
        (place,) = self._placed((first,))
        return self.buffer_of(e.array) + "[0]" * (1 + len(others)), place

    def buffer_of(self, array: str) -> str:
        """The buffer of a tile that is in use."""
        return self.name(array) + (f"[{self.buffer}]" if self.tiles[array].buffers > 1 else "")

    def _place(self, e: Load, *, whole: bool, at: Expr | None = None) -> tuple[Expr, ...]:
        tile = self.tiles[e.array]
        *slow, fast = (e.index[n] for n in tile.order)
        if tile.pieces is not None:
            return tile.pieces.index(slow[0], fast)
        if tile.packed > 1:
            slow[0], fast = tile.in_words(slow[0], fast, whole=whole)
        elif tile.folded > 1:
            slow[0], fast = tile.in_lines(slow[0], fast)
        elif tile.moved and len(slow) == 2:
            slow[1] = tile.in_pairs(*slow)
        elif at is not None:
            fast = at
        else:
            fast = tile.place(slow[-1] if slow else Const(0), fast, whole=whole)
        return (*slow, fast)

    def with_pairs(self, pairs: Map[str, str]) -> KernelDialect:
        """With other registers in use."""
        return replace(self, pairs=pairs)

    def member(self, name: str) -> str:
        return free_name(name)

    def _subscripts(self, index: tuple[Expr, ...]) -> str:
        """In a tile `ii-iii` is simply the work-item's share. Elements may be of any type, so that
        subscripts made of them stay as they are."""
        return "".join(f"[{expr(i, self)}]" for i in self._placed(index))

    def placed_text(self, e: Expr) -> str:
        """A subscript of a tile."""
        return self._subscripts((e,))[1:-1]

    def _placed(self, index: tuple[Expr, ...]) -> tuple[Expr, ...]:
        values = dict(self.threads)
        placed = (substitute(i, values) for i in index)
        return tuple(i if any(loads(i)) else simplify(i) for i in placed)
