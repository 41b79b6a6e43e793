"""Fusion with overlapped tiles: forall i: forall j: b[i][j] = f(a[i-1][j], a[i+1][j]);
forall i: forall j: c[i][j] = g(b[i][j-1], b[i][j+1])
  -> forall tiles: for rows: { a row of b, in registers and local memory;  a row of c }

Nests that follow one another, each a stage that computes an array from others, become one kernel.
The work-items of a group walk along rows, each with a column, and compute a row of every stage in
turn; what a tile needs of its neighbours it computes itself. Arrays of the function that nothing
else reads are never written.

Legal where each nest is parallel and writes elements of an array from elements of arrays that other
nests write at constant distances, and no array is both read before the nests write it and written
by them: every element gets the same value by the same operations. Sums that may be in another order
(`reassociate`) are computed row by row. (Jangda and Guha, section 2.)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar

from loopxform.errors import Obstacle
from loopxform.ir.memo import remembered
from loopxform.ir.names import used_names
from loopxform.ir.nodes import Const, For, Function, If, Load, Stmt
from loopxform.ir.typing import symbols
from loopxform.ir.visit import Path, loads, names
from loopxform.records import record
from loopxform.source import Loc, Origin
from loopxform.transforms.base import Step
from loopxform.transforms.edges.bounds import conjunction
from loopxform.transforms.overlapped.alignment import aligned
from loopxform.transforms.overlapped.boxes import hull
from loopxform.transforms.overlapped.clock import NO_TIME
from loopxform.transforms.overlapped.footprints import Footprint
from loopxform.transforms.overlapped.kernel_parts import Names, Shape, Store
from loopxform.transforms.overlapped.neighbours import (
    not_neighbours,
    paths_of,
    seen_by_others,
    with_one_for_all,
)
from loopxform.transforms.overlapped.partial_sums import Splits
from loopxform.transforms.overlapped.refusal import NotStages
from loopxform.transforms.overlapped.stages import (
    Box,
    Field,
    Stage,
    spatial,
    staged,
)
from loopxform.transforms.overlapped.streamed_kernel import StreamedKernel
from loopxform.transforms.overlapped.streaming import Stream, disjoint, stream
from loopxform.transforms.overlapped.templates import (
    Nests,
    Template,
    coordinate,
    looks_up,
    touched,
)
from loopxform.transforms.overlapped.tile_sizes import (
    not_an_order,
    not_sizes,
    require_tile,
    shape_of_words,
)
from loopxform.transforms.sites import one_loop, trusted


@record
class FuseStages(Step):
    """Computes the nests of `loops`, which follow one another, in one kernel: in tiles of `rows`
    rows, overlaps not included. A group has `items` along each other dimension, every one with so
    many `elements` along the first of them. Where an array has fewer than so many tiles, `groups`,
    or the device is a CPU, the nests run as they were. `reassociate` (the word) allows
    floating-point sums to round differently."""

    loops: tuple[str, ...]
    rows: str
    items: tuple[str, ...]
    elements: str = ""
    groups: str = ""
    reassociate: str = ""

    verb: ClassVar[str] = "fuse-stages"
    usage: ClassVar[str] = (
        "fuse-stages LOOP[,LOOP...] ROWS ITEMS[,ITEMS] [ELEMENTS [GROUPS]] [reassociate]"
    )
    flags: ClassVar[Mapping[str, str]] = {"reassociate": "reassociate"}

    def check(self, fn: Function) -> tuple[Obstacle, ...]:
        if apart := not_neighbours(fn, self.loops):
            return apart
        loc = trusted(one_loop(fn, self.loops[0])).loop.origin.loc
        words = (self.rows, *self.items, self.elements or "1", self.groups or "1")
        if odd := (*not_sizes(self, words, loc), *not_an_order(self, self.reassociate, loc)):
            return odd
        try:
            group = self._group(fn)
            require_tile(self.shape, group.stream, group.nests[0])
        except NotStages as e:
            return (e.obstacle,)
        return ()

    @property
    def shape(self) -> Shape:
        """The tile of a group."""
        return shape_of_words(self.rows, self.items, self.elements)

    def rewrite(self, fn: Function) -> Function:
        group = self._group(fn)
        origin = group.nests[0].origin.then(str(self))
        fused = group.statement(fn, self.shape, int(self.groups or 1), origin)
        return with_one_for_all(fn, paths_of(fn, self.loops), fused)

    def reason(self, fn: Function) -> str:
        arrays = ", ".join(dict.fromkeys(t.target.array for t in self._group(fn).templates))
        return f"each element of {arrays} is computed from elements at constant distances"

    def _group(self, fn: Function) -> Group:
        """Raises NotStages."""
        paths = paths_of(fn, self.loops)
        return Group.of(Nests.judged(fn, paths, reassociate=bool(self.reassociate)), paths)


@record
class Group:
    """Nests that become one kernel. `stored` are the fields that others see."""

    nests: tuple[For, ...]
    templates: tuple[Template, ...]
    groups: list[tuple[Stage, ...]]
    stream: Stream
    footprint: Footprint
    stored: tuple[Field, ...]
    splits: Splits | None = None

    @classmethod
    def of(cls, every: Nests, paths: tuple[Path, ...]) -> Group:
        """Raises NotStages."""
        fn, nests = every.fn, every.loops(paths)
        loc = nests[0].origin.loc
        found = every.templates(paths, unroll=True)
        dims = spatial(fn, found)
        _staged(found, dims)
        dims |= _inputs(found, dims)
        found = tuple(replace(t, exact=t.exact or looks_up(fn, t, frozenset(dims))) for t in found)
        stages = _staged(found, dims)
        _require_apart(stages, loc)
        stages = aligned(stages)
        groups = disjoint(stages)
        flow = stream(groups)
        if all(len(t.loops) < flow.rank for t in found):
            raise NotStages("the nests compute nothing but edges of their arrays", loc)
        footprint = Footprint.of(fn, stages, flow, loc)
        seen = seen_by_others(fn, paths)
        stored = tuple(f for f in flow.last if f.array in seen)
        if not stored:
            raise NotStages("nothing reads what the nests compute", loc)
        for v in flow.inputs:
            if v.field in flow.last and (v.field in stored or any(flow.low) or any(flow.high)):
                text = f"'{v.field.array}' is read before it is written: tiles would see either"
                raise NotStages(text, loc, f"write another array than {v.field.array}")
        splits = Splits(symbols(fn)) if every.reassociate else None
        return cls(nests, found, groups, flow, footprint, stored, splits)

    def flow(self, elements: int) -> Stream:
        """The stream where a work-item has so many elements."""
        return stream(self.groups, elements, self.splits)

    @property
    def cover(self) -> Box:
        """What the tiles share."""
        return hull(box for f in self.stored for box in self.footprint.domains[f])

    def statement(self, fn: Function, shape: Shape, groups: int, origin: Origin) -> Stmt:
        """The kernel, or the nests where it may not stand for them."""
        footprint, new = self.footprint, Names(used_names(fn))
        memory, kind = footprint.arrays(fn), coordinate(self.templates)
        stores = {f: Store(f.array, f, footprint.domains[f]) for f in self.stored}
        flow = self.flow(shape.elements)
        nest = StreamedKernel(flow, memory, stores, self.cover, shape, new, kind, origin).nest()
        full = footprint.filling(self.stream, self.cover, shape, groups)
        asked = [*footprint.there(), *full]
        return If(conjunction(asked), (nest,), self.nests, origin=origin) if asked else nest


def _staged(found: tuple[Template, ...], dims: dict[str, tuple[bool, ...]]) -> list[Stage]:
    out: list[Stage] = []
    for t in found:
        arrays = dict.fromkeys(x.array for x in touched(t))
        made = _stage_of(t, tuple((a, dims[a]) for a in arrays if a in dims))
        if isinstance(made, NotStages):
            raise made
        out.append(made)
    return out


@remembered(4096)
def _stage_of(t: Template, dims: tuple[tuple[str, tuple[bool, ...]], ...]) -> Stage | NotStages:
    """A template as a stage where the arrays that it touches have these dimensions of space, or
    why it is none."""
    try:
        return staged(t, dict(dims), NO_TIME, 0, Const(0))
    except NotStages as e:
        return e


def _require_apart(stages: list[Stage], loc: Loc | None) -> None:
    """That planes of an array can be told apart, of which the host computes some: those of a nest
    are, which is parallel, where it reads them at a distance. Raises NotStages."""
    fields = {f for s in stages for f in (s.field, *(r.field for r in s.reads))}
    far = {r.field for s in stages for r in s.reads if any(r.away)} if len(stages) == 1 else set()
    for s in stages:
        others = [f for f in fields if f.array == s.field.array and f != s.field]
        known = all(isinstance(p, int | None) for f in (s.field, *others) for p in f.places)
        if not known and not far.issuperset(others):
            raise NotStages(f"which planes of '{s.field.array}' the nests use is not known", loc)


def _inputs(
    found: tuple[Template, ...], dims: dict[str, tuple[bool, ...]]
) -> dict[str, tuple[bool, ...]]:
    """Arrays that are only read, at constant distances, with their dimensions of space."""
    inputs: dict[str, tuple[bool, ...]] = {}
    read: dict[str, list[tuple[Template, Load]]] = {}
    for t in found:
        for x in _loads(t):
            if x.array not in dims:
                read.setdefault(x.array, []).append((t, x))
    for name, every in read.items():
        rank = len(every[0][1].index)
        flags = tuple(
            any(names(x.index[n]) & {y.var for y in t.loops} for t, x in every) for n in range(rank)
        )
        readers = tuple(t for n, (t, _) in enumerate(every) if n == 0 or every[n - 1][0] is not t)
        try:
            _staged(readers, {**dims, name: flags})
        except NotStages:
            continue
        inputs[name] = flags
    return inputs


def _loads(t: Template) -> list[Load]:
    return [x for e in (t.value, *(v for _, _, v in t.scalars)) for x in loads(e)]
