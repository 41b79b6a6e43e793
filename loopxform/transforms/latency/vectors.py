"""What `vectorise` and `pack` share: which copies may move several neighbours at once, and what
must be known of the sizes for it.

Work-items of a collective copy read W neighbours of a row, which begin at a multiple of W elements
in memory where W divides the length of the rows and the place in the row; arrays begin on a
multiple of any vector.
"""

from __future__ import annotations

from collections.abc import Iterator

from loopxform.analysis.context import always
from loopxform.ir.affine import value_of
from loopxform.ir.constants import tables
from loopxform.ir.nodes import Bin, Const, Copy, Decl, Expr, For, Function
from loopxform.ir.tensor_tiles import TENSOR_TILES
from loopxform.ir.types import BOOL, HALF, Space
from loopxform.ir.typing import symbols
from loopxform.ir.visit import Path, declared, reads, walk
from loopxform.records import record

VECTOR_BYTES = 16
"""The widest vector that one instruction of a GPU moves."""


@record
class Found:
    """A copy at a place of the program."""

    path: Path
    copy: Copy


def copies(fn: Function, name: str = "") -> Iterator[Found]:
    """The collective copies into local memory and what work-items copy from there, in text order;
    those of one tile, or all."""
    local = {n for n, d in declared(fn.body).items() if d.space is Space.LOCAL}
    for path, s in walk(fn.body):
        if isinstance(s, Copy):
            tile = s.target if s.collective else s.source
            if tile in local and name in ("", tile):
                yield Found(path, s)


def register_copies(fn: Function, name: str) -> Iterator[Found]:
    """What work-items copy from global memory into the registers of that name."""
    for path, s in walk(fn.body):
        if isinstance(s, Copy) and s.target == name and _from_memory(fn, s):
            yield Found(path, s)


def _from_memory(fn: Function, s: Copy) -> bool:
    """Whether each work-item copies from global memory, on its own."""
    own = declared(fn.body).get(s.source)
    return not s.collective and (own is None or own.space is Space.GLOBAL)


def widest(fn: Function, name: str, width: int) -> int:
    """`width`, or less where that many elements of a tile, or of what it is filled from, are more
    than a vector holds; 1 where there are no vectors of them: of halves where these stay halves."""
    types, sources = symbols(fn), {f.copy.source for f in copies(fn, name) if f.copy.collective}
    kinds = {types[n] for n in (name, *sources)}
    if BOOL in kinds or (types[name] == HALF and not _in_matrices(fn, name)):
        return 1
    return min(width, VECTOR_BYTES // max(t.bytes for t in kinds))


def _in_matrices(fn: Function, name: str) -> bool:
    """Whether tensor units take a tile as it is, read in matrices."""
    found = (s for _, s in walk(fn.body) if isinstance(s, For) and s.tensor)
    return any(TENSOR_TILES[s.tensor].matrices and name in reads(s.body) for s in found)


def unfit(fn: Function, found: Found, width: int) -> str | None:
    """Why a copy never moves `width` neighbours at once, whatever the sizes are."""
    s = found.copy
    if not s.collective and not _from_memory(fn, s):
        sized = [x.size for x in s.slices if x.size is not None]
        if symbols(fn)[s.source] == HALF:
            return f"halves of '{s.source}' become floats one at a time"
        if len(sized) != 1 or (value_of(sized[0]) or 1) % width:
            return f"a work-item does not read {width} neighbours of '{s.source}' at a time"
        return None
    if isinstance(own := declared(fn.body).get(s.source), Decl) and own.at:
        return f"the elements of '{s.source}' are not neighbours"
    last = s.slices[-1]
    size = None if last.size is None else value_of(last.size)
    if size is None or size % width:
        return f"the tile of '{s.source}' does not have rows of {width} elements"
    if last.floor is not None or last.repeats:
        return f"the tile of '{s.source}' has elements before those of the array"
    if "." in s.source or s.source in {p.name for p in tables(fn)}:
        return f"'{s.source}' is not an array of its own in global memory"
    return None


def multiples(fn: Function, found: Found) -> tuple[Expr, ...]:
    """What must be a multiple of the width: the length of a row, where the tile begins in it, and
    where it ends; of what a work-item copies where that begins."""
    s = found.copy
    if not s.collective and not _from_memory(fn, s):
        return tuple(x.lo for x in s.slices if x.size is not None)
    last, shape = s.slices[-1], shape_of(fn, s.source)
    row = shape[-1] if len(shape) > 1 else None
    return tuple(e for e in (row, last.lo, last.limit) if e is not None)


def divides(width: int, e: Expr) -> Expr:
    """That `width` divides a number."""
    return Bin("==", Bin("%", e, Const(width)), Const(0))


def open_questions(fn: Function, found: Found, width: int) -> tuple[Expr, ...]:
    """Of the multiples, those that are not proven to be."""
    asked = multiples(fn, found)
    return tuple(e for e in asked if not always(fn, found.path, divides(width, e)))


def shape_of(fn: Function, name: str) -> tuple[Expr | None, ...]:
    """The dimensions of an array, None where they are not known."""
    own: Decl | None = declared(fn.body).get(name)
    return own.shape if own else next(p.shape for p in fn.objects if p.name == name)
