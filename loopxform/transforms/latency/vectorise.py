"""Vector copies: A_loc = A[box] -> the same box, W neighbours of a row at a time.

The work-items of a group move vectors from global to local memory, and read what they keep in
registers from there, or from global memory itself, in vectors too: fewer instructions for the same
bytes. Where a work-item reads R > W neighbours, the tile is laid out so that the vectors which
neighbours read at the same time are neighbours in memory. Legal where W divides the length of the
rows and the places in them where tiles begin and end (`assume` it): then a vector lies inside the
tile, or past the end, and on a multiple of its size in memory. Elements and their order of use are
the same. (Volkov, "Better performance at lower occupancy", GTC 2010; CLBlast's VWM and VWN.)
"""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from loopxform.errors import Obstacle
from loopxform.ir.condition_text import condition_text
from loopxform.ir.memo import remembered
from loopxform.ir.nodes import Copy, Function
from loopxform.ir.printer import expr_text
from loopxform.ir.visit import at, replace_at
from loopxform.records import record
from loopxform.transforms.base import Step
from loopxform.transforms.latency.vectors import (
    VECTOR_BYTES,
    Found,
    copies,
    divides,
    open_questions,
    register_copies,
    unfit,
    widest,
)
from loopxform.written import VECTOR_WIDTHS

WIDTHS = tuple(map(str, VECTOR_WIDTHS))


@record
class Vectorise(Step):
    """Moves `width` neighbours at once wherever the local tile `tile` is filled and read into
    registers, as far as that is legal; or wherever registers of that name are filled from global
    memory."""

    tile: str
    width: str

    verb: ClassVar[str] = "vectorise"
    usage: ClassVar[str] = "vectorise TILE 2|4|8|16"
    keeps_order: ClassVar[bool] = True

    def check(self, fn: Function) -> tuple[Obstacle, ...]:
        if not _copies(fn, self.tile):
            text = f"'{self.tile}' is neither a tile in local memory nor a part of one in registers"
            remedy = "stage an array first: copy-to-local ARRAY LOOP"
            return (Obstacle("LX175", text, fn.origin.loc, remedy=remedy),)
        if self.width not in WIDTHS or widest(fn, self.tile, int(self.width)) != int(self.width):
            text = f"no vector has {self.width} elements of '{self.tile}'"
            remedy = f"a vector has 2, 4, 8 or 16 elements, {VECTOR_BYTES} bytes at most"
            return (Obstacle("LX175", text, fn.origin.loc, remedy=remedy),)
        if self._legal(fn):
            return ()
        return tuple(dict.fromkeys(o for _, obstacles in _judged(fn, self) for o in obstacles))

    def obstacles(self, fn: Function, found: Found) -> tuple[Obstacle, ...]:
        width, where = int(self.width), found.copy.origin.loc
        reason = unfit(fn, found, width)
        if reason:
            return (Obstacle("LX175", reason, where, remedy="move single elements"),)
        asked = open_questions(fn, found, width)
        return tuple(
            Obstacle(
                "LX175",
                f"{expr_text(e)} may not be a multiple of {width}: rows of '{found.copy.source}' "
                "are not vectors",
                where,
                remedy=f"assume {condition_text(divides(width, e))}",
            )
            for e in asked
        )

    def _legal(self, fn: Function) -> tuple[Found, ...]:
        """The copies that may move vectors."""
        return tuple(f for f, obstacles in _judged(fn, self) if not obstacles)

    def rewrite(self, fn: Function) -> Function:
        for f in self._legal(fn):
            s = at(fn, f.path)
            assert isinstance(s, Copy)
            made = replace(s, width=int(self.width), origin=s.origin.then(str(self)))
            fn = replace_at(fn, f.path, (made,))
        return fn

    def reason(self, fn: Function) -> str:
        found = len(self._legal(fn))
        return f"{self.width} divides rows, and where tiles begin and end in them ({found} copies)"


@remembered(8)
def _judged(fn: Function, step: Vectorise) -> tuple[tuple[Found, tuple[Obstacle, ...]], ...]:
    """The copies of the tile, with what keeps each from moving vectors."""
    return tuple((f, step.obstacles(fn, f)) for f in _copies(fn, step.tile))


def _copies(fn: Function, name: str) -> tuple[Found, ...]:
    """The copies of a tile, or those that fill registers."""
    return tuple(copies(fn, name)) or tuple(register_copies(fn, name))
