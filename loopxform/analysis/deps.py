"""Dependences: two accesses of one element, at least one a write, in the order they run.

    S(i) -> T(j) on x  iff  i in domain(S), j in domain(T), subscripts equal, S(i) runs before T(j)

Memory-based: a write in between does not end a dependence (privatisation asks that question).
Storage declared in a loop body belongs to one iteration of the loops around its declaration, as if
expanded by them. Distinct array parameters are assumed not to overlap (`assumptions`).
(Allen and Kennedy, "Optimizing Compilers for Modern Architectures", chapter 2; the matrix is that
of Cholewa-Madsen and Holst, step 0.)
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias

from loopxform.analysis.accesses import Access, Storage
from loopxform.analysis.assumptions import settable
from loopxform.analysis.dependence import Dependence, Distance, Endpoint, Kind, rank
from loopxform.analysis.directions import Pattern, Refinement, Row
from loopxform.analysis.pairs import Comparison, Ends, Pair, Witness, exclusive
from loopxform.analysis.reductions import Reduction, reductions
from loopxform.analysis.region import Instance, Region, region
from loopxform.analysis.rooms import Where, where
from loopxform.analysis.solutions import Solution, any_direction, joined_rows, solution_of
from loopxform.budget import spend
from loopxform.ir.memo import remembered
from loopxform.ir.nodes import Function, If, Opaque
from loopxform.ir.printer import expr_text
from loopxform.ir.visit import Path, enclosing, walk
from loopxform.records import slotted

MAX_SYSTEMS = 256
"""Combinations of cases per pair of accesses; beyond it every direction is assumed."""

FEW = 3
"""Systems of a pair that are solved before what holds in all of them is."""


def dependences(
    fn: Function, scope: Path | None = None, *, counters: bool = False
) -> tuple[Dependence, ...]:
    """All memory-based dependences among the statements below `scope` (default: the function), one
    row per kind, pair of accesses and direction vector; loops outside the scope stand still.
    `counters`: also of the variables of inner loops that are read after the scope (`region`)."""
    return dependences_among(region(fn, scope, counters=counters))


def dependences_of(
    names: Collection[str], fn: Function, scope: Path, *, counters: bool = False
) -> tuple[Dependence, ...]:
    """The `dependences` of some storages."""
    search = _search(region(fn, scope, counters=counters))
    return search.rows(names)


@remembered(256)
def dependences_among(where: Region) -> tuple[Dependence, ...]:
    """The dependences among the instances of a region, which may be some of a larger one."""
    return _search(where).rows()


@remembered(256)
def carried_rows(where: Region) -> tuple[Dependence, ...]:
    """The dependences between iterations of loops, as far as they differ: of the pairs of accesses
    that meet the same elements in the same iterations, the first stands for all."""
    return _search(where).carried()


@remembered(256)
def carried_by(where: Region) -> Mapping[Path, tuple[Dependence, ...]]:
    """Of the `carried_rows` of each loop the `worst`, one for each storage."""
    return _search(where).worst()


def carried_among(
    where: Region,
    wanted: Callable[[str, Path | None], bool],
    alike: Callable[[Path], Hashable] = lambda _: None,
) -> tuple[Dependence, ...]:
    """The `carried_rows` of the storages that are `wanted`, each by its name and where it is
    declared; of the pairs of statements that are `alike` for the reader, the first stand for
    all."""
    return _search(where).carried_among(wanted, alike)


def pairs(where: Region) -> int:
    """How many pairs of accesses `dependences_among` looks at."""
    by_storage = _search(where).by_storage.values()
    return sum(len(uses) ** 2 for uses in by_storage if any(x.access.write for x in uses))


Key: TypeAlias = tuple[Hashable, ...]


@slotted
class _Use:
    """An access by a statement, the number `n` of its region. Those of one `kind` are of the same
    elements in the same iterations, statements with the same `runs` run in the same ones."""

    n: int
    runs: int
    instance: Instance
    access: Access
    kind: int
    exact: bool


def _may_depend(a: Access, b: Access) -> bool:
    """Whether two accesses of one element must stay in their order."""
    commute = bool(a.atomic) and a.atomic == b.atomic
    return (a.write or b.write) and not commute


def _first(uses: Sequence[_Use], alike: Callable[[Path], Hashable] = lambda _: None) -> list[_Use]:
    """The first of the accesses that depend alike on those of other iterations, by statements that
    are `alike`."""
    first: dict[Key, _Use] = {}
    for x in uses:
        i, a = x.instance, x.access
        first.setdefault((x.kind, a.write, i.exact, a.exact, a.atomic, alike(i.path)), x)
    return list(first.values())


def _kind(x: _Use, y: _Use) -> Kind:
    if x.access.write:
        return "output" if y.access.write else "flow"
    return "anti"


@remembered(16)
def _search(where: Region) -> _Search:
    return _Search(where)


class _Search:
    """Every ordered pair of accesses of a region."""

    def __init__(self, region: Region) -> None:
        self.region = region
        self.compared = Comparison(region)
        self.known: dict[Key, tuple[Solution, ...]] = {}
        self.solved: dict[tuple[int, int, bool], tuple[Solution, ...]] = {}
        self.reductions: dict[Path, dict[str, tuple[Reduction, frozenset[Path]]]] = {}
        self.moving = _moving(region)
        self.odd = dict[Path, bool]()
        ends = (Endpoint(x.label, x.loc, x.path) for x in region.instances)
        once = dict[Endpoint, Endpoint]()
        self.ends = [once.setdefault(x, x) for x in ends]
        self.by_storage: dict[tuple[str, Path | None], list[_Use]] = {}
        self.between: dict[tuple[int, int], Ends] = {}
        kinds: dict[Key, int] = {}
        places: dict[Where, int] = {}
        for n, instance in enumerate(region.instances):
            runs = places.setdefault(where(instance), len(places))
            for access in instance.accesses:
                key = (access.storage.name, access.storage.decl)
                meaning = (runs, access.storage.loops, access.meaning)
                kind = kinds.setdefault(meaning, len(kinds))
                exact = instance.exact and access.exact
                use = _Use(n, runs, instance, access, kind, exact)
                self.by_storage.setdefault(key, []).append(use)

    def rows(self, names: Collection[str] | None = None) -> tuple[Dependence, ...]:
        """Those of storages of some `names` (None: all)."""
        found = self.by_storage.items()
        return self._among(uses for (x, _), uses in found if names is None or x in names)

    def carried(self) -> tuple[Dependence, ...]:
        return self._among(map(_first, self.by_storage.values()), within=False)

    def carried_among(
        self, wanted: Callable[[str, Path | None], bool], alike: Callable[[Path], Hashable]
    ) -> tuple[Dependence, ...]:
        found = (uses for key, uses in self.by_storage.items() if wanted(*key))
        return self._among((_first(uses, alike) for uses in found), within=False)

    def worst(self) -> Mapping[Path, tuple[Dependence, ...]]:
        """Of each storage the worst row that each loop carries."""
        out: dict[Path, list[Dependence]] = {}
        for uses in map(_first, self.by_storage.values()):
            for path, d in self._worst(uses).items():
                out.setdefault(path, []).append(d)
        return {path: tuple(rows) for path, rows in out.items()}

    def _worst(self, uses: Sequence[_Use]) -> Mapping[Path, Dependence]:
        """That of one storage: pairs of accesses that cannot be worse are passed over."""
        found: dict[Path, Dependence] = {}
        ranks: dict[Path, int] = {}
        for a in uses if any(x.access.write for x in uses) else ():
            spend()
            for b in uses:
                if not _may_depend(a.access, b.access):
                    continue
                least = rank(_kind(a, b), exact=a.exact and b.exact)
                paths = self._ends(a, b).paths[a.access.storage.loops :]
                better = {path for path in paths if ranks.get(path, least + 1) > least}
                rows: dict[Key, Dependence] = {}
                if better and (solutions := self._solved(a, b)):
                    self._between(a, b, solutions, rows, within=False)
                for d in rows.values():
                    assert d.carrier is not None
                    if ranks.get(d.carrier, d.rank + 1) > d.rank:
                        ranks[d.carrier], found[d.carrier] = d.rank, d
        return found

    def _ends(self, x: _Use, y: _Use) -> Ends:
        """What the pairs of accesses of two statements have in common."""
        key = x.runs, y.runs
        found = self.between.get(key)
        if found is None:
            found = self.between[key] = self.compared.ends(x.instance, y.instance)
        return found

    def _among(
        self, storages: Iterable[Sequence[_Use]], *, within: bool = True
    ) -> tuple[Dependence, ...]:
        """The dependences among the accesses of each of some storages, those `within` one iteration
        of all loops included: of those that differ in nothing but whether they are proven, the last
        that is."""
        out: dict[Key, Dependence] = {}
        for uses in storages:
            if not any(x.access.write for x in uses):
                continue
            for a in uses:
                spend()
                for b in uses:
                    if _may_depend(a.access, b.access) and (found := self._solved(a, b)):
                        self._between(a, b, found, out, within=within)
        return tuple(out.values())

    def _between(
        self,
        x: _Use,
        y: _Use,
        solutions: Sequence[Solution],
        out: dict[Key, Dependence],
        *,
        within: bool,
    ) -> None:
        source, sink, a, b = x.instance, y.instance, x.access, y.access
        kind, exact = _kind(x, y), x.exact and y.exact
        between = self._ends(x, y)
        ends = self.ends[x.n], self.ends[y.n]
        for solution in solutions:
            row, point, distance = solution.row, solution.point, solution.distance
            reduction = None
            if solution.level is not None:
                path = between.paths[solution.level]
                reduction = self._reduction(a.storage.name, source, sink, path)
            elif not within:
                continue
            if reduction and reduction.fixed:
                distance = self._chained(row, distance, source, sink)
            op = None if reduction is None else reduction.op
            moves = self._may_move(a.storage, between.paths, solution.level)
            proven = exact and point is not None and not solution.computed and not moves
            said = (row.pattern, distance, op, row.tight)
            key = (kind, a.storage.name, a.storage.decl, *map(id, ends), between.paths, *said)
            old = out.get(key)
            if old is not None and (not proven or old.point is point):
                continue
            out[key] = Dependence(
                kind,
                a.storage.name,
                *ends,
                between.names,
                between.paths,
                row.pattern,
                distance,
                proven,
                point if proven else None,
                op,
                a.storage.decl,
                row.tight,
                None
                if proven
                else _doubt(((source, a), (sink, b)), solution.computed, moves=moves),
            )

    def _may_move(self, x: Storage, loops: tuple[Path, ...], level: int | None) -> bool:
        """Whether a pointer may be set between two accesses: in the loop that leads from one to the
        other."""
        if x.decl is not None or x.name not in self.moving:
            return False
        path = loops[len(loops) - 1 if level is None else level] if loops else self.region.scope
        if path not in self.odd:
            self.odd[path] = _is_odd(self.region.fn, path)
        return self.odd[path]

    def _reduction(
        self, name: str, source: Instance, sink: Instance, path: Path
    ) -> Reduction | None:
        """The reduction of the loop at `path` that both statements belong to."""
        if path not in self.reductions:
            found = reductions(self.region.fn, path)
            self.reductions[path] = {r.array: (r, frozenset(r.paths)) for r in found}
        known = self.reductions[path].get(name)
        if known is None or source.path not in known[1] or sink.path not in known[1]:
            return None
        return known[0]

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

    def _solved(self, a: _Use, b: _Use) -> tuple[Solution, ...]:
        """The rows of a pair; pairs of accesses that mean the same are one question, and so are
        those whose subscripts differ by the same."""
        forward = a.n < b.n and not exclusive(a.instance.path, b.instance.path)
        kinds = (a.kind, b.kind, forward)
        found = self.solved.get(kinds)
        if found is None:
            pair = self.compared.pair(a.instance, a.access, b.instance, b.access)
            key = (pair.key, forward)
            found = self.known.get(key) if any(pair.meetings) else ()
            if found is None:
                found = self.known[key] = tuple(self._solve(pair, forward=forward))
            self.solved[kinds] = found
        return found

    def _solve(self, pair: Pair, *, forward: bool) -> Iterator[Solution]:
        found: dict[Pattern, tuple[Row, Witness | None]] = {}
        if pair.combinations > MAX_SYSTEMS:
            for row in any_direction(len(pair.loops), len(pair.private), forward=forward):
                yield solution_of(row, pair.loops)
            return
        most: list[Row] | None = None
        for n, conj in enumerate(pair.systems()):
            if n == FEW:
                most = _rows_of(Refinement(pair.in_all(), pair.steps), forward=forward)
            if most is not None and all(_is_known(row, found) for row in most):
                break  # the other systems have no more rows than what holds in all of them
            refined = Refinement(conj, pair.steps)
            for row in _rows_of(refined, forward=forward):
                old, known = found.get(row.pattern, (None, None))
                occurs, point = (True, known) if known else pair.witness(conj, refined, row.pattern)
                if occurs:
                    found[row.pattern] = (joined_rows(old or row, row), point)
        for row, point in found.values():
            computed = self.region.unproven(sorted(point.params)) if point else []
            computed += sorted(point.beyond(self.region.names.types)) if point else []
            yield solution_of(row, pair.loops, point, tuple(computed))


def _rows_of(refined: Refinement, *, forward: bool) -> list[Row]:
    return refined.carried() + (refined.independent() if forward else [])


def _is_known(row: Row, found: Mapping[Pattern, tuple[Row, Witness | None]]) -> bool:
    """Whether a row was found, with a witness, as it is."""
    same, witness = found.get(row.pattern, (None, None))
    return same == row and witness is not None


def _moving(where: Region) -> frozenset[str]:
    """The pointers that statements of a region may set, because what they do is not known."""
    if not where.facts.opaque:
        return frozenset()
    return frozenset(p.name for p in where.fn.objects if settable(p))


def _is_odd(fn: Function, path: Path) -> bool:
    """Whether there are such statements below `path`."""
    body = enclosing(fn, path)[-1:] if path else fn.body
    return any(isinstance(s, Opaque) and not s.is_library_call for _, s in walk(body))


def _doubt(ends: Iterable[tuple[Instance, Access]], computed: Sequence[str], *, moves: bool) -> str:
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
    if computed:
        return f"which values {', '.join(computed)} may have is not known"
    return "no sizes were found for which both iterations stay inside their arrays"
