"""The box of each field that a tile computes, walking back from what is stored.

Tiles are boxes of one stored field, the reference: a tile begins at b along each of its dimensions.
Another field that is stored is shared among the tiles in proportion: element p is computed and
stored by the tile with floor(b*s) <= p < floor((b + size)*s), s the scale between the two.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

from loopxform.ir.affine import poly, value_of
from loopxform.ir.memo import Table, remembered
from loopxform.ir.nodes import Bin, Const, Expr, Function, Var
from loopxform.ir.types import HALF, Scalar
from loopxform.ir.typing import symbols
from loopxform.ir.visit import loads, names
from loopxform.records import record
from loopxform.transforms.overlapped.block_places import scaled
from loopxform.transforms.overlapped.block_stages import Along, BlockRead, Ends, Piece
from loopxform.transforms.overlapped.boxes import greatest, least
from loopxform.transforms.overlapped.refusal import NotStages
from loopxform.transforms.overlapped.spans import Span, difference, line, whole
from loopxform.transforms.overlapped.stages import Field

COORDINATE = Var("#")
"""Of the element that is written, in subscripts."""

Axis = tuple[int, Fraction]
"""A dimension of the reference, and how many elements there are for one of its own."""


@record
class Use:
    """A read of a field by a piece of another: its subscripts, clamps as mins and maxes, and along
    which dimension of that piece each of them runs (-1: none, None: not known), if each of `ends`
    is a first and a last number. Where they are mirrored there are two, around all of them: then
    one is `least`, below which nothing is read, and the other one `most`."""

    piece: Piece
    read: BlockRead
    index: tuple[Expr, ...]
    dims: tuple[int | None, ...]
    ends: tuple[tuple[Expr, Expr], ...]
    least: bool = True
    most: bool = True

    @classmethod
    def every(cls, piece: Piece, read: BlockRead, types: Mapping[str, Scalar]) -> Iterator[Use]:
        key = id(piece.template), id(read)
        kept = _uses.get(key)
        if kept is None or not kept[0]._is_of(piece, read):
            kept = tuple(cls._every(piece, read, types))
            _uses.put(key, kept)
        return (cls(piece, read, u.index, u.dims, u.ends, u.least, u.most) for u in kept)

    def _is_of(self, piece: Piece, read: BlockRead) -> bool:
        known = self.piece
        same = known.template is piece.template and self.read is read
        return same and known.along is piece.along and known.sizes is piece.sizes

    @classmethod
    def _every(cls, piece: Piece, read: BlockRead, types: Mapping[str, Scalar]) -> Iterator[Use]:
        known = [piece.plain(e, types) for e in read.index]
        two = any(x is not None and len(x) > 1 for x in known)
        for side in (0, -1) if two else (0,):
            plain = [None if x is None else x[side] for x in known]
            index = tuple(x.index if x else e for e, x in zip(read.index, plain))
            dims = tuple(piece.dimension(x.index) if x else None for x in plain)
            ends = tuple(y for x in plain if x for y in x.ends)
            least, most = not two or side == 0, not two or side == -1
            yield cls(piece, read, index, dims, ends, least, most)


_uses = Table[tuple[Use, ...]](4096)
"""By template and read, as they are."""


@record
class Region:
    """A field, the ends of all that is written of it, and who reads it; `shared` are the axes by
    which tiles share what is stored of it, () where nothing is. A tile has the box of `spans`."""

    field: Field
    pieces: tuple[Piece, ...]
    ends: Ends
    uses: tuple[Use, ...]
    shared: tuple[Axis, ...]
    spans: tuple[Span, ...]

    @property
    def in_tile_alone(self) -> bool:
        """Whether nothing of it is stored."""
        return bool(self.uses) and not self.shared


def regions(fn: Function, every: list[Piece], stored: frozenset[Field]) -> list[Region]:
    """The regions of fields, those that are written first in front. Raises NotStages."""
    types = symbols(fn)
    for p in every:
        if types.get(p.field.array, HALF) == HALF:
            text = f"'{p.field.array}' is not an array of plain numbers"
            raise NotStages(text, p.template.loc)
    types = types | {x.var: x.type for p in every for x in p.template.loops}
    by_field: dict[Field, tuple[Piece, ...]] = {}
    for p in every:
        by_field[p.field] = (*by_field.pop(p.field, ()), p)
    uses: dict[Field, list[Use]] = {f: [] for f in by_field}
    for p in every:
        for r in p.reads:
            if r.field in uses:
                uses[r.field] += Use.every(p, r, types)
    last = [f for f in by_field if f in stored]
    if not last:
        raise NotStages("nothing reads what the nests compute", every[0].template.loc)
    axes = _axes(last[-1], by_field, uses)
    found: dict[Field, Region] = {}
    for f in reversed(by_field):
        users = tuple(u for u in uses[f] if u.piece.field in found)
        if not users and f not in stored:
            continue
        rank = len(last[-1].dims)
        shared = _shared(f, axes.get(f, ()), rank, by_field[f]) if f in stored else ()
        ends = _hull(by_field[f])
        found[f] = Region(f, by_field[f], ends, users, shared, ())
        found[f] = replace(found[f], spans=_spans(found[f], found))
    return [*reversed(found.values())]


def reference(every: Sequence[Region]) -> Region:
    """That whose elements the tiles are of: the last one that is stored."""
    return next(r for r in reversed(every) if r.shared)


def widths(every: list[Region], sizes: tuple[int, ...]) -> dict[Field, tuple[int, ...]]:
    """The extents of the boxes that tiles of some sizes have. Raises NotStages."""
    last = reference(every)
    loc = last.pieces[0].template.loc
    if len(sizes) != len(last.field.dims):
        text = f"the tiles of '{last.field.array}' have {len(last.field.dims)} dimensions"
        raise NotStages(text, loc, "give as many sizes")
    for r in every:
        if any(sizes[axis] * scale < 1 for axis, scale in r.shared):
            text = f"a tile stores less than an element of '{r.field.array}'"
            raise NotStages(text, loc, "take larger tiles")
    at = begins(every)
    return {r.field: tuple(_width(r, e, sizes, at) for e in range(len(r.spans))) for r in every}


def cover(every: Sequence[Region], d: int) -> tuple[Expr, Expr]:
    """Where the tiles begin and end along a dimension of the reference."""
    lows, highs = list[Expr](), list[Expr]()
    for r in (r for r in every if r.shared):
        ((first, last), scale) = next(
            (ends, s) for ends, (axis, s) in zip(r.ends, r.shared) if axis == d
        )
        lows.append(scaled(first, 1 / scale))
        behind = Bin("+", last, Const(1))
        highs.append(scaled(behind, 1 / scale, up=True))
    return least(lows), greatest(highs)


def begins(every: Sequence[Region]) -> tuple[int | None, ...]:
    """Where the first tile begins along each dimension of the reference, where that is known."""
    return tuple(value_of(cover(every, d)[0]) for d in range(len(reference(every).field.dims)))


def _width(r: Region, e: int, sizes: tuple[int, ...], at: tuple[int | None, ...]) -> int:
    """As many as the span has, and no more than there are."""
    width, most = r.spans[e].width(sizes, at), _most(r)[e]
    return width if most is None else min(width, max(1, most + 1))


@remembered(1024)
def _most(r: Region) -> tuple[int | None, ...]:
    """How far the last elements are from the first ones at most (None: not known)."""
    return tuple(difference(last, first)[1] for first, last in r.ends)


def _hull(written: tuple[Piece, ...]) -> Ends:
    return tuple(_around(every) for every in zip(*(p.ends for p in written)))


def _around(every: Sequence[tuple[Expr, Expr]]) -> tuple[Expr, Expr]:
    """The ends of intervals, none of which is empty: one that begins where another has ended does
    not end before it."""
    lows = (lo for lo, _ in every if not any(_at_most(hi, lo) for a, hi in every if a != lo))
    highs = (hi for _, hi in every if not any(_at_most(hi, lo) for lo, b in every if b != hi))
    return least(lows), greatest(highs)


def _at_most(a: Expr, b: Expr) -> bool:
    most = difference(a, b)[1]
    return most is not None and most <= 0


# ---------------------------------------------------------------- axes


def _axes(
    reference: Field, written: Mapping[Field, tuple[Piece, ...]], uses: Mapping[Field, list[Use]]
) -> dict[Field, tuple[Axis | None, ...]]:
    """Along which dimension of the reference the dimensions of each field run, as far as reads
    say."""
    links: dict[tuple[Field, int], list[tuple[tuple[Field, int], Fraction]]] = {}
    for f, users in uses.items():
        for u in users:
            for e, (index, d) in enumerate(zip(u.index, u.dims)):
                if d is None or d < 0:
                    continue
                along = u.piece.along[d]
                of = line(index, along.var)
                assert of is not None
                ratio = of.factor / along.factor
                links.setdefault((f, e), []).append(((u.piece.field, d), 1 / ratio))
                links.setdefault((u.piece.field, d), []).append(((f, e), ratio))
    known: dict[tuple[Field, int], Axis] = {}
    known |= {(reference, d): (d, Fraction(1)) for d in range(len(reference.dims))}
    left = [*known]
    while left:
        here = left.pop(0)
        axis, scale = known[here]
        for there, ratio in links.get(here, ()):
            if there not in known:
                known[there] = axis, scale * ratio
                left.append(there)
    return {f: tuple(known.get((f, d)) for d in range(len(f.dims))) for f in written}


def _shared(
    f: Field, axes: tuple[Axis | None, ...], rank: int, written: tuple[Piece, ...]
) -> tuple[Axis, ...]:
    """The axes by which tiles share a field that is stored. Raises NotStages."""
    loc = written[0].template.loc
    known = tuple(x for x in axes if x is not None)
    if len(known) < len(f.dims) or sorted(a for a, _ in known) != [*range(rank)]:
        raise NotStages(f"which tile stores an element of '{f.array}' is not known", loc)
    for n, a in enumerate(written):
        for b in written[:n]:
            if not disjoint(a, b):
                raise NotStages(f"elements of '{f.array}' are written twice", loc)
    return known


def disjoint(a: Piece, b: Piece) -> bool:
    """Whether two pieces of a field certainly have no element in common."""
    for x, y, (lo, hi), (low, high) in zip(a.along, b.along, a.ends, b.ends):
        if _at_most(Bin("+", hi, Const(1)), low) or _at_most(Bin("+", high, Const(1)), lo):
            return True
        apart = (poly(x.offset) - poly(y.offset)).value
        if x.factor == y.factor and apart is not None and apart % x.factor:
            return True
    return False


# ---------------------------------------------------------------- spans


def _spans(r: Region, known: Mapping[Field, Region]) -> tuple[Span, ...]:
    out: list[Span] = []
    for e, (first, last) in enumerate(r.ends):
        alike = {(u.index[e], u.dims[e], id(u.piece)): u for u in r.uses}
        parts: list[Span | None] = [_read(u, e, known) for u in alike.values()]
        if r.shared:
            axis, scale = r.shared[e]
            parts.append(_owned(axis, scale, first, last))
        near = (x if x is None else x.clamped(first, last) for x in parts)
        span, everything = _joined(near), whole(first, last)
        if span is not None:
            out.append(span.within(first, last))
        elif everything is not None:
            out.append(everything)
        else:
            raise _unbounded(r, e)
    return tuple(out)


def _read(u: Use, e: int, known: Mapping[Field, Region]) -> Span | None:
    d, index = u.dims[e], u.index[e]
    if d is None:
        return None
    if d < 0:
        return whole(index, index)
    span, a = known[u.piece.field].spans[d], u.piece.along[d]
    if a.exact:
        return iterations(span, a).read(index, a.var)
    return span.read(u.piece.over(index, d, COORDINATE), COORDINATE.name)


def iterations(span: Span, a: Along) -> Span:
    """Those that write coordinates of a span."""
    return span.every_nth(a.factor, value_of(a.offset) or 0, a.first(span.first), a.last(span.last))


def _joined(parts: Iterable[Span | None]) -> Span | None:
    out: Span | None = None
    for n, x in enumerate(parts):
        if x is None:
            return None
        out = out.with_(x) if out is not None else x if n == 0 else None
        if out is None:
            return None
    return out


def _owned(axis: int, scale: Fraction, first: Expr, last: Expr) -> Span:
    rounded = Fraction(scale.denominator - 1, scale.denominator)
    return Span(axis, scale, -rounded, Fraction(-1), first, last)


def _unbounded(r: Region, e: int) -> NotStages:
    unknown = [u for u in r.uses if u.dims[e] is None]
    text = (
        f"how many elements of '{r.field.array}' a tile needs along dimension {r.field.dims[e] + 1}"
    )
    remedy = "read them at distances that are numbers, scaled or clamped, or have a number of them"
    loc = (unknown or r.uses)[0].piece.template.loc
    return NotStages(f"{text} is not bounded", loc, remedy)


def group_order(every: Sequence[Region], sizes: tuple[int, ...]) -> list[int]:
    """The dimensions of tiles, those first along which groups that follow one another are apart
    most. They are last along planes, where some array is read that has none: groups beside one
    another then find in the cache what they all read."""
    order, fields = [*range(len(sizes))], {r.field for r in every}
    if len(order) > 3:
        return order
    common = {axis for r in every for p in r.pieces for axis in _in_common(r, p, fields)}
    return sorted(order, key=lambda d: d in common and sizes[d] == 1)


def _in_common(r: Region, p: Piece, fields: set[Field]) -> Iterator[int]:
    """The axes along which all elements read the same ones of some array in memory."""
    axes = [(s.axis, a.var) for s, a in zip(r.spans, p.along) if a.var and s.axis is not None]
    inside = {x.load for x in p.reads if x.field in fields}
    for x in (x for e in p.template.values for x in loads(e) if x not in inside):
        used = {n for e in x.index for n in names(e)}
        if any(var in used for _, var in axes):
            yield from (axis for axis, var in axes if var not in used)
