"""What the text of the kernel of attention is made of: its tile, loops, registers and tiles."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from loopxform.ir.nodes import (
    Assign,
    Bin,
    Const,
    Copy,
    Decl,
    Expr,
    For,
    If,
    Load,
    Slice,
    Stmt,
    Un,
    Var,
)
from loopxform.ir.types import FLOAT, INT, Level, Scalar, Space
from loopxform.source import Origin
from loopxform.transforms.overlapped.kernel_parts import Names

LEAST = Un("-", Bin("/", Const(1.0, FLOAT, "1.0f"), Const(0.0, FLOAT, "0.0f")))


@dataclass(frozen=True)
class Tile:
    """The tile of a group: work-items along rows and along keys, rows and keys of each, the most
    components of values, and how many terms of a sum are in local memory at a time."""

    y: int
    x: int
    rows: int
    keys: int
    width: int
    depth: int

    @property
    def queries(self) -> int:
        """The rows of a group."""
        return self.y * self.rows

    @property
    def columns(self) -> int:
        """The keys of a tile."""
        return self.x * self.keys

    @property
    def components(self) -> int:
        """Those of a value that a work-item has."""
        return self.width // self.x

    def problem(self) -> str:
        """Why these sizes make no tile ("": they do)."""
        if self.width % self.x or self.columns % self.depth or self.depth % self.x:
            return "work-items along keys must divide the width and the depth, and that the keys"
        return ""

    @property
    def local_elements(self) -> int:
        """What a group has in local memory."""
        wide = self.queries + 4  # as kernels pad rows
        return self.depth * (2 * wide + self.columns + self.width) + self.x * wide


@dataclass
class KernelText:
    """Builds statements of a group with such a tile; `types` are those of names, `type` that of
    scores."""

    tile: Tile
    types: dict[str, Scalar]
    type: Scalar
    names: Names
    origin: Origin

    def __post_init__(self) -> None:
        new = self.names.new
        self.ty, self.tx = new("row"), new("column")

    def _loop(
        self, var: str, hi: Expr | int, step: int, body: Sequence[Stmt], level: Level | None = None
    ) -> For:
        end = Const(hi) if isinstance(hi, int) else hi
        parallel = level is not None
        return For(
            var,
            Const(0),
            end,
            Const(step),
            tuple(body),
            parallel=parallel,
            level=level,
            origin=self.origin,
        )

    def _items(self, *body: Stmt) -> For:
        """The loops over the work-items of a group."""
        inner = self._loop(self.tx, self.tile.x, 1, body, Level("group", 0))
        return self._loop(self.ty, self.tile.y, 1, (inner,), Level("group", 1))

    def _unrolled(self, var: str, hi: int, *body: Stmt) -> For:
        return replace(self._loop(var, hi, 1, body), unroll=True)

    def _set(self, target: Var | Load, value: Expr, op: str = "") -> Assign:
        return Assign(target, value, op, origin=self.origin)

    def _decl(
        self, name: str, *shape: int, local: bool = False, type: Scalar | None = None
    ) -> Decl:
        sizes, space = tuple(map(Const, shape)), Space.LOCAL if local else None
        return Decl(name, type or self.type, sizes, space, origin=self.origin)

    def _scalar(self, name: str, value: Expr, type: Scalar | None = None) -> list[Stmt]:
        return [self._decl(name, type=type), self._set(Var(name), value)]

    def _index(self, name: str, value: Expr) -> list[Stmt]:
        return self._scalar(name, value, INT)

    def _own(self, array: str, *index: Expr) -> Load:
        """What a work-item keeps in registers."""
        return Load(array, (Var(self.ty), Var(self.tx), *index))

    def _row(self, r: str) -> Expr:
        """A row of the tile."""
        return Bin("+", Bin("*", Var(self.ty), Const(self.tile.rows)), Var(r))

    def _column(self, e: Expr, each: int) -> Expr:
        """The place of an element of a work-item: vectors are dealt out in turns."""
        v = min(4, each)
        turn = Bin("*", Bin("/", e, Const(v)), Const(v * self.tile.x))
        first = Bin("+", turn, Bin("*", Var(self.tx), Const(v)))
        return Bin("+", first, Bin("%", e, Const(v)))

    @property
    def _item(self) -> Expr:
        return Bin("+", Bin("*", Var(self.ty), Const(self.tile.x)), Var(self.tx))

    def _staged(self, rows: int, fast: int, element: Callable[[Expr, Expr], Stmt]) -> Stmt:
        """All elements of a tile, those of a row of `fast` next to each other, each computed from
        its place. Each work-item has as many, along a column, where that can be."""
        n, items = self.names.new("n"), self.tile.y * self.tile.x
        if (rows * fast) % items == 0 and items % fast == 0:
            first = Bin("/", self._item, Const(fast))
            row = Bin("+", first, Bin("*", Var(n), Const(items // fast)))
            column = Bin("%", self._item, Const(fast))
            return self._unrolled(n, rows * fast // items, element(row, column))
        place = Bin("/", Var(n), Const(fast)), Bin("%", Var(n), Const(fast))
        return replace(self._loop(n, rows * fast, items, [element(*place)]), lo=self._item)

    def _filled(self, target: Load, there: Expr, value: Expr) -> If:
        kept, zero = self._set(target, value), self._set(target, Const(0))
        return If(there, (kept,), (zero,), origin=self.origin)

    def _read(self, target: str, tile: str, c: str, first: Expr, count: int) -> Copy:
        """Copies elements of a row of a tile into registers, in vectors."""
        slices = (Slice(Var(c), None), Slice(first, Const(count)))
        width = next(n for n in (4, 2, 1) if count % n == 0)
        return Copy(target, tile, slices, collective=False, width=width, origin=self.origin)
