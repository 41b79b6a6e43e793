"""Two accesses as one system: which iterations of one meet which of the other on an element.

Names of the program stand for parameters, and for loop variables at the source; `i~` is the step to
the sink along a common loop, counted the way the loop runs; `j'` is any other variable of the sink.
"""

from __future__ import annotations

from collections.abc import Mapping

from loopxform.analysis.accesses import Access, Subscripts
from loopxform.analysis.directions import Pattern, Refinement
from loopxform.analysis.linear import (
    Conj,
    Constraint,
    Lin,
    at_least,
    conj_names,
    const,
    equal,
    plus,
    variable,
)
from loopxform.analysis.region import Instance, Loop
from loopxform.analysis.sets import TooHard
from loopxform.analysis.system import Point
from loopxform.ir.types import Scalar
from loopxform.ir.visit import Path
from loopxform.records import record


@record
class Witness:
    """Sizes and two iterations between which a dependence exists."""

    params: dict[str, int]
    source: dict[str, int]
    sink: dict[str, int]

    def beyond(self, types: Mapping[str, Scalar]) -> frozenset[str]:
        """The names that would need values that their types do not have."""
        found = (*self.params.items(), *self.source.items(), *self.sink.items())
        numbers = ((k, v, types[k]) for k, v in found if k in types and types[k].is_integer)
        return frozenset(k for k, v, t in numbers if not t.least <= v <= t.most)

    @property
    def ends(self) -> tuple[str, str]:
        """The two iterations: `i=3` and `i=6`."""
        return _values(self.source), _values(self.sink)

    @property
    def sizes(self) -> str:
        """The sizes for which they meet: ` (n=7)`."""
        return f" ({_values(self.params)})" if self.params else ""

    def __str__(self) -> str:
        both = f"{_values(self.source)} and {_values(self.sink)}".strip()
        sizes = f"({_values(self.params)})" if self.params else ""
        return f"{both if both != 'and' else ''} {sizes}".strip()


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


class Pair:
    """The systems of one ordered pair of accesses."""

    def __init__(
        self, source: Instance, a: Access, sink: Instance, b: Access, loops: tuple[Loop, ...]
    ) -> None:
        self.source, self.a, self.sink, self.b, self.loops = source, a, sink, b, loops
        self.steps = tuple(f"{x.var}~" for x in loops)
        later = {x.var for x in sink.loops[len(loops) :]} | {x.var for x in loops if not x.sign}
        self.moved: dict[str, Lin] = {name: {f"{name}'": 1} for name in later}
        for x in loops:
            if x.sign:
                self.moved[x.var] = {x.var: 1, f"{x.var}~": x.sign}

    def systems(self) -> list[Conj]:
        """One conjunction per combination of cases."""
        private = self.a.storage.loops
        same = tuple(Constraint(True, {step: 1}) for step in self.steps[:private])
        left = [(s, (*d, *c)) for d in self.source.domain for s, c in self.a.cases]
        right = [
            (tuple(x if x is None else self._at_sink(x) for x in s), self._conj((*d, *c)))
            for d in self.sink.domain
            for s, c in self.b.cases
        ]
        met = [(*same, *_meet(s, t), *when, *also) for s, when in left for t, also in right]
        return [(*conj, *self._values(conj)) for conj in met]

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

    def _at_sink(self, lin: Lin) -> Lin:
        out: Lin = {}
        for name, c in lin.items():
            value = self.moved.get(name)
            if value is None:
                value = {f"{name}'": 1} if name.startswith("$") else {name: 1}
            out = plus(out, value, c)
        return out

    def _conj(self, conj: Conj) -> Conj:
        return tuple(Constraint(c.eq, self._at_sink(c.lin)) for c in conj)

    def witness(self, found: Refinement, pattern: Pattern) -> tuple[bool, Witness | None]:
        """Whether one pattern of the pair's refined system may occur, and numbers for it; of the
        open signs the first is taken as `>` where it can be, the one that forbids most."""
        first = pattern.index("*") if "*" in pattern else len(pattern)
        rest: Pattern = tuple("=" if p == "*" else p for p in pattern[first + 1 :])
        closed: Pattern = (*pattern[:first], ">", *rest)
        for chosen in (closed, pattern) if first < len(pattern) else (pattern,):
            try:
                point = found.point(chosen)
            except TooHard:
                return True, None
            if point is not None:
                return True, self._read(point)
        return False, None

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
        return Witness(params, source, sink)


def _meet(a: Subscripts, b: Subscripts) -> Conj:
    return tuple(equal(x, y) for x, y in zip(a, b) if x is not None and y is not None)
