"""What of the arrays a group of work-items can use again: the facts that tiling is chosen from.

An array read in the nest is used again by every iteration of a parallel loop that its address is
invariant to, or that moves its footprint by less than its size (a window). It is staged once for
each tile of the innermost sequential loop that its address varies with; loops of a few iterations,
known in advance, are not tiled but taken whole. (Cholewa-Madsen and Holst, section 2.4.2;
Henriksen, section on automatic loop tiling.)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from math import prod

from loopxform.analysis.invariance import Invariance, Read, invariance
from loopxform.ir.affine import poly
from loopxform.ir.nodes import Assign, For, If, Stmt, Var
from loopxform.ir.types import Scalar
from loopxform.ir.typing import symbols
from loopxform.ir.visit import names, perfect_nest
from loopxform.model.footprint import Box, Factors, amount, linear, spread, width
from loopxform.prepare.parallel_band import Nest
from loopxform.records import record
from loopxform.schedule.params import NAMES
from loopxform.source import Loc
from loopxform.transforms import BoundingBox
from loopxform.transforms.edges.bounds import fixed_trips
from loopxform.transforms.storage.convert_on_copy import read_as
from loopxform.transforms.storage.staging import padding

SMALL = 32
"""A sequential loop of at most so many iterations, known in advance, is not tiled."""

TILE = "Tk"

OFTEN = 4
"""Reads of an element from which on a tile holds what it is converted to."""


@record
class Dim:
    """A parallel loop that is tiled: a group has `items` work-items along it (a tile size by name,
    "" for one), and each of them computes `kept` elements ("" for one)."""

    loop: str
    items: str = ""
    kept: str = ""

    @property
    def factors(self) -> Factors:
        return tuple(f for f in (self.items, self.kept) if f)


@record
class Stage:
    """A box of an array that a group reads more than once, or in another order than it lies in
    memory: copied for every tile of the sequential loop `loop` ("": once for the group).

    `uses` counts the reads of a group in the meantime, one product per read; `shared` names the
    tiled loops that are spread over work-items to which it is invariant, `kept` those over the
    elements of a work-item; `fast` is the dimension of the box that lies fastest in the copy,
    `across` that neighbours do not read along it. Its elements have that type, `converted` if it is
    not the array's, which is `source`. Its rows are `moved` for tensor units, in place of being
    padded."""

    array: str
    loop: str
    box: Box
    reads: tuple[Read, ...]
    uses: tuple[Factors, ...]
    shared: tuple[str, ...]
    kept: tuple[str, ...]
    tiled: bool
    fast: int
    type: Scalar
    scalars: frozenset[str]
    converted: bool = False
    source: Scalar | None = None
    across: bool = False
    moved: bool = False

    @property
    def around(self) -> tuple[str, ...]:
        """The loops down to the one it is staged in, outermost first."""
        for r in self.reads:
            chain = [x.var for x in r.loops]
            if self.loop in chain:
                return tuple(chain[: chain.index(self.loop) + 1])
        return ()

    @property
    def places(self) -> frozenset[Loc | None]:
        """Where the reads stand in the user's file."""
        return frozenset(r.load.origin.loc for r in self.reads)

    def reuse(self, sizes: Mapping[str, int]) -> float:
        """Reads for each element that is copied."""
        return sum(amount(u, sizes) for u in self.uses) / self.box.elements(sizes)

    @property
    def item_bytes(self) -> int:
        return self.type.bytes

    @property
    def pad(self) -> int:
        """Columns more than the box has, where the tile lies in another order than its source."""
        if self.moved:
            return 0
        turned = self.across or self.fast != len(self.box.widths) - 1
        return padding(self.item_bytes, vectors=bool(self.kept)) if turned else 0

    def columns(self, sizes: Mapping[str, int]) -> list[int]:
        """What the tile has in each dimension."""
        found = [w.value(sizes) for w in self.box.widths]
        found[self.fast] += self.pad
        return found

    @property
    def formula(self) -> str:
        """Its bytes: `4*Tk*(Ty*Ry + 4)`."""
        texts = [w.text for w in self.box.widths]
        if self.pad:
            texts[self.fast] = f"({texts[self.fast]} + {self.pad})"
        return "*".join([str(self.item_bytes), *texts])

    def bytes(self, sizes: Mapping[str, int]) -> int:
        return prod(self.columns(sizes)) * self.item_bytes


@record
class Staged:
    """A box that was staged, and whether work-items read it into registers."""

    stage: Stage
    private: bool


def small_trips(loop: For) -> int | None:
    """The iterations of a loop that always has the same few."""
    fixed = fixed_trips(loop)
    if fixed is None or fixed[1] or fixed[0].value is None:
        return None
    return fixed[0].value if 0 < fixed[0].value <= SMALL else None


@record
class Facts:
    """A prepared nest and what is invariant in it."""

    nest: Nest

    @cached_property
    def invariance(self) -> Invariance:
        return invariance(self.nest.function, self.nest.innermost.body, self.nest.parallel)

    @property
    def reads(self) -> tuple[Read, ...]:
        return self.invariance.reads

    @cached_property
    def reduced(self) -> tuple[Read, ...]:
        """Reads whose address varies with a sequential loop of many iterations."""
        return tuple(r for r in self.reads if any(small_trips(x) is None for x in self.over(r)))

    def over(self, r: Read) -> tuple[For, ...]:
        """The sequential loops that an address varies with, outermost first."""
        return tuple(x for x in r.loops if x.var in r.varies)

    def mutual(self, y: str, x: str) -> bool:
        """Whether one array is used again along y and another along x."""
        return _crosswise(self.reduced, y, x)

    def mutual_terms(self, y: str, x: str) -> int:
        """How many terms sums have in which one array is used again along y and another along x,
        both of them loops of many iterations; 0 where these are more than few, or not known."""
        small = [r for r in self.reads if r.loops and all(map(small_trips, r.loops))]
        parallel = perfect_nest(self.nest.outermost)[: len(self.nest.parallel)]
        few = any(small_trips(s) for s in parallel if s.var in (y, x))
        if few or not _crosswise(small, y, x):
            return 0
        terms = max(prod(small_trips(s) or 1 for s in r.loops) for r in small)
        return terms if terms <= SMALL else 0

    def invariant(self, loop: str) -> tuple[Read, ...]:
        """Reads of a reduction that every iteration of a parallel loop makes alike."""
        return tuple(r for r in self.reduced if loop not in r.varies)

    def window(self, loop: str) -> bool:
        """Whether the footprints of neighbouring iterations of a parallel loop overlap: an array is
        read at several offsets along it, or at `i + u` for a sequential loop over u."""
        seen: dict[str, set[object]] = {}
        for r in self.reads:
            inner = {x.var for x in r.loops}
            moving = [i for i in r.index if poly(i).mentions(loop)]
            if any(linear(poly(i), loop) is None for i in moving):
                continue
            if any(names(i) & inner for i in moving):
                return True
            seen.setdefault(r.array, set()).add(tuple(poly(i) for i in moving))
        return any(len([x for x in found if x]) > 1 for found in seen.values())

    # ------------------------------------------------------------ what can be staged

    def stages(self, dims: tuple[Dim, ...]) -> tuple[Stage, ...]:
        """Every box that can be staged where the loops `dims` are tiled."""
        groups: list[list[Read]] = []
        for r in self.reads:
            if self.obstacle(r, dims):
                continue
            home = next((g for g in groups if self._together(g[0], r)), None)
            if home is None:
                groups.append([r])
            else:
                home.append(r)
        found = (self._stage(tuple(g), dims) for g in groups)
        return tuple(s for s in found if s is not None)

    def home(self, r: Read) -> For | None:
        """The loop a read is staged in: the innermost of many iterations that it varies with."""
        large = [x for x in self.over(r) if small_trips(x) is None]
        return large[-1] if large else None

    def obstacle(self, r: Read, dims: tuple[Dim, ...]) -> str:
        """Why a read cannot be staged where `dims` are tiled, or nothing: the loops down to its
        home must run in step in a group, and the values in its subscripts that the nest computes
        must be the same for the whole group."""
        tiled, home = {d.loop for d in dims}, self.home(r)
        depth = 0 if home is None else r.loops.index(home) + 1
        if depth > r.free:
            return f"a condition stands around the loop over '{r.loops[r.free].var}'"
        for x in r.loops[:depth]:
            moving = self.invariance.header(x) & tiled
            if moving and not self._widens(x):
                return f"the bounds of the loop over '{x.var}' depend on '{min(moving)}'"
        for n in sorted(self._scalars(r)):
            moving = self.invariance.values.get(n, frozenset()) & tiled
            if moving:
                return f"its subscripts depend on '{n}', which varies with '{min(moving)}'"
        if any(width(i, self._counts(r, dims), 0) is None for i in r.index):
            return "its subscripts are not affine"
        return ""

    def _widens(self, loop: For) -> bool:
        """Whether its bounds can be made those of all the work-items of a group."""
        fn, used = self.nest.function, names(loop.lo) | names(loop.hi)
        over = tuple(v for v in self.nest.parallel if v in used)
        return bool(over) and not BoundingBox(loop.var, over).check(fn)

    def _scalars(self, r: Read) -> frozenset[str]:
        """Names in the subscripts that the nest itself computes, and those these are made of."""
        loops = {*self.nest.parallel, *(x.var for x in r.loops)}
        own = frozenset(self.invariance.values) - loops
        found, more = frozenset[str](), frozenset(n for i in r.index for n in names(i)) & own
        while more - found:
            found |= more
            more = frozenset(n for x in found for n in self._made_of.get(x, ())) & own
        return found

    @cached_property
    def _made_of(self) -> Mapping[str, frozenset[str]]:
        """What is read where each scalar of the nest is set, and by the conditions around."""
        out: dict[str, frozenset[str]] = {}
        for name, used in _settings(self.nest.innermost.body, frozenset()):
            out[name] = out.get(name, frozenset()) | used
        return out

    def _together(self, a: Read, b: Read) -> bool:
        """Whether one box serves both: they differ by numbers only, in the same loops."""
        if a.array != b.array or self.home(a) is not self.home(b):
            return False
        return all(spread(pair) is not None for pair in zip(a.index, b.index))

    def _stage(self, reads: tuple[Read, ...], dims: tuple[Dim, ...]) -> Stage | None:
        fn, first, home = self.nest.function, reads[0], self.home(reads[0])
        counts = self._counts(first, dims)
        widths = []
        for n in range(len(first.index)):
            apart = spread([r.index[n] for r in reads])
            found = None if apart is None else width(first.index[n], counts, apart)
            if found is None:
                return None
            widths.append(found)
        sized = [n for n, w in enumerate(widths) if w.terms or w.spread]
        spread_over = {d.loop for d in dims if d.items}
        moving = [k for k, n in enumerate(sized) if names(first.index[n]) & spread_over]
        invariant = [d for d in dims if all(d.loop not in r.varies for r in reads)]
        distinct = {tuple(poly(i) for i in r.index): r for r in reads}
        stage = Stage(
            first.array,
            "" if home is None else home.var,
            Box(tuple(widths[n] for n in sized)),
            reads,
            tuple(self._uses(r, dims) for r in distinct.values()),
            tuple(d.loop for d in invariant if d.items),
            tuple(d.loop for d in invariant if d.kept),
            self.tiles(first),
            moving[-1] if moving else len(sized) - 1,
            symbols(fn)[first.array],
            self._scalars(first),
        )
        kind = read_as(fn, (self.nest.outermost,), first.array)
        often = stage.reuse(dict.fromkeys(NAMES, 8)) >= OFTEN
        if kind == stage.type or not often:
            return stage
        return replace(stage, type=kind, converted=True, source=stage.type)

    def _counts(self, r: Read, dims: tuple[Dim, ...]) -> dict[str, Factors]:
        """How many values each loop takes while a copy is in use."""
        return {d.loop: d.factors for d in dims} | self._inside(r, self.home(r))

    def _inside(self, r: Read, home: For | None) -> dict[str, Factors]:
        """The values that sequential loops take while a copy is in use."""
        out: dict[str, Factors] = {}
        depth = 0 if home is None else r.loops.index(home)
        for x in r.loops[depth:]:
            if x is home:
                out[x.var] = (TILE,) if self.tiles(r) else ()
            elif x.var in r.varies:
                out[x.var] = (small_trips(x) or 1,)
        return out

    def tiles(self, r: Read) -> bool:
        """Whether its home is tiled: the address moves with it, and not by way of a value that
        is computed anew in each iteration."""
        home = self.home(r)
        return home is not None and any(poly(i).mentions(home.var) for i in r.index)

    def _uses(self, r: Read, dims: tuple[Dim, ...]) -> Factors:
        """Every iteration of the tile, but for those that one work-item makes on the same element:
        it has that in a register."""
        found = [f for d in dims if d.items or d.loop in r.varies for f in d.factors]
        for factors in self._inside(r, self.home(r)).values():
            found += factors
        return tuple(found)


def _crosswise(reads: Iterable[Read], y: str, x: str) -> bool:
    """Whether some of the reads are invariant to y alone, and some to x alone."""
    found = [r.varies for r in reads]
    along_y = any(y not in v and x in v for v in found)
    return along_y and any(x not in v and y in v for v in found)


def _settings(
    body: tuple[Stmt, ...], around: frozenset[str]
) -> Iterator[tuple[str, frozenset[str]]]:
    """The scalars that statements set, and the names in what they say and in the conditions around
    them."""
    for s in body:
        match s:
            case Assign(Var(name), value):
                yield name, names(value) | around
            case If(cond, then, orelse):
                yield from _settings((*then, *orelse), around | names(cond))
            case For():
                yield from _settings(s.body, around)
