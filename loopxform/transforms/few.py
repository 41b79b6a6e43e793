"""A version for few tiles: S -> if (the tiles of S leave much of the device without work) S else S.

The nest stands there twice, so that it can be tiled in two ways: with large tiles where there are
many, and with small ones where large tiles would be too few. A device runs so many groups at once,
in rounds; the version is for sizes with which the rounds are less than 4/5 full:

    tiles * 5 < ceil(tiles / AT-ONCE) * AT-ONCE * 4

The host asks when the program runs. Legal where the condition is made of scalars that the host
knows: both versions are the same statements, with other names for what they declare. (Loop
versioning; Allen and Kennedy, section 5.11. Wave quantisation: NVIDIA, "Matrix multiplication
background user's guide".)
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import ClassVar

from loopxform.analysis.hosted import host_scalars
from loopxform.errors import Obstacle
from loopxform.ir.names import fresh
from loopxform.ir.nodes import Bin, Const, Expr, For, Function, If
from loopxform.ir.printer import expr_text
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
from loopxform.transforms.base import Step
from loopxform.transforms.bounds import conjunction, trip_count
from loopxform.transforms.sites import ascending, fixed_header, one_loop, trusted


@dataclass(frozen=True)
class Few(Step):
    """Gives the nest of `loop` a version of its own for sizes with which the tiles of it and of the
    loops directly inside it do not fill the rounds of a device that runs `at_once` groups; `tiles`
    are their sizes, `128,128`."""

    loop: str
    tiles: str
    at_once: str

    verb: ClassVar[str] = "few"
    usage: ClassVar[str] = "few LOOP TILE,TILE AT-ONCE"
    keeps_order: ClassVar[bool] = True

    def check(self, fn: Function) -> tuple[Obstacle, ...]:
        site = one_loop(fn, self.loop)
        if isinstance(site, Obstacle):
            return (site,)
        if not all(_number(n) for n in (*self.tiles.split(","), self.at_once)):
            text = f"'{self.tiles} {self.at_once}' are not the sizes of tiles and their number"
            return (_no(site, text, "say few i 128,128 264"),)
        chain = perfect_nest(site.loop)[: len(self.tiles.split(","))]
        if len(chain) < len(self.tiles.split(",")):
            text = f"directly inside one another there are {len(chain)} loops"
            return (_no(site, text, "give a size for each of them"),)
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

    def rewrite(self, fn: Function) -> Function:
        site = trusted(one_loop(fn, self.loop))
        own = [s.var for _, s in walk((site.loop,)) if isinstance(s, For)]
        new: dict[str, str] = {}
        for name in dict.fromkeys([*own, *declared((site.loop,))]):
            new[name] = fresh(fn, f"{name}_few")
        other = rename((site.loop,), new)
        origin = site.loop.origin.then(str(self))
        return replace_at(
            fn, site.path, (If(self._cond(site), other, (site.loop,), choice=True, origin=origin),)
        )

    def _cond(self, site: LoopSite) -> Expr:
        """Whether there are few; without a product that could overflow."""
        sizes = list(map(int, self.tiles.split(",")))
        trips = [trip_count(x) for x, _ in zip(perfect_nest(site.loop), sizes)]
        most = 1 << MOST_BITS // len(sizes)
        small = [Bin("<", n, Const(min(most * t, INT_MAX - t))) for n, t in zip(trips, sizes)]
        counts = [_rounded(n, t) for n, t in zip(trips, sizes)]
        tiles = reduce(lambda a, b: Bin("*", a, b), counts)
        at_once = int(self.at_once)
        rounds = Bin("*", _rounded(tiles, at_once), Const(at_once * 4))
        return conjunction([*small, Bin("<", Bin("*", tiles, Const(5)), rounds)])

    def reason(self, fn: Function) -> str:
        site = trusted(one_loop(fn, self.loop))
        return f"the same statements, whether {expr_text(self._cond(site))} holds or not"


INT_MAX = 2**31 - 1
MOST_BITS = 24
"""Of the number of tiles up to which the rounds are counted."""


def _rounded(n: Expr, size: int) -> Expr:
    """How many parts of that size something has, the last one perhaps not whole."""
    return Bin("/", Bin("+", n, Const(size - 1)), Const(size))


def _number(text: str) -> bool:
    return text.isascii() and text.isdecimal() and 0 < len(text) < 6 and int(text) > 0


def _no(site: LoopSite, text: str, remedy: str) -> Obstacle:
    return Obstacle("LX199", text, site.loop.origin.loc, remedy=remedy)
