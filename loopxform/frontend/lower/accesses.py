"""The accesses of a flat array: each subscript as a polynomial, and what holds around it."""

from __future__ import annotations

from collections.abc import Iterator

from loopxform.frontend.lower.facts import Facts, is_stable
from loopxform.frontend.lower.ranges import Context, branch_bounds, loop_bounds
from loopxform.ir.affine import Poly, poly
from loopxform.ir.nodes import (
    Assign,
    Decl,
    Expr,
    For,
    Function,
    If,
    Load,
    Opaque,
    Stmt,
    Var,
)
from loopxform.ir.typing import type_of
from loopxform.ir.visit import loads, stmt_exprs, substitute, walk, walk_expr
from loopxform.records import record


@record
class Access:
    """One subscript of a flat array: its polynomial and what holds around it."""

    load: Load
    poly: Poly
    context: Context


@record
class Refused(Exception):
    """Why an array stays flat."""

    message: str
    load: Load


class Accesses:
    """The accesses of the flat arrays of a function, which are found in one walk over its body."""

    def __init__(self, facts: Facts) -> None:
        self.facts = facts
        self.body: tuple[Stmt, ...] | None = None
        self.known: dict[str, Expr] = {}
        self.loads: dict[str, list[tuple[Load, Context]]] = {}

    def of(self, fn: Function, array: str) -> list[Access]:
        """Every access of `array` in text order. Raises Refused."""
        if fn.body is not self.body:
            self._walk(fn)
        found: list[Access] = []
        for load, context in self.loads.get(array, ()):
            if any(x.array == array for i in load.index for x in loads(i)):
                raise Refused("it is indexed by itself", load)
            found.append(Access(load, poly(substitute(load.index[0], self.known)), context))
        return found

    def _walk(self, fn: Function) -> None:
        self.body, self.known, self.loads = fn.body, known_scalars(fn, self.facts), {}
        for e, context in _expressions(fn.body, (), self.known):
            for load in loads(e):
                self.loads.setdefault(load.array, []).append((load, context))


def _expressions(
    body: tuple[Stmt, ...], context: Context, known: dict[str, Expr]
) -> Iterator[tuple[Expr, Context]]:
    """Every expression with what holds where it is evaluated."""
    for s in body:
        for e in stmt_exprs(s):
            yield e, context
        match s:
            case For():
                yield from _expressions(s.body, (*context, *loop_bounds(s, known)), known)
            case If():
                taken = branch_bounds(s, known, taken=True)
                other = branch_bounds(s, known, taken=False)
                yield from _expressions(s.then, (*context, *taken), known)
                yield from _expressions(s.orelse, (*context, *other), known)
            case Opaque():
                yield from _expressions(s.body, context, known)


MOST_NODES = 200
"""Of a value in terms of arguments: `b = a + a; c = b + b; ...` doubles with every line."""


def known_scalars(fn: Function, facts: Facts) -> dict[str, Expr]:
    """Locals set once, at the top of the function, from arguments: `int stride = 3 * w;`."""
    count: dict[str, int] = {}
    for _, s in walk(fn.body):
        match s:
            case Assign(Var(name)) | For(name):
                count[name] = count.get(name, 0) + 1
            case Opaque():
                return {}
    known: dict[str, Expr] = {}
    sizes: dict[str, int] = {}
    for s in fn.body:
        match s:
            case Assign(Var(name), value, "") if count[name] == 1 and name not in facts.stable:
                sizes[name] = sum(
                    sizes.get(x.name, 1) if isinstance(x, Var) else 1 for x in walk_expr(value)
                )
                if sizes[name] > MOST_NODES:
                    continue
                value = substitute(value, known)
                same = type_of(value, facts.types) == facts.types[name]
                local = any(isinstance(d, Decl) and d.name == name for d in fn.body)
                if local and same and is_stable(value, facts.stable):
                    known[name] = value
    return known
