"""Serpentine: for i: for j: S(i, j), both unrolled -> the same, in bands of ROWS rows, there and
back.

    1 2 3 4            1 4 5 8
    5 6 7 8      ->    2 3 6 7        ROWS = 2
    . . . .            . . . .

Two statements that follow each other have a row or a column in common, so that one operand of each
is still at hand: compilers of kernels keep the operand of the last instruction next to the
arithmetic. Legal where neither loop carries a dependence: their iterations then run in any order.
The listing keeps the order of the program; the outer loop is marked. (NVIDIA, CUTLASS, the order of
thread-level products.)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar

from loopxform.analysis.legality import reverse_obstacles
from loopxform.errors import Obstacle
from loopxform.ir.affine import value_of
from loopxform.ir.nodes import For, Function
from loopxform.ir.visit import LoopSite, replace_at
from loopxform.records import record
from loopxform.transforms.base import Step
from loopxform.transforms.edges.bounds import fixed_trips
from loopxform.transforms.sites import one_loop, trusted


@record
class Serpentine(Step):
    """Walks the unrolled `loop` and the unrolled loop in it in bands of `rows` (one where none
    is given), there and back."""

    loop: str
    rows: str = ""

    verb: ClassVar[str] = "serpentine"
    usage: ClassVar[str] = "serpentine LOOP [ROWS]"
    keeps_order: ClassVar[bool] = True

    def check(self, fn: Function) -> tuple[Obstacle, ...]:
        site = one_loop(fn, self.loop)
        if isinstance(site, Obstacle):
            return (site,)
        shape = tuple(_no(site, *o) for o in self._misfits(site))[:1]
        return shape or (
            *reverse_obstacles(fn, site.path),
            *reverse_obstacles(fn, (*site.path, 0)),
        )

    def stale(self, site: LoopSite) -> Iterator[Obstacle]:
        """What later steps made of the loops, where they cannot be walked so any more."""
        yield from (_no(site, *o) for o in self._misfits(site))

    def _misfits(self, site: LoopSite) -> Iterator[tuple[str, str]]:
        inner = site.loop.body[0] if len(site.loop.body) == 1 else None
        if not isinstance(inner, For):
            yield "its body is not one loop", "name the outer one of two loops"
            return
        for loop in (site.loop, inner):
            if not loop.unroll:
                yield f"the loop over '{loop.var}' is not unrolled", f"unroll {loop.var}"
            elif not _counts(loop) or loop.level is not None:
                yield f"'{loop.var}' does not count from 0 by 1", f"normalise {loop.var} body"
        text = self.rows or "1"
        rows = int(text) if text.isascii() and text.isdecimal() else 0
        fixed = fixed_trips(site.loop)
        if any(e is None or e[1] for e in (fixed, fixed_trips(inner))):
            yield "how often they run is not fixed", "stripmine and normalise them first"
        elif not rows or fixed is None or (fixed[0].value or 0) % rows:
            yield f"'{self.rows}' rows are no part of them", "use 1, or a divisor of the iterations"

    def rewrite(self, fn: Function) -> Function:
        site = trusted(one_loop(fn, self.loop))
        origin = site.loop.origin.then(str(self))
        new = replace(site.loop, serpentine=int(self.rows or 1), origin=origin)
        return replace_at(fn, site.path, (new,))

    def reason(self, fn: Function) -> str:
        loop = trusted(one_loop(fn, self.loop)).loop
        inner = loop.body[0]
        assert isinstance(inner, For)
        return f"neither {loop.var} nor {inner.var} carries a dependence"


def _counts(loop: For) -> bool:
    return value_of(loop.lo) == 0 and value_of(loop.step) == 1


def _no(site: LoopSite, why: str, remedy: str) -> Obstacle:
    text = f"the loop over '{site.loop.var}' cannot be walked there and back: {why}"
    return Obstacle("LX197", text, site.loop.origin.loc, remedy=remedy)
