"""Rows apart: for r: for k = p[r] .. p[r + 1]: { s += v[k]; x[k] = s; }
  -> ascends = 1; for r2: ascends &= p[r2] <= p[r2 + 1];
     if (ascends) forall r: ... else for r: ...

Rows that an array of row starts delimits (compressed sparse rows, segments), or that begin there
and have one length (x[p[r] + i], the particles of a cell), have no elements in common where the
starts ascend, in the latter case by the length of a row: a loop of its own finds that out. Legal
where nothing but such elements leads from row to row: what the loop stores at k + c, or at
p[r] + i, it touches at such places alone, and these lie in the row; and it does not set p. (A
run-time test in front of a loop: Rus, Rauchwerger and Hoeflinger, "Hybrid analysis: static and
dynamic memory reference analysis", 2002; segments: Blelloch, "Prefix sums and their applications",
1990, section 1.5.)
"""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from loopxform.analysis.legality import parallel_obstacles
from loopxform.errors import Obstacle
from loopxform.ir.names import fresh
from loopxform.ir.nodes import (
    Assign,
    Const,
    Copy,
    Decl,
    Expr,
    For,
    Function,
    If,
    Load,
    Opaque,
    Param,
    Var,
)
from loopxform.ir.renaming import rename
from loopxform.ir.types import INT, INT_MAX
from loopxform.ir.visit import (
    LoopSite,
    declared,
    loads,
    map_exprs,
    replace_at,
    stmt_exprs,
    walk,
    writes,
)
from loopxform.records import record
from loopxform.transforms.base import Step
from loopxform.transforms.restructure.row_places import Rows, started_rows
from loopxform.transforms.restructure.rows_of_one_length import rows_of_one_length
from loopxform.transforms.sites import one_loop, plain_loop, trusted


@record
class RowsApart(Step):
    """Runs the iterations of `loop` at the same time where the starts of its rows ascend, which an
    int called `name` says (default: p_ascends)."""

    loop: str
    name: str = ""

    verb: ClassVar[str] = "rows-apart"
    usage: ClassVar[str] = "rows-apart LOOP [NAME]"

    def check(self, fn: Function) -> tuple[Obstacle, ...]:
        site = plain_loop(fn, self.loop, self.verb, self.name)
        if isinstance(site, tuple):
            return site
        where, var = site.loop.origin.loc, site.loop.var
        remedy = "name a loop such as: for (r...) for (k = p[r]; k < p[r + 1]; k++) y[k] = ...;"
        if site.loop.parallel:
            return (Obstacle("LX212", f"the loop over '{var}' is parallel", where, remedy=remedy),)
        if any(isinstance(s, Opaque | Copy) for _, s in walk(site.loop.body)):
            why = f"the loop over '{var}' holds what is not modelled"
            return (Obstacle("LX212", why, where, remedy=remedy),)
        found = _found(fn, site)
        if found is None:
            why = f"no array says where the rows of '{var}' begin"
            return (Obstacle("LX212", why, where, remedy=remedy),)
        return tuple(Obstacle("LX212", o.message, o.loc, remedy=o.remedy) for o in found[1])

    def rewrite(self, fn: Function) -> Function:
        site = trusted(one_loop(fn, self.loop))
        loop, origin = site.loop, site.loop.origin.then(str(self))
        rows = _rows(fn, site)
        name = self.name or fresh(fn, f"{rows.array.replace('.', '_')}_ascends")
        var = fresh(fn, loop.var)
        test = Assign(Var(name), rows.ascends(var), "&", label="S_ascends", origin=origin)
        own = {n: fresh(fn, n) for n in declared(loop.body)}
        in_order = replace(loop, body=rename(loop.body, own))
        made = (
            Decl(name, INT, origin=origin),
            Assign(Var(name), Const(1), label="S_begins", origin=origin),
            replace(loop, var=var, lo=rows.begin, body=(test,), origin=origin, asks=None),
            If(
                Var(name),
                (replace(loop, parallel=True, origin=origin),),
                (in_order,),
                origin=origin,
            ),
        )
        return replace_at(fn, site.path, made)

    def reason(self, fn: Function) -> str:
        array = _rows(fn, trusted(one_loop(fn, self.loop))).array
        return f"rows have no elements in common where {array} ascends, which is asked first"


def _found(fn: Function, site: LoopSite) -> tuple[Rows, tuple[Obstacle, ...]] | None:
    """The rows of a loop that leave nothing between iterations; else the first ones, with what they
    leave."""
    started = started_rows(fn, site.loop)
    candidates: list[Rows] = [] if started is None else [started]
    first = None
    for rows in (*candidates, *rows_of_one_length(fn, site.loop)):
        left = parallel_obstacles(_with_rows(fn, site, rows), site.path)
        if not left:
            return rows, ()
        first = first or (rows, left)
    return first


def _rows(fn: Function, site: LoopSite) -> Rows:
    found = _found(fn, site)
    assert found is not None
    return found[0]


def _with_rows(fn: Function, site: LoopSite, rows: Rows) -> Function:
    """The program in which each row of `site` has elements of its own of the arrays that the loop
    stores to at places of the row, and nowhere else."""
    params = {p.name: p for p in fn.objects if p.shape}
    local = {n: d for n, d in declared(fn.body).items() if d.shape}
    stored = writes(site.loop.body) & (params.keys() | local.keys())
    own = sorted(a for a in stored if _is_in_rows(site.loop, rows, a))
    named = {a: fresh(fn, f"{a}_rows") for a in own}

    def in_row(e: Expr) -> Expr:
        if not isinstance(e, Load) or e.array not in named:
            return e
        return Load(named[e.array], (Var(site.loop.var), *e.index), origin=e.origin)

    made = list[Param]()
    for array, name in named.items():
        if array in params:
            shape = tuple(Const(INT_MAX) if e is None else e for e in params[array].shape)
            made.append(replace(params[array], name=name, shape=(None, *shape)))
        else:
            wide = (None, *local[array].shape)
            made.append(Param(name, local[array].type, wide, restrict=True, array=True))
    loop = replace(site.loop, body=map_exprs(site.loop.body, in_row))
    return replace(replace_at(fn, site.path, (loop,)), params=(*fn.params, *made))


def _is_in_rows(loop: For, rows: Rows, array: str) -> bool:
    """Whether all that the loop touches of an array from outside lies in the row, in one and the
    same dimension."""
    if array in declared(loop.body):
        return False
    inside = ((p, e) for p, s in walk(loop.body) for e in stmt_exprs(s))
    places = [(p, x) for p, e in inside for x in loads(e) if x.array == array]
    count = min(len(x.index) for _, x in places)
    return any(all(rows.holds(p, x.index[n]) for p, x in places) for n in range(count))
