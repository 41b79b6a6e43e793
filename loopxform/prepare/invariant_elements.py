"""Elements that a sum reads again and again, read once in front of it.

    for (i...) for (j...) { s = 0; for (k...) s += a[i][k] * b[k][j] * w[i][j]; }
        ->  for (i...) for (j...) { s = 0; if (0 < n) x = w[i][j];
                                    for (k...) s += a[i][k] * b[k][j] * x; }

Each iteration of the loops around has an element of its own, so no tile would serve several of
them: a work-item keeps it in a register. The loop stores to no array, and every iteration of it
reads the element.
"""

from __future__ import annotations

from dataclasses import replace

from loopxform.analysis.accesses import touched
from loopxform.ir.affine import value_of
from loopxform.ir.names import fresh
from loopxform.ir.nodes import Assign, Bin, Decl, Expr, For, Function, If, Load, Stmt, Var
from loopxform.ir.typing import symbols
from loopxform.ir.visit import (
    loads,
    map_exprs,
    names,
    perfect_nest,
    replace_at,
    stmt_exprs,
    walk,
    writes,
)

LEAST = 2
"""Loops around a sum, of which tiles may be made."""


def with_invariant_elements(fn: Function) -> Function:
    """The function with such elements in scalars."""
    for place, s in enumerate(fn.body):
        nest = perfect_nest(s) if isinstance(s, For) else ()
        if len(nest) < LEAST:
            continue
        inside = (place, *(0 for _ in nest[1:]))
        for n, loop in enumerate(nest[-1].body):
            if isinstance(loop, For) and (element := _element(nest, loop)) is not None:
                made = _in_scalar(fn, loop, element)
                return with_invariant_elements(replace_at(fn, (*inside, n), made))
    return fn


def _element(nest: tuple[For, ...], loop: For) -> Load | None:
    """What each iteration of a sum reads, and each iteration around it alone."""
    inside = [x for _, x in walk(loop.body)]
    if abs(value_of(loop.step) or 0) != 1 or not all(isinstance(x, Assign | Decl) for x in inside):
        return None
    if not all(isinstance(x.target, Var) for x in inside if isinstance(x, Assign)):
        return None
    changing = writes(loop.body) | {loop.var}
    changing |= {x.name for x in inside if isinstance(x, Decl)}
    for x, guards in (t for s in loop.body for e in stmt_exprs(s) for t in touched(e)):
        if not isinstance(x, Load) or guards or any(any(loads(i)) for i in x.index):
            continue
        used = names(x) - {x.array}
        if used >= {n.var for n in nest} and not used & changing and x.array not in changing:
            return x
    return None


def _in_scalar(fn: Function, loop: For, x: Load) -> tuple[Stmt, ...]:
    name = fresh(fn, f"{x.array}_own")
    kind = symbols(fn)[x.array]

    def own(e: Expr) -> Expr:
        return Var(name) if e == x else e

    read = Assign(Var(name), x, label=f"{name}_read", origin=loop.origin)
    order = "<" if value_of(loop.step) == 1 else ">"
    asked = If(Bin(order, loop.lo, loop.hi), (read,), origin=loop.origin)
    return (
        Decl(name, kind, origin=loop.origin),
        asked,
        replace(loop, body=map_exprs(loop.body, own)),
    )
