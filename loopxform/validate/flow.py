"""Where the value of a read comes from: the last statement instance that stored to its cell
(array dataflow, computed by isl), or what the array held in front of the program."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import islpy as isl

from loopxform.validate.model import Position, Program, Read, Statement


@dataclass(frozen=True)
class Sources:
    """Of a read: instances of the reading statement by those of each statement that stored the
    value, and those that read what was there at the start."""

    stores: tuple[tuple[Statement, isl.Map], ...]
    start: isl.Set

    @cached_property
    def known(self) -> isl.Set:
        """The reading instances of which it is known what they read."""
        known = self.start
        for _, m in self.stores:
            known = known.union(m.domain())
        return known.coalesce()


@dataclass
class Flow:
    """The dataflow of a program, computed for a read when it is asked for."""

    program: Program
    known: dict[int, Sources] = field(default_factory=dict)
    kept: list[Read] = field(default_factory=list)

    def sources(self, s: Statement, read: Read) -> Sources:
        if id(read) not in self.known:
            self.kept.append(read)
            self.known[id(read)] = self._sources(s, read)
        return self.known[id(read)]

    def last(self, array: str, cells: isl.Set) -> Sources:
        """Of each cell at the end; the instances of the reading are the cells themselves."""
        name = "end"
        domain = cells.set_tuple_name(name)
        to = isl.Map.identity(isl.Space.map_from_set(cells.get_space())).set_tuple_name(
            isl.dim_type.in_, name
        )
        end = (Position(1 << 20),)
        reading = Statement(name, domain, array, to, None, 0, end)  # type: ignore[arg-type]
        return self._flow(reading, to.intersect_domain(domain), self._stores(array))

    def last_of(self, s: Statement, cells: isl.Map, stores: Sequence[Statement]) -> Sources:
        """The last of these stores to the cells that a statement reads."""
        return self._flow(s, cells, stores)

    def _sources(self, s: Statement, read: Read) -> Sources:
        return self._flow(s, read.cells, self._stores(read.array))

    def _stores(self, array: str) -> list[Statement]:
        return [w for w in self.program.statements if w.array == array]

    def _flow(self, s: Statement, cells: isl.Map, stores: Sequence[Statement]) -> Sources:
        if not stores:
            return Sources((), cells.domain())
        schedule = schedules([*stores, s] if s not in stores else stores)
        written = isl.UnionMap.empty(cells.get_space().params())
        times = isl.UnionMap.empty(cells.get_space().params())
        for w in stores:
            written = written.union(w.cells.to_union_map())
            times = times.union(schedule[w.name].to_union_map())
        if s not in stores:
            times = times.union(schedule[s.name].to_union_map())
        info = isl.UnionAccessInfo.from_sink(cells.to_union_map())
        info = info.set_must_source(written).set_schedule_map(times)
        result = info.compute_flow()
        by_name = {w.name: w for w in stores}
        found: list[tuple[Statement, isl.Map]] = []
        must = result.get_must_dependence()
        for m in maps(must):
            w = by_name[m.get_tuple_name(isl.dim_type.in_)]
            found.append((w, m.reverse().coalesce()))
        start = isl.Set.empty(cells.domain().get_space())
        none = result.get_must_no_source()
        for m in maps(none):
            start = start.union(m.domain())
        return Sources(tuple(found), start.coalesce())


def maps(u: isl.UnionMap) -> list[isl.Map]:
    out: list[isl.Map] = []
    u.foreach_map(out.append)
    return out


def schedules(statements: Sequence[Statement]) -> dict[str, isl.Map]:
    """From instances to times, of one length for all: launches, groups, phases, items, the rest.
    Groups run one after another, and items between two barriers: any order serves where none
    race."""
    parts = [_columns(statements, key) for key in ("launch", "groups", "phase", "items", "order")]
    rows = [[p for part in parts for p in part[n]] for n in range(len(statements))]
    kept = [k for k in range(len(rows[0])) if not _constant(row[k] for row in rows)]
    return {s.name: _time(s.domain, [row[k] for k in kept]) for s, row in zip(statements, rows)}


def _columns(statements: Sequence[Statement], key: str) -> list[list[Position]]:
    lists: list[list[Position]] = []
    for s in statements:
        value = getattr(s, key)
        if key in ("groups", "items"):
            lists.append([Position(iterator=d) for d in value])
        else:
            lists.append(list(value))
    most = max(map(len, lists))
    return [[*x, *[Position()] * (most - len(x))] for x in lists]


def _constant(column: Iterable[Position]) -> bool:
    values = list(column)
    return values[0].iterator is None and all(v == values[0] for v in values)


def _time(domain: isl.Set, positions: Sequence[Position]) -> isl.Map:
    m = isl.Map.from_domain(domain)
    local = isl.LocalSpace.from_space(domain.get_space())
    for p in positions:
        if p.iterator is None:
            aff = isl.Aff.zero_on_domain(local) + p.place
        else:
            aff = isl.Aff.var_on_domain(local, isl.dim_type.set, p.iterator)
            aff = aff.neg() if p.backwards else aff
        m = m.flat_range_product(isl.Map.from_aff(aff))
    return m.set_tuple_name(isl.dim_type.out, "time").intersect_domain(domain)


def phase_times(
    parts: Sequence[tuple[isl.Set, Sequence[Position]]],
) -> list[isl.Map]:
    """From instances to the part of a kernel between barriers that they belong to."""
    most = max((len(p) for _, p in parts), default=0)
    return [_time(domain, [*p, *[Position()] * (most - len(p))]) for domain, p in parts]
