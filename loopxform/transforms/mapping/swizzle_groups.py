"""Threadblock swizzle: the groups of a grid are walked in bands of ROWS rows, down each column of a
band before the next one.

    1 2 3 4 5 6          1 3 5 7 9 .
    7 8 9 . . .    ->    2 4 6 8 . .      ROWS = 2

Groups that run at the same time are a block of the grid in place of a row, and share more of what
they read in the cache of the device: some rows and columns in place of one row and all columns.
Legal always: each group does what another one did, and the order of groups is nobody's promise.
(CUTLASS, threadblock rasterisation.)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar

from loopxform.errors import Obstacle
from loopxform.ir.nodes import For, Function
from loopxform.ir.visit import walk
from loopxform.records import record
from loopxform.transforms.base import Step
from loopxform.transforms.sites import parse_size, rewrite_loops, some_loops


@record
class SwizzleGroups(Step):
    """Walks the groups of `loop`, which is mapped to group.y, in bands of `rows`."""

    loop: str
    rows: str

    verb: ClassVar[str] = "swizzle-groups"
    former: ClassVar[tuple[str, ...]] = ("bands",)
    usage: ClassVar[str] = "swizzle-groups LOOP ROWS   (LOOP* for every loop of that name)"
    keeps_order: ClassVar[bool] = True

    def check(self, fn: Function) -> tuple[Obstacle, ...]:
        sites = some_loops(fn, self.loop)
        if isinstance(sites, Obstacle):
            return (sites,)
        rows = parse_size(fn, self.rows)
        if isinstance(rows, Obstacle) or not self.rows.isdecimal():
            text, remedy = f"'{self.rows}' is not a number of rows", "use a number: 8"
            return (Obstacle("LX193", text, sites[0].loop.origin.loc, remedy=remedy),)
        for s in sites:
            found = sorted(_grid(s.loop))
            if s.loop.level is None or s.loop.level.dimension != 1 or found[:2] != [0, 1]:
                text = f"the loop over '{s.loop.var}' is not mapped to group.y with group.x inside"
                remedy = "map two loops to groups, each to a dimension of its own"
                return (Obstacle("LX193", text, s.loop.origin.loc, remedy=remedy),)
            if found.count(0) > 1 or found.count(1) > 1:
                text = f"several loops share a dimension of the groups of '{s.loop.var}'"
                remedy = "map two loops to groups, each to a dimension of its own"
                return (Obstacle("LX193", text, s.loop.origin.loc, remedy=remedy),)
        return ()

    def rewrite(self, fn: Function) -> Function:
        def banded(loop: For) -> For:
            assert loop.level is not None
            level = replace(loop.level, bands=int(self.rows))
            return replace(loop, level=level, origin=loop.origin.then(str(self)))

        return rewrite_loops(fn, self.loop, banded)

    def reason(self, fn: Function) -> str:  # noqa: ARG002
        return "the groups are the same, in another order"


def _grid(loop: For) -> Iterator[int]:
    """The dimensions of groups that a loop and those inside it are mapped to."""
    for _, s in walk((loop,)):
        if isinstance(s, For) and s.level is not None and s.level.kind == "grid":
            yield s.level.dimension
