"""Versions in smaller tiles: S -> if (small tiles take less time) S else ... else S.

The nest stands there once for each shape of a tile, so that it can be tiled in several ways. A
device with so many compute units works on that many tiles at a time, in rounds; with few tiles, the
last round of large ones leaves much of it without work:

    time(shape) = ceil(tiles / UNITS) * the time of one tile + what it takes to start

where times are numbers that only matter in proportion: 64x128:508+180 is 508 for a tile and 180 to
start, for units that work on several tiles at a time hide more. The host asks when the program
runs; the first shape stands for all sizes that are too large to count. Legal where the bounds are
made of scalars that the host knows: all versions are the same statements, with other names for what
they declare. (Loop versioning; Allen and Kennedy, section 5.11. Wave quantisation: NVIDIA, "Matrix
multiplication background user's guide".)
"""

from __future__ import annotations

from dataclasses import replace
from functools import reduce
from math import prod
from typing import ClassVar

from loopxform.analysis.host_scalars import host_scalars
from loopxform.errors import Obstacle
from loopxform.ir.names import fresh
from loopxform.ir.nodes import Bin, Const, Expr, For, Function, If, Stmt
from loopxform.ir.types import INT_MAX
from loopxform.ir.typing import symbols, type_of
from loopxform.ir.visit import (
    LoopSite,
    declared,
    loops_around,
    names,
    perfect_nest,
    rename,
    replace_at,
    walk,
)
from loopxform.records import record
from loopxform.transforms.base import Step
from loopxform.transforms.edges.bounds import conjunction, trip_count
from loopxform.transforms.sites import ascending, fixed_header, one_loop, trusted

MOST_BITS = 20
"""Of the number of tiles up to which rounds are counted."""

MOST_TIME = 1024
"""Of a tile, and to start: then no time of so many tiles overflows an int."""


@record
class Shape:
    """The sizes of a tile along a nest of loops, the time that it takes, and that it takes to
    start."""

    sizes: tuple[int, ...]
    time: int
    start: int = 0

    def tiles(self, trips: list[int]) -> int:
        """How many there are."""
        return prod(-(-n // t) for n, t in zip(trips, self.sizes))

    def taken(self, trips: list[int], units: int) -> int:
        """The time of all of them on so many compute units."""
        return -(-self.tiles(trips) // units) * self.time + self.start

    def __str__(self) -> str:
        text = f"{'x'.join(map(str, self.sizes))}:{self.time}"
        return f"{text}+{self.start}" if self.start else text


@record
class Few(Step):
    """Gives the nest of `loop` and of the loops directly inside it a version for each shape of a
    tile, of which a device works on `units` at a time: `shapes`, the largest first, the others in
    any order."""

    loop: str
    units: str
    shapes: tuple[str, ...]

    verb: ClassVar[str] = "few"
    usage: ClassVar[str] = "few LOOP UNITS TILExTILE:TIME[+START],TILExTILE:TIME[+START],..."
    keeps_order: ClassVar[bool] = True

    def check(self, fn: Function) -> tuple[Obstacle, ...]:
        site = one_loop(fn, self.loop)
        if isinstance(site, Obstacle):
            return (site,)
        if not (_is_number(self.units) and len(self.shapes) > 1 and all(map(_shape, self.shapes))):
            text = f"'{self.units} {','.join(self.shapes)}' is not a number and shapes of tiles"
            remedy = f"say few i 132 128x128:1000,64x64:320; a time is {MOST_TIME} at most"
            return (_no(site, text, remedy),)
        large, *smaller = self._shapes
        if not all(_is_within(s, large) for s in smaller):
            text = f"of {', '.join(self.shapes)} one is larger than the first, for all large sizes"
            return (_no(site, text, "give the largest first, all others within it"),)
        ranks = {len(s.sizes) for s in self._shapes}
        chain = perfect_nest(site.loop)[: max(ranks)]
        if len(chain) < max(ranks) or len(ranks) > 1:
            text = f"directly inside one another there are {len(chain)} loops"
            return (_no(site, text, "give each shape a size for each of them"),)
        if loops_around(fn, site.path):
            text = f"the loop over '{site.loop.var}' is inside another one"
            return (_no(site, text, "name the outermost loop"),)
        for n, loop in enumerate(chain):
            inner = LoopSite((*site.path, *[0] * n), loop)
            if problems := (*ascending(inner), *fixed_header(inner)):
                return problems
            if not names(trip_count(loop)) <= host_scalars(fn):
                text = f"how often the loop over '{loop.var}' runs is not known before the nest"
                return (_no(site, text, "leave it as it is"),)
        return ()

    @property
    def _shapes(self) -> list[Shape]:
        return [s for s in map(_shape, self.shapes) if s is not None]

    def rewrite(self, fn: Function) -> Function:
        site = trusted(one_loop(fn, self.loop))
        origin = site.loop.origin.then(str(self))
        own = [s.var for _, s in walk((site.loop,)) if isinstance(s, For)]
        every = dict.fromkeys([*own, *declared((site.loop,))])
        whole: tuple[Stmt, ...] = (site.loop,)
        large, *smaller = self._shapes
        for n, shape in enumerate(smaller):
            new: dict[str, str] = {}
            for name in every:
                new[name] = fresh(_beside(fn, whole), f"{name}_few")
            cond = self._least(fn, site, shape, [large, *smaller[:n]])
            other = rename((site.loop,), new)
            whole = (If(cond, other, whole, choice="tiles", origin=origin),)
        return replace_at(fn, site.path, whole)

    def _least(self, fn: Function, site: LoopSite, shape: Shape, others: list[Shape]) -> Expr:
        """Whether a shape takes less time than all others, without a product that overflows."""
        loops = perfect_nest(site.loop)
        trips = [trip_count(x) for x, _ in zip(loops, shape.sizes)]
        most = 1 << MOST_BITS // len(trips)
        asked: list[Expr] = []
        types = symbols(fn)
        for n, *sizes in zip(trips, shape.sizes, *(s.sizes for s in others)):
            if not type_of(n, types).is_unsigned:
                asked.append(Bin(">=", n, Const(0)))
            asked.append(Bin("<", n, Const(min(most * min(sizes), INT_MAX - max(sizes)))))
        units = int(self.units)
        for other in others:
            asked.append(Bin("<", _time(trips, shape, units), _time(trips, other, units)))
        return conjunction(asked)

    def reason(self, fn: Function) -> str:
        site = trusted(one_loop(fn, self.loop))
        loops = perfect_nest(site.loop)[: len(self._shapes[0].sizes)]
        text = ", ".join(x.var for x in loops)
        return f"the same statements, however many tiles there are along {text}"


def _tiles(trips: list[Expr], shape: Shape) -> Expr:
    counts = [_rounded(n, t) for n, t in zip(trips, shape.sizes)]
    return reduce(lambda a, b: Bin("*", a, b), counts)


def _time(trips: list[Expr], shape: Shape, units: int) -> Expr:
    time: Expr = Bin("*", _rounded(_tiles(trips, shape), units), Const(shape.time))
    return Bin("+", time, Const(shape.start)) if shape.start else time


def _rounded(n: Expr, size: int) -> Expr:
    """How many parts of that size something has, the last one perhaps not whole."""
    return n if size == 1 else Bin("/", Bin("+", n, Const(size - 1)), Const(size))


def _beside(fn: Function, body: tuple[Stmt, ...]) -> Function:
    """A program with the names of both."""
    return replace(fn, body=(*fn.body, *body))


def _is_within(small: Shape, large: Shape) -> bool:
    """So that there are never more tiles of the large shape."""
    return all(a <= b for a, b in zip(small.sizes, large.sizes))


def _shape(text: str) -> Shape | None:
    """128x128:1000 or 64x128:505+135."""
    tile, _, rest = text.partition(":")
    sizes, (time, plus, start) = tile.split("x"), rest.partition("+")
    if not all(map(_is_number, (*sizes, time, *([start] if plus else [])))):
        return None
    if max(int(time), int(start or 0)) > MOST_TIME:
        return None
    return Shape(tuple(map(int, sizes)), int(time), int(start or 0))


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdecimal() and 0 < len(text) < 6 and int(text) > 0


def _no(site: LoopSite, text: str, remedy: str) -> Obstacle:
    return Obstacle("LX199", text, site.loop.origin.loc, remedy=remedy)
