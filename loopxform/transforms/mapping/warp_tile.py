"""Warp tile: which work-items of a group are neighbours.

Work-items that run in lockstep (32 consecutive ones) are a rectangle of Y x X of the group, in
place of rows as long as the group is wide: together they read fewer different elements of the
tiles, Y + X in place of 1 + Y*X of them or so. Legal always: each work-item of the group does what
another one did, and no work-item relies on who its neighbours are. Where Y and X do not divide the
shape of the group, work-items stay in rows. (CUTLASS, "Efficient GEMM in CUDA", warp tiles.)

With `paired`, consecutive work-items stand in two rows by turns, each second one in the column of
the one before it. NVIDIA's devices read a vector of four words for a warp in two accesses to local
memory where the first two of its work-items, or the first and the third, read the same one, and so
on for the others; else in four. In pairs, that holds for what differs between rows and for what
differs between columns. It takes an even number of rows. (CUTLASS, `RowMajorInterleaved`.)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import ClassVar

from loopxform.errors import Obstacle
from loopxform.ir.nodes import For, Function, Stmt
from loopxform.ir.visit import map_body, walk
from loopxform.records import record
from loopxform.transforms.base import Step
from loopxform.transforms.sites import rewrite_loops, some_loops


@record
class WarpTile(Step):
    """Numbers the work-items of the groups of `loop` so that `rows * columns` consecutive ones are
    a rectangle, `columns` along x; `paired` (the word), in two rows by turns."""

    loop: str
    rows: str
    columns: str
    paired: str = ""

    verb: ClassVar[str] = "warp-tile"
    former: ClassVar[tuple[str, ...]] = ("lanes",)
    usage: ClassVar[str] = (
        "warp-tile LOOP ROWS COLUMNS [paired]   (LOOP* for every loop of that name)"
    )
    flags: ClassVar[Mapping[str, str]] = {"paired": "paired"}
    keeps_order: ClassVar[bool] = True

    def check(self, fn: Function) -> tuple[Obstacle, ...]:
        sites = some_loops(fn, self.loop)
        if isinstance(sites, Obstacle):
            return (sites,)
        where = sites[0].loop.origin.loc
        if not (_number(self.rows) and _number(self.columns)):
            text, remedy = f"'{self.rows} {self.columns}' is not a rectangle", "use numbers: 4 8"
            return (Obstacle("LX177", text, where, remedy=remedy),)
        if self.paired not in ("", "paired") or (self.paired and int(self.rows) % 2):
            odd = f"{self.rows} rows are no pairs of rows"
            text = odd if self.paired == "paired" else f"'{self.paired}' is no order of work-items"
            return (Obstacle("LX177", text, where, remedy="warp-tile LOOP 4 8 paired"),)
        if all({0, 1} <= set(_dimensions(s.loop)) for s in sites):
            return ()
        text = f"the loop over '{sites[0].loop.var}' does not hold loops mapped to thread.x and y"
        remedy = "name a loop over groups, and map two loops in it to work-items first"
        return (Obstacle("LX177", text, where, remedy=remedy),)

    def rewrite(self, fn: Function) -> Function:
        wanted = {0: int(self.columns), 1: int(self.rows)}

        def arranged(s: Stmt) -> tuple[Stmt, ...]:
            if isinstance(s, For) and s.level is not None and s.level.kind == "group":
                lanes = wanted.get(s.level.dimension, 0)
                origin = s.origin.then(str(self))
                paired = bool(self.paired) and s.level.dimension == 1
                s = replace(s, level=replace(s.level, lanes=lanes, paired=paired), origin=origin)
            return (s,)

        def inside(loop: For) -> For:
            return replace(loop, body=map_body(loop.body, arranged))

        return rewrite_loops(fn, self.loop, inside)

    def reason(self, fn: Function) -> str:  # noqa: ARG002
        return "the work-items of a group are the same, in another order"


def _number(text: str) -> bool:
    return text.isascii() and text.isdecimal() and int(text) > 0


def _dimensions(loop: For) -> Iterator[int]:
    """The dimensions of the group that loops inside are mapped to."""
    for _, s in walk(loop.body):
        if isinstance(s, For) and s.level is not None and s.level.kind == "group":
            yield s.level.dimension
