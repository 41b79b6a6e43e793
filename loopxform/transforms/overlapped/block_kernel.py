"""The kernel of overlapped block tiles, as a nest: groups for tiles; in each, one loop over the
work-items for every stage, which compute the elements of its box in turn.

    forall i_b (group.y): forall j_b (group.x):
      local T t_tile[9][17];  int t_first_1, t_last_1 ...;  t_first_1 = max(min(i_b / 2, ...), 0);
      forall t (thread.x): for n = t; n < 9 * 17; n += items:
        { y = t_first_1 + n / 17;  if (y <= t_last_1 ...) t_tile[y - t_first_1][...] = f(a ...); }
      forall t (thread.x): ...  b[i][j] = g(t_tile[i / 2 - t_first_1][...])
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from math import ceil, floor, prod

from loopxform.ir.affine import poly, simplify
from loopxform.ir.device_facts import WARP
from loopxform.ir.nodes import Assign, Bin, Const, Decl, Expr, For, If, Load, Stmt, Var
from loopxform.ir.types import Level, Scalar, Space
from loopxform.source import Origin
from loopxform.transforms.edges.bounds import conjunction
from loopxform.transforms.overlapped.block_frames import Frame, Loop, Member, schedule
from loopxform.transforms.overlapped.block_interior import Ends, Interior
from loopxform.transforms.overlapped.block_places import (
    apart,
    counts,
    minus,
    of_type,
    plus,
    scaled,
)
from loopxform.transforms.overlapped.block_regions import Region, cover, group_order
from loopxform.transforms.overlapped.block_stages import Along, Piece
from loopxform.transforms.overlapped.boxes import greatest, least
from loopxform.transforms.overlapped.element_blocks import block_of, counters, divides, moved
from loopxform.transforms.overlapped.kernel_parts import CoordinateLoops, Names
from loopxform.transforms.overlapped.stages import Field, values_at


@dataclass
class BlockKernel(CoordinateLoops):
    """Builds the nest: tiles of `sizes` elements of the reference, groups of `items`; `types` are
    those of the elements, `coordinate` is that of coordinates."""

    regions: list[Region]
    widths: dict[Field, tuple[int, ...]]
    sizes: tuple[int, ...]
    items: int
    types: dict[str, Scalar]
    names: Names
    coordinate: Scalar
    origin: Origin
    _ends: dict[tuple[Field, int], tuple[str, str]] = field(default_factory=dict)
    _known: dict[Expr, str] = field(default_factory=dict)
    _tiles: dict[Field, str] = field(default_factory=dict)
    _firsts: dict[tuple[int, int], Expr] = field(default_factory=dict)
    _own: dict[Field, Var] = field(default_factory=dict)
    _interior: Interior | None = None

    def __post_init__(self) -> None:
        self._schedule = schedule(self.regions)

    def nest(self) -> For:
        """The loops over groups."""
        rank = len(self.sizes)
        axes = "zyx"[-rank:].rjust(rank, "w")
        self._tile = [self.names.new(f"{axis}_b") for axis in axes]
        self._item = self.names.new("item")
        body = self._group()
        for n, d in enumerate(reversed(group_order(self.regions, self.sizes))):
            lo, hi = cover(self.regions, d)
            level = Level("grid", min(2, n))
            body = (self._loop(self._tile[d], lo, hi, self.sizes[d], body, level),)
        (nest,) = body
        assert isinstance(nest, For)
        return nest

    def filling(self, groups: int) -> list[Expr]:
        """That there are so many tiles, for work-items that run in lockstep: a CPU waits long at
        barriers."""
        tiles: Expr = Const(1)
        for d, n in enumerate(self.sizes):
            lo, hi = cover(self.regions, d)
            width = simplify(Bin("-", hi, lo))
            tiles = Bin("*", tiles, Bin("/", Bin("+", width, Const(n - 1)), Const(n)))
        return [Bin("<", Const(1), WARP), Bin("<=", Const(groups), simplify(tiles))]

    # ------------------------------------------------------------ a group

    def _group(self) -> tuple[Stmt, ...]:
        declared = list[Stmt]()
        for r in self.regions:
            shape = self._schedule.tile(r, self.widths[r.field], self.sizes)
            if shape is not None:
                name = self._tiles[r.field] = self.names.new(f"{r.field.array}_tile")
                extents = tuple(map(Const, shape)) or (Const(1),)
                type = self.types[r.field.array]
                declared.append(Decl(name, type, extents, Space.LOCAL, origin=self.origin))
        boxes = [s for r in reversed(self.regions) for s in self._box(r)]
        begins = [s for f in self._schedule.every for s in self._frame(f)]
        return (*declared, *boxes, *begins, *self._phases([*boxes, *begins]))

    def _phases(self, ends: list[Stmt]) -> tuple[Stmt, ...]:
        """The phases behind the ends of boxes; without tests for tiles of which all elements answer
        them alike."""
        safe = tuple(self._phase(loops) for loops in self._schedule.phases)
        covers = {b: (*cover(self.regions, d), self.sizes[d]) for d, b in enumerate(self._tile)}
        self._interior = Interior.of(covers, ends, self.types)
        fast = tuple(self._phase(loops) for loops in self._schedule.phases)
        asked, self._interior = [*self._interior.asked], None
        return (If(conjunction(asked), fast, safe, origin=self.origin),) if asked else safe

    def _frame(self, f: Frame) -> list[Stmt]:
        """Where a frame begins: no further than any of its members does."""
        out = list[Stmt]()
        for e in range(len(f.spans)):
            name = self.names.new(f"first_{e + 1}")
            lows = least(self._begins(m, e) for m in f.members)
            self._firsts[f.number, e] = Var(name)
            out += [Decl(name, self.coordinate, origin=self.origin), self._assign(Var(name), lows)]
        return out

    def _begins(self, m: Member, e: int) -> Expr:
        first = Var(self._ends[m.region.field, e][0])
        return first if m.by_element else m.piece.along[e].first(first)

    def _box(self, r: Region) -> list[Stmt]:
        """The first and the last coordinate of the box of a field."""
        out = list[Stmt]()
        for e, (first, last) in enumerate(r.ends):
            lows, highs = self._needed(r, e)
            pair = list[str]()
            for word, value in (("first", least(lows)), ("last", greatest(highs))):
                value = Bin("max", Bin("min", value, last), first)
                if value not in self._known:
                    name = self.names.new(f"{r.field.array}_{word}_{r.field.dims[e] + 1}")
                    self._known[value] = name
                    out.append(Decl(name, self.coordinate, origin=self.origin))
                    out.append(self._assign(Var(name), value))
                pair.append(self._known[value])
            self._ends[r.field, e] = pair[0], pair[1]
        return out

    def _needed(self, r: Region, e: int) -> tuple[list[Expr], list[Expr]]:
        """What the readers of a field and the tile itself need first and last along a dimension."""
        if r.spans[e].axis is None:
            return [Const(floor(r.spans[e].low))], [Const(ceil(r.spans[e].high))]
        lows, highs = list[Expr](), list[Expr]()
        if r.shared:
            lows.append(self._owned(r, e, 0))
            highs.append(Bin("-", self._owned(r, e, 1), Const(1)))
        for u in r.uses:
            d, index = u.dims[e], u.index[e]
            assert d is not None
            first, last = self._ends[u.piece.field, d]
            if u.least:
                lows.append(u.piece.over(index, d, Var(first)))
            if u.most:
                highs.append(u.piece.over(index, d, Var(last), last=True))
        return lows, highs

    def _owned(self, r: Region, e: int, tiles: int) -> Expr:
        """The first element that this tile stores along a dimension, or the one after so many."""
        axis, scale = r.shared[e]
        b: Expr = Var(self._tile[axis])
        if tiles:
            b = Bin("+", b, Const(tiles * self.sizes[axis]))
        return scaled(b, scale)

    # ------------------------------------------------------------ stages

    def _phase(self, loops: tuple[Loop, ...]) -> Stmt:
        body = tuple(s for x in loops for s in self._loops(x))
        return self._loop(self._item, Const(0), Const(self.items), 1, body, Level("group", 0))

    def _loops(self, x: Loop) -> list[For]:
        if x.frame is None or len(x.members) == 1:
            return [self._computed(m.region, m.piece) for m in x.members]
        return [self._framed(x.frame, x.members)]

    def _framed(self, f: Frame, members: tuple[Member, ...]) -> For:
        """All elements of some members in their frame."""
        counter, body, every = self.names.new("n"), list[Stmt](), f.widths(self.sizes)
        wanted = [a.var for a in members[0].piece.along]
        firsts = [self._firsts[f.number, e] for e in range(len(every))]
        begins = [[minus(x, m.offset(e)) for e, x in enumerate(firsts)] for m in members]
        block = self._block([m.piece for m in members], begins, every)
        strips = [-(-n // b) for n, b in zip(every, block)]
        at = self._places(Var(counter), strips, firsts, wanted, body, block)
        for steps in product(*map(range, block)):
            for r in (m.region for m in members if m.region.field in self._schedule.private):
                own = self._own[r.field] = Var(self.names.new(r.field.array))
                body.append(Decl(own.name, self.types[r.field.array], origin=self.origin))
            for m, begin in zip(members, begins):
                r, p, values, tests = m.region, m.piece, dict[str, Expr](), list[Expr]()
                loops, ranges = {x.var: x for x in p.template.loops}, dict[str, Ends]()
                for e, (a, here) in enumerate(zip(p.along, at)):
                    offset = m.offset(e)
                    number, ends = minus(here, offset), self._iterations(r, e, a, loops[a.var])
                    tests += self._between(number, ends, begin[e], strips[e], block[e], steps[e])
                    values[a.var] = of_type(number, loops[a.var].type, self.coordinate)
                    behind = minus(offset, Const(steps[e]))
                    ranges[here.name] = plus(ends[0], behind), plus(ends[1], behind)
                there = moved(p, steps, block, self.types)
                body += self._guarded(r, there, values, tests, ranges, body)
        total = Const(prod(strips))
        return self._loop(counter, Var(self._item), total, self.items, tuple(body), None)

    def _block(
        self, pieces: Sequence[Piece], begins: Sequence[Sequence[Expr]], every: Sequence[int]
    ) -> tuple[int, ...]:
        """How many elements along each dimension a work-item computes together. Counters that
        pieces divide are multiples of that number, which a group asks once."""
        if self._interior is None:
            return (1,) * len(every)
        out = list[int]()
        for e, n in enumerate(block_of(pieces, len(every))):
            asked = list[Bin]()
            for p, begin in zip(pieces, begins):
                if n > 1 and divides(p, counters(p)[e], n):
                    asked.append(Bin("<=", Const(0), begin[e]))
                    asked.append(Bin("==", Bin("%", begin[e], Const(n)), Const(0)))
            out.append(n if all(map(self._all, asked)) else 1)
        return tuple(out)

    def _computed(self, r: Region, p: Piece) -> For:
        """All elements of a piece in the box of its field."""
        counter, body = self.names.new("n"), list[Stmt]()
        loops = {x.var: x for x in p.template.loops}
        along = [(e, a) for e, a in enumerate(p.along) if a.var]
        every = counts(p, self.widths[r.field])
        ends = [self._iterations(r, e, a, loops[a.var]) for e, a in along]
        wanted = [a.var for _, a in along]
        firsts = [first for first, _ in ends]
        block = self._block([p], [firsts], every)
        strips = [-(-n // b) for n, b in zip(every, block)]
        at = self._places(Var(counter), strips, firsts, wanted, body, block)
        values = {v: of_type(x, loops[v].type, self.coordinate) for v, x in zip(wanted, at)}
        for steps in product(*map(range, block)):
            tests, ranges = list[Expr](), dict[str, Ends]()
            for x, (first, last), *count in zip(at, ends, strips, block, steps):
                tests += self._between(x, (None, last), first, *count)
                ranges[x.name] = minus(first, Const(count[-1])), minus(last, Const(count[-1]))
            body += self._guarded(r, moved(p, steps, block, self.types), values, tests, ranges, [])
        total = Const(prod(strips))
        return self._loop(counter, Var(self._item), total, self.items, tuple(body), None)

    def _between(
        self,
        x: Expr,
        ends: tuple[Expr | None, Expr],
        first: Expr,
        count: int,
        block: int,
        step: int,
    ) -> list[Expr]:
        """That the number `step` behind `x` lies between ends, where `x` begins one of so many
        blocks from `first` on; nothing where all of them do."""
        least, most = ends
        here, begin = (plus(e, Const(step)) for e in (x, first))
        whole, own = (Const(n) for n in (count * block - 1, (count - 1) * block))
        tests = list[Expr]()
        if least is not None and not any(self._all(Bin("<=", least, e)) for e in (first, begin)):
            tests.append(Bin("<=", least, here))
        last = (plus(first, whole), plus(begin, own))
        if not any(self._all(Bin("<=", e, most)) for e in dict.fromkeys(last)):
            tests.append(Bin("<=", here, most))
        return tests

    def _all(self, test: Bin) -> bool:
        """Whether what is computed without tests may take a comparison to hold."""
        return self._interior is not None and self._interior.holds(test)

    def _guarded(
        self,
        r: Region,
        p: Piece,
        values: dict[str, Expr],
        tests: list[Expr],
        ranges: Mapping[str, Ends],
        before: list[Stmt],
    ) -> tuple[Stmt, ...]:
        """What sets an element where tests hold: behind what is set under the same ones, the last
        of `before`, which it replaces."""
        every, computed = [*tests, *self._in_box(r, p, values)], self._set(r, p, values, ranges)
        holds, last = conjunction(every), before[-1] if before else None
        if every and isinstance(last, If) and last.cond == holds:
            before.pop()
            computed = (*last.then, *computed)
        return (If(holds, computed, origin=self.origin),) if every else computed

    def _places(
        self,
        rest: Expr,
        every: Sequence[int],
        firsts: Sequence[Expr],
        wanted: Sequence[str],
        body: list[Stmt],
        block: Sequence[int],
    ) -> list[Var]:
        """The coordinates of the first element of a block by its number in a box, which are set in
        `body`."""
        out = list[Var]()
        for n, (first, name) in enumerate(zip(firsts, wanted)):
            inner = prod(every[n + 1 :])
            out.append(Var(self.names.new(name)))
            body.append(Decl(out[-1].name, self.coordinate, origin=self.origin))
            if every[n] == 1:
                body.append(self._assign(out[-1], first))
                continue
            step = rest if inner == 1 else Bin("/", rest, Const(inner))
            step = Bin("*", Const(block[n]), step) if block[n] > 1 else step
            rest = Bin("%", rest, Const(inner)) if inner > 1 else Const(0)
            body.append(self._assign(out[-1], Bin("+", first, step)))
        return out

    def _box_of(self, r: Region, e: int) -> tuple[Expr, Expr]:
        """The ends of what is computed of a field: what the tile stores where nothing else is."""
        if r.uses:
            first, last = self._ends[r.field, e]
            return Var(first), Var(last)
        return self._owned(r, e, 0), Bin("-", self._owned(r, e, 1), Const(1))

    def _iterations(self, r: Region, e: int, a: Along, loop: For) -> tuple[Expr, Expr]:
        """The first and the last iteration that writes elements of the box."""
        first, last = self._box_of(r, e)
        first, last = a.first(first), a.last(last)
        lows, highs = [first, loop.lo], [last, Bin("-", loop.hi, Const(1))]
        whole = a.factor == 1 and len(r.pieces) == 1
        if whole and r.uses:
            return first, last
        if (
            whole
            and r.shared[e][1] == 1
            and poly(r.ends[e][0]) == poly(cover(self.regions, r.shared[e][0])[0])
        ):
            return first, least(highs)
        return greatest(lows), least(highs)

    def _in_box(self, r: Region, p: Piece, values: dict[str, Expr]) -> list[Expr]:
        """That an element lies in the box, where the iterations do not say it."""
        tests = list[Expr]()
        for e, (a, at) in enumerate(zip(p.along, p.position(values))):
            first, last = self._box_of(r, e)
            if not a.var or not (a.factor == 1 or a.exact):
                tests += [Bin("<=", first, at), Bin("<=", at, last)]
        return tests

    def _set(
        self, r: Region, p: Piece, values: dict[str, Expr], ranges: Mapping[str, Ends]
    ) -> tuple[Stmt, ...]:
        at = p.position(values)
        places = {x.load: x for x in p.reads if x.field in self._tiles or x.field in self._own}

        def read(x: Load) -> Expr | None:
            if x not in places:
                return None
            of = places[x].field
            return self._own[of] if of in self._own else self._in_tile(of, places[x].index)

        scalars, value = values_at(p.template, values, read, self.names.new)
        if self._interior is not None:
            scalars, value = self._interior.settled_values(scalars, value, ranges)
        out = list[Stmt]()
        for name, type, e in scalars:
            out += [Decl(name, type, origin=self.origin), self._assign(Var(name), e)]
        stored = Load(r.field.array, r.field.index(at))
        if not r.uses:
            return (*out, self._assign(stored, value))
        own = self._own.get(r.field) or self._in_tile(r.field, at)
        out.append(self._assign(own, value))
        if r.shared:
            tests = list[Expr]()
            for d, x in enumerate(at):
                first, last = self._box_of(r, d)
                lowest, behind = self._owned(r, d, 0), self._owned(r, d, 1)
                tests += [] if self._all(Bin("<=", lowest, first)) else [Bin("<=", lowest, x)]
                tests += [] if self._all(Bin("<", last, behind)) else [Bin("<", x, behind)]
            store = self._assign(stored, own)
            out.append(If(conjunction(tests), (store,), origin=self.origin) if tests else store)
        return tuple(out)

    def _assign(self, target: Var | Load, value: Expr) -> Assign:
        return Assign(target, value, origin=self.origin)

    def _in_tile(self, f: Field, at: tuple[Expr, ...]) -> Load:
        """An element in local memory."""
        index = tuple(apart(x, self._first(f, e)) for e, x in enumerate(at))
        return Load(self._tiles[f], index or (Const(0),))

    def _first(self, f: Field, e: int) -> Expr:
        """Where the tile of a field begins."""
        frame = self._schedule.frames.get(f)
        return Var(self._ends[f, e][0]) if frame is None else self._firsts[frame.number, e]
