"""Numbers in memory that nothing in a function sets, as parameters of it (for verdicts alone).

    for (i < v->n) for (j < v->m) v->x[i*v->m + j] = 0;
        ->  for (i < n) for (j < m) v->x[i*m + j] = 0;           `if v.m and v.x do not overlap`
    for (i < d[1]) for (j < d[0]) a[i*d[0] + j] = 0;             `if d and a do not overlap`

No statement names what is set here, so that only a store to another array could change it: one that
overlaps it, which verdicts take for granted not to be. What a statement that is not modelled leaves
is another number than what it met.
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
from loopxform.ir.visit import (
    counters,
    declared,
    loads,
    map_exprs,
    stmt_exprs,
    walk,
    walk_expr,
    writes,
)


class SteadyNumbers:
    """`function` has them as parameters, and is the one given where there are none; `texts` are
    what the user calls them."""

    def __init__(self, fn: Function) -> None:
        self.given = fn
        self.objects = {p.name: p for p in fn.objects}
        self.changing = writes(fn.body) | counters(fn) | declared(fn.body).keys()
        self.texts: dict[str, str] = {}
        self.homes = set[str]()
        self.function = fn
        self.function = self._made()

    def assumed(self, used: frozenset[str]) -> Iterator[str]:
        """That no store of the function changes those that `used` names belong to."""
        for a, b in apart(self.given):
            if not self.homes.isdisjoint({a.name, b.name} & used):
                yield f"{a.name} and {b.name} do not overlap"

    def _made(self) -> Function:
        found: dict[Expr, Var] = {}
        body = list[Stmt]()
        for s in self.given.body:
            inside = [x for _, x in walk((s,))]
            if any(isinstance(x, Opaque) for x in inside):
                found.clear()
                body.append(s)
                continue
            places = (e for x in inside for e in _places(x))
            for e in (e for place in places for e in walk_expr(place)):
                if e not in found and self._is_steady(e):
                    found[e] = self._parameter(e)
            body += map_exprs((s,), lambda e: found.get(e, e))
        return replace(self.function, body=tuple(body)) if self.texts else self.given

    def _parameter(self, e: Expr) -> Var:
        assert isinstance(e, Var | Load)
        home = e.name if isinstance(e, Var) else e.array
        name = fresh(self.function, f"{home}_read")
        number = Param(name, self.objects[home].type)
        self.function = replace(self.function, params=(*self.function.params, number))
        self.texts[name] = expr_text(e)
        self.homes.add(home)
        return Var(name)

    def _is_steady(self, e: Expr) -> bool:
        """Whether it is a number that others might set through a pointer, and nobody does."""
        match e:
            case Var(name):
                p = self._kept(name)
                return p is not None and not p.array and (p.pointer or p.is_global)
            case Load(array, index):
                p = self._kept(array)
                still = p is not None and p.array and not (p.type.is_unsigned or p.rows)
                return still and all(map(self._is_fixed, index))
            case _:
                return False

    def _kept(self, name: str) -> Param | None:
        p = self.objects.get(name)
        plain = p is not None and p.type.is_integer and not p.united
        return p if plain and name not in self.changing else None

    def _is_fixed(self, e: Expr) -> bool:
        """Whether a subscript is one number in the whole function."""
        p = self.objects.get(e.name) if isinstance(e, Var) else None
        own = p is not None and not (p.array or p.pointer or p.is_global)
        return value_of(e) is not None or (own and p is not None and p.name not in self.changing)


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
