"""The passes that a loop over steps of time becomes: pairs of kernels, into copies of the arrays
and back.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from loopxform.analysis.host_scalars import small_copies
from loopxform.ir.affine import simplify, value_of
from loopxform.ir.names import used_names
from loopxform.ir.nodes import Assign, Bin, Const, Decl, Expr, For, Function, If, Stmt, Var
from loopxform.ir.types import Space
from loopxform.ir.typing import symbols, type_of
from loopxform.ir.visit import loads, names, substitute, writes
from loopxform.records import record
from loopxform.source import Origin
from loopxform.transforms.edges.bounds import conjunction, positive
from loopxform.transforms.overlapped.boxed_kernel import BoxedKernel
from loopxform.transforms.overlapped.boxes import hull
from loopxform.transforms.overlapped.clock import Clock, runs
from loopxform.transforms.overlapped.closed_steps import require_closed
from loopxform.transforms.overlapped.footprints import Footprint
from loopxform.transforms.overlapped.kernel_parts import BoxShape, Memory, Names, Shape, Store
from loopxform.transforms.overlapped.partial_sums import Splits
from loopxform.transforms.overlapped.refusal import NotStages
from loopxform.transforms.overlapped.sizes import shape_of
from loopxform.transforms.overlapped.stages import (
    Box,
    Field,
    Stage,
    period,
    runs_in,
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
    turn: tuple[tuple[Stage, ...], ...]
    footprint: Footprint
    splits: Splits | None = None
    boxed: bool = False
    in_step: bool = False

    @classmethod
    def of(
        cls,
        fn: Function,
        loop: For,
        found: tuple[Template, ...],
        steps: int,
        *,
        reassociate: bool = False,
        boxed: bool = False,
        in_step: bool = False,
    ) -> Passes:
        """Sums may be in another order where they may `reassociate`; tiles are rows that are
        streamed (`in_step`: work-items wait after each stage), or `boxed`. Raises NotStages."""
        _require_time(fn, loop)
        clock, nests = runs(fn, loop)
        require_closed(fn, loop, clock, nests, found)
        turn, dims = period(found, clock), spatial(fn, found)
        if turn > 1 and value_of(loop.lo) is None:
            text = f"which planes the first step of '{loop.var}' reads and writes is not known"
            raise NotStages(text, loop.origin.loc, "begin at a number")
        if steps % turn:
            text = f"planes come round after {turn} steps of '{loop.var}'"
            raise NotStages(text, loop.origin.loc, f"take a multiple of {turn} steps")
        stages = tuple(
            tuple(staged(t, dims, clock, n, loop.lo) for t in found if runs_in(t, clock, n))
            for n in range(turn)
        )
        every = disjoint(_later(stages, clock, steps, loop.lo))
        passes = stream(every, boxed=boxed, in_step=in_step)
        footprint = Footprint.of(fn, [s for step in stages for s in step], passes, loop.origin.loc)
        splits = Splits(symbols(fn)) if reassociate else None
        return cls(steps, loop, clock, passes, found, stages, footprint, splits, boxed, in_step)

    def flow(self, elements: int) -> Stream:
        """The stream where a work-item has so many elements."""
        return self.beginning(self.loop.lo, elements)

    def beginning(self, now: Expr, elements: int) -> Stream:
        """The stream of a pass that begins with a step."""
        every = _later(self.turn, self.clock, self.steps, now)
        kind = {"boxed": self.boxed, "in_step": self.in_step}
        return stream(disjoint(every), elements, self.splits, **kind)

    @property
    def carried(self) -> list[Field]:
        """The fields that a pass reads and writes."""
        return [v.field for v in self.stream.inputs if v.field in self.stream.last]

    @property
    def cover(self) -> Box:
        """What the tiles share."""
        return hull(self.footprint.touched.values())

    def pair(
        self,
        fn: Function,
        names: Names,
        shape: Shape | BoxShape,
        origin: Origin,
        copies: dict[Field, str],
    ) -> Pair:
        """The two passes of a pair."""
        return Pair(self, _Kernels(self, fn, names, shape, origin), copies, origin)

    def copy(self, fn: Function, f: Field, name: str) -> Decl:
        """The array that a pass writes a field to."""
        shape, sizes = shape_of(fn, f.array), self.footprint.touched[f]
        known = [shape[n] for n in f.dims]
        shown = small_copies(fn)
        ends = (substitute(hi, shown) for _, hi in sizes)
        extents = [positive(hi if e is None else e) for e, hi in zip(known, ends)]
        return Decl(
            name, symbols(fn)[f.array], tuple(extents), Space.GLOBAL, origin=self.loop.origin
        )


def statements(
    levels: Sequence[Passes], fn: Function, shape: Shape | BoxShape, groups: int, origin: Origin
) -> tuple[Stmt, ...]:
    """The copies, the passes, those of the most steps first, and the steps that are left over."""
    most, loop, names = levels[0], levels[0].loop, Names(used_names(fn))
    first, number = names.new(f"{loop.var}_first"), names.new(f"{loop.var}_pass")
    copies = {f: names.new(f"{f.array}_next") for f in most.carried}
    done: list[Stmt] = []
    before = loop.lo
    for n, level in enumerate(levels):
        counter = names.new(f"{loop.var}_pass") if n else number
        pair = level.pair(fn, names, shape, origin, copies)
        done += pair.run(counter, before, first)
        before = Var(first)
    count = simplify(Bin("-", loop.hi, loop.lo))
    counts = [Bin("<=", Const(2 * levels[-1].steps), count)]
    if value_of(loop.lo) != 0 and not isinstance(count, Var):
        counts = [Bin("<", loop.lo, loop.hi), *counts]
    full = most.footprint.filling(most.stream, most.cover, shape, groups)
    enough = conjunction([*counts, *most.footprint.there(), *full])
    return (
        *(most.copy(fn, f, name) for f, name in copies.items()),
        Decl(first, loop.type, origin=origin),
        Assign(Var(first), loop.lo, origin=origin),
        If(enough, tuple(done), origin=origin),
        replace(loop, lo=Var(first)),
    )


@record
class Pair:
    """A pass into the `copies` and one back."""

    passes: Passes
    kernels: _Kernels
    copies: dict[Field, str]
    origin: Origin

    def run(self, number: str, before: Expr, first: str) -> tuple[Stmt, ...]:
        """As many pairs as there is room for from step `before` on, and the step behind them, which
        becomes `first`."""
        loop, steps = self.passes.loop, 2 * self.passes.steps
        pairs = Bin("/", simplify(Bin("-", loop.hi, before)), Const(steps))
        start = _sum(before, Bin("*", Var(number), Const(steps)))
        last = Bin("==", Var(number), Bin("-", pairs, Const(1)))
        there = self.kernels.there(self.copies, start)
        back = self.kernels.back(self.copies, _sum(start, Const(self.passes.steps)), last)
        counted = For(number, Const(0), pairs, Const(1), (there, back), type=loop.type)
        behind = _sum(before, Bin("*", pairs, Const(steps)))
        return (
            replace(counted, origin=self.origin),
            Assign(Var(first), behind, origin=self.origin),
        )


@record
class _Kernels:
    """The two passes of a pair."""

    passes: Passes
    fn: Function
    names: Names
    shape: Shape | BoxShape
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
        flow = passes.beginning(now, self.shape.elements)
        kind, cover = coordinate(passes.templates), passes.cover
        where = self.names, kind, self.origin
        if isinstance(self.shape, BoxShape):
            return BoxedKernel(flow, memory, stores, cover, self.shape, *where).nest()
        return StreamedKernel(flow, memory, stores, cover, self.shape, *where).nest()


def _sum(a: Expr, b: Expr) -> Expr:
    return simplify(Bin("+", a, b))


def _whole(copy: str, f: Field) -> Field:
    """The copy of a field, which has dimensions of space alone."""
    return Field(copy, (None,) * len(f.dims))


def _later(turn: tuple[tuple[Stage, ...], ...], clock: Clock, steps: int, now: Expr) -> list[Stage]:
    """The stages of some steps of time, of which the first one is `now`: those of a `turn`, after
    which planes and scalars come round again."""
    every: list[Stage] = []
    for n in range(steps):
        host = clock.host(n, _sum(now, Const(n)))
        every += [replace(s, host=host) for s in turn[n % len(turn)]]
    return every


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
