"""Tiling in time, in boxes: for t: { forall i: B[i] = f(A[i-1], A[i+1]);  forall i: A[i] = B[i] }
  -> for t_p: { A_next = S steps of A, in boxes that overlap;  A = S steps of A_next }  for t: ...

A pass computes several steps of time of a stencil: each tile copies a box of every array, larger
than what it stores by what its neighbours have of it, and runs the steps in it, stage by stage.
Arrays of one dimension have no rows to walk along; the boxes of a CPU stay in its caches.

Legal where `time-tile` is, and for arrays of any number of dimensions. (Jangda and Guha;
Krishnamoorthy et al., "Effective automatic parallelization of stencil computations", 2007.)
"""

from __future__ import annotations

from itertools import pairwise
from typing import ClassVar

from loopxform.errors import Obstacle
from loopxform.ir.nodes import Function
from loopxform.ir.visit import LoopSite, replace_at
from loopxform.records import record
from loopxform.transforms.base import Step
from loopxform.transforms.overlapped.kernel_parts import BoxShape
from loopxform.transforms.overlapped.passes import Passes, statements
from loopxform.transforms.overlapped.refusal import NotStages
from loopxform.transforms.overlapped.templates import stages_of
from loopxform.transforms.overlapped.tile_sizes import not_sizes
from loopxform.transforms.sites import one_loop, trusted


@record
class TimeBoxes(Step):
    """Runs `steps` iterations of a loop over time in a pass over the arrays, in tiles of `sizes`
    elements, overlaps not included, by groups of `items` work-items (1: a core of a CPU); further
    numbers of steps are for what is left over. Where there are fewer than so many tiles, `groups`,
    or the device is a CPU, the loop runs as it was."""

    loop: str
    steps: tuple[str, ...]
    sizes: tuple[str, ...]
    items: str
    groups: str = ""

    verb: ClassVar[str] = "time-boxes"
    usage: ClassVar[str] = "time-boxes LOOP STEPS[,STEPS] SIZE[,SIZE...] ITEMS [GROUPS]"

    def check(self, fn: Function) -> tuple[Obstacle, ...]:
        site = one_loop(fn, self.loop)
        if isinstance(site, Obstacle):
            return (site,)
        words, loc = (
            (*self.steps, *self.sizes, self.items, self.groups or "1"),
            site.loop.origin.loc,
        )
        if wrong := not_sizes(self, words, loc):
            return wrong
        if any(int(more) >= int(n) for n, more in pairwise(self.steps)):
            text = f"'{self}' has passes for what is left over that are no shorter"
            return (Obstacle("LX021", text, loc, remedy="name fewer steps each time"),)
        try:
            rank = self._passes(fn, site)[0].stream.rank
        except NotStages as e:
            return (e.obstacle,)
        if len(self.sizes) != rank:
            text = "a box has a size for each dimension of the arrays"
            return (Obstacle("LX202", text, loc, remedy=f"sizes to give: {rank}"),)
        return ()

    def rewrite(self, fn: Function) -> Function:
        site = trusted(one_loop(fn, self.loop))
        origin = site.loop.origin.then(str(self))
        shape = BoxShape(tuple(map(int, self.sizes)), int(self.items))
        levels, groups = self._passes(fn, site), int(self.groups or 1)
        return replace_at(fn, site.path, statements(levels, fn, shape, groups, origin))

    def reason(self, fn: Function) -> str:
        found = self._passes(fn, trusted(one_loop(fn, self.loop)))
        arrays = ", ".join(sorted({f.array for f in found[0].stream.last}))
        return f"each element of {arrays} is computed from elements at constant distances"

    def _passes(self, fn: Function, site: LoopSite) -> list[Passes]:
        """Raises NotStages."""
        found = stages_of(fn, site)
        return [Passes.of(fn, site.loop, found, int(n), boxed=True) for n in self.steps]
