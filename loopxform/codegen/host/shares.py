"""Launches whose groups several devices may share: which rows of arrays they touch, as C.

Groups along one dimension are dealt out in runs of neighbours. Each device has what its groups
touch, and gives back what they write, which is theirs alone: for every array that is written,

    first + step*g + begin <= row < first + step*g + end,   end - begin <= step

where `first + step*g` is the value of the loop over groups in group `g`, and rows are counted by
the first subscript; all others are proven to be inside the array, or the host asks that they are:

    c[i][j] of c[n][220], 0 <= j < m        unless m >= 221
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from loopxform.analysis.accesses import Access
from loopxform.analysis.boxes import all_of
from loopxform.analysis.domain import names_of
from loopxform.analysis.formula import Translator
from loopxform.analysis.linear import Conj, Constraint, Lin, at_least, plus, times, variable
from loopxform.analysis.loose_accesses import is_inside
from loopxform.analysis.region import Instance, region
from loopxform.analysis.sets import TooHard
from loopxform.analysis.system import eliminate, feasible
from loopxform.codegen.cexpr import Dialect
from loopxform.codegen.host.buffers import Buffer
from loopxform.codegen.host.guards import wide
from loopxform.codegen.opencl.kernel_plan import KernelPlan
from loopxform.ir.affine import simplify, value_of
from loopxform.ir.nodes import Bin, Const, Expr, For, Function, Param
from loopxform.ir.visit import writes
from loopxform.records import record
from loopxform.transforms.edges.bounds import trip_count

WINDOWS = 16
"""Arrays of a kernel that devices share."""

Touch = tuple[Instance, Access]
Rows = tuple[int, int]
_DISTANCE = "#"
"""A row minus the value of the loop over groups."""

MOST_CASES = 4
"""Conditions that the host asks before devices share a launch."""

_MOST_ROWS = 400
"""Inequalities that a step of an elimination may add."""


@record
class Window:
    """The rows of an array that an iteration of the loop over groups touches, and those that it
    writes, from the first to before the last one, as distances; `place` counts the arguments of the
    kernel. Without a `row`, whose bytes it is, they may be any, and none is written."""

    place: int
    row: Expr | None
    touched: Rows
    written: Rows


@record
class Share:
    """The groups along a `dimension` may be shared, so many of them `together`, and do iterations
    of the `loop`; not for sizes that are `outside`, where subscripts would leave their rows."""

    dimension: int
    together: int
    loop: For
    windows: tuple[Window, ...]
    outside: tuple[Expr, ...]


def split(k: KernelPlan, d: Dialect) -> str | None:
    """The call of `lx_split` in front of a launch, None where one device has to do it."""
    share = _share(k)
    if share is None:
        return None
    rows = ", ".join(f"{{ {', '.join(_numbers(w, d))} }}" for w in share.windows)
    first, step = wide(share.loop.lo, d), wide(share.loop.step, d)
    count = str(len(share.windows))
    if share.outside:
        count = f"{' || '.join(f'({wide(e, d)})' for e in share.outside)} ? 0 : {count}"
    run = f"{share.dimension}, {share.together}, {first}, {step}, {count}"
    return f"lx_split(lx_job, {run}, (const struct lx_window[]){{ {rows} }});"


def _numbers(w: Window, d: Dialect) -> Iterator[str]:
    yield str(w.place)
    yield "0" if w.row is None else wide(w.row, d)
    yield from map(str, (*w.touched, *w.written))


def _share(k: KernelPlan) -> Share | None:
    """By the slowest dimension that allows it."""
    touches = _touches(k)
    if touches is None or any(g.chained for g in k.mapping.grid):
        return None
    for dimension in (2, 1, 0):
        loops = [g for g in k.mapping.grid if g.level and g.level.dimension == dimension]
        bands = k.mapping.bands if dimension < 2 else 0
        if len(loops) != 1 or (bands and dimension == 0) or value_of(trip_count(loops[0])) == 1:
            continue
        outside = dict[Expr, None]()
        windows = tuple(_windows(k, touches, loops[0], outside))
        if None not in windows and len(outside) <= MOST_CASES:
            found = tuple(w for w in windows if w)
            return Share(dimension, bands or 1, loops[0], found, tuple(outside))
    return None


def _touches(k: KernelPlan) -> dict[str, list[Touch]] | None:
    """How the kernel touches each of its arrays; None where it has too many, or of a kind that
    devices cannot share."""
    arrays = [a.param for a in k.arguments if isinstance(a, Buffer)]
    written = writes(k.function.body)
    changed = [p for p in arrays if any(n.partition(".")[0] == p.name for n in written)]
    plain = all(isinstance(p, Param) and p.shape and not (p.rows or p.at) for p in changed)
    if not plain or not changed or len(arrays) > WINDOWS:
        return None
    touches: dict[str, list[Touch]] = {}
    for instance in region(k.function).instances:
        for access in instance.accesses:
            if access.storage.decl is None:
                touches.setdefault(access.storage.name, []).append((instance, access))
    every = (a for p in changed for _, a in touches.get(p.name, ()))
    return None if any(a.atomic or (a.write and a.unknown) for a in every) else touches


def _windows(
    k: KernelPlan, touches: dict[str, list[Touch]], loop: For, outside: dict[Expr, None]
) -> Iterator[Window | None]:
    """The window of each array; None where groups would write rows of others. Adds the sizes that
    are `outside` of what it proves of arrays that are written."""
    step = value_of(loop.step) or 0
    for place, a in enumerate(k.arguments):
        if not isinstance(a, Buffer):
            continue
        whole, p = Window(place, None, (0, 0), (0, 0)), a.param
        if not isinstance(p, Param) or not p.shape or p.rows or p.at or p.name == k.asks:
            yield whole
            continue
        every = touches.get(p.name, [])
        written = [x for x in every if x[1].write]
        unless = outside if written else None
        rows = _rows(k.function, p, every, loop, unless)
        own = _rows(k.function, p, written, loop, unless)
        if written and (rows is None or own is None or not 0 < own[1] - own[0] <= step):
            yield None
            return
        yield whole if rows is None else Window(place, _row(p), rows, own or (0, 0))


def _row(p: Param) -> Expr:
    """The bytes of a row."""
    size: Expr = Const(p.type.bytes)
    for extent in p.shape[1:]:
        assert extent is not None
        size = Bin("*", size, extent)
    return simplify(size)


def _rows(
    fn: Function,
    p: Param,
    touches: Sequence[Touch],
    loop: For,
    unless: dict[Expr, None] | None,
) -> Rows | None:
    """From which distance on, and up to before which, these accesses touch rows; None where that is
    not known. With `unless`, sizes for which it does not hold are added to that."""
    translator, reach = Translator(names_of(fn)), list[Rows]()
    for instance, access in touches:
        for d, extent in enumerate(p.shape[1:], 1):
            if extent is None:
                return None
            if is_inside(instance, access, d, extent, translator):
                continue
            beyond = None if unless is None else _outside(fn, instance, access, d, extent)
            if unless is None or beyond is None:
                return None
            unless.update(dict.fromkeys(beyond))
        found = _reach(instance, access, loop.var)
        if found is None:
            return None
        reach += found
    if not reach:
        return (0, 0)
    return min(low for low, _ in reach), max(high for _, high in reach) + 1


def _outside(
    fn: Function, instance: Instance, access: Access, d: int, size: Expr
) -> list[Expr] | None:
    """Conditions of the scalars, one of which holds wherever a subscript is not below the size;
    None where they are not known, or it may be below 0."""
    known, out = names_of(fn), list[Expr]()
    given = {p.name for p in fn.objects if not (p.array or p.ends)} & known.inputs
    sizes = Translator(known).cases(size)
    if sizes is None or len(sizes) != 1 or sizes[0][1]:
        return None
    for domain in instance.domain:
        for subscripts, when in access.cases:
            x = subscripts[d]
            if x is None:
                return None
            there = (*domain, *when)
            below = Constraint(False, plus(times(x, -1), {"": -1}))
            beyond = (*there, at_least(x, sizes[0][0]))
            try:
                if feasible((*there, below)):
                    return None
                if not feasible(beyond):
                    continue
            except TooHard:
                return None
            rows = _tightest(_relaxed(beyond, frozenset(given)))
            found = all_of([Constraint(False, row) for row in rows])
            if found is None:
                return None
            out.append(found)
    return out


def _tightest(rows: Sequence[Lin]) -> list[Lin]:
    """Of inequalities that differ in their number alone, the one that says the most."""
    least: dict[tuple[tuple[str, int], ...], int] = {}
    for row in rows:
        terms = tuple(sorted((n, c) for n, c in row.items() if n and c))
        if terms:
            least[terms] = min(row.get("", 0), least.get(terms, row.get("", 0)))
    return [{**dict(terms), "": number} for terms, number in sorted(least.items())]


def _reach(instance: Instance, access: Access, var: str) -> list[Rows] | None:
    """The least and the greatest distance of each case."""
    out = list[Rows]()
    for domain in instance.domain:
        for subscripts, when in access.cases:
            if not subscripts or subscripts[0] is None:
                return None
            gap = plus(plus(subscripts[0], variable(var), -1), variable(_DISTANCE), -1)
            rest = eliminate((*domain, *when, Constraint(True, gap)), frozenset([_DISTANCE]))
            if rest is None:
                continue
            bounds = _relaxed(rest, frozenset([_DISTANCE]))
            ends = [list(_bounds(bounds, sign)) for sign in (1, -1)]
            if not all(ends):
                return None
            out.append((max(ends[0]), -max(ends[1])))
    return out


def _relaxed(conj: Conj, kept: frozenset[str]) -> list[Lin]:
    """What is not below 0 where a conjunction holds, of the kept names alone, by the rule of
    Fourier and Motzkin: it forgets no more than that numbers are integers. Nothing where there is
    too much of it."""
    rows = [c.lin for c in conj] + [times(c.lin, -1) for c in conj if c.eq]
    while others := {name for row in rows for name in row} - {""} - kept:
        name = min(others, key=lambda n: (sum(n in row for row in rows), n))
        low = [row for row in rows if row.get(name, 0) > 0]
        high = [row for row in rows if row.get(name, 0) < 0]
        if len(low) * len(high) > _MOST_ROWS:
            return []
        both = (plus(times(a, -b[name]), b, a[name]) for a in low for b in high)
        rows = [row for row in rows if name not in row] + list(both)
    return rows


def _bounds(rows: Sequence[Lin], sign: int) -> Iterator[int]:
    """The numbers that `sign` times the distance is not below."""
    for row in rows:
        factor = row.get(_DISTANCE, 0) * sign
        if factor > 0:
            yield -(row.get("", 0) // factor)
