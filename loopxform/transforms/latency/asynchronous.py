"""Asynchronous copies: what the hardware of a device copies into local memory on its own, past the
registers of the work-items, for the tiles that a loop fetches ahead (the step `pipeline`).

With BUFFERS buffers for each tile, those of the next BUFFERS - 1 iterations are under way while the
group computes with one. Legal where tiles can be fetched ahead at all: what is copied, and from
where to where, is the same. Devices that have no such copies make them at once, each work-item its
share. The listing keeps the order of the program; the loop is marked. (NVIDIA, PTX ISA, `cp.async`;
CUTLASS, "Efficient GEMM in CUDA", multistage pipelines.)
"""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from loopxform.errors import Obstacle
from loopxform.ir.nodes import Function
from loopxform.ir.visit import replace_at
from loopxform.records import record
from loopxform.transforms.base import Step
from loopxform.transforms.latency.pipeline import split
from loopxform.transforms.sites import one_loop, trusted
from loopxform.written import MOST_BUFFERS


@record
class Asynchronous(Step):
    """Copies the tiles that `loop` fetches ahead asynchronously, into so many `buffers` each (two
    where no number is given)."""

    loop: str
    buffers: str = ""

    verb: ClassVar[str] = "async"
    usage: ClassVar[str] = "async LOOP [BUFFERS]"
    keeps_order: ClassVar[bool] = True

    def check(self, fn: Function) -> tuple[Obstacle, ...]:
        site = one_loop(fn, self.loop)
        if isinstance(site, Obstacle):
            return (site,)
        no, where = "tiles cannot be copied asynchronously: ", site.loop.origin.loc
        if site.loop.stages < 2:
            why = f"those of the loop over '{site.loop.var}' are not fetched ahead"
            return (Obstacle("LX159", no + why, where, remedy=f"pipeline {self.loop}"),)
        if not self._number:
            why = f"'{self.buffers}' is not a number of buffers from 2 to {MOST_BUFFERS}"
            return (Obstacle("LX159", no + why, where, remedy=f"async {self.loop} 3"),)
        return ()

    @property
    def _number(self) -> int:
        """The buffers; 0 where they make no sense."""
        text = self.buffers or "2"
        number = int(text) if text.isascii() and text.isdecimal() and len(text) < 3 else 0
        return number if 2 <= number <= MOST_BUFFERS else 0

    def rewrite(self, fn: Function) -> Function:
        site = trusted(one_loop(fn, self.loop))
        origin = site.loop.origin.then(str(self))
        marked = replace(site.loop, stages=self._number, asynchronous=True, origin=origin)
        return replace_at(fn, site.path, (marked,))

    def reason(self, fn: Function) -> str:
        site = trusted(one_loop(fn, self.loop))
        tiles = " and ".join(c.target for c in split(site.loop)[0])
        times = "iteration" if self._number == 2 else f"{self._number - 1} iterations"
        return f"{tiles} of the next {times} can be copied while this one computes"
