"""Rows apart: for r: for k = p[r] .. p[r + 1]: { s += v[k]; x[k] = s; }
  -> ascends = 1; for r2: ascends &= p[r2] <= p[r2 + 1];
     if (ascends) forall r: ... else for r: ...

Rows that an array of row starts delimits (compressed sparse rows, segments) have no elements in
common where the starts ascend, which a loop of its own finds out. Legal where nothing but such
elements leads from row to row: what the loop stores at k + c it touches at such places alone, and
these lie between p[r] and p[r + 1]; and it does not set p. (A run-time test in front of a loop:
Rus, Rauchwerger and Hoeflinger, "Hybrid analysis: static and dynamic memory reference analysis",
2002; segments: Blelloch, "Prefix sums and their applications", 1990, section 1.5.)
"""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from loopxform.analysis.legality import parallel_obstacles
from loopxform.errors import Obstacle
from loopxform.ir.affine import poly, value_of
from loopxform.ir.names import fresh
from loopxform.ir.nodes import (
    Assign,
    Bin,
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
    Stmt,
    Var,
)
from loopxform.ir.renaming import rename
from loopxform.ir.types import INT, INT_MAX
from loopxform.ir.typing import symbols
from loopxform.ir.visit import (
    LoopSite,
    Path,
    declared,
    loads,
    map_exprs,
    names,
    replace_at,
    stmt_exprs,
    substitute,
    walk,
    writes,
)
from loopxform.records import record
from loopxform.transforms.base import Step
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
        rows = _rows(fn, site.loop)
        if rows is None:
            why = f"no array says where the rows of '{var}' begin"
            return (Obstacle("LX212", why, where, remedy=remedy),)
        apart = _with_rows(fn, site, rows)
        return tuple(
            Obstacle("LX212", o.message, o.loc, remedy=o.remedy)
            for o in parallel_obstacles(apart, site.path)
        )

    def rewrite(self, fn: Function) -> Function:
        site = trusted(one_loop(fn, self.loop))
        loop, origin = site.loop, site.loop.origin.then(str(self))
        rows = _rows(fn, loop)
        assert rows is not None
        name = self.name or fresh(fn, f"{rows.start.array}_ascends")
        var = fresh(fn, loop.var)
        first, last = (substitute(x, {loop.var: Var(var)}) for x in (rows.start, rows.end))
        test = Assign(Var(name), Bin("<=", first, last), "&", label="S_ascends", origin=origin)
        own = {n: fresh(fn, n) for n in declared(loop.body)}
        in_order = replace(loop, body=rename(loop.body, own))
        made = (
            Decl(name, INT, origin=origin),
            Assign(Var(name), Const(1), label="S_begins", origin=origin),
            replace(loop, var=var, body=(test,), origin=origin, asks=None),
            If(
                Var(name),
                (replace(loop, parallel=True, origin=origin),),
                (in_order,),
                origin=origin,
            ),
        )
        return replace_at(fn, site.path, made)

    def reason(self, fn: Function) -> str:
        rows = _rows(fn, trusted(one_loop(fn, self.loop)).loop)
        assert rows is not None
        array = rows.start.array
        return f"rows have no elements in common where {array} ascends, which is asked first"


@record
class _Rows:
    """Where a row begins, and where the next one does; the loops over rows, each with how far
    behind these it begins and ends."""

    start: Load
    end: Load
    loops: tuple[tuple[Path, int, int], ...]


def _rows(fn: Function, loop: For) -> _Rows | None:
    """The rows of a loop that counts upwards by 1, each iteration of which certainly reads where
    its row begins and ends; with unsigned starts none that begins or ends before these, as that may
    wrap around."""
    if value_of(loop.step) != 1:
        return None
    types, moving = symbols(fn), writes(loop.body) | declared(loop.body).keys()
    moving |= {s.var for _, s in walk(loop.body) if isinstance(s, For)}
    found: dict[str, tuple[Load, Load]] = {}
    inside: dict[str, list[tuple[Path, int, int]]] = {}
    for path, s in walk(loop.body):
        ends = _ends(s, loop.var, moving) if isinstance(s, For) else None
        if ends is None or not isinstance(s, For):
            continue
        start, end, behind, beyond = ends
        kind = types[start.array]
        same = kind.is_unsigned == s.type.is_unsigned and kind.bytes <= s.type.bytes
        known = found.setdefault(start.array, (start, end))
        whole = not kind.is_unsigned or (behind >= 0 and beyond >= 0)
        if same and whole and kind.is_integer and _is_same(known[0], start):
            inside.setdefault(start.array, []).append((path, behind, beyond))
    surely = (a for a, places in inside.items() if any(len(p) == 1 for p, _, _ in places))
    array = next(surely, None)
    return None if array is None else _Rows(*found[array], tuple(inside[array]))


def _ends(
    s: For, var: str, moving: frozenset[str] | set[str]
) -> tuple[Load, Load, int, int] | None:
    """p[r], p[r + 1], and how far behind them a loop begins and ends."""
    step = value_of(s.step)
    if step not in (1, -1):
        return None
    low, high = (s.lo, s.hi) if step == 1 else (s.hi, s.lo)
    shift = 0 if step == 1 else 1
    first, last = list(loads(low)), list(loads(high))
    if len(first) != 1 or len(last) != 1 or first[0].array != last[0].array:
        return None
    (start,), (end,) = first, last
    if len(start.index) != 1 or (names(start) | names(end)) & moving:
        return None
    behind, beyond = ((poly(a) - poly(b)).value for a, b in ((low, start), (high, end)))
    gap = (poly(end.index[0]) - poly(start.index[0])).value
    following = substitute(start.index[0], {var: Bin("+", Var(var), Const(1))})
    along = (poly(following) - poly(start.index[0])).value
    if behind is None or beyond is None or gap != 1 or along != 1:
        return None
    return start, end, behind + shift, beyond + shift


def _is_same(x: Load, y: Load) -> bool:
    return x.array == y.array and poly(x.index[0]) == poly(y.index[0])


def _with_rows(fn: Function, site: LoopSite, rows: _Rows) -> Function:
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


def _is_in_rows(loop: For, rows: _Rows, array: str) -> bool:
    """Whether all that the loop touches of an array from outside lies in the row, in one and the
    same dimension."""
    if array in declared(loop.body):
        return False
    inside = ((p, e) for p, s in walk(loop.body) for e in stmt_exprs(s))
    places = [(p, x) for p, e in inside for x in loads(e) if x.array == array]
    count = min(len(x.index) for _, x in places)
    return any(all(_is_in_row(loop, rows, p, x.index[n]) for p, x in places) for n in range(count))


def _is_in_row(loop: For, rows: _Rows, path: Path, index: Expr) -> bool:
    """Whether a subscript at `path` in the body is k + c, between the ends of the row."""
    for place, behind, beyond in rows.loops:
        inner = _inside(loop.body, place)
        if path[: len(place)] != place or path == place or inner.var in writes(inner.body):
            continue
        gap = (poly(index) - poly(Var(inner.var))).value
        if gap is not None and behind + gap >= 0 and beyond + gap <= 0:
            return True
    return False


def _inside(body: tuple[Stmt, ...], path: Path) -> For:
    found = next(s for p, s in walk(body) if p == path)
    assert isinstance(found, For)
    return found
