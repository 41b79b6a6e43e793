"""Sums of several rows at a time, each of them in order:

    forall i: { s = 0;  for k: s += e(i, k);  b[i] = f(s) }
 -> forall i_v (a work-item): { for i < R: s[i] = 0
      for k: for i < R: s[i] += e(i_v + i, k);   for i < R: b[i_v + i] = f(s[i]) }

Loops that set elements of a row stay as they are: they run row by row, in vectors.

An addition of one sum does not wait for those of the others, so that a core that runs work-items in
turn does as many meanwhile. The loops over rows are unrolled where there are as many: their sums
lie in registers. (Unroll-and-jam: Allen and Kennedy, "Optimizing compilers for modern
architectures", section 8.4.)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from loopxform.ir.names import fresh
from loopxform.ir.nodes import Assign, Decl, For, Load, Var
from loopxform.ir.visit import loads, loops_around, names, resolve, stmt_exprs, walk
from loopxform.prepare.parallel_band import Nest
from loopxform.prepare.perfect_nest import has_few_iterations
from loopxform.recipes.columns import inwards
from loopxform.recipes.deriving import Work
from loopxform.recipes.lane_loops import in_vectors
from loopxform.recipes.naive import one_item_each
from loopxform.recipes.neighbouring_reads import along_terms
from loopxform.recipes.turned_rows import rows_of_a_tile, turn_rows
from loopxform.targets.target import Costs, Limits
from loopxform.transforms import (
    Distribute,
    Expand,
    Rename,
    SeparateFullTiles,
    Sequentialise,
    Stripmine,
    Unroll,
)


def sums_of_rows(nest: Nest) -> tuple[str, ...]:
    """The loops inside that sum up along rows in scalars, where that is all that loops do, but for
    setting elements of the row; none where one is short, or reads the same for all rows: the
    compiler has work-items in vectors then."""
    inside = [s for s in nest.innermost.body if isinstance(s, For)]
    known, row = list(along_terms(nest)), nest.parallel[-1]
    sums = tuple(s.var for s in inside if _sums(nest, s))
    alike = all(s.var in sums or _sets_elements(s, row) for s in inside)
    own_rows = all(s in known and _reads_rows(s, row) for s in inside)
    return sums if alike and own_rows and not any(map(has_few_iterations, inside)) else ()


def _sums(nest: Nest, loop: For) -> bool:
    """Whether all that a loop sets are scalars of the iteration, or of its own."""
    inside = (s for _, s in walk(loop.body))
    own = {s.name for s in (*nest.innermost.body, *inside) if isinstance(s, Decl) and not s.shape}
    return all(isinstance(t, Var) and t.name in own for t in _targets(loop))


def _targets(loop: For) -> Iterator[Var | Load]:
    return (s.target for _, s in walk(loop.body) if isinstance(s, Assign))


def _sets_elements(loop: For, row: str) -> bool:
    """Whether all that a loop does is to set an element of a row of its own in each iteration."""
    return all(
        isinstance(s, Assign)
        and isinstance(s.target, Load)
        and {row, loop.var} <= {n for e in s.target.index for n in names(e)}
        for s in loop.body
    )


def _reads_rows(loop: For, row: str) -> bool:
    """Whether a loop reads other elements of an array for each row."""
    read = (x for _, s in walk(loop.body) for e in stmt_exprs(s) for x in loads(e))
    return any({row, loop.var} <= {n for e in x.index for n in names(e)} for x in read)


def joint_rows(w: Work, nest: Nest, sums: Sequence[str], limits: Limits) -> str:
    """Maps so many rows to a work-item, which computes the `sums` of all of them together; the
    remark on the mapping. Raises TransformError where that is not legal."""
    rows = limits.costs.joint_rows
    if limits.turned_tiles:
        rows = min(rows, rows_of_a_tile(nest, sums) or rows)
    w.stage("Sums of several rows at a time")
    *others, x = nest.parallel
    item, whole = fresh(w.fn, f"{x}_v"), fresh(w.fn, f"{x}_w")
    w.do(Stripmine(x, str(rows), item), Sequentialise(x))
    separate = w.attempt(SeparateFullTiles(item), Rename(f"{x}#1", whole))
    if not separate:
        w.do(Rename(x, whole))
    loops = [whole, x] if separate else [whole]
    _apart(w, loops)
    for v in loops:
        _together(w, v, sums)
    _, remark = one_item_each(w, Nest(w.derivation, (*others, item), ()).of(w.derivation))
    if limits.turned_tiles:
        turn_rows(w, whole, sums, limits.costs.rows_ahead)
    for n in range(len(resolve(w.fn, whole)), 0, -1):
        if not any(isinstance(s, For) for s in resolve(w.fn, whole)[n - 1].loop.body):
            w.attempt(Unroll(f"{whole}#{n}"))
    return remark


def _apart(w: Work, rows: Sequence[str]) -> None:
    """Gives each row what loops in it declare, where that can be in all of the loops over rows."""
    (site,) = resolve(w.fn, rows[0])
    inside = (s for y in site.loop.body if isinstance(y, For) for _, s in walk(y.body))
    for name in dict.fromkeys(s.name for s in inside if isinstance(s, Decl)):
        w.attempt(*(Expand(name, (x,)) for x in rows))


def _together(w: Work, x: str, sums: Sequence[str]) -> None:
    """Gives each row of the loop over `x` what its sums are kept in, and runs that loop inside
    those over `sums`."""
    (site,) = resolve(w.fn, x)
    w.do(*(Expand(s.name, (x,)) for s in site.loop.body if isinstance(s, Decl)))
    w.do(Distribute((x,), ()))
    inwards(w, x, sums)


def lanes_of(w: Work, nest: Nest) -> dict[str, str]:
    """The loops of a row that take so many terms at a time as vectors have lanes, and the loops
    over lanes in them."""
    (row,) = resolve(w.fn, nest.parallel[-1])
    first = ((s.var, s.body[0]) for s in row.loop.body if isinstance(s, For))
    return {var: lanes.var for var, lanes in first if isinstance(lanes, For)}


def _added_up(w: Work, nest: Nest) -> list[str]:
    """The loops of a row that set scalars: over terms that fill no vector, and over lanes."""
    (row,) = resolve(w.fn, nest.parallel[-1])
    inside = [s for s in row.loop.body if isinstance(s, For)]
    return [
        s.var
        for s in inside
        if all(isinstance(x, Assign) and isinstance(x.target, Var) for x in s.body)
    ]


def joint_lanes(w: Work, nest: Nest, lanes: Mapping[str, str], costs: Costs) -> str:
    """The same for sums in lanes: so many as `lane_rows` rows are read at the same time, each in a
    vector of lanes at a time."""
    remark = _several(w, nest, [*lanes, *_added_up(w, nest)], costs.lane_rows)
    x = nest.parallel[-1]
    whole = _whole(w, x)
    for var in dict.fromkeys(lanes.values()):
        in_vectors(w, var, costs.simd_bytes)
    if whole:
        for n, site in enumerate(resolve(w.fn, x), 1):
            if any(isinstance(s, For) and s.simd for s in site.loop.body):
                w.attempt(Unroll(f"{x}#{n}"))
    return remark


def _several(w: Work, nest: Nest, sums: Sequence[str], rows: int) -> str:
    """Work-items with so many rows, around the loops over `sums`; the remark on the mapping."""
    *others, x = nest.parallel
    item = fresh(w.fn, f"{x}_v")
    w.do(Stripmine(x, str(rows), item), Sequentialise(x))
    _together(w, x, sums)
    return one_item_each(w, Nest(w.derivation, (*others, item), ()).of(w.derivation))[1]


def _whole(w: Work, x: str) -> bool:
    """Gives groups with all of their rows a text of their own; whether there is one."""
    around = loops_around(w.fn, resolve(w.fn, x)[0].path)
    *_, group = (v.var for v in around if v.level and v.level.kind == "grid")
    return w.attempt(SeparateFullTiles(group))
