"""Dependences: two accesses of one element, at least one a write, in the order they run.

    S(i) -> T(j) on x  iff  i in domain(S), j in domain(T), subscripts equal, S(i) runs before T(j)

Memory-based: a write in between does not end a dependence (privatisation asks that question).
Storage declared in a loop body belongs to one iteration of the loops around its declaration, as if
expanded by them. Distinct array parameters are assumed not to overlap (`assumptions`).
(Allen and Kennedy, "Optimizing Compilers for Modern Architectures", chapter 2; the matrix is that
of seed 000, step 0.)
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import field, replace
from typing import Literal, TypeAlias

from loopxform.analysis.accesses import Access
from loopxform.analysis.assumptions import settable
from loopxform.analysis.directions import OPEN, SAME, Pattern, Refinement, Row
from loopxform.analysis.pairs import Pair, Witness, common_loops, exclusive
from loopxform.analysis.reductions import Reduction, reductions
from loopxform.analysis.region import Instance, Loop, Region, region
from loopxform.budget import spend
from loopxform.ir.memo import remembered
from loopxform.ir.nodes import Function, If, Opaque
from loopxform.ir.printer import expr_text
from loopxform.ir.visit import Path, enclosing, walk
from loopxform.records import record
from loopxform.source import Loc

Kind: TypeAlias = Literal["flow", "anti", "output"]
Distance: TypeAlias = tuple[int | None, ...]


@record
class Endpoint:
    """A statement at one end of a dependence."""

    label: str
    loc: Loc | None
    path: Path

    def __str__(self) -> str:
        return self.words(self.loc.file if self.loc else None)

    def words(self, file: str | None) -> str:
        """`S0 (line 5)`, for a reader of a file."""
        return f"{self.label} ({self.place(file)})" if self.loc else self.label

    def place(self, file: str | None) -> str:
        """`line 5`; the label where nobody knows."""
        return self.loc.seen_from(file) if self.loc else self.label

    def json(self) -> dict[str, object]:
        file, line = (self.loc.file, self.loc.line) if self.loc else ("", 0)
        return {"statement": self.label, "file": file, "line": line}


@record
class Dependence:
    """One row of the dependence matrix. `loops` are the variables of the common loops, `loop_paths`
    where they are; `level` is the index of the loop that carries it (None: within an iteration).
    `distance` counts iterations, None where it is not constant; a reduction goes from each
    iteration to the next. While `exact`, the dependence exists at `point`; otherwise it could not
    be excluded, and `doubt` says why. While `tight`, every direction that the vector names
    occurs."""

    kind: Kind
    array: str
    source: Endpoint
    sink: Endpoint
    loops: tuple[str, ...]
    loop_paths: tuple[Path, ...]
    direction: Pattern
    distance: Distance
    exact: bool
    point: Witness | None = field(default=None, compare=False)
    reduction: str | None = None
    declared: Path | None = None
    tight: bool = True
    doubt: str | None = field(default=None, compare=False)

    def __repr__(self) -> str:
        return f"<Dependence {self.kind} {self.source}->{self.sink} on {self.array} {self.vector}>"

    @property
    def level(self) -> int | None:
        return next((n for n, d in enumerate(self.direction) if d != "="), None)

    @property
    def carrier(self) -> Path | None:
        """The loop that carries the dependence."""
        return None if self.level is None else self.loop_paths[self.level]

    @property
    def witness(self) -> str | None:
        return None if self.point is None else str(self.point)

    @property
    def vector(self) -> str:
        return f"({', '.join(self.direction)})"

    def json(self) -> dict[str, object]:
        """The row as the contract of `check --format json` has it (DESIGN.md, section 7)."""
        return {
            "kind": self.kind,
            "array": self.array,
            "source": self.source.json(),
            "sink": self.sink.json(),
            "loops": list(self.loops),
            "direction": list(self.direction),
            "distance": list(self.distance),
            "reduction": self.reduction,
            "witness": self.witness,
        }


MAX_SYSTEMS = 256
"""Combinations of cases per pair of accesses; beyond it every direction is assumed."""


def dependences(
    fn: Function, scope: Path | None = None, *, counters: bool = False
) -> tuple[Dependence, ...]:
    """All memory-based dependences among the statements below `scope` (default: the function), one
    row per kind, pair of accesses and direction vector; loops outside the scope stand still.
    `counters`: also of the variables of inner loops that are read after the scope (`region`)."""
    return dependences_among(region(fn, scope, counters=counters))


@remembered(256)
def dependences_among(where: Region) -> tuple[Dependence, ...]:
    """The dependences among the instances of a region, which may be some of a larger one."""
    return _search(where).rows()


@remembered(256)
def carried_rows(where: Region) -> tuple[Dependence, ...]:
    """The dependences between iterations of loops, as far as they differ: of the pairs of accesses
    that meet the same elements in the same iterations, the first stands for all."""
    return _search(where).carried()


def pairs(where: Region) -> int:
    """How many pairs of accesses `dependences_among` looks at."""
    by_storage = _search(where).by_storage.values()
    return sum(len(uses) ** 2 for uses in by_storage if any(a.write for _, a in uses))


Key: TypeAlias = tuple[object, ...]
Use: TypeAlias = tuple[int, Access]


def _where(x: Instance) -> Key:
    """The iterations of a statement, as they are compared."""
    return id(x.domain), tuple(loop.path for loop in x.loops)


@remembered(16)
def _search(where: Region) -> _Search:
    return _Search(where)


class _Search:
    """Every ordered pair of accesses of a region."""

    def __init__(self, where: Region) -> None:
        self.region = where
        self.known: dict[Key, list[tuple[Row, Witness | None]]] = {}
        self.reductions: dict[Path, tuple[Reduction, ...]] = {}
        self.by_storage: dict[tuple[str, Path | None], list[Use]] = {}
        self.moving = _moving(where)
        self.odd = dict[Path, bool]()
        for n, instance in enumerate(where.instances):
            for access in instance.accesses:
                key = (access.storage.name, access.storage.decl)
                self.by_storage.setdefault(key, []).append((n, access))

    def rows(self) -> tuple[Dependence, ...]:
        return self._among(self.by_storage.values())

    def carried(self) -> tuple[Dependence, ...]:
        rows = self._among(map(self._first, self.by_storage.values()))
        return tuple(d for d in rows if d.level is not None)

    def _first(self, uses: Sequence[Use]) -> list[Use]:
        """The first of the accesses that depend alike."""
        first: dict[Key, Use] = {}
        for use in uses:
            first.setdefault(self._alike(*use), use)
        return list(first.values())

    def _alike(self, n: int, a: Access) -> Key:
        """What two accesses have in common where they depend alike on those of other iterations."""
        instance = self.region.instances[n]
        return (*_where(instance), a.storage.loops, a.meaning, a.write, instance.exact, a.exact)

    def _among(self, storages: Iterable[Sequence[Use]]) -> tuple[Dependence, ...]:
        """The dependences among the accesses of each of some storages."""
        out: dict[Dependence, Dependence] = {}
        for uses in storages:
            if not any(a.write for _, a in uses):
                continue
            for n, a in uses:
                spend()
                for m, b in uses:
                    if not (a.write or b.write):
                        continue
                    for d in self._between(n, a, m, b):
                        out.setdefault(replace(d, exact=True), d)
                        if d.exact:
                            out[d] = d
        return tuple(out.values())

    def _between(self, n: int, a: Access, m: int, b: Access) -> list[Dependence]:
        source, sink = self.region.instances[n], self.region.instances[m]
        kind: Kind = "output" if a.write and b.write else "flow" if a.write else "anti"
        loops = common_loops(source, sink)
        exact = source.exact and sink.exact and a.exact and b.exact
        out = []
        for row, point in self._solved(n, a, m, b, loops):
            reduction = self._reduction(a.storage.name, source, sink, loops, row.pattern)
            computed = self.region.unproven(sorted(point.params)) if point else []
            computed += sorted(point.beyond(self.region.names.types)) if point else []
            moves = a.storage.decl is None and self._may_move(a.storage.name, loops, row.pattern)
            proven = exact and point is not None and not computed and not moves
            distance = _iterations(row.distance, loops)
            out.append(
                Dependence(
                    kind,
                    a.storage.name,
                    Endpoint(source.label, source.loc, source.path),
                    Endpoint(sink.label, sink.loc, sink.path),
                    tuple(x.var for x in loops),
                    tuple(x.path for x in loops),
                    row.pattern,
                    self._chained(row, distance, source, sink)
                    if reduction and reduction.fixed
                    else distance,
                    proven,
                    point if proven else None,
                    None if reduction is None else reduction.op,
                    a.storage.decl,
                    row.tight,
                    None if proven else _doubt(((source, a), (sink, b)), computed, moves=moves),
                )
            )
        return out

    def _may_move(self, name: str, loops: tuple[Loop, ...], p: Pattern) -> bool:
        """Whether a pointer may be set between two accesses: in the loop that leads from one to the
        other."""
        if name not in self.moving:
            return False
        level = next((n for n, d in enumerate(p) if d != "="), len(loops) - 1)
        path = loops[level].path if loops else self.region.scope
        if path not in self.odd:
            self.odd[path] = _is_odd(self.region.fn, path)
        return self.odd[path]

    def _reduction(
        self, name: str, source: Instance, sink: Instance, loops: tuple[Loop, ...], p: Pattern
    ) -> Reduction | None:
        level = next((n for n, d in enumerate(p) if d != "="), None)
        if level is None:
            return None
        path = loops[level].path
        if path not in self.reductions:
            self.reductions[path] = reductions(self.region.fn, path)
        for r in self.reductions[path]:
            if r.array == name and {source.path, sink.path} <= set(r.paths):
                return r
        return None

    def _chained(self, row: Row, distance: Distance, *ends: Instance) -> Distance:
        """A reduction goes from each iteration to the next, unless a condition may skip some."""
        level = next(n for n, d in enumerate(row.pattern) if d != "=")
        if any(d != "=" for d in row.pattern[level + 1 :]):
            return distance
        for end in ends:
            inside = end.path[len(end.loops[level].path) :]
            if any(isinstance(s, If) for s in enclosing(self.region.fn, end.path)[-len(inside) :]):
                return distance
        return (*distance[:level], 1, *distance[level + 1 :])

    def _solved(
        self, n: int, a: Access, m: int, b: Access, loops: tuple[Loop, ...]
    ) -> list[tuple[Row, Witness | None]]:
        source, sink = self.region.instances[n], self.region.instances[m]
        forward = n < m and not exclusive(source.path, sink.path)
        key: Key = (
            *_where(source), *_where(sink), a.storage.loops, a.meaning, b.meaning, forward,
        )  # fmt: skip
        if key not in self.known:
            self.known[key] = self._solve(Pair(source, a, sink, b, loops), forward=forward)
        return self.known[key]

    def _solve(self, pair: Pair, *, forward: bool) -> list[tuple[Row, Witness | None]]:
        loops = pair.loops
        found: dict[Pattern, tuple[Row, Witness | None]] = {}
        systems = pair.systems()
        if len(systems) > MAX_SYSTEMS:
            return [(row, None) for row in _anything(len(loops), forward=forward)]
        for conj in systems:
            refined = Refinement(conj, pair.steps)
            rows = refined.carried() + (refined.independent() if forward else [])
            for row in rows:
                old, known = found.get(row.pattern, (None, None))
                occurs, point = (True, known) if known else pair.witness(refined, row.pattern)
                if occurs:
                    found[row.pattern] = (_joined(old or row, row), point)
        return list(found.values())


def _moving(where: Region) -> frozenset[str]:
    """The pointers that statements of a region may set, because what they do is not known."""
    if not where.facts.opaque:
        return frozenset()
    return frozenset(p.name for p in where.fn.objects if settable(p))


def _is_odd(fn: Function, path: Path) -> bool:
    """Whether there are such statements below `path`."""
    body = enclosing(fn, path)[-1:] if path else fn.body
    return any(isinstance(s, Opaque) and not s.is_library_call for _, s in walk(body))


def _doubt(
    ends: Iterable[tuple[Instance, Access]], computed: Sequence[str], *, moves: bool
) -> str | None:
    """What about the two statements, or the numbers they depend on, is not known exactly."""
    for instance, access in ends:
        line = f" (line {instance.loc.line})" if instance.loc else ""
        if access.unknown:
            return f"which elements of {access.storage.name} are meant{line} is not known"
        if any(x is None for subscripts, _ in access.cases for x in subscripts):
            text = expr_text(access.expr) if access.expr else access.storage.name
            return f"a subscript of {text}{line} is not an affine function of the loop variables"
    for instance, access in ends:
        if not (instance.exact and access.exact):
            line = f"line {instance.loc.line}" if instance.loc else "a statement"
            return f"whether {line} runs depends on data, or on a condition that is not affine"
    if moves:
        name = next(access.storage.name for _, access in ends)
        return f"what {name} points to may change in between"
    return f"which values {', '.join(computed)} may have is not known" if computed else None


def _iterations(distance: Distance, loops: tuple[Loop, ...]) -> Distance:
    """How far the loop variables are apart, as a number of iterations."""
    return tuple(
        d if not d else d // x.step if x.sign and d % x.step == 0 else None
        for d, x in zip(distance, loops)
    )


def _joined(a: Row, b: Row) -> Row:
    """One row for the same pattern of two systems."""
    same = (x if x == y else None for x, y in zip(a.distance, b.distance))
    return Row(a.pattern, tuple(same), a.tight or b.tight)


def _anything(n: int, *, forward: bool) -> list[Row]:
    """Every direction a pair with `n` common loops can have, none of them proven."""
    rows = [Row((*SAME * k, "<", *OPEN * (n - k - 1)), (None,) * n, False) for k in range(n)]
    return [*rows, Row(SAME * n, (0,) * n, False)] if forward else rows
