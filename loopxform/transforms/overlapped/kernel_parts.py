"""What the kernel of a stream is built from: its tile, where arrays are, new names."""

from __future__ import annotations

from collections.abc import Iterable

from loopxform.ir.nodes import Bin, Const, Expr, For, Load, Stmt
from loopxform.ir.types import Level, Scalar
from loopxform.records import record
from loopxform.source import Origin
from loopxform.transforms.edges.bounds import conjunction
from loopxform.transforms.overlapped.boxes import inside
from loopxform.transforms.overlapped.stages import Box, Field


class Names:
    """New names, none of them used."""

    def __init__(self, used: Iterable[str]) -> None:
        self._used = {n.replace(".", "_") for n in used}

    def new(self, wanted: str) -> str:
        """`wanted`, or that with a number; members of structs have names without a dot."""
        wanted = wanted.replace(".", "_")
        name, n = wanted, 2
        while name in self._used:
            name, n = f"{wanted}_{n}", n + 1
        self._used.add(name)
        return name


class CoordinateLoops:
    """Makes loops over coordinates."""

    coordinate: Scalar
    origin: Origin

    def _loop(
        self,
        var: str,
        lo: Expr,
        hi: Expr,
        step: int,
        body: tuple[Stmt, ...],
        level: Level | None = None,
    ) -> For:
        return For(
            var,
            lo,
            hi,
            Const(step),
            body,
            parallel=level is not None,
            level=level,
            type=self.coordinate,
            origin=self.origin,
        )


@record
class Shape:
    """The tile of a group: `rows` that it stores, and the work-items along the other dimensions of
    space, each with so many `elements` along the first of them."""

    rows: int
    items: tuple[int, ...]
    elements: int = 1

    @property
    def widths(self) -> tuple[int, ...]:
        """Elements of a row of the tile, overlaps included."""
        first, *rest = self.items
        return (first * self.elements, *rest)

    def stored(self, low: tuple[int, ...], high: tuple[int, ...]) -> tuple[int, ...]:
        """The elements that a tile stores, of which so many more belong to its neighbours."""
        valid = (n - a - b for n, a, b in zip(self.widths, low[1:], high[1:]))
        return (self.rows, *valid)


@record
class BoxShape:
    """A tile that is a box: the elements that it stores along each dimension of space, and the
    work-items of a group."""

    sizes: tuple[int, ...]
    items: int
    elements: int = 1

    def stored(self, low: tuple[int, ...], high: tuple[int, ...]) -> tuple[int, ...]:  # noqa: ARG002
        """The elements that a tile stores."""
        return self.sizes


@record
class Memory:
    """Where a field is found before the pass, the hull of the elements that the program touches,
    and the type of elements. Behind a plain pointer, there need not be any before the `first` and
    behind the `last` one that is touched, in storage order; the last coordinate of the latter is
    exclusive."""

    type: Scalar
    source: str
    place: Field
    touched: Box
    first: tuple[Expr, ...] = ()
    last: tuple[Expr, ...] = ()

    def there(self, at: tuple[Expr, ...]) -> Expr:
        """Whether an element is there."""
        tests = inside(at, self.touched)
        if self.first:
            tests.append(_follows(at, self.first, "<="))
            tests.append(_follows(self.last, at, "<"))
        return conjunction(tests)

    @property
    def certain(self) -> Box:
        """Elements that are all there."""
        if not self.first:
            return self.touched
        (lo, hi), *rest = self.touched
        return ((Bin("+", lo, Const(1)), Bin("-", hi, Const(1))), *rest)

    def element(self, at: tuple[Expr, ...]) -> Load:
        """The element at coordinates of space."""
        return Load(self.source, self.place.index(at))


@record
class Store:
    """Where the last version of a field is stored: the elements of `boxes`, if `when` holds."""

    target: str
    place: Field
    boxes: tuple[Box, ...]
    when: Expr | None = None


def _follows(a: tuple[Expr, ...], b: tuple[Expr, ...], op: str) -> Expr:
    """Whether element `a` comes behind `b` in storage order, or with `<=` is that."""
    test: Expr = Bin(op, b[-1], a[-1])
    for x, y in [*zip(a, b)][-2::-1]:
        test = Bin("||", Bin("<", y, x), Bin("&&", Bin("==", y, x), test))
    return test


def shifted(e: Expr, distance: int) -> Expr:
    """A number that is so many more."""
    op = "+" if distance > 0 else "-"
    return Bin(op, e, Const(abs(distance))) if distance else e
