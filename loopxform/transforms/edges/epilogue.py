"""Epilogue: for (kk = lo; kk < hi; kk += T) S -> full tiles without bounds checks, then the rest.

    for (kk = lo; kk < lo + (hi-lo)/T*T; kk += T) S      every tile full: its checks are dropped
    for (kk = lo + (hi-lo)/T*T; kk < hi; kk += T) S      at most once, with the checks

Legal where the body does not change the bounds: the same iterations in the same order. (Seed 000,
section 4.2.2.)
"""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from loopxform.errors import Obstacle
from loopxform.ir.affine import simplify, value_of
from loopxform.ir.nodes import Bin, For, Function
from loopxform.ir.visit import Path, after, replace_at
from loopxform.records import record
from loopxform.transforms.base import Step
from loopxform.transforms.edges.bounds import operands
from loopxform.transforms.restructure.guards import drop_proven
from loopxform.transforms.sites import (
    ascending,
    fixed_header,
    no_wrap,
    one_loop,
    trusted,
    unmapped,
    whole_loop,
)


@record
class Epilogue(Step):
    """Peels the partial last tile of a loop over tiles."""

    loop: str

    verb: ClassVar[str] = "epilogue"
    usage: ClassVar[str] = "epilogue LOOP"
    keeps_order: ClassVar[bool] = True

    def check(self, fn: Function) -> tuple[Obstacle, ...]:
        site = one_loop(fn, self.loop)
        if isinstance(site, Obstacle):
            return (site,)
        loop = site.loop
        if len(operands(loop.hi)) > 1 or (value_of(loop.step) or 0) == 1:
            return (
                Obstacle(
                    "LX135",
                    f"the loop over '{loop.var}' does not go over tiles of one range",
                    loop.origin.loc,
                    remedy="stripmine it first and peel the loop over tiles",
                ),
            )
        return (
            *whole_loop(site),
            *ascending(site),
            *fixed_header(site),
            *unmapped(site, "peel"),
            *no_wrap(fn, site),
        )

    def rewrite(self, fn: Function) -> Function:
        site = trusted(one_loop(fn, self.loop))
        loop = site.loop
        origin = loop.origin.then(str(self))
        length = Bin("-", loop.hi, loop.lo)
        middle = simplify(
            Bin("+", loop.lo, Bin("*", Bin("/", simplify(length), loop.step), loop.step))
        )
        main = replace(loop, hi=middle, origin=origin)
        rest = replace(loop, lo=middle, origin=origin)
        split = replace_at(fn, site.path, (main, rest))
        split = drop_proven(split, site.path)
        return split if _needed(loop) else _without_rest(split, site.path)

    def reason(self, fn: Function) -> str:
        loop = trusted(one_loop(fn, self.loop)).loop
        return f"the same iterations in order: every tile of the first loop over {loop.var} is full"


def _needed(loop: For) -> bool:
    """Constant ranges that the tile divides have nothing left over."""
    length, step = value_of(Bin("-", loop.hi, loop.lo)), value_of(loop.step)
    return length is None or step is None or length % step != 0


def _without_rest(fn: Function, path: Path) -> Function:
    return replace_at(fn, after(path), ())
