"""Turned accesses: forall i < T: forall j < T: { t = A[i, j]; A[i, j] = A[j, i]; A[j, i] = t; }
  -> in[T][T], out[T][T];  forall j: forall i: in[i, j] = A[j, i];
     forall i: forall j: { t = A[i, j]; A[i, j] = in[i, j]; out[i, j] = t; }
     forall j: forall i: A[j, i] = out[i, j];

What a tile reads or writes along its outer loop goes through arrays of the tile, in loops of its
own, with the two loops in the other order: the neighbours of those are near in memory. What is
read is read before all iterations, what is written is written after them; other elements of the
arrays that are written are read first, too: no read waits for a store. Legal for two parallel loops
of at most a fixed number of iterations around straight-line code, where no iteration has written
the array before it reads such an element, nor uses the array after it has written one: then the
order of its accesses stays the same, and no two iterations use the same element where one writes
it. (Ruetsch and Micikevicius, "Optimizing Matrix Transpose in CUDA", for what is in place.)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar

from loopxform.errors import Obstacle
from loopxform.ir.affine import constant, poly, to_expr
from loopxform.ir.names import fresh
from loopxform.ir.nodes import Assign, Bin, Decl, Expr, For, Function, If, Load, Select, Stmt, Var
from loopxform.ir.typing import symbols
from loopxform.ir.visit import (
    LoopSite,
    declared,
    loads,
    map_body,
    map_stmt_exprs,
    names,
    replace_at,
    stmt_exprs,
    substitute,
    substitute_body,
    walk_expr,
    writes,
)
from loopxform.records import record
from loopxform.transforms.base import Step
from loopxform.transforms.edges.bounds import conjunction, fixed_trips, iteration_number
from loopxform.transforms.sites import fixed_header, nested_pair, unmapped, whole_loop

MOST = 1024
"""Elements of a tile."""


@record
class TurnAccesses(Step):
    """Has the tile of two loops make what accesses are along `outer` in loops in the other
    order."""

    outer: str
    inner: str

    verb: ClassVar[str] = "turn-accesses"
    usage: ClassVar[str] = "turn-accesses OUTER INNER"

    def check(self, fn: Function) -> tuple[Obstacle, ...]:
        found = nested_pair(fn, self.outer, self.inner)
        if isinstance(found, Obstacle):
            return (found,)
        unfit = tuple(
            o
            for s in found
            for question in (whole_loop, fixed_header, lambda s: unmapped(s, "turn accesses"))
            for o in question(s)
        )
        if unfit:
            return unfit
        why = problem(*found)
        where = found[0].loop.origin.loc
        return () if why is None else (Obstacle("LX217", why, where, remedy=_REMEDY),)

    def rewrite(self, fn: Function) -> Function:
        outer, inner = self._pair(fn)
        step, turned = str(self), _of(outer.loop, inner.loop)
        made = _Tile(fn, outer.loop, inner.loop, turned)
        return replace_at(fn, outer.path, tuple(made.statements(step)))

    def _pair(self, fn: Function) -> tuple[LoopSite, LoopSite]:
        found = nested_pair(fn, self.outer, self.inner)
        assert not isinstance(found, Obstacle)
        return found

    def reason(self, fn: Function) -> str:
        outer, inner = self._pair(fn)
        turned = _of(outer.loop, inner.loop)
        arrays = ", ".join(dict.fromkeys(e.array for e in (*turned.read, *turned.written)))
        return f"iterations of {outer.loop.var} and {inner.loop.var} share no element of {arrays}"


_REMEDY = "leave the accesses where they are"


@record
class _Turned:
    """The elements along the outer loop that an iteration reads, and those that it writes; others
    of the arrays of those that it reads `beside` them: not one after the other's stores, for which
    a compiler has to wait."""

    read: tuple[Load, ...]
    written: tuple[Load, ...]
    beside: tuple[Load, ...] = ()


def problem(outer: LoopSite, inner: LoopSite) -> str | None:
    """Why a tile of two loops cannot turn accesses, or has none to turn."""
    loops = (outer.loop, inner.loop)
    if not all(x.parallel for x in loops):
        return f"the loops over '{loops[0].var}' and '{loops[1].var}' are not both parallel"
    sizes = [_size(x) for x in loops]
    if None in sizes or (sizes[0] or 0) * (sizes[1] or 0) > MOST:
        return "the loops have no fixed number of iterations at most, or too many"
    if {loops[0].var} & (names(loops[1].lo) | names(loops[1].hi)):
        return f"the bounds of '{loops[1].var}' depend on '{loops[0].var}'"
    found, own = list(_statements(loops[1].body)), declared(loops[1].body)
    body = tuple(s for _, s in found)
    if not all(isinstance(s, Decl | Assign) for s in body) or any(d.shape for d in own.values()):
        return f"an iteration of '{loops[1].var}' is more than assignments"
    if any(isinstance(s, Assign) and s.atomic for s in body):
        return f"an iteration of '{loops[1].var}' updates what others update"
    changing = writes(body)
    targets = (s.target for s in body if isinstance(s, Assign))
    shared = {t.name for t in targets if isinstance(t, Var)} - own.keys()
    if shared:
        return f"'{min(shared)}' is not an iteration's own"
    conditions = [c for asked, _ in found for c in asked]
    if any(names(c) & changing or any(True for _ in loads(c)) for c in conditions):
        return "an iteration computes conditions"
    turned = _turned(loops[0].var, loops[1].var, body)
    if not turned.read and not turned.written:
        return f"no access is along '{loops[0].var}'"
    if {n for e in (*turned.read, *turned.written) for i in e.index for n in names(i)} & changing:
        return "an iteration computes subscripts"
    if any(len(set(_around(loops[1], e))) > 1 for e in (*turned.read, *turned.written)):
        return "an element is used under different conditions"
    if any(e in turned.read for s in body for x in stmt_exprs(s) for e in _sometimes(x)):
        return "an iteration reads such an element under a condition"
    return _order(body, turned)


def _sometimes(e: Expr) -> Iterator[Load]:
    """The elements that an expression need not read."""
    for x in walk_expr(e):
        if isinstance(x, Select):
            yield from (*loads(x.then), *loads(x.orelse))
        elif isinstance(x, Bin) and x.op in ("&&", "||"):
            yield from loads(x.right)


def _order(body: tuple[Stmt, ...], turned: _Turned) -> str | None:
    """Why accesses cannot be made before an iteration, or after it."""
    for n, s in enumerate(body):
        if not isinstance(s, Assign):
            continue
        before, after = writes(body[:n]), body[n + 1 :]
        early = next((e for e in _loads(s) if e in turned.read and e.array in before), None)
        if early is not None:
            return f"an iteration has written '{early.array}' before it reads such an element"
        if s.target in turned.written and isinstance(s.target, Load):
            array = s.target.array
            if array in writes(after) or any(e.array == array for x in after for e in _loads(x)):
                return f"an iteration uses '{array}' after it has written such an element"
    return None


def pays(inner: For, outer: str, x: str) -> bool:
    """Whether an iteration writes elements along `outer`, and others, or reads others of the same
    array, and may turn the former: no order of the loops has all of these near."""
    body = tuple(s for _, s in _statements(inner.body))
    found = _turned(outer, x, body)
    targets = {s.target for s in body if isinstance(s, Assign) and isinstance(s.target, Load)}
    arrays = {e.array for e in found.written}
    read = {e for s in body for e in _loads(s) if e.array in arrays}
    others = (targets | read) - {*found.written}
    near = any(poly(e.index[-1]).coefficient(x).value in (1, -1) for e in others)
    return bool(found.written and near) and not _order(body, found)


def _statements(
    body: tuple[Stmt, ...], asked: tuple[Expr, ...] = ()
) -> Iterator[tuple[tuple[Expr, ...], Stmt]]:
    """What an iteration does, each statement with the conditions around it."""
    for s in body:
        if isinstance(s, If) and not s.orelse:
            yield from _statements(s.then, (*asked, s.cond))
        else:
            yield asked, s


def _around(inner: For, element: Load) -> Iterator[tuple[Expr, ...]]:
    """The conditions around each use of an element."""
    for asked, s in _statements(inner.body):
        if element in _loads(s) or (isinstance(s, Assign) and element == s.target):
            yield asked


def _loads(s: Stmt) -> Iterator[Load]:
    """The elements that a statement reads."""
    if isinstance(s, Assign):
        if isinstance(s.target, Load):
            yield from (x for i in s.target.index for x in loads(i))
            yield from (s.target,) if s.op else ()
        yield from loads(s.value)
    else:
        for e in stmt_exprs(s):
            yield from loads(e)


def _turned(outer: str, inner: str, body: tuple[Stmt, ...]) -> _Turned:
    def is_turned(e: Load) -> bool:
        *slow, last = map(poly, e.index)
        return (
            last.coefficient(outer).value in (1, -1)
            and not last.mentions(inner)
            and any(p.mentions(inner) for p in slow)
        )

    read = dict.fromkeys(e for s in body for e in _loads(s) if is_turned(e))
    targets = (s.target for s in body if isinstance(s, Assign) and isinstance(s.target, Load))
    return _Turned(tuple(read), tuple(dict.fromkeys(e for e in targets if is_turned(e))))


def _of(outer: For, inner: For) -> _Turned:
    body = tuple(s for _, s in _statements(inner.body))
    turned = _turned(outer.var, inner.var, body)
    arrays = {e.array for e in turned.written}
    found = dict.fromkeys(e for s in body for e in _loads(s) if e.array in arrays)
    sometimes = {e for s in body for x in stmt_exprs(s) for e in _sometimes(x)}

    def can_be(e: Load) -> bool:
        own = replace(turned, read=(e,), written=())
        alike = len(set(_around(inner, e))) == 1
        return e not in turned.read and e not in sometimes and alike and not _order(body, own)

    return replace(turned, beside=tuple(filter(can_be, found)))


def _size(loop: For) -> int | None:
    found = fixed_trips(loop)
    return None if found is None else found[0].value


class _Tile:
    """The loops that stand for the tile of two loops."""

    def __init__(self, fn: Function, outer: For, inner: For, turned: _Turned) -> None:
        self.fn, self.outer, self.inner = fn, outer, inner
        taken: list[str] = []
        self.types = symbols(fn)

        def named(wanted: str) -> str:
            name = fresh(fn, wanted)
            while name in taken:
                name = fresh(fn, f"{name}_")
            taken.append(name)
            return name

        self.named = named
        self.places = {e: named(f"{e.array}_in") for e in turned.read}
        self.places |= {e: named(f"{e.array}_by") for e in turned.beside}
        self.straight = frozenset(turned.beside)
        self.later = {e: named(f"{e.array}_out") for e in turned.written}

    def statements(self, step: str) -> Iterator[Stmt]:
        origin = self.outer.origin.then(step)
        shape = tuple(to_expr(x[0]) for x in map(fixed_trips, (self.outer, self.inner)) if x)
        column = to_expr(poly(shape[1]) + constant(1))  # neighbours across it: different banks
        padded = (shape[0], column)
        for e, name in (*self.places.items(), *self.later.items()):
            yield Decl(name, self.types[e.array], padded, origin=origin)
        for e, name in self.places.items():
            yield self._moved(Load(name, self._place()), e, e, step)
        yield replace(self.outer, body=(self._main(),), origin=origin)
        for e, name in self.later.items():
            yield self._moved(e, Load(name, self._place()), e, step)

    def _place(self) -> tuple[Expr, ...]:
        return iteration_number(self.outer), iteration_number(self.inner)

    def _main(self) -> For:
        place = self._place()

        def kept(e: Expr) -> Expr:
            name = self.places.get(e) if isinstance(e, Load) else None
            return e if name is None else Load(name, place, origin=e.origin)

        def stored(s: Stmt) -> Stmt:
            if not isinstance(s, Assign) or not isinstance(s.target, Load):
                return map_stmt_exprs(s, kept)
            target, value, op = s.target, s.value, s.op
            if op and (target in self.later or target in self.places):
                value, op = Bin(op, target, value), ""
            if target in self.later:
                target = Load(self.later[target], place, origin=target.origin)
            moved = map_stmt_exprs(replace(s, target=Var("_"), op="", value=value), kept)
            assert isinstance(moved, Assign)
            return replace(moved, target=target, op=op)

        return replace(self.inner, body=map_body(self.inner.body, lambda s: (stored(s),)))

    def _moved(self, to: Load, of: Load, element: Load, step: str) -> For:
        """The loops in the other order, or in this one, which move an element of each iteration."""
        own = {x.var: self.named(x.var) for x in (self.outer, self.inner)}
        conditions = next(_around(self.inner, element))
        origin = self.outer.origin.then(step)
        move = Assign(to, of, label=f"turn_{to.array}", origin=origin)
        values = {old: Var(new) for old, new in own.items()}
        renamed = substitute_body((move,), dict(values))
        inside = tuple(substitute(c, dict(values)) for c in conditions)
        outer, inner = (
            replace(x, var=own[x.var], asks=None, sets=(), origin=origin)
            for x in (self.outer, self.inner)
        )
        if element in self.straight:
            outer, inner = inner, outer
        return replace(inner, body=(replace(outer, body=_under(inside, renamed)),))


def _under(conditions: tuple[Expr, ...], body: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
    return (If(conjunction(list(conditions)), body),) if conditions else body
