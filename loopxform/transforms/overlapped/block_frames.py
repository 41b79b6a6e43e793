"""The order of what a block tile computes: phases between barriers, and in each the loops over its
work-items.

    g[y][x] = c[2*y][2*x];   b[y][x] = c[2*y+1][2*x];      one loop
    r[y][x] = g[y][x-1] + b[y-1][x];                       another phase
    out[2*y][2*x] = r[y][x];   out[2*y][2*x+1] = g[y][x];  the same loop: r[y][x] is its own element

What the loops over fields of one scale have in common is a `Frame`, a box around theirs: where an
element lies is then worked out once for all, and is the same place in the tiles of all. What a
work-item reads at the very place that it computes waits for no barrier, and what nothing else reads
stays in a register.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from loopxform.ir.affine import poly, simplify
from loopxform.ir.nodes import Bin, Const, Expr, Var
from loopxform.records import record
from loopxform.transforms.overlapped.block_regions import (
    COORDINATE,
    Region,
    begins,
    disjoint,
    iterations,
)
from loopxform.transforms.overlapped.block_stages import Piece
from loopxform.transforms.overlapped.boxes import greatest, least
from loopxform.transforms.overlapped.spans import Span, difference
from loopxform.transforms.overlapped.stages import Field

Spans = tuple[Span, ...]


@record
class Member:
    """A piece of a region, and the spans of its coordinates in a frame: those of the element that
    it writes, or its iterations where it writes every second one (None: it has none)."""

    region: Region
    piece: Piece
    spans: Spans | None

    @property
    def by_element(self) -> bool:
        """Whether a coordinate of the frame is one of the element."""
        return all(a.factor == 1 for a in self.piece.along)

    def offset(self, e: int) -> Expr:
        """What is between a coordinate of the frame and the counter."""
        return self.piece.along[e].offset if self.by_element else Const(0)

    def coordinates(self) -> tuple[Expr, ...]:
        """In the frame, as expressions of the counters."""
        every = ((Var(a.var), a.offset) for a in self.piece.along)
        return tuple(Bin("+", v, o) if self.by_element else v for v, o in every)


@record
class Frame:
    """The hull of the spans of members, its number among the frames, the most elements that there
    are (None: not known), and where the first tile `begins`."""

    number: int
    spans: Spans
    members: tuple[Member, ...]
    most: tuple[int | None, ...]
    begins: tuple[int | None, ...]

    def widths(self, sizes: tuple[int, ...]) -> tuple[int, ...]:
        """Its extents, of tiles of some sizes: no more than there are elements."""
        every = ((s.width(sizes, self.begins), most) for s, most in zip(self.spans, self.most))
        return tuple(n if most is None else min(n, max(1, most)) for n, most in every)


@record
class Loop:
    """Members that a loop over the work-items computes together; their own frame, or none where one
    of them stands alone."""

    members: tuple[Member, ...]
    frame: Frame | None


@record
class Schedule:
    """The loops of each phase; `every` frame, and that of fields that have their tiles in one,
    around those of their loops; the fields that need no tile, each element of which one work-item
    computes and reads."""

    phases: tuple[tuple[Loop, ...], ...]
    every: tuple[Frame, ...]
    frames: Mapping[Field, Frame]
    private: frozenset[Field]

    def tile(
        self, r: Region, widths: tuple[int, ...], sizes: tuple[int, ...]
    ) -> tuple[int, ...] | None:
        """The extents of the tile of a region, whose box has some `widths`; None where it has
        none."""
        if not r.uses or r.field in self.private:
            return None
        frame = self.frames.get(r.field)
        return widths if frame is None else frame.widths(sizes)


def schedule(regions: Sequence[Region]) -> Schedule:
    """The phases of regions, as few as there can be. What nothing reads is computed in the last
    loop of its scale, where the boxes are the smallest."""
    every = sorted(
        (Member(r, p, _spans(r, p)) for r in regions for p in r.pieces),
        key=lambda m: m.piece.number,
    )
    alike = _alike(every)
    phase = _phases(every, alike)
    groups: dict[tuple[int, int], list[Member]] = {}
    for n, m in enumerate(every):
        groups.setdefault((phase[n], alike[m.piece.number]), []).append(m)
    shared = {key for key, together in groups.items() if len(together) > 1}
    classes = sorted({c for _, c in shared})
    of_class = {c: [m for m in every if alike[m.piece.number] == c] for c in classes}
    at = begins(regions)
    frames = {c: _frame(n, of_class[c], at) for n, c in enumerate(classes)}
    framed = {m.piece.field: frames[c] for c in frames for m in of_class[c] if m.by_element}
    own = [*frames.values()]
    loops: list[list[Loop]] = [[] for _ in range(1 + max(phase))]
    for (n, c), together in groups.items():
        frame = frames.get(c) if len(together) > 1 else None
        if frame is not None:
            tight = _frame(len(own), together, at)
            frame = frame if tight.spans == frame.spans else tight
            own += [frame] if frame is tight else []
        loops[n].append(Loop(tuple(together), frame))
    phases = tuple(map(tuple, loops))
    return Schedule(phases, tuple(own), framed, _private(phases))


def _phases(every: Sequence[Member], alike: Mapping[int, int]) -> list[int]:
    """The phase of each member: the first one, or the last of its scale where nothing reads what it
    computes and no register has what it is made of."""
    waits = [{k: _waits(m, every[k], alike) for k in range(n)} for n, m in enumerate(every)]
    phase = list[int]()
    for of in waits:
        phase.append(max((phase[k] + how for k, how in of.items() if how != NOT), default=0))
    kinds = [alike[m.piece.number] for m in every]
    tiled = {k for of in waits for k, how in of.items() if how == LATER}
    last = {kind: max(n for k, n in zip(kinds, phase) if k == kind) for kind in kinds}
    free = (
        not m.region.uses and all(k in tiled for k, how in of.items() if how == SAME)
        for m, of in zip(every, waits)
    )
    return [last[kind] if late else n for n, kind, late in zip(phase, kinds, free)]


def _spans(r: Region, p: Piece) -> Spans | None:
    """Where the coordinates of a piece in a frame lie; None where it has none."""
    if not all(a.var for a in p.along):
        return None
    if all(a.factor == 1 for a in p.along):
        return r.spans
    out = list[Span]()
    for a, span in zip(p.along, r.spans):
        if a.exact:
            out.append(iterations(span, a))
            continue
        found = span.read(a.iteration(COORDINATE), COORDINATE.name)
        if found is None:
            return None
        out.append(found)
    return tuple(out)


def _ends(m: Member, e: int) -> tuple[Expr, Expr]:
    """The first and the last coordinate in a frame, wherever the tile is."""
    if m.by_element:
        return m.region.ends[e]
    a = m.piece.along[e]
    loop = next(x for x in m.piece.template.loops if x.var == a.var)
    return m.piece.known(loop.lo), m.piece.known(simplify(Bin("-", loop.hi, Const(1))))


def _alike(every: Sequence[Member]) -> dict[int, int]:
    """The class of each piece: those of a class may have one frame."""
    hulls: list[Spans] = []
    out: dict[int, int] = {}
    alone = -1
    for m in every:
        if m.spans is None or not all(y.spans for y in every if y.region is m.region):
            out[m.piece.number], alone = alone, alone - 1
            continue
        for n, hull in enumerate(hulls):
            joined = _joined(hull, m.spans)
            if joined is not None:
                hulls[n], out[m.piece.number] = joined, n
                break
        else:
            out[m.piece.number] = len(hulls)
            hulls.append(m.spans)
    return out


def _joined(a: Spans, b: Spans) -> Spans | None:
    if len(a) != len(b):
        return None
    every = [x.with_(y) for x, y in zip(a, b)]
    return None if None in every else tuple(x for x in every if x is not None)


def _frame(number: int, members: Sequence[Member], at: tuple[int | None, ...]) -> Frame:
    hull: Spans | None = None
    for m in members:
        assert m.spans is not None
        hull = m.spans if hull is None else _joined(hull, m.spans)
        assert hull is not None
    assert hull is not None
    most = tuple(_most(members, e) for e in range(len(hull)))
    return Frame(number, hull, tuple(members), most, at)


def _most(members: Sequence[Member], e: int) -> int | None:
    ends = [_ends(m, e) for m in members]
    apart = difference(greatest(hi for _, hi in ends), least(lo for lo, _ in ends))[1]
    return None if apart is None else apart + 1


NOT, SAME, LATER = -1, 0, 1
"""How a piece waits for another: not at all, in the same loop, behind a barrier."""


def _waits(m: Member, before: Member, alike: Mapping[int, int]) -> int:
    if m.region is before.region:
        return NOT if disjoint(m.piece, before.piece) else LATER
    reads = [r for r in m.piece.reads if r.field == before.piece.field]
    if not reads:
        return NOT
    together = alike[m.piece.number] == alike[before.piece.number] and before.by_element
    at = tuple(map(poly, m.coordinates()))
    return SAME if together and all(tuple(map(poly, r.index)) == at for r in reads) else LATER


def _private(phases: Sequence[Sequence[Loop]]) -> frozenset[Field]:
    """Fields each element of which is written once, and read in the loop that writes it alone."""
    loop_of = {m.piece.number: x for loops in phases for x in loops for m in x.members}
    out = set[Field]()
    for loops in phases:
        for x in loops:
            for m in x.members:
                r = m.region
                own = r.uses and len(r.pieces) == 1 and m.by_element and not r.shared
                if own and all(_at_own(u.piece, m, x, loop_of) for u in r.uses):
                    out.add(r.field)
    return frozenset(out)


def _at_own(reader: Piece, m: Member, x: Loop, loop_of: Mapping[int, Loop]) -> bool:
    """Whether a piece reads elements of a member where it computes its own, in the same loop."""
    if loop_of[reader.number] is not x:
        return False
    own = next(y for y in x.members if y.piece.number == reader.number)
    at = tuple(map(poly, own.coordinates()))
    reads = (r for r in reader.reads if r.field == m.piece.field)
    return all(tuple(map(poly, r.index)) == at for r in reads)
