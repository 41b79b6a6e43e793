"""Tiling in time: for t: { forall i: forall j: B[i][j] = f(A[i][j-1], A[i][j+1]);  ... }
  -> for t_p: { A_next = S steps of A, in tiles that overlap;  A = S steps of A_next }  for t: ...

A pass computes several steps of time of a stencil: the work-items of a group walk along rows, each
with a column, and compute a row of every step in turn. What tiles need of their neighbours they
compute themselves. Passes alternate between the arrays and copies of them, as no tile may see what
another one has overwritten; the steps that are left over are run as they were.

Legal where the body holds nothing but parallel nests, each of which writes elements of an array
from elements of such arrays at constant distances, and other arrays that the loop does not change,
and the host decides by the number of the step which nests run and which planes they use: every
element then gets the same values by the same operations. Where sums may be in another order
(`reassociate`), they are computed row by row (`partial_sums`). (Jangda and Guha; Krishnamoorthy et
al., "Effective automatic parallelization of stencil computations", 2007.)
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import ClassVar

from loopxform.errors import Obstacle
from loopxform.ir.nodes import Function
from loopxform.ir.visit import LoopSite, replace_at
from loopxform.records import record
from loopxform.transforms.base import Step
from loopxform.transforms.overlapped.kernel_parts import Shape
from loopxform.transforms.overlapped.passes import Passes, statements
from loopxform.transforms.overlapped.refusal import NotStages
from loopxform.transforms.overlapped.templates import stages_of
from loopxform.transforms.overlapped.tile_sizes import (
    not_an_order,
    not_sizes,
    require_tile,
    shape_of_words,
)
from loopxform.transforms.sites import one_loop, trusted


@record
class TimeTile(Step):
    """Runs `steps` iterations of a loop over time in a pass over the arrays, in tiles of `rows`
    rows, overlaps not included; further numbers of steps are for what is left over. A group has
    `items` along each other dimension (`256`, `16,32`), every one with so many `elements` along the
    first of them. Where an array has fewer than so many tiles, `groups`, or the device is a CPU,
    the loop runs as it was. `reassociate` (the word) allows floating-point sums to round
    differently. `in-step`: the work-items of a group wait for each other after each stage of a row,
    not once for all; they keep fewer elements then."""

    loop: str
    steps: tuple[str, ...]
    rows: str
    items: tuple[str, ...]
    elements: str = ""
    groups: str = ""
    reassociate: str = ""
    in_step: str = ""

    verb: ClassVar[str] = "time-tile"
    usage: ClassVar[str] = (
        "time-tile LOOP STEPS[,STEPS] ROWS ITEMS[,ITEMS] [ELEMENTS [GROUPS]] [reassociate] "
        "[in-step]"
    )
    flags: ClassVar[Mapping[str, str]] = {"reassociate": "reassociate", "in-step": "in_step"}

    def check(self, fn: Function) -> tuple[Obstacle, ...]:
        site = one_loop(fn, self.loop)
        if isinstance(site, Obstacle):
            return (site,)
        words = (*self.steps, self.rows, *self.items, self.elements or "1", self.groups or "1")
        loc = site.loop.origin.loc
        if wrong := (*not_sizes(self, words, loc), *not_an_order(self, self.reassociate, loc)):
            return wrong
        if any(int(more) >= int(n) for n, more in pairwise(self.steps)):
            text = f"'{self}' has passes for what is left over that are no shorter"
            return (Obstacle("LX021", text, loc, remedy="name fewer steps each time"),)
        try:
            for found in self._passes(fn, site):
                require_tile(self.shape, found.stream, site.loop)
        except NotStages as e:
            return (e.obstacle,)
        return ()

    @property
    def shape(self) -> Shape:
        """The tile of a group."""
        return shape_of_words(self.rows, self.items, self.elements)

    def rewrite(self, fn: Function) -> Function:
        site = trusted(one_loop(fn, self.loop))
        origin = site.loop.origin.then(str(self))
        levels, groups = self._passes(fn, site), int(self.groups or 1)
        found = statements(levels, fn, self.shape, groups, origin)
        return replace_at(fn, site.path, found)

    def reason(self, fn: Function) -> str:
        found = self._passes(fn, trusted(one_loop(fn, self.loop)))
        arrays = ", ".join(sorted({f.array for f in found[0].stream.last}))
        return f"each element of {arrays} is computed from elements at constant distances"

    def _passes(self, fn: Function, site: LoopSite) -> list[Passes]:
        """Raises NotStages."""
        found = stages_of(fn, site)
        allowed = {"reassociate": bool(self.reassociate), "in_step": bool(self.in_step)}
        return [Passes.of(fn, site.loop, found, int(n), **allowed) for n in self.steps]
