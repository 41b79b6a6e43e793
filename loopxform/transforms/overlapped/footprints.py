"""What stages touch of arrays, and when a tiled kernel may stand for them."""

from __future__ import annotations

from loopxform.analysis.extent import existing_box
from loopxform.ir.affine import poly, simplify, value_of
from loopxform.ir.device_facts import WARP
from loopxform.ir.nodes import Bin, Const, Expr, Function
from loopxform.ir.typing import symbols, type_of
from loopxform.ir.visit import declared
from loopxform.records import record
from loopxform.source import Loc
from loopxform.transforms.overlapped.boxes import greatest, hull, least, moved
from loopxform.transforms.overlapped.kernel_parts import BoxShape, Memory, Shape
from loopxform.transforms.overlapped.refusal import NotStages
from loopxform.transforms.overlapped.sizes import shape_of
from loopxform.transforms.overlapped.stages import Box, Field, Stage
from loopxform.transforms.overlapped.streaming import Stream

Ends = tuple[tuple[Expr, ...], tuple[Expr, ...]]
"""The first and the last element, in storage order."""


@record
class Footprint:
    """The hull of what is `touched` of each field, and all boxes that are written (`domains`).
    Behind plain pointers nothing need be there beyond the `ends`."""

    touched: dict[Field, Box]
    domains: dict[Field, tuple[Box, ...]]
    ends: dict[Field, Ends]

    @classmethod
    def of(cls, fn: Function, stages: list[Stage], flow: Stream, loc: Loc | None) -> Footprint:
        """Raises NotStages."""
        for s in stages:
            _require_places(fn, s)
        boxes = _touched(fn, stages)
        ends = {f: _ends(fn, f, every, loc) for f, every in boxes.items()}
        hulls = {f: hull(every) for f, every in boxes.items()}
        for f, box in hulls.items():
            if any((value_of(lo) or 0) < 0 for lo in _subscripts(f, box)):
                raise NotStages(f"an element of '{f.array}' before the first one is read", loc)
        return cls(hulls, _domains(flow), ends)

    def there(self) -> list[Expr]:
        """That all of `touched` is there: every stage has elements, so that the program touches it,
        and none is before the first one of an array, as behind a pointer one may be."""
        every = (lo for f, box in self.touched.items() for lo in _subscripts(f, box))
        before = [Bin("<=", Const(0), lo) for lo in dict.fromkeys(every) if value_of(lo) is None]
        return [*self._not_empty(), *before]

    def _not_empty(self) -> list[Expr]:
        every = [pair for boxes in self.domains.values() for box in boxes for pair in box]
        tests = (Bin("<", lo, hi) for lo, hi in every if value_of(Bin("-", hi, lo)) is None)
        return [*dict.fromkeys(tests)]

    def filling(self, flow: Stream, cover: Box, shape: Shape | BoxShape, groups: int) -> list[Expr]:
        """That there are as many tiles, for work-items that run in lockstep: on a CPU a barrier for
        each row costs more than it saves."""
        if groups == 1:
            return []
        tiles: Expr = Const(1)
        for (lo, hi), n in zip(cover[flow.batch :], shape.stored(flow.low, flow.high)):
            width = simplify(Bin("-", hi, lo))
            tiles = Bin("*", tiles, Bin("/", Bin("+", width, Const(n - 1)), Const(n)))
        return [Bin("<", Const(1), WARP), Bin("<=", Const(groups), simplify(tiles))]

    def arrays(self, fn: Function) -> dict[Field, Memory]:
        """Where the fields are."""
        types = symbols(fn)
        return {
            f: Memory(types[f.array], f.array, f, box, *self.ends[f])
            for f, box in self.touched.items()
        }


def _subscripts(f: Field, box: Box) -> tuple[Expr, ...]:
    """The first subscript along each dimension of space."""
    return tuple(f.index(tuple(lo for lo, _ in box))[n] for n in f.dims)


def _require_places(fn: Function, s: Stage) -> None:
    """That the planes that a stage reads are there: under a condition, it may read none that is
    not. Raises NotStages."""
    for r in s.reads:
        for place, extent in zip(r.field.places, shape_of(fn, r.field.array)):
            end = None if extent is None else value_of(extent)
            known = isinstance(place, int)
            beyond = isinstance(place, int) and (place < 0 or (end is not None and place >= end))
            unknown = (end is None or not known) and not r.certain
            if place is not None and (beyond or unknown):
                which = place if known else "that the host computes"
                text = f"'{r.field.array}' may have no elements with the subscript {which}"
                raise NotStages(text, s.template.loc)


def _touched(fn: Function, stages: list[Stage]) -> dict[Field, tuple[Box, ...]]:
    """The boxes of elements that are written or read of each field. Raises NotStages."""
    found: dict[Field, dict[Box, None]] = {}
    for s in stages:
        if not s.template.always and _clipped(fn, s.field, s.domain, s.template.loc) != s.domain:
            text = f"elements of '{s.field.array}' that conditions leave out may not be there"
            raise NotStages(text, s.template.loc)
        found.setdefault(s.field, {})[s.domain] = None
        boxes = {away: moved(s.domain, away) for away in dict.fromkeys(r.away for r in s.reads)}
        for r in s.reads:
            box = boxes[r.away]
            if not r.certain and (r.field, box) != (s.field, s.domain):
                box = _clipped(fn, r.field, box, s.template.loc)
            found.setdefault(r.field, {})[box] = None
    return {f: tuple(boxes) for f, boxes in found.items()}


def _clipped(fn: Function, f: Field, box: Box, loc: Loc | None) -> Box:
    """What there is of a box. Raises NotStages."""
    own = declared(fn.body).get(f.array)
    known = existing_box(fn, f.array) if own is None else None
    ends = own.shape if own is not None else known.upper if known is not None else None
    if ends is None or any(type_of(ends[n], symbols(fn)).is_unsigned for n in f.dims):
        text = f"'{f.array}' is read under a condition, and no signed numbers say its extents"
        raise NotStages(text, loc, f"declare them: {f.array}[n][m]")
    first = f.offset or (0,) * len(box)
    there = (
        (Const(-k), Bin("-", ends[n], Const(k)) if k else ends[n]) for k, n in zip(first, f.dims)
    )
    return tuple(
        (greatest([lo, start]), least([hi, end])) for (lo, hi), (start, end) in zip(box, there)
    )


def _domains(flow: Stream) -> dict[Field, tuple[Box, ...]]:
    """What is written of each field."""
    found: dict[Field, dict[Box, None]] = {}
    for v in flow.versions:
        for s in v.pieces:
            found.setdefault(v.field, {})[s.domain] = None
    return {f: tuple(boxes) for f, boxes in found.items()}


def _ends(
    fn: Function, f: Field, boxes: tuple[Box, ...], loc: Loc | None
) -> tuple[tuple[Expr, ...], tuple[Expr, ...]]:
    """The first and the last element that is touched, in storage order: behind a plain pointer
    there may be no others, and kernels are passed no others. Nothing where these are the corners of
    the hull, or where that is not known of an array that has its extents. Raises NotStages."""
    param = next((p for p in fn.objects if p.name == f.array), None)
    there = param is None or not param.flat or existing_box(fn, f.array) is not None
    found: list[tuple[Expr, ...]] = []
    for end, extreme in ((0, least), (1, greatest)):
        left, corner = [*boxes], list[Expr]()
        for d in range(len(f.dims)):
            corner.append(extreme(box[d][end] for box in left))
            there_too = {e for e in {box[d][end] for box in left} if poly(e) == poly(corner[-1])}
            left = [box for box in left if box[d][end] in there_too]
            if not left and there:
                return (), ()
            if not left:
                text = f"which elements of '{f.array}' are the first and the last one is not known"
                raise NotStages(text, loc, f"declare its extents: {f.array}[n][m]")
        found.append(tuple(corner))
    first, end_of_all = found
    *outer, inner = end_of_all
    last = (*(simplify(Bin("-", e, Const(1))) for e in outer), inner)
    corners = [pair[0] for pair in hull(boxes)], [pair[1] for pair in hull(boxes)]
    both = zip((*first, *end_of_all), (*corners[0], *corners[1]))
    return ((), ()) if all(poly(a) == poly(b) for a, b in both) else (first, last)
