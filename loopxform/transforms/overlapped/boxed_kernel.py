"""Stages in boxes: a tile runs several steps of the program on copies of its own of each field, all
stages one after the other, each on the part of the box that later ones need.

    forall x_b (group.x):
      local T A_box[W + 2*S], B_box[W + 2*S];
      A_box = A[x_b - S ... x_b + W + S]
      B_box[1 ... ] = f(A_box);  A_box[2 ... ] = g(B_box);  ...
      A_next[x_b ... x_b + W] = A_box[S ... ]

A field has one copy: where the program writes it, all that came before has been read. With one
work-item (`items` of 1), the boxes stay in the cache of a core.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import reduce

from loopxform.ir.affine import simplify
from loopxform.ir.nodes import Assign, Bin, Const, Decl, Expr, For, If, Load, Stmt, Un, Var
from loopxform.ir.types import Level, Scalar, Space
from loopxform.source import Origin
from loopxform.transforms.edges.bounds import conjunction
from loopxform.transforms.overlapped.boxes import covers, greatest, inside, least, moved
from loopxform.transforms.overlapped.kernel_parts import (
    BoxShape,
    CoordinateLoops,
    Memory,
    Names,
    Store,
    shifted,
)
from loopxform.transforms.overlapped.stages import Box, Field, Stage, value_at
from loopxform.transforms.overlapped.streaming import Stream, Version


@dataclass
class BoxedKernel(CoordinateLoops):
    """Builds the nest. `cover` are the elements that the tiles share, `coordinate` is the type of
    coordinates."""

    stream: Stream
    memory: dict[Field, Memory]
    stores: dict[Field, Store]
    cover: Box
    shape: BoxShape
    names: Names
    coordinate: Scalar
    origin: Origin
    _boxes: dict[Field, str] = field(default_factory=dict)

    def nest(self) -> For:
        """The loops over groups."""
        rank = self.stream.rank
        axes = "zyx"[-rank:]
        self._tile = [self.names.new(f"{axis}_b") for axis in axes]
        self._item = self.names.new("item")
        self._at = [self.names.new(axis) for axis in axes]
        body: tuple[Stmt, ...] = self._group()
        for d in reversed(range(rank)):
            lo, hi = self.cover[d]
            level = Level("grid", min(2, rank - 1 - d))
            body = (self._loop(self._tile[d], lo, hi, self.shape.sizes[d], body, level),)
        (nest,) = body
        assert isinstance(nest, For)
        return nest

    def _group(self) -> tuple[Stmt, ...]:
        ends = zip(self.shape.sizes, self.stream.low, self.stream.high)
        extents = tuple(Const(n + before + behind) for n, before, behind in ends)
        declared = list[Stmt]()
        for f in dict.fromkeys(v.field for v in self.stream.versions):
            name = self._boxes[f] = self.names.new(f"{f.array}_box")
            type = self.memory[f].type
            declared.append(Decl(name, type, extents, Space.LOCAL, origin=self.origin))
        loads = [s for v in self._firsts() for s in self._loaded(v)]
        written = [v for v in self.stream.versions if v.pieces]
        computed = (self._phase([self._computed(v, s) for s in v.pieces]) for v in written)
        stored = [s for f, v in self.stream.last.items() for s in self._stored(f, v)]
        return (*declared, self._phase(loads), *computed, self._phase(stored))

    def _phase(self, body: list[Stmt]) -> For:
        """What the work-items of a group do before they wait for each other."""
        items = Const(self.shape.items)
        return self._loop(self._item, Const(0), items, 1, tuple(body), Level("group", 0))

    # ------------------------------------------------------------ boxes

    def _box(self, low: list[int], high: list[int]) -> Box:
        """So much more than the tile stores."""
        ends = zip(self._tile, self.shape.sizes, low, high)
        return tuple((shifted(Var(b), -a), shifted(Var(b), n + z)) for b, n, a, z in ends)

    def _over(self, box: Box, body: tuple[Stmt, ...]) -> For:
        """Loops over the elements of a box, which the work-items share along the last dimension;
        they are lanes where there is one work-item."""
        items, *outer = self.shape.items, *reversed(range(len(box) - 1))
        lo, hi = box[-1]
        lo = lo if items == 1 else Bin("+", lo, Var(self._item))
        nest = replace(self._loop(self._at[-1], lo, hi, items, body), parallel=items == 1)
        for d in outer:
            nest = self._loop(self._at[d], *box[d], 1, (nest,))
        return nest

    @property
    def _place(self) -> tuple[Expr, ...]:
        return tuple(map(Var, self._at))

    def _element(self, f: Field, away: tuple[int, ...] = ()) -> Load:
        """The copy of the element at a distance."""
        index = list[Expr]()
        for d, (at, b) in enumerate(zip(self._at, self._tile)):
            more = self.stream.low[d] + (away[d] if away else 0)
            index.append(shifted(Bin("-", Var(at), Var(b)), more))
        return Load(self._boxes[f], tuple(index))

    def _set(self, target: Load | Var, value: Expr) -> Assign:
        return Assign(target, value, origin=self.origin)

    # ------------------------------------------------------------ what a tile does

    def _firsts(self) -> Iterator[Version]:
        """The first version of each field."""
        seen = set[Field]()
        for v in self.stream.versions:
            if v.field not in seen:
                seen.add(v.field)
                yield v

    def _loaded(self, v: Version) -> Iterator[Stmt]:
        """Elements that are read before a stage writes them, or that no stage writes."""
        if v.pieces and self._is_whole(v):
            return
        memory = self.memory[v.field]
        box = _both(self._box([*self.stream.low], [*self.stream.high]), memory.touched)
        plain: Stmt = self._set(self._element(v.field), memory.element(self._place))
        load = plain
        if memory.first:
            nothing = self._set(self._element(v.field), Const(0))
            load = If(memory.there(self._place), (plain,), (nothing,), origin=self.origin)
        if v.pieces:
            tests: list[Expr] = [
                Un("!", conjunction(inside(self._place, s.domain))) for s in v.pieces
            ]
            load = If(conjunction(tests), (load,), origin=self.origin)
            beyond = _beyond(box, v.largest[1].domain)
            yield If(beyond, (self._over(box, (load,)),), origin=self.origin)
        elif memory.first:
            every = (self._over(box, (load,)),), (self._over(box, (plain,)),)
            yield If(_beyond(box, memory.certain), *every, origin=self.origin)
        else:
            yield self._over(box, (plain,))

    def _is_whole(self, first: Version) -> bool:
        """Whether a field is read and stored where its first version is written, and nowhere
        else."""
        f, read = first.field, list[Box]()
        for v in self.stream.versions:
            for s in v.pieces:
                read += [moved(s.domain, r.away) for r in s.reads if r.field == f]
        if f in self.stores:
            read += self.stores[f].boxes
        return all(any(covers(s.domain, box) for s in first.pieces) for box in read)

    def _computed(self, v: Version, s: Stage) -> Stmt:
        """The elements of a stage that later ones need."""
        box = _both(self._box(v.low, v.high), s.domain)
        sources = {r.load: r for r in s.reads}

        def read(x: Load) -> Expr | None:
            r = sources.get(x)
            return None if r is None else self._element(r.field, r.away)

        scalars, value = value_at(s, self._place, read, self.names.new, self.coordinate)
        out = list[Stmt]()
        for name, type, e in scalars:
            out += [Decl(name, type, origin=self.origin), self._set(Var(name), e)]
        return self._over(box, (*out, self._set(self._element(v.field), value)))

    def _stored(self, f: Field, v: Version) -> Iterator[Stmt]:
        """What the tile stores of the last version of a field."""
        store = self.stores.get(f)
        if store is None:
            return
        own = self._box([0] * self.stream.rank, [0] * self.stream.rank)
        for box in store.boxes:
            target = Load(store.target, store.place.index(self._place))
            loop = self._over(_both(own, box), (self._set(target, self._element(v.field)),))
            yield loop if store.when is None else If(store.when, (loop,), origin=self.origin)


def _both(a: Box, b: Box) -> Box:
    """What two boxes have in common."""
    ends = zip(a, b, strict=True)
    return tuple((simplify(greatest([x, y])), simplify(least([z, w]))) for (x, z), (y, w) in ends)


def _beyond(box: Box, within: Box) -> Expr:
    """Whether a box has elements that another has not."""
    ends = zip(box, within, strict=True)
    tests: list[tuple[Expr, Expr]] = [
        (Bin("<", lo, first), Bin("<", end, hi)) for (lo, hi), (first, end) in ends
    ]
    return reduce(_or, (t for pair in tests for t in pair))


def _or(a: Expr, b: Expr) -> Expr:
    return Bin("||", a, b)
