"""Vectors of iterations: for i: S(i) -> the same loop, in vectors of W for the compiler.

    for (j = 0; j < 1024; j++) s[j] += a[i][j]   (W = 32: 128 bytes of a row of floats at a time)

Compilers choose short vectors by themselves, and read less of a row at a time than a core fetches
ahead. Legal where the loop carries no dependence and holds no other loop: a compiler that is told
how long vectors are may add up in any order what iterations pass on, and there is nothing of that
kind. The listing keeps the loop, which is marked; compilers that do not know the hint leave it out.
(LLVM, "Auto-vectorization in LLVM", loop pragmas; OpenMP's `simd simdlen(W)`.)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar

from loopxform.analysis.legality import parallel_obstacles
from loopxform.errors import Obstacle
from loopxform.ir.nodes import For, Function
from loopxform.ir.visit import LoopSite, replace_at, walk
from loopxform.records import record
from loopxform.transforms.base import Step
from loopxform.transforms.sites import one_loop, trusted, unmapped, whole_loop

WIDTHS = ("2", "4", "8", "16", "32", "64")


@record
class Simd(Step):
    """Asks for `width` iterations of `loop` in a vector."""

    loop: str
    width: str

    verb: ClassVar[str] = "simd"
    usage: ClassVar[str] = "simd LOOP 2|4|8|16|32|64"
    keeps_order: ClassVar[bool] = True

    def check(self, fn: Function) -> tuple[Obstacle, ...]:
        site = one_loop(fn, self.loop)
        if isinstance(site, Obstacle):
            return (site,)
        if self.width not in WIDTHS:
            text = f"no vector has {self.width} iterations"
            remedy = f"a vector has {', '.join(WIDTHS[:-1])} or {WIDTHS[-1]}"
            return (Obstacle("LX266", text, site.loop.origin.loc, remedy=remedy),)
        return (*whole_loop(site), *unmapped(site, self.verb), *obstacles(fn, site))

    def rewrite(self, fn: Function) -> Function:
        site = trusted(one_loop(fn, self.loop))
        origin = site.loop.origin.then(str(self))
        return replace_at(fn, site.path, (replace(site.loop, simd=int(self.width), origin=origin),))

    def reason(self, fn: Function) -> str:
        var = trusted(one_loop(fn, self.loop)).loop.var
        return f"no dependence is carried by {var}"


def obstacles(fn: Function, site: LoopSite) -> Iterator[Obstacle]:
    """Why iterations cannot be computed in vectors, or cannot any more after later steps."""
    inside = [s for _, s in walk(site.loop.body) if isinstance(s, For)]
    if inside:
        text = f"the loop over '{inside[0].var}' is inside that over '{site.loop.var}'"
        remedy = f"mark that one: simd {inside[0].var}"
        yield Obstacle("LX266", text, site.loop.origin.loc, remedy=remedy)
    else:
        yield from parallel_obstacles(fn, site.path)
