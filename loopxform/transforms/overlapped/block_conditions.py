"""What the host asks before tiles of blocks stand for nests: that every stage has elements, and
that each reads none but those that another has written.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from loopxform.ir.affine import poly, value_of
from loopxform.ir.nodes import Bin, Const, Expr, Function
from loopxform.ir.typing import symbols, type_of
from loopxform.ir.visit import walk_expr
from loopxform.transforms.overlapped.block_regions import Region, Use
from loopxform.transforms.overlapped.block_stages import Ends, Piece
from loopxform.transforms.overlapped.mirrors import FURTHEST
from loopxform.transforms.overlapped.refusal import NotStages
from loopxform.transforms.overlapped.sizes import shape_of
from loopxform.transforms.overlapped.spans import difference

Interval = tuple[Expr, Expr]

LARGEST = 32
"""Subscripts are computed for elements too that another piece of a field writes: up to this
coordinate, with no larger numbers, none of them overflows."""


def conditions(fn: Function, every: Sequence[Region]) -> list[Expr]:
    """What is not known of the sizes. Raises NotStages where it cannot hold, or be asked."""
    asked: dict[Interval, None] = {}
    for r in every:
        for a, b in (*_exist(r), *_written(fn, r), *_near(r, every)):
            least, most = difference(b, a)
            if most is not None and most < 0:
                text = f"elements of '{r.field.array}' are read that no nest writes"
                raise NotStages(text, r.pieces[0].template.loc)
            if least is None or least < 0:
                asked[a, b] = None
    asked = _strongest(asked)
    bounds = [e for pair in asked for e in pair]
    if any(_divides(x) for e in bounds for x in walk_expr(e)):
        text = "a size that may be 0 divides another in the bounds of the nests"
        raise NotStages(text, every[0].pieces[0].template.loc)
    types = symbols(fn)
    if any(type_of(e, types).is_unsigned for e in bounds):
        text = "bounds of the nests are unsigned"
        raise NotStages(text, every[0].pieces[0].template.loc, "compute them in an int")
    return [Bin("<=", a, b) for a, b in asked]


def _strongest(asked: Iterable[Interval]) -> dict[Interval, None]:
    """Without what others of them say, of coordinates that are not too large."""
    left = dict.fromkeys(asked)
    for a, b in [*left]:
        if value_of(a) == -FURTHEST or value_of(b) == FURTHEST:
            others = [x for x in left if x != (a, b) and FURTHEST in map(_size, x)]
            if any(_gap(b, a, d, c) for c, d in others):
                del left[a, b]
    return left


def _size(e: Expr) -> int:
    return abs(value_of(e) or 0)


def _gap(b: Expr, a: Expr, d: Expr, c: Expr) -> bool:
    """Whether b - a is at least d - c."""
    least = difference(Bin("-", b, a), Bin("-", d, c))[0]
    return least is not None and least >= 0


def _divides(e: Expr) -> bool:
    return isinstance(e, Bin) and e.op in ("/", "%") and not value_of(e.right)


def _exist(r: Region) -> Iterator[Interval]:
    """That a stage has elements, none of them before the first one of an array."""
    for p in r.pieces:
        yield from p.ends
    yield from ((Const(0), first) for first, _ in r.ends)


def _near(r: Region, every: Sequence[Region]) -> Iterator[Interval]:
    """That nothing overflows which the program does not compute: subscripts of elements that
    another piece writes, or of reads that it leaves out. Raises NotStages."""
    uses = [u for x in every for u in x.uses if u.piece.field == r.field]
    if len(r.pieces) == 1 and all(u.read.certain for u in uses):
        return
    for u in uses:
        numbers = (x.value for e in u.index for x in walk_expr(e) if isinstance(x, Const))
        if any(abs(n) > LARGEST for n in numbers):
            text = f"a stage that writes '{r.field.array}' reads at a great distance"
            raise NotStages(text, u.piece.template.loc)
    yield from ((last, Const(FURTHEST)) for _, last in r.ends if uses)


def _written(fn: Function, r: Region) -> Iterator[Interval]:
    """That the elements which are read are among those that are written. Raises NotStages."""
    if r.uses and not _covers(r.pieces, 0, r.ends):
        text = f"elements of '{r.field.array}' that no nest writes may be read"
        raise NotStages(text, r.pieces[0].template.loc, "write all of them first")
    for u in r.uses:
        yield from u.ends
        for e, (first, last) in enumerate(r.ends):
            of_all = _least_and_most(u, e)
            if of_all is not None and (u.read.certain or _lies(of_all, (first, last))):
                if u.least:
                    yield first, of_all[0]
                if u.most:
                    yield of_all[1], last
                continue
            extent = shape_of(fn, r.field.array)[r.field.dims[e]]
            if extent is None or _is_flat(fn, r):
                text = f"which elements of '{r.field.array}' are read is not known"
                raise NotStages(text, u.piece.template.loc, "declare its extents")
            yield first, Const(0)
            yield u.piece.known(Bin("-", extent, Const(1))), last


def _is_flat(fn: Function, r: Region) -> bool:
    """Whether a subscript beyond a row may lead to an element of another one."""
    return any(p.name == r.field.array and p.flat for p in fn.objects)


def _least_and_most(u: Use, e: int) -> Interval | None:
    d, index = u.dims[e], u.index[e]
    if d is None:
        return None
    return (index, index) if d < 0 else u.piece.at_ends(index, d)


def _lies(inner: Interval, outer: Interval) -> bool:
    return _at_most(outer[0], inner[0]) and _at_most(inner[1], outer[1])


# ---------------------------------------------------------------- what pieces cover


def _covers(pieces: Sequence[Piece], d: int, ends: Ends) -> bool:
    """Whether pieces cover all between the ends, from dimension `d` on."""
    if d == len(ends):
        return bool(pieces)
    good: list[tuple[int, int, Expr, Expr]] = []
    for p in pieces:
        beside = [x for x in pieces if _along(x, p, d)]
        if _covers(beside, d + 1, ends):
            a, (lo, hi) = p.along[d], p.ends[d]
            residue = (value_of(a.offset) or 0) % a.factor if a.factor > 1 else 0
            good.append((a.factor, residue, lo, hi))
    return _chained([*_dense(good)], *ends[d])


def _along(x: Piece, p: Piece, d: int) -> bool:
    """Whether a piece has, along a dimension, all that another has."""
    a, b = x.along[d], p.along[d]
    same = a.factor == 1 or (a.factor == b.factor and _residue(x, d) == _residue(p, d))
    return same and _lies(p.ends[d], x.ends[d])


def _residue(p: Piece, d: int) -> int:
    return (value_of(p.along[d].offset) or 0) % p.along[d].factor


def _dense(good: list[tuple[int, int, Expr, Expr]]) -> Iterator[Interval]:
    """Intervals without gaps: those of every so manieth element together, where none is missing."""
    yield from ((lo, hi) for factor, _, lo, hi in good if factor == 1)
    for factor in {x[0] for x in good} - {1}:
        every = [x for x in good if x[0] == factor]
        firsts = [(poly(lo) - poly(every[0][2])).value for _, _, lo, _ in every]
        lasts = [(poly(hi) - poly(every[0][3])).value for _, _, _, hi in every]
        a, b = [x for x in firsts if x is not None], [x for x in lasts if x is not None]
        near = len(a) == len(b) == len(every)
        near = near and max(max(x) - min(x) for x in (a, b)) < factor
        if near and {residue for _, residue, _, _ in every} == {*range(factor)}:
            yield every[a.index(min(a))][2], every[b.index(max(b))][3]


def _chained(intervals: list[Interval], first: Expr, last: Expr) -> bool:
    """Whether intervals cover all from the first to the last number."""
    start, left = first, intervals
    while left:
        following = next((x for x in left if _at_most(x[0], start)), None)
        if following is None:
            return False
        left = [x for x in left if x is not following]
        start = Bin("+", following[1], Const(1))
        if _at_most(last, following[1]):
            return True
    return False


def _at_most(a: Expr, b: Expr) -> bool:
    most = difference(a, b)[1]
    return most is not None and most <= 0
