"""Numbers that keep their value in a statement of a function, as parameters of it (for verdicts
alone).

    for (i < v->n) for (j < v->m) v->x[i*v->m + j] = 0;
        ->  for (i < n) for (j < m) v->x[i*m + j] = 0;           `if v.m and v.x do not overlap`
    for (i < d[1]) for (j < d[0]) a[i*d[0] + j] = 0;             `if d and a do not overlap`
    w = width(p); for (i < h) for (j < w) a[i*w + j] = 0;

No statement names what of memory is set here, so that only a store to another array could change
it: one that overlaps it, which verdicts take for granted not to be. What a statement that is not
modelled leaves is another number than what it met.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from loopxform.analysis.assumptions import apart
from loopxform.ir.affine import value_of
from loopxform.ir.names import fresh
from loopxform.ir.nodes import (
    Assign,
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
from loopxform.ir.printer import expr_text
from loopxform.ir.typing import symbols
from loopxform.ir.visit import (
    counters,
    declared,
    loads,
    map_exprs,
    names,
    stmt_exprs,
    walk,
    walk_expr,
    writes,
)


class SteadyNumbers:
    """`function` has them as parameters, and is the one given where there are none; `texts` are
    what the user calls them, `own` those that are variables of the function, `places` what names
    the others are read by."""

    def __init__(self, fn: Function) -> None:
        self.given = fn
        self.objects = {p.name: p for p in fn.objects}
        self.types = symbols(fn)
        self.locals = {n for n, d in declared(fn.body).items() if not d.shape} | counters(fn)
        self.set_somewhere = frozenset[str]().union(*map(_changed, fn.body))
        self.changing = frozenset[str]()
        self.texts: dict[str, str] = {}
        self.places: dict[str, frozenset[str]] = {}
        self.homes = set[str]()
        self.own = set[str]()
        self.function = fn
        self.function = self._made()

    def assumed(self, used: frozenset[str]) -> Iterator[str]:
        """That no store of the function changes those that `used` names belong to."""
        for a, b in apart(self.given):
            if not self.homes.isdisjoint({a.name, b.name} & used):
                yield f"{a.name} and {b.name} do not overlap"

    def asks(self, made: Function, own: frozenset[str] = frozenset()) -> bool:
        """Whether what is made of the function is right only where its own variables, `own` ones
        among them, are to each other in some way, of which no caller knows anything."""
        asked = (names(e) for e in made.assumes if e not in self.given.assumes)
        return any(len(n) > 1 and not (self.own | own).isdisjoint(n) for n in asked)

    def _made(self) -> Function:
        found: dict[Expr, Var] = {}
        body = list[Stmt]()
        for s in self.given.body:
            self.changing = _changed(s)
            inside = [x for _, x in walk((s,))]
            if any(isinstance(x, Opaque) for x in inside):
                found.clear()
                body.append(s)
                continue
            found = {e: x for e, x in found.items() if self.changing.isdisjoint(names(e))}
            places = (e for x in inside for e in _places(x))
            for e in (e for place in places for e in walk_expr(place)):
                if e not in found and self._is_steady(e):
                    found[e] = self._parameter(e)
            body += map_exprs((s,), lambda e: found.get(e, e))  # noqa: B023
        return replace(self.function, body=tuple(body)) if self.texts else self.given

    def _parameter(self, e: Expr) -> Var:
        assert isinstance(e, Var | Load)
        home = e.name if isinstance(e, Var) else e.array
        name = fresh(self.function, f"{home}_read")
        number = Param(name, self.types[home])
        self.function = replace(self.function, params=(*self.function.params, number))
        self.texts[name], self.places[name] = expr_text(e), frozenset(names(e))
        if home in self.objects:
            self.homes.add(home)
        else:
            self.own.add(name)
        return Var(name)

    def _is_steady(self, e: Expr) -> bool:
        """Whether it is no parameter of its own, and nothing in the statement sets it."""
        match e:
            case Var(name):
                return not (self._is_fixed(e) and name not in self.set_somewhere) and self._is_kept(
                    name
                )
            case Load(array, index):
                p = self.objects.get(array)
                plain = p is not None and not (p.type.is_unsigned or p.rows)
                return plain and self._is_kept(array) and all(map(self._is_fixed, index))
            case _:
                return False

    def _is_kept(self, name: str) -> bool:
        p = self.objects.get(name)
        known = name in self.locals if p is None else not p.united
        return known and self.types[name].is_integer and name not in self.changing

    def _is_fixed(self, e: Expr) -> bool:
        """Whether a subscript is one number in the statement."""
        own = isinstance(e, Var) and self._is_own(e.name) and e.name not in self.changing
        return value_of(e) is not None or own

    def _is_own(self, name: str) -> bool:
        """Whether it is a number that no pointer leads to."""
        p = self.objects.get(name)
        return name in self.locals if p is None else not (p.array or p.pointer or p.is_global)


def _changed(s: Stmt) -> frozenset[str]:
    """What a statement sets."""
    loops = [x for _, x in walk((s,)) if isinstance(x, For)]
    counted = {x.var for x in loops} | {n for x in loops for n in x.sets}
    return writes((s,)) | declared((s,)).keys() | counted


def _places(s: Stmt) -> Iterator[Expr]:
    """The bounds of a loop, the subscripts of a statement, and what it asks."""
    match s:
        case For(lo=lo, hi=hi):
            yield from (lo, hi)
        case If(cond=cond):
            yield cond
    targets = (s.target,) if isinstance(s, Assign) else ()
    for e in (*targets, *stmt_exprs(s)):
        for x in loads(e):
            yield from x.index
