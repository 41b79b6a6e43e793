"""Transactions: how many segments of 32 bytes a nest asks global memory for.

    one access of a warp        the segments that its work-items touch: 1 where all read the same
                                element, 4 where neighbours read neighbouring floats, one for each
                                of 32 work-items that are far apart, or not known to be near
    a box that a group copies   the segments of its rows
    a copy in another layout    the segments of the array, read once and written once

The first element of a warp and of every row is taken to begin a segment. A work-item that walks
along a row asks for its segment anew in each iteration: that a cache has it by then spares memory
the traffic, but no transaction. So do the figures say that were measured on an H100
(docs/tiling.md): the naive row sums read 1.0 TB/s, 33 clock cycles of a compute unit for each
access of 32 work-items to 32 rows, where the memory delivers what they read in 11.

What is the same in all iterations of a loop is read once, into a register. Conditions count as if
they always held; sizes that are not known are taken as 1024, and iterations whose number depends on
data as half of that.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from functools import cached_property
from math import prod

from loopxform.analysis.clamped import subscript
from loopxform.errors import MalformedIR
from loopxform.ir.affine import poly, to_expr, value_of
from loopxform.ir.evaluate import evaluate
from loopxform.ir.nodes import Bin, Expr, For, Var
from loopxform.ir.visit import at, names, substitute, walk, writes
from loopxform.model.accesses import Access, Traversal
from loopxform.model.choice import Choice
from loopxform.model.footprint import amount
from loopxform.model.reuse import Facts, Stage, Staged, small_trips
from loopxform.model.strides import global_arrays, strides
from loopxform.prepare.parallel_band import Nest
from loopxform.prepare.perfect_nest import FEW
from loopxform.records import record
from loopxform.targets.target import Limits
from loopxform.transforms.edges.bounds import trips_to

NOMINAL = 1024
"""What a size is taken as that is not known."""


Counts = dict[str, int]
"""The transactions of each array."""


Loops = tuple[For, ...]
"""The sequential loops around a place, outermost first."""

Site = Access[Loops]


SITES: Traversal[Loops] = Traversal(
    inside=lambda place, loop: (*place, loop), branches=lambda _, place: (place, place), kept=True
)
"""Conditions count as if they always held; what is the same in all iterations is in a register."""


@record
class Estimate:
    """The transactions of a nest that is mapped as `choice` says, with tile `sizes`, on a device
    with these `limits`. `layouts` gives arrays the order of their dimensions in memory, outermost
    first, where that is not the order of C."""

    nest: Nest
    choice: Choice
    sizes: Mapping[str, int]
    limits: Limits
    staged: tuple[Staged, ...] = ()
    layouts: Mapping[str, tuple[int, ...]] = field(default_factory=dict)

    @property
    def counts(self) -> Counts:
        """The transactions of each array."""
        out: Counts = {}
        copied: list[Stage] = []
        for x in self.accesses:
            stage = self.stage(x)
            if stage is None:
                found = self._asking(x) * self._times(x) * self.segments(x)
            elif any(stage is s for s in copied):
                continue
            else:
                copied.append(stage)
                found = self._copied(stage)
            out[x.array] = out.get(x.array, 0) + found
        return out

    @property
    def total(self) -> int:
        return sum(self.counts.values())

    @cached_property
    def accesses(self) -> tuple[Site, ...]:
        """Every access to global memory, those that repeat another once."""
        sites = dict[object, Site]()
        for x in SITES.accesses(self.nest.innermost.body, ()):
            if x.array in self._strides:
                key = (x.array, tuple(map(poly, x.load.index)), x.kind, x.place)
                sites.setdefault(key, x)
        return tuple(sites.values())

    def stage(self, x: Site) -> Stage | None:
        """What the access reads in local memory."""
        for s in self.staged:
            own = s.stage.array == x.array and x.load.origin.loc in s.stage.places
            if own and x.kind == "read":
                return s.stage
        return None

    # ------------------------------------------------------------ one access of a warp

    def segments(self, x: Site) -> int:
        """Those that the work-items of a warp touch."""
        steps = {v: self._step(x, v) for v in self.lanes[0]}
        near, far = set[tuple[int, ...]](), [v for v, step in steps.items() if step is None]
        places = [sum((steps[v] or 0) * n for v, n in lane.items()) for lane in self.lanes]
        first = min(places)
        for place, lane in zip(places, self.lanes):
            near.add(((place - first) // self.limits.costs.segment, *(lane[v] for v in far)))
        return len(near)

    @cached_property
    def lanes(self) -> tuple[dict[str, int], ...]:
        """The iterations of the parallel loops that the work-items of a warp run, counted from
        those of the first."""
        out = []
        if self.choice.shared:
            lanes = map(self._sharing, range(min(self.limits.warp, self._items)))
            return tuple(x for x in lanes if any(k < max(1, self.trips[v]) for v, k in x.items()))
        for n in range(min(self.limits.warp, self._items)):
            lane, rest = {}, n
            for loop, items, apart in self._spread:
                lane[loop] = rest % items * apart
                rest //= items
            if all(k < max(1, self.trips[v]) for v, k in lane.items()):
                out.append(lane)
        return tuple(out)

    def _sharing(self, n: int) -> dict[str, int]:
        """The iterations of a work-item, of each loop that a group shares."""
        lane = dict[str, int]()
        for *rows, x in self.choice.shared:
            y = dict.fromkeys(rows, n // self.sizes["Tx"])
            lane |= {x: n % self.sizes["Tx"] if rows else n, **y}
        return lane

    @cached_property
    def _items(self) -> int:
        """The work-items of a group."""
        if self.choice.shared:
            return prod(self.sizes[name] for name in self.choice.group)
        return prod(items for _, items, _ in self._spread)

    @cached_property
    def _spread(self) -> list[tuple[str, int, int]]:
        """The loops over work-items, x first: how many of them, and how many iterations from one to
        the next."""
        sizes, choice = self.sizes, self.choice
        if choice.recipe == "naive":
            far = [(d.loop, sizes["Ty"], 1) for d in choice.dims if d.loop != choice.neighbours]
            return [(choice.neighbours, sizes["Tx"] * (1 if far else sizes["Ty"]), 1), *far]
        if choice.shared:
            alone = [(x, self._items, 1) for *rows, x in choice.shared if not rows]
            pairs = [zip(v, choice.group) for v in choice.shared if len(v) > 1]
            return [*alone, *((v, sizes[name], 1) for pair in pairs for v, name in pair)]
        order = choice.hardware(sizes)
        return [(d.loop, sizes[d.items], sizes[d.kept] if d.kept else 1) for d in order if d.items]

    def _step(self, x: Site, loop: str) -> int | None:
        """Bytes from one iteration of a parallel loop to the next; None where that is no fixed
        number. Work-items run sequential loops in step, each from its own start."""
        total = 0
        for index, stride in zip(x.load.index, self._strides[x.array]):
            from_start = subscript(self.nest.function, index).index
            for s in reversed(x.place):
                start = Bin("+", s.lo, Var(s.var))
                from_start = substitute(from_start, {s.var: start})
            values = self.facts.invariance.values
            others = names(from_start) - {loop}
            if any(loop in values.get(n, ()) for n in others):
                return None
            p = poly(from_start)
            factor = p.coefficient(loop)
            if p.without(loop) + factor * poly(Var(loop)) != p:
                return None
            if names(to_expr(factor)) & self.trips.keys():
                return None
            total += stride * self._value(to_expr(factor))
        return total

    # ------------------------------------------------------------ how often

    def _asking(self, x: Site) -> int:
        """Warps that run an access: of a group for each result only one outside of the loop that
        its work-items share."""
        if not self.choice.shared or self._shares(x.place):
            return self._warps
        return self.groups

    def _shares(self, around: tuple[For, ...]) -> bool:
        return any(s.var in v for s in around for v in self.choice.shared)

    @cached_property
    def _warps(self) -> int:
        """Warps of all groups."""
        return self.groups * -(-self._items // self.limits.warp)

    @cached_property
    def groups(self) -> int:
        """Groups of work-items."""
        each = {d.loop: amount(d.factors, self.sizes) for d in self.choice.dims}
        each |= {loop: items for loop, items, _ in self._spread if self.choice.recipe == "naive"}
        return prod(-(-self.trips[v] // each.get(v, 1)) for v in self.nest.parallel)

    def _times(self, x: Site) -> int:
        """Accesses of a work-item: in each iteration of the loops down to the innermost that the
        address varies with, and of all where the nest writes the array. Loops of a few iterations
        are unrolled, and each of their accesses counts by itself."""
        varies = frozenset(v for i in x.load.index for v in self.facts.invariance.of(i))
        if x.array in self._written:
            varies |= {s.var for s in x.place}
        few = {s.var for s in x.place if (small_trips(s) or NOMINAL) <= FEW}
        depth = max((n for n, s in enumerate(x.place, 1) if s.var in varies - few), default=0)
        repeated = [s.var for n, s in enumerate(x.place) if n < depth or s.var in varies]
        kept = [
            d.kept for d in self.choice.dims if d.kept and (x.kind == "write" or d.loop in varies)
        ]
        each = {loop: items for loop, items, _ in self._spread}
        return prod(-(-self.trips[v] // each.get(v, 1)) for v in repeated) * amount(
            tuple(kept), self.sizes
        )

    def boxes(self, s: Stage) -> int:
        """A box for each group and each tile of the loops that it is staged in."""
        times = self.groups
        for v in s.around:
            tile = self.sizes["Tk"] if v == s.loop and s.tiled else 1
            times *= -(-self.trips[v] // tile)
        return times

    def _copied(self, s: Stage) -> int:
        """The segments of all boxes."""
        times = self.boxes(s)
        widths = [w.value(self.sizes) for w in s.box.widths]
        stride = self._strides[s.array][-1]
        if not _along_rows(s, self.choice):
            return times * prod(widths)
        row = min(widths[-1], -(-widths[-1] * stride // self.limits.costs.segment))
        return times * prod(widths[:-1]) * row

    # ------------------------------------------------------------ numbers

    @cached_property
    def facts(self) -> Facts:
        return Facts(self.nest)

    @cached_property
    def _written(self) -> frozenset[str]:
        return writes(self.nest.innermost.body)

    @cached_property
    def trips(self) -> dict[str, int]:
        """Iterations of every loop of the nest."""
        return self._numbers[1]

    @cached_property
    def _numbers(self) -> tuple[dict[str, int], dict[str, int]]:
        """What scalars are taken as, a counter as the middle of its range; iterations of loops."""
        fn, trips = self.nest.function, dict[str, int]()
        values = {p.name: NOMINAL for p in fn.objects if not p.array}
        root = at(fn, self.nest.path)
        for _, s in walk((root,)):
            if isinstance(s, For):
                count = trips_to(s, s.hi)
                total = None if count is None else to_expr(count)
                trips[s.var] = max(0, _known(total, values, NOMINAL // 2))
                middle = trips[s.var] // 2 * (value_of(s.step) or 1)
                values[s.var] = _known(s.lo, values, 0) + middle
        return values, trips

    def _value(self, e: Expr) -> int:
        return _known(e, self._numbers[0])

    @cached_property
    def _strides(self) -> dict[str, tuple[int, ...]]:
        """Bytes from one index to the next in each dimension of the arrays in global memory."""
        fn, orders = self.nest.function, self.layouts
        return {a: strides(fn, a, self._value, orders.get(a)) for a in global_arrays(fn)}

    def copied(self, array: str) -> int:
        """The transactions of a copy of all of an array: read once, and written once."""
        shape = global_arrays(self.nest.function)[array]
        extents = [NOMINAL if d is None else self._value(d) for d in shape]
        return 2 * -(-prod(extents) * min(self._strides[array]) // self.limits.costs.segment)


def _along_rows(s: Stage, choice: Choice) -> bool:
    """Whether a box spans several elements of a row of its array."""
    moving = {d.loop for d in choice.dims}
    for r in s.reads:
        inside = [x.var for x in r.loops]
        moving |= set(inside[inside.index(s.loop) :] if s.loop in inside else inside)
    last = {poly(r.index[-1]) for r in s.reads}
    return len(last) > 1 or any(p.mentions(v) for p in last for v in moving)


def _known(e: Expr | None, values: Mapping[str, int], otherwise: int = NOMINAL) -> int:
    """The value of an expression, or another number where it cannot be told."""
    try:
        return otherwise if e is None else evaluate(e, values)
    except (KeyError, MalformedIR, ZeroDivisionError):
        return otherwise
