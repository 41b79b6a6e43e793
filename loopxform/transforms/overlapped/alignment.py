"""Where the stages of a stream stand: an array whose elements are all computed from ones far to one
side moves there, so that what is computed together is close.

    b[i] = f(a[i]);  c[i - 7] = g(b[i - 1], b[i])   ->   coordinate i of c is that of c[i - 7]

Coordinates of an array are its subscripts less an offset (`Field.offset`). A stream has as many
rows and columns in work as elements are apart that are computed from one another. Arrays move as
little as is needed for the distances of their reads to have 0 among them or between them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from loopxform.ir.affine import simplify
from loopxform.ir.nodes import Bin, Const
from loopxform.transforms.overlapped.boxes import moved
from loopxform.transforms.overlapped.stages import Field, Read, Stage

Offsets = dict[str, tuple[int, ...]]


def aligned(stages: Sequence[Stage]) -> list[Stage]:
    """The stages, in text order, each array at one offset."""
    offsets: Offsets = {}
    for s in stages:
        for r in s.reads:
            offsets.setdefault(r.field.array, (0,) * len(r.away))
        if s.field.array not in offsets:
            offsets[s.field.array] = _offset(s, offsets)
    return [_moved(s, offsets) for s in stages]


def _offset(s: Stage, offsets: Offsets) -> tuple[int, ...]:
    """That of the array that a stage writes first."""
    places = [_plus(r.away, offsets[r.field.array], -1) for r in s.reads]
    along = zip(*places) if places else [(0,)] * len(s.domain)
    return tuple(-max(min(of), 0) - min(max(of), 0) for of in along)


def _moved(s: Stage, offsets: Offsets) -> Stage:
    own = offsets[s.field.array]
    back = tuple(-n for n in own)
    counters = tuple(
        (x, d, simplify(Bin("-", e, Const(own[d]))) if own[d] else e) for x, d, e in s.counters
    )
    return replace(
        s,
        field=_at(s.field, own),
        domain=moved(s.domain, back) if any(own) else s.domain,
        reads=tuple(_read(r, own, offsets[r.field.array]) for r in s.reads),
        counters=counters,
    )


def _read(r: Read, own: tuple[int, ...], other: tuple[int, ...]) -> Read:
    away = _plus(_plus(r.away, own, 1), other, -1)
    return replace(r, field=_at(r.field, other), away=away)


def _at(f: Field, offset: tuple[int, ...]) -> Field:
    return replace(f, offset=offset if any(offset) else ())


def _plus(a: tuple[int, ...], b: tuple[int, ...], sign: int) -> tuple[int, ...]:
    return tuple(x + sign * y for x, y in zip(a, b, strict=True))
