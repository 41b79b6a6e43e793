"""The passes that a loop over steps of time becomes: pairs of kernels, into copies of the arrays
and back.
"""

from __future__ import annotations

from dataclasses import replace

from loopxform.analysis.extent import existing_box
from loopxform.analysis.verdict import judge
from loopxform.ir.affine import poly, simplify, value_of
from loopxform.ir.names import used_names
from loopxform.ir.nodes import Assign, Bin, Const, Decl, Expr, For, Function, If, Stmt, Var
from loopxform.ir.types import INT, LONG, Scalar, Space
from loopxform.ir.typing import symbols, type_of
from loopxform.ir.visit import declared, loads, names, writes
from loopxform.records import record
from loopxform.source import Loc, Origin
from loopxform.transforms.edges.bounds import conjunction, positive
from loopxform.transforms.overlapped.boxes import greatest, hull, least, moved
from loopxform.transforms.overlapped.stages import (
    Box,
    Field,
    NotStages,
    Stage,
    Template,
    period,
    shape_of,
    spatial,
    staged,
    templates,
)
from loopxform.transforms.overlapped.streamed_kernel import (
    Memory,
    Names,
    Shape,
    Store,
    StreamedKernel,
)
from loopxform.transforms.overlapped.streaming import Stream, disjoint, stream


@record
class Passes:
    """What a loop over time becomes: passes of so many `steps`. `touched` are the elements of each
    field that the program reads or writes, `domains` those that it writes."""

    steps: int
    loop: For
    stream: Stream
    templates: tuple[Template, ...]
    dims: dict[str, tuple[bool, ...]]
    touched: dict[Field, Box]
    domains: dict[Field, tuple[Box, ...]]
    ends: dict[Field, tuple[tuple[Expr, ...], tuple[Expr, ...]]]

    @classmethod
    def of(cls, fn: Function, loop: For, found: tuple[Template, ...], steps: int) -> Passes:
        """Raises NotStages."""
        _require_time(fn, loop)
        turn, dims = period(found, loop.var), spatial(fn, found)
        if turn > 1 and (steps % turn or value_of(loop.lo) is None):
            text = f"planes come round after {turn} steps of '{loop.var}'"
            raise NotStages(text, loop.origin.loc, f"take a multiple of {turn} steps")
        every = _stages(found, dims, loop, steps, loop.lo)
        passes = stream(disjoint(every))
        touched, domains = _touched(fn, every), _domains(passes, loop)
        ends = {f: _ends(fn, f, boxes, loop.origin.loc) for f, boxes in touched.items()}
        hulls = {f: hull(boxes) for f, boxes in touched.items()}
        return cls(steps, loop, passes, found, dims, hulls, domains, ends)

    @property
    def carried(self) -> list[Field]:
        """The fields that a pass reads and writes."""
        return [v.field for v in self.stream.inputs if v.field in self.stream.last]

    def statements(
        self, fn: Function, shape: Shape, groups: int, origin: Origin
    ) -> tuple[Stmt, ...]:
        """The copies, the passes, and the steps that are left over."""
        loop, steps, names = self.loop, 2 * self.steps, Names(used_names(fn))
        first, number = names.new(f"{loop.var}_first"), names.new(f"{loop.var}_pass")
        copies = {f: names.new(f"{f.array}_next") for f in self.carried}
        count = simplify(Bin("-", loop.hi, loop.lo))
        pairs = Bin("/", count, Const(steps))
        start = _sum(loop.lo, Bin("*", Var(number), Const(steps)))
        last = Bin("==", Var(number), Bin("-", pairs, Const(1)))
        kernels = _Kernels(self, fn, names, shape, origin)
        there = kernels.there(copies, start)
        back = kernels.back(copies, _sum(start, Const(self.steps)), last)
        passes = For(number, Const(0), pairs, Const(1), (there, back), type=loop.type)
        enough = conjunction(
            [Bin("<=", Const(steps), count), *self._not_empty(), *self._filling(shape, groups)]
        )
        done = Assign(Var(first), _sum(loop.lo, Bin("*", pairs, Const(steps))), origin=origin)
        return (
            *(self._copy(fn, f, name) for f, name in copies.items()),
            Decl(first, loop.type, origin=origin),
            Assign(Var(first), loop.lo, origin=origin),
            If(enough, (replace(passes, origin=origin), done), origin=origin),
            replace(loop, lo=Var(first), origin=origin),
        )

    def _not_empty(self) -> list[Expr]:
        """That every stage has elements: then the program touches all of `touched`."""
        every = [pair for boxes in self.domains.values() for box in boxes for pair in box]
        tests = (Bin("<", lo, hi) for lo, hi in every if value_of(Bin("-", hi, lo)) is None)
        return [*dict.fromkeys(tests)]

    def _copy(self, fn: Function, f: Field, name: str) -> Decl:
        shape, sizes = shape_of(fn, f.array), self.touched[f]
        known = [shape[n] for n in f.dims]
        extents = [positive(hi if e is None else e) for e, (_, hi) in zip(known, sizes)]
        return Decl(
            name, symbols(fn)[f.array], tuple(extents), Space.GLOBAL, origin=self.loop.origin
        )

    def _filling(self, shape: Shape, groups: int) -> list[Expr]:
        """That there are as many tiles."""
        if groups == 1:
            return []
        low, high = self.stream.low[1:], self.stream.high[1:]
        valid = (n - a - b for n, a, b in zip(shape.items, low, high))
        tiles: Expr = Const(1)
        for (lo, hi), n in zip(hull(self.touched.values()), (shape.rows, *valid)):
            width = simplify(Bin("-", hi, lo))
            tiles = Bin("*", tiles, Bin("/", Bin("+", width, Const(n - 1)), Const(n)))
        return [Bin("<=", Const(groups), simplify(tiles))]


@record
class _Kernels:
    """The two passes of a pair."""

    passes: Passes
    fn: Function
    names: Names
    shape: Shape
    origin: Origin

    def there(self, copies: dict[Field, str], now: Expr) -> For:
        """The pass into the copies, which hold afterwards all that the program touches."""
        touched = self.passes.touched
        memory = self._arrays()
        stores = {f: Store(name, _whole(name, f), (touched[f],)) for f, name in copies.items()}
        return self._nest(memory, stores, now)

    def back(self, copies: dict[Field, str], now: Expr, last: Expr) -> For:
        """The pass back into the arrays; those that no pass reads are stored by the `last` one."""
        passes = self.passes
        memory = self._arrays()
        for f, name in copies.items():
            memory[f] = Memory(memory[f].type, name, _whole(name, f), memory[f].touched)
        stores = {
            f: Store(f.array, f, passes.domains[f], None if f in copies else last)
            for f in passes.stream.last
        }
        return self._nest(memory, stores, now)

    def _arrays(self) -> dict[Field, Memory]:
        """Where the fields are."""
        types, passes = symbols(self.fn), self.passes
        return {
            f: Memory(types[f.array], f.array, f, box, *passes.ends[f])
            for f, box in passes.touched.items()
        }

    def _nest(self, memory: dict[Field, Memory], stores: dict[Field, Store], now: Expr) -> For:
        passes = self.passes
        stages = _stages(passes.templates, passes.dims, passes.loop, passes.steps, now)
        flow, cover = stream(disjoint(stages)), hull(passes.touched.values())
        kind = coordinate(self.fn, passes.touched)
        return StreamedKernel(
            flow, memory, stores, cover, self.shape, self.names, kind, self.origin
        ).nest()


def coordinate(fn: Function, touched: dict[Field, Box]) -> Scalar:
    """The type of coordinates."""
    types = symbols(fn)
    bounds = [e for box in touched.values() for pair in box for e in pair]
    return LONG if any(type_of(e, types).bytes > INT.bytes for e in bounds) else INT


def stages_of(fn: Function, loop: For) -> tuple[Template, ...]:
    """The stages of one step of a loop over time. Raises NotStages."""
    found = templates(fn, loop.body, {v.var: v for v in judge(fn)})
    if not found:
        raise NotStages("the loop holds no nest", loop.origin.loc)
    return found


def _sum(a: Expr, b: Expr) -> Expr:
    return simplify(Bin("+", a, b))


def _whole(copy: str, f: Field) -> Field:
    """The copy of a field, which has dimensions of space alone."""
    return Field(copy, (None,) * len(f.dims))


def _stages(
    found: tuple[Template, ...], dims: dict[str, tuple[bool, ...]], loop: For, steps: int, now: Expr
) -> list[Stage]:
    """The stages of some steps of time, of which the first one is `now`."""
    first = value_of(loop.lo) or 0
    return [
        staged(t, dims, loop.var, first + n, _sum(now, Const(n)))
        for n in range(steps)
        for t in found
    ]


def _touched(fn: Function, stages: list[Stage]) -> dict[Field, tuple[Box, ...]]:
    """The boxes of elements that are written or read of each field. Raises NotStages."""
    found: dict[Field, dict[Box, None]] = {}
    for s in stages:
        found.setdefault(s.field, {})[s.domain] = None
        for r in s.reads:
            box = moved(s.domain, r.away)
            if not r.certain and any(r.away):
                box = _clipped(fn, r.field, box, s.template.loc)
            found.setdefault(r.field, {})[box] = None
    return {f: tuple(boxes) for f, boxes in found.items()}


def _clipped(fn: Function, f: Field, box: Box, loc: Loc | None) -> Box:
    """What there is of a box. Raises NotStages."""
    own = declared(fn.body).get(f.array)
    known = existing_box(fn, f.array) if own is None else None
    ends = own.shape if own is not None else known.upper if known is not None else None
    if ends is None:
        text = f"'{f.array}' is read under a condition, and its extents are not known"
        raise NotStages(text, loc, f"declare them: {f.array}[n][m]")
    return tuple(
        (greatest([lo, Const(0)]), least([hi, ends[n]])) for (lo, hi), n in zip(box, f.dims)
    )


def _domains(passes: Stream, loop: For) -> dict[Field, tuple[Box, ...]]:
    """What is written of each field, each time the same. Raises NotStages."""
    found: dict[Field, tuple[Box, ...]] = {}
    for v in passes.versions:
        boxes = tuple(s.domain for s in v.pieces)
        if boxes and set(found.setdefault(v.field, boxes)) != set(boxes):
            text = f"not the same elements of '{v.field.array}' are written each time"
            raise NotStages(text, loop.origin.loc)
    return found


def _require_time(fn: Function, loop: For) -> None:
    var, loc = loop.var, loop.origin.loc
    inside = writes(loop.body)
    bounds = (loop.lo, loop.hi)
    if value_of(loop.step) != 1 or loop.live_out or loop.level is not None or loop.parallel:
        raise NotStages(f"the loop over '{var}' does not count steps of time", loc)
    if any(any(loads(e)) or names(e) & inside for e in bounds):
        raise NotStages(f"data say how many steps '{var}' counts", loc)
    if loop.type.is_unsigned and value_of(loop.lo) != 0:
        raise NotStages(f"'{var}' is unsigned, and does not begin at 0", loc, "count with an int")
    unsigned = (p for p in fn.objects if p.name in names(loop.hi) and p.type.is_unsigned)
    if next(unsigned, None) is not None and not isinstance(loop.hi, Var):
        raise NotStages(f"the number of steps of '{var}' is computed in unsigned numbers", loc)


def _ends(
    fn: Function, f: Field, boxes: tuple[Box, ...], loc: Loc | None
) -> tuple[tuple[Expr, ...], tuple[Expr, ...]]:
    """The first and the last element that is touched behind a plain pointer, in storage order;
    nothing where all elements of the hull are there. Raises NotStages."""
    param = next((p for p in fn.objects if p.name == f.array), None)
    if param is None or not param.flat or existing_box(fn, f.array) is not None:
        return (), ()
    found: list[tuple[Expr, ...]] = []
    for end, extreme in ((0, least), (1, greatest)):
        left, corner = [*boxes], list[Expr]()
        for d in range(len(f.dims)):
            corner.append(extreme(box[d][end] for box in left))
            left = [box for box in left if poly(box[d][end]) == poly(corner[-1])]
        if not left:
            text = f"which elements of '{f.array}' are the first and the last one is not known"
            raise NotStages(text, loc, f"declare its extents: {f.array}[n][m]")
        found.append(tuple(corner))
    first, end_of_all = found
    *outer, inner = end_of_all
    last = (*(simplify(Bin("-", e, Const(1))) for e in outer), inner)
    return first, last
