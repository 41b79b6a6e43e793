"""What a kernel does to memory: no access leaves its array, no two items race."""

from __future__ import annotations

from collections.abc import Iterator, Set
from dataclasses import dataclass

import islpy as isl

from loopxform.validate.flow import phase_times
from loopxform.validate.model import Array, Program, Statement
from loopxform.validate.polynomials import ONE, Plain
from loopxform.validate.unmodelled import Unmodelled


class Fault(Exception):
    """What may go wrong at a line of the kernel."""

    def __init__(self, what: str, line: int) -> None:
        super().__init__(what)
        self.what, self.line = what, line


@dataclass(frozen=True, eq=False)
class Access:
    statement: Statement
    array: str
    cells: isl.Map
    stores: bool
    line: int


def accesses(p: Program) -> Iterator[Access]:
    for s in p.statements:
        yield Access(s, s.array, s.cells, True, s.line)
        for r in s.reads():
            yield Access(s, r.array, r.cells, False, r.line or s.line)


def footprints(p: Program) -> dict[str, isl.Set]:
    """The cells of each array that are read or stored to."""
    out: dict[str, isl.Set] = {}
    for a in accesses(p):
        cells = a.cells.range()
        out[a.array] = out[a.array].union(cells) if a.array in out else cells
    return {n: s.coalesce() for n, s in out.items()}


def box(array: Array, space: isl.Space, own: int = 0) -> isl.Set:
    """The cells that an array has, as far as its extents are known as affine numbers; `own` numbers
    of groups and items stand in front."""
    cells = isl.Set.universe(space)
    local = isl.LocalSpace.from_space(space)
    for at, extent in enumerate(array.extents):
        v = isl.PwAff.from_aff(isl.Aff.var_on_domain(local, isl.dim_type.set, own + at))
        zero = isl.PwAff.from_aff(isl.Aff.zero_on_domain(local))
        cells = cells.intersect(v.ge_set(zero))
        size = affine(extent, local)
        if size is None and at == 0 and array.limit is not None:
            size = array.limit.add_dims(isl.dim_type.in_, space.dim(isl.dim_type.set))
            size = size.set_tuple_id(isl.dim_type.in_, space.get_tuple_id(isl.dim_type.set))
        if size is not None:
            cells = cells.intersect(v.lt_set(size))
    return cells


def affine(p: Plain | None, local: isl.LocalSpace) -> isl.PwAff | None:
    if p is None or any(len(m) > 1 for m in p):
        return None
    total = isl.Aff.zero_on_domain(local)
    for m, c in p.items():
        if m == ONE:
            total = total + c
        else:
            at = local.find_dim_by_name(isl.dim_type.param, m[0])
            total = total + isl.Aff.var_on_domain(local, isl.dim_type.param, at) * c
    return isl.PwAff.from_aff(total)


def defined(p: Program, context: isl.Set) -> isl.Set:
    """The sizes for which the user's program stays in the arrays that it declares: for others C
    does not say what it means."""
    params = context.params().intersect(p.quotients).subtract(p.meaningless)
    local = isl.LocalSpace.from_space(context.get_space())
    for array in p.arrays.values():
        for extent in array.extents[1:] if array.kind == "global" else ():
            size = affine(extent, local)
            if size is not None:  # C11 6.7.6.2p5
                params = params.intersect(size.ge_set(size.sub(size)).params())
    if not params.intersect(p.wrapping).is_empty():
        raise Unmodelled("unsigned numbers that may wrap around")
    for a in accesses(p):
        array = p.arrays[a.array]
        touched = a.cells.range()
        beyond = touched.subtract(box(array, touched.get_space()))
        if array.kind == "global" and None not in array.extents and not beyond.is_empty():
            params = params.subtract(beyond.params())
    for s in p.statements:
        if not s.domain.is_empty() and s.domain.intersect_params(params).is_empty():
            raise Unmodelled("the program leaves an array that it declares", s.line)
    return context.intersect_params(params.coalesce())


def inside(p: Program, allowed: dict[str, isl.Set], context: isl.Set, stored: Set[str]) -> None:
    """Every access stays in its array: in the extents that it is declared with, else in what the
    user's program touches. Rows that overlap matter only where something is `stored`. Raises
    Fault."""
    for a in accesses(p):
        array = p.arrays[a.array]
        space = a.cells.get_space().range()
        own = len(_own(array, a.statement))
        cells = box(array, space, own)
        outer = array.extents[0] if array.extents else {ONE: 1}
        local = isl.LocalSpace.from_space(space)
        if array.kind in ("global", "scratch") and affine(outer, local) is None:
            touched = allowed.get(a.array, isl.Set.empty(space))
            if array.limit is None:
                cells = cells.intersect(touched)
            cells = cells.union(touched) if a.array not in stored else cells
        touched = a.cells.range().intersect_params(context.params())
        if not touched.is_subset(cells):
            raise Fault(
                f"{a.array} may be {'stored to' if a.stores else 'read'} out of bounds", a.line
            )


def _own(array: Array, s: Statement) -> tuple[int, ...]:
    return {"private": (*s.groups, *s.items), "local": s.groups}.get(array.kind, ())


def races(p: Program) -> None:
    """No two items touch a cell, one of them storing, without a barrier between. Raises Fault."""
    by_array: dict[str, list[Access]] = {}
    for a in accesses(p):
        if p.arrays[a.array].kind != "private":
            by_array.setdefault(a.array, []).append(a)
    for n in range(1 + max((s.launch[0].place for s in p.statements), default=0)):
        _races_of_launch(p, n, by_array)


def _races_of_launch(p: Program, n: int, by_array: dict[str, list[Access]]) -> None:
    barriers = [b for b in p.barriers if b.launch[0].place == n]
    here = [s for s in p.statements if s.launch[0].place == n]
    parts = [(s.domain, s.phase) for s in here] + [(b.domain, b.phase) for b in barriers]
    times = dict(zip([id(x) for x in (*here, *barriers)], phase_times(parts)))
    waits: dict[str, isl.Set] = {}
    for b in barriers:
        at = _grouped(times[id(b)], b.groups).range()
        for fence in b.fences:
            waits[fence] = waits[fence].union(at) if fence in waits else at
    for name, all_ in by_array.items():
        kind = p.arrays[name].kind
        fence = "local" if kind == "local" else "global"
        ours = [a for a in all_ if a.statement.launch[0].place == n]
        stores = [a for a in ours if a.stores]
        for s in stores:
            for a in ours:
                _races_of(s, a, times, waits.get(fence), name, kind)


def _grouped(time: isl.Map, groups: tuple[int, ...]) -> isl.Map:
    """With the numbers of the group in front of the time."""
    domain = time.domain()
    local = isl.LocalSpace.from_space(domain.get_space())
    m = isl.Map.from_domain(domain)
    for d in groups:
        m = m.flat_range_product(
            isl.Map.from_aff(isl.Aff.var_on_domain(local, isl.dim_type.set, d))
        )
    return m.flat_range_product(time).set_tuple_name(isl.dim_type.out, "time")


def _races_of(
    s: Access,
    a: Access,
    times: dict[int, isl.Map],
    waits: isl.Set | None,
    name: str,
    kind: str,
) -> None:
    both = s.cells.apply_range(a.cells.reverse())  # instances that touch one cell
    both = both.intersect_domain(s.statement.domain).intersect_range(a.statement.domain)
    if both.is_empty():
        return
    groups, items = s.statement.groups, s.statement.items
    apart = isl.Map.empty(both.get_space())
    if kind != "local":
        for d in groups:
            apart = apart.union(_other(both.get_space(), d))
        if not both.intersect(apart).is_empty():
            raise Fault(f"two groups may race for {name}", a.line)
        for d in groups:
            both = both.equate(isl.dim_type.in_, d, isl.dim_type.out, d)
    other = isl.Map.empty(both.get_space())
    for d in items:
        other = other.union(_other(both.get_space(), d))
    both = both.intersect(other)
    if both.is_empty():
        return
    t, u = (_grouped(times[id(x.statement)], x.statement.groups) for x in (s, a))
    pairs = both.apply_domain(t).apply_range(u)  # phases, of one group
    space = pairs.get_space().domain()
    ordered = isl.Map.lex_le(space)
    for one in (pairs.intersect(ordered), pairs.reverse().intersect(ordered)):
        if one.is_empty():
            continue
        if waits is None:
            raise Fault(f"two items may race for {name}", a.line)
        depth = len(groups)
        before = isl.Map.lex_lt(space)
        for d in range(depth):
            before = before.equate(isl.dim_type.in_, d, isl.dim_type.out, d)
        between = before.intersect_range(waits).apply_range(before)
        if not one.is_subset(between):
            raise Fault(f"two items may race for {name}", a.line)


def _other(space: isl.Space, d: int) -> isl.Map:
    """Pairs whose dimension d differs."""
    m = isl.Map.universe(space)
    return m.order_lt(isl.dim_type.in_, d, isl.dim_type.out, d).union(
        m.order_gt(isl.dim_type.in_, d, isl.dim_type.out, d)
    )
