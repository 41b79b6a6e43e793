"""Two accesses as one system: which iterations of one meet which of the other on an element.

Names of the program stand for parameters, and for loop variables at the source; `i~` is the step to
the sink along a common loop, counted the way the loop runs; `j'` is any other variable of the sink.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator, Mapping
from functools import cached_property
from math import gcd
from typing import TypeAlias

from loopxform.analysis.accesses import Access, Subscripts
from loopxform.analysis.directions import Pattern, Refinement
from loopxform.analysis.linear import (
    Conj,
    Constraint,
    Dnf,
    Lin,
    at_least,
    conj_names,
    const,
    plus,
    variable,
)
from loopxform.analysis.region import Instance, Loop, Region
from loopxform.analysis.rooms import Rooms, Where, where
from loopxform.analysis.sets import TooHard
from loopxform.analysis.system import Point
from loopxform.ir.types import Scalar
from loopxform.ir.visit import Path
from loopxform.records import record

ELEMENT = re.compile(r"`\w+\[\d+(, \d+)*\]`")
"""The name of an element that is what the caller gave."""


@record
class Witness:
    """Sizes, elements of arrays (`n[1]`), and two iterations between which a dependence exists."""

    params: dict[str, int]
    source: dict[str, int]
    sink: dict[str, int]
    elements: dict[str, int]

    def beyond(self, types: Mapping[str, Scalar]) -> frozenset[str]:
        """The names that would need values that their types do not have."""
        elements = ((k.partition("[")[0], v) for k, v in self.elements.items())
        found = (*self.params.items(), *self.source.items(), *self.sink.items(), *elements)
        numbers = ((k, v, types[k]) for k, v in found if k in types and types[k].is_integer)
        return frozenset(k for k, v, t in numbers if not t.least <= v <= t.most)

    @property
    def ends(self) -> tuple[str, str]:
        """The two iterations: `i=3` and `i=6`."""
        return _values(self.source), _values(self.sink)

    @property
    def sizes(self) -> str:
        """The sizes for which they meet: ` (n=7)`."""
        known = self.elements | self.params
        return f" ({_values(known)})" if known else ""

    def __str__(self) -> str:
        both = f"{_values(self.source)} and {_values(self.sink)}".strip()
        return f"{both if both != 'and' else ''}{self.sizes}".strip()


def _values(point: dict[str, int]) -> str:
    return ", ".join(f"{k}={v}" for k, v in point.items())


def common_loops(a: Instance, b: Instance) -> tuple[Loop, ...]:
    """The loops around both statements, outermost first."""
    out = []
    for x, y in zip(a.loops, b.loops):
        if x.path != y.path:
            break
        out.append(x)
    return tuple(out)


def exclusive(a: Path, b: Path) -> bool:
    """Whether the statements are in different branches of one `if`."""
    fork = next(((x, y) for x, y in zip(a, b) if x != y), (0, 0))
    return (fork[0] < 0) != (fork[1] < 0)


Cases: TypeAlias = tuple[tuple[Subscripts, Conj], ...]


class Ends:
    """Two statements, which accesses of one meet accesses of the other: what all pairs of those
    have in common."""

    def __init__(self, source: Instance, sink: Instance, rooms: Rooms | None = None) -> None:
        self.source, self.sink, self.rooms = source, sink, rooms
        self.loops = loops = common_loops(source, sink)
        self.names, self.paths = tuple(x.var for x in loops), tuple(x.path for x in loops)
        self.steps = tuple(f"{name}~" for name in self.names)
        later = {x.var for x in sink.loops[len(loops) :]} | {x.var for x in loops if not x.sign}
        self.moved: dict[str, Lin] = {name: {f"{name}'": 1} for name in later}
        for x in loops:
            if x.sign:
                self.moved[x.var] = {x.var: 1, f"{x.var}~": x.sign}
        self._cases: dict[str, Cases] = {}

    @cached_property
    def domain(self) -> tuple[Conj, ...]:
        """The iterations of the sink."""
        return tuple(map(self._conj, self.sink.domain))

    @cached_property
    def room(self) -> Conj:
        """What sizes must be for both iterations to stay inside their arrays."""
        if self.rooms is None:
            return ()
        return (*self.rooms.of(self.source), *self._conj(self.rooms.of(self.sink)))

    def at_sink(self, b: Access) -> Cases:
        """The cases of an access of the sink."""
        found = self._cases.get(b.meaning)
        if found is None:
            found = tuple(
                (tuple(x if x is None else self._lin(x) for x in s), self._conj(c))
                for s, c in b.cases
            )
            self._cases[b.meaning] = found
        return found

    def _lin(self, lin: Lin) -> Lin:
        out: Lin = {}
        for name, c in lin.items():
            value = self.moved.get(name)
            if value is None:
                value = {f"{name}'": 1} if name.startswith("$") else {name: 1}
            out = plus(out, value, c)
        return out

    def _conj(self, conj: Conj) -> Conj:
        return tuple(Constraint(c.eq, self._lin(c.lin)) for c in conj)


@record
class _Meeting:
    """A case of each access: their subscripts are equal, and what else holds of each."""

    equal: tuple[Lin, ...]
    source: Conj
    sink: Conj

    @property
    def key(self) -> Hashable:
        """The same for meetings that are alike."""
        also = repr((self.source, self.sink)) if self.source or self.sink else ""
        return tuple(frozenset(lin.items()) for lin in self.equal), also


class Pair:
    """The systems of one ordered pair of accesses."""

    def __init__(self, ends: Ends, a: Access, b: Access) -> None:
        self.ends, self.a, self.b = ends, a, b
        self.source, self.sink, self.loops = ends.source, ends.sink, ends.loops
        self.steps, self.moved = ends.steps, ends.moved
        self.private = self.steps[: a.storage.loops]
        self.meetings = tuple(tuple(self._meetings(s, c)) for s, c in a.cases)

    def _meetings(self, s: Subscripts, when: Conj) -> Iterator[_Meeting]:
        """Those of a case of the source that numbers alone do not forbid."""
        for t, also in self.ends.at_sink(self.b):
            both = ((x, y) for x, y in zip(s, t) if x is not None and y is not None)
            equations = tuple(plus(x, y, -1) for x, y in both)
            if not any(map(self._never, equations)):
                yield _Meeting(equations, when, also)

    def _never(self, lin: Lin) -> bool:
        """Whether `lin == 0` has no integer solution, whatever the bounds."""
        names = (c for k, c in lin.items() if k and k not in self.private)
        divisor, constant = gcd(*names), lin.get("", 0)
        return bool(constant % divisor) if divisor else bool(constant)

    @property
    def key(self) -> Hashable:
        """The same for pairs of one comparison whose systems are alike."""
        met = tuple(tuple(m.key for m in found) for found in self.meetings)
        return id(self.ends), self.private, met

    @property
    def combinations(self) -> int:
        """How many combinations of cases there are, also those that numbers forbid."""
        a, b = len(self.a.cases), len(self.b.cases)
        return len(self.source.domain) * a * len(self.sink.domain) * b

    def systems(self) -> Iterator[Conj]:
        """One conjunction per combination of cases that numbers alone do not forbid."""
        for d in self.source.domain:
            for found in self.meetings:
                for e in self.ends.domain:
                    for m in found:
                        yield self._system(d, m, e)

    def in_all(self) -> Conj:
        """What holds in all of the systems."""
        d, e = _common(self.source.domain), _common(self.ends.domain)
        every = [m for found in self.meetings for m in found]
        return self._system(d, every[0] if len(every) == 1 else _Meeting((), (), ()), e)

    def _system(self, d: Conj, m: _Meeting, e: Conj) -> Conj:
        same = (Constraint(True, {step: 1}) for step in self.private)
        equal = (Constraint(True, lin) for lin in m.equal)
        conj = (*same, *equal, *d, *m.source, *e, *m.sink)
        return (*conj, *self._values(conj))

    def _values(self, conj: Conj) -> Conj:
        """What the types of numbers say: unsigned ones are none below 0, `short` ones are small."""
        types = self.a.names.types
        found = ((k, types[k]) for k in sorted(conj_names(conj)) if k in types)
        out: list[Constraint] = []
        for name, t in found:
            if t.is_integer and (t.is_unsigned or t.bytes < 4):
                out.append(at_least(variable(name), const(t.least)))
            if t.is_integer and t.bytes < 4:
                out.append(at_least(const(t.most), variable(name)))
        return tuple(out)

    def witness(
        self, conj: Conj, found: Refinement, pattern: Pattern
    ) -> tuple[bool, Witness | None]:
        """Whether one pattern of the pair's refined system may occur, and numbers for it with which
        both iterations stay inside their arrays."""
        try:
            point = _first_point(found, pattern)
            if point is not None and not _is_inside(point, self.ends.room):
                room = self.ends.room
                roomy = Refinement((*conj, *room, *self._values(room)), self.steps)
                point = _first_point(roomy, pattern)
                return True, self._read(point) if point else None
        except TooHard:
            return True, None
        return point is not None, self._read(point) if point else None

    def _read(self, point: Point) -> Witness:
        source = {x.var: point.get(x.var, 0) for x in self.source.loops}
        sink = {}
        for x in self.sink.loops:
            where = self.moved.get(x.var, {x.var: 1})
            sink[x.var] = sum(c * point.get(k, 0) for k, c in where.items())
        hidden = set(source) | set(sink)
        params = {
            k: v
            for k, v in sorted(point.items())
            if k not in hidden and k[0] not in "$`" and k[-1] not in "~'"
        }
        given = {k[1:-1]: v for k, v in sorted(point.items()) if ELEMENT.fullmatch(k)}
        return Witness(params, source, sink, given)


def _common(cases: Dnf) -> Conj:
    """The constraints that stand in all cases."""
    others = [{(c.eq, frozenset(c.lin.items())) for c in conj} for conj in cases[1:]]
    first = cases[0] if cases else ()
    return tuple(c for c in first if all((c.eq, frozenset(c.lin.items())) in x for x in others))


def _first_point(found: Refinement, pattern: Pattern) -> Point | None:
    """A point of a pattern; of the open signs the first is taken as `>` where it can be, the one
    that forbids most."""
    first = pattern.index("*") if "*" in pattern else len(pattern)
    rest: Pattern = tuple("=" if p == "*" else p for p in pattern[first + 1 :])
    closed: Pattern = (*pattern[:first], ">", *rest)
    both = (closed, pattern) if first < len(pattern) else (pattern,)
    return next((p for p in map(found.point, both) if p is not None), None)


def _is_inside(point: Point, room: Conj) -> bool:
    """Whether a point is known to satisfy a room."""
    if not conj_names(room) <= point.keys():
        return False
    values = (sum(c * (point[k] if k else 1) for k, c in x.lin.items()) for x in room)
    return all(v == 0 if x.eq else v >= 0 for x, v in zip(room, values))


class Comparison:
    """Pairs of the accesses of a region, which share what they have in common."""

    def __init__(self, region: Region | None = None) -> None:
        self._rooms = None if region is None else Rooms(region)
        self._ends: dict[tuple[Where, Where], Ends] = {}

    def ends(self, source: Instance, sink: Instance) -> Ends:
        """Two statements; the same ones for statements that run in the same iterations."""
        key = where(source), where(sink)
        found = self._ends.get(key)
        if found is None:
            found = self._ends[key] = Ends(source, sink, self._rooms)
        return found

    def pair(self, source: Instance, a: Access, sink: Instance, b: Access) -> Pair:
        """An access of each of two statements."""
        return Pair(self.ends(source, sink), a, b)
