"""The passes that a loop over steps of time becomes: pairs of kernels, into copies of the arrays
and back.
"""

from __future__ import annotations

from dataclasses import replace

from loopxform.ir.affine import simplify, value_of
from loopxform.ir.names import used_names
from loopxform.ir.nodes import Assign, Bin, Const, Decl, Expr, For, Function, If, Stmt, Var
from loopxform.ir.types import Space
from loopxform.ir.typing import symbols, type_of
from loopxform.ir.visit import loads, names, writes
from loopxform.records import record
from loopxform.source import Origin
from loopxform.transforms.edges.bounds import conjunction, positive
from loopxform.transforms.overlapped.boxes import hull
from loopxform.transforms.overlapped.clock import Clock, runs
from loopxform.transforms.overlapped.footprints import Footprint
from loopxform.transforms.overlapped.kernel_parts import Memory, Names, Shape, Store
from loopxform.transforms.overlapped.refusal import NotStages
from loopxform.transforms.overlapped.stages import (
    Box,
    Field,
    Stage,
    period,
    runs_in,
    shape_of,
    spatial,
    staged,
)
from loopxform.transforms.overlapped.streamed_kernel import StreamedKernel
from loopxform.transforms.overlapped.streaming import Stream, disjoint, stream
from loopxform.transforms.overlapped.templates import Template, coordinate


@record
class Passes:
    """What a loop over time becomes: passes of so many `steps`."""

    steps: int
    loop: For
    clock: Clock
    stream: Stream
    templates: tuple[Template, ...]
    dims: dict[str, tuple[bool, ...]]
    footprint: Footprint

    @classmethod
    def of(cls, fn: Function, loop: For, found: tuple[Template, ...], steps: int) -> Passes:
        """Raises NotStages."""
        _require_time(fn, loop)
        clock, _ = runs(fn, loop)
        turn, dims = period(found, clock), spatial(fn, found)
        if turn > 1 and value_of(loop.lo) is None:
            text = f"which planes the first step of '{loop.var}' reads and writes is not known"
            raise NotStages(text, loop.origin.loc, "begin at a number")
        if steps % turn:
            text = f"planes come round after {turn} steps of '{loop.var}'"
            raise NotStages(text, loop.origin.loc, f"take a multiple of {turn} steps")
        every = _stages(found, dims, clock, steps, loop.lo)
        passes = stream(disjoint(every))
        footprint = Footprint.of(fn, every, passes, loop.origin.loc)
        return cls(steps, loop, clock, passes, found, dims, footprint)

    def flow(self, elements: int) -> Stream:
        """The stream where a work-item has so many elements."""
        every = _stages(self.templates, self.dims, self.clock, self.steps, self.loop.lo)
        return stream(disjoint(every), elements)

    @property
    def carried(self) -> list[Field]:
        """The fields that a pass reads and writes."""
        return [v.field for v in self.stream.inputs if v.field in self.stream.last]

    @property
    def cover(self) -> Box:
        """What the tiles share."""
        return hull(self.footprint.touched.values())

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
        full = self.footprint.filling(self.stream, self.cover, shape, groups)
        counts = [Bin("<=", Const(steps), count)]
        if value_of(loop.lo) != 0 and not isinstance(count, Var):
            counts = [Bin("<", loop.lo, loop.hi), *counts]
        enough = conjunction([*counts, *self.footprint.there(), *full])
        done = Assign(Var(first), _sum(loop.lo, Bin("*", pairs, Const(steps))), origin=origin)
        return (
            *(self._copy(fn, f, name) for f, name in copies.items()),
            Decl(first, loop.type, origin=origin),
            Assign(Var(first), loop.lo, origin=origin),
            If(enough, (replace(passes, origin=origin), done), origin=origin),
            replace(loop, lo=Var(first)),
        )

    def _copy(self, fn: Function, f: Field, name: str) -> Decl:
        shape, sizes = shape_of(fn, f.array), self.footprint.touched[f]
        known = [shape[n] for n in f.dims]
        extents = [positive(hi if e is None else e) for e, (_, hi) in zip(known, sizes)]
        return Decl(
            name, symbols(fn)[f.array], tuple(extents), Space.GLOBAL, origin=self.loop.origin
        )


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
        footprint = self.passes.footprint
        memory, touched = footprint.arrays(self.fn), footprint.touched
        stores = {f: Store(name, _whole(name, f), (touched[f],)) for f, name in copies.items()}
        return self._nest(memory, stores, now)

    def back(self, copies: dict[Field, str], now: Expr, last: Expr) -> For:
        """The pass back into the arrays; those that no pass reads are stored by the `last` one."""
        passes = self.passes
        memory = passes.footprint.arrays(self.fn)
        for f, name in copies.items():
            memory[f] = Memory(memory[f].type, name, _whole(name, f), memory[f].touched)
        stores = {
            f: Store(f.array, f, passes.footprint.domains[f], None if f in copies else last)
            for f in passes.stream.last
        }
        return self._nest(memory, stores, now)

    def _nest(self, memory: dict[Field, Memory], stores: dict[Field, Store], now: Expr) -> For:
        passes = self.passes
        stages = _stages(passes.templates, passes.dims, passes.clock, passes.steps, now)
        flow = stream(disjoint(stages), self.shape.elements)
        kind = coordinate(passes.templates)
        return StreamedKernel(
            flow, memory, stores, passes.cover, self.shape, self.names, kind, self.origin
        ).nest()


def _sum(a: Expr, b: Expr) -> Expr:
    return simplify(Bin("+", a, b))


def _whole(copy: str, f: Field) -> Field:
    """The copy of a field, which has dimensions of space alone."""
    return Field(copy, (None,) * len(f.dims))


def _stages(
    found: tuple[Template, ...],
    dims: dict[str, tuple[bool, ...]],
    clock: Clock,
    steps: int,
    now: Expr,
) -> list[Stage]:
    """The stages of some steps of time, of which the first one is `now`."""
    return [
        staged(t, dims, clock, n, _sum(now, Const(n)))
        for n in range(steps)
        for t in found
        if runs_in(t, clock, n)
    ]


def _require_time(fn: Function, loop: For) -> None:
    var, loc, types = loop.var, loop.origin.loc, symbols(fn)
    inside = writes(loop.body)
    bounds = (loop.lo, loop.hi)
    if value_of(loop.step) != 1 or loop.live_out or loop.level is not None or loop.parallel:
        raise NotStages(f"the loop over '{var}' does not count steps of time", loc)
    if any(any(loads(e)) or names(e) & inside for e in bounds):
        raise NotStages(f"data say how many steps '{var}' counts", loc)
    count = type_of(Bin("-", loop.hi, loop.lo), types)
    if loop.type.is_unsigned or count.is_unsigned:
        text = f"'{var}' counts steps in unsigned numbers, in which the host does not compute"
        raise NotStages(text, loc, "count with an int, up to an int")
    if count.bytes > loop.type.bytes:
        text = f"the type of '{var}' is {loop.type.c}, that of the number of its steps {count.c}"
        raise NotStages(text, loc, f"declare '{var}' as {count.c}")
