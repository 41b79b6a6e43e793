"""What is known of a nest with a group for each iteration, whose work-items share the loops inside:
how many iterations there are, and how many of those that are shared.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from math import prod

from loopxform.ir.affine import poly
from loopxform.ir.nodes import Bin, Expr, Function
from loopxform.ir.visit import perfect_nest, resolve
from loopxform.prepare.parallel_band import Nest
from loopxform.recipes.row_tiles import RowTiles
from loopxform.recipes.tiled import Tiled
from loopxform.recipes.versions import is_counted, times
from loopxform.records import record
from loopxform.transforms.edges.bounds import trip_count

IN_LOCAL_MEMORY = "groups, arrays in local memory"
ONE_PASS = "groups, one pass for largest elements and sums"
IN_CHUNKS = "groups, sums in chunks in local memory"
APART = "a nest for each loop"
IN_STEP = ("large arrays", "arrays", "small arrays")
"""What groups have in local memory whose work-items sum up in step: the fewer run at a time, the
more."""


@record
class Grouped:
    """A nest with a group for each iteration: the number of iterations, the least number of those
    that its work-items share at a time, how many of these there are, and how many such iterations
    keep them busy; the same with arrays in local memory, where the host finds that they fit;
    `alone` where that is all there is; the `label` of that version. `little` is the nest for
    smaller arrays, of which more groups run at a time. `rows` are the nest with so many `words` of
    rows in the registers of a work-item, the shortest first, `tiles` it with a group for several
    of them, `once` it in one pass for the largest element of a row and a sum of exponentials,
    `chunked` it with sums in chunks, for rows of any length, `apart` with a nest for each loop."""

    tiled: Tiled
    outer: Expr
    inner: Expr
    items: int
    busy: int
    local: Tiled | None = None
    fits: tuple[Expr, ...] = ()
    alone: bool = False
    label: str = IN_LOCAL_MEMORY
    little: Grouped | None = None
    rows: tuple[Grouped, ...] = ()
    words: int = 0
    tiles: tuple[RowTiles, ...] = ()
    once: Tiled | None = None
    chunked: Grouped | None = None
    apart: Tiled | None = None

    @property
    def least_in_registers(self) -> int | None:
        """From how many elements on rows belong in registers: from more than half of what the
        shortest have room for (None: they do not)."""
        return self.rows[0].items * self.rows[0].words // 2 + 1 if self.rows else None

    @property
    def in_registers(self) -> str:
        """The label of a version with rows in registers."""
        return f"groups of {self.items}, {self.words} words of rows in registers"

    @property
    def kinds(self) -> dict[str, Tiled]:
        """The nest in each version, by its label."""
        rows = {x.in_registers: x.tiled for x in self.rows}
        rows |= {x.label: x.tiled for x in self.tiles}
        few = {} if self.little is None else self.little.kinds
        local = {} if self.local is None else {self.label: self.local}
        local |= {} if self.once is None else {ONE_PASS: self.once}
        local |= {} if self.chunked is None else {IN_CHUNKS: self.chunked.tiled}
        local |= {} if self.apart is None else {APART: self.apart}
        return {**few, "groups": self.tiled, **local, **rows}


def counted(nest: Nest, tiled: Tiled) -> Grouped | None:
    """A nest with a group for each iteration, where the host knows how many iterations it has, and
    how many of them are shared."""
    chain = perfect_nest(nest.outermost)[: len(nest.parallel)]
    inner = [_amount(nest.function, v) for v in tiled.choice.shared]
    counted = [x for x in inner if x is not None]
    if not all(is_counted(nest.function, x) for x in chain) or not counted:
        return None
    group = prod(tiled.sizes[n] for n in tiled.choice.group)
    return Grouped(tiled, reduce(times, map(trip_count, chain)), _least(counted), group, group)


def _amount(fn: Function, loops: tuple[str, ...]) -> Expr | None:
    """The iterations of loops that are shared together, where the host knows them."""
    found = [site.loop for v in loops for site in resolve(fn, v)[:1]]
    if len(found) < len(loops) or not all(is_counted(fn, x) for x in found):
        return None
    return reduce(times, map(trip_count, found))


def _least(amounts: Sequence[Expr]) -> Expr:
    """The least of them, without those that are never the only least one."""
    rest: list[Expr] = []
    for x in dict.fromkeys(amounts):
        if not any(_is_least(y, x) for y in rest):
            rest = [y for y in rest if not _is_least(x, y)] + [x]
    return reduce(lambda a, b: Bin("min", a, b), rest)


def _is_least(e: Expr, other: Expr) -> bool:
    """Whether an amount is known not to exceed another: a factor of a product (where it is not, the
    product is 0 or less), one of two of which that is the larger, or the same less a number."""
    more = (poly(other) - poly(e)).value
    if isinstance(other, Bin) and other.op == "max":
        return any(e == x or _is_least(e, x) for x in (other.left, other.right))
    return e in _factors(other) or (more is not None and more > 0)


def _factors(e: Expr) -> list[Expr]:
    match e:
        case Bin("*", left, right):
            return [*_factors(left), *_factors(right)]
        case _:
            return [e]
