"""A loop as all that a function does, its arrays numbered from where it begins (for verdicts).

    for (y...) { w = width(y); for (x...) a[x*w + y*n] = 0; }     ->     for (x...) a[x*w] = 0;

What stands around it keeps its value meanwhile: counters and variables are parameters there. All
elements of an array that lie equally far off are as distinct as before, and other loops may go
through it in another way.
"""

from __future__ import annotations

from dataclasses import replace

from loopxform.ir.affine import Poly, poly, to_expr
from loopxform.ir.nodes import Assign, Decl, Expr, For, Function, Load, Opaque, Param, Stmt, Var
from loopxform.ir.typing import symbols
from loopxform.ir.visit import (
    Path,
    at,
    declared,
    loads,
    map_exprs,
    names,
    stmt_exprs,
    walk,
    writes,
)


def loop_alone(fn: Function, path: Path) -> Function | None:
    """The function that holds the loop at `path` alone; None of what is not modelled."""
    loop = at(fn, path)
    inside = [s for _, s in walk((loop,))]
    if not isinstance(loop, For) or any(isinstance(s, Opaque) for s in inside):
        return None
    types, own = symbols(fn), declared((loop,)).keys()
    counted = {s.var for s in inside if isinstance(s, For)}
    changing = writes((loop,)) | counted
    every = declared(fn.body)
    used = changing.union(*(names(e) for s in inside for e in _exprs(s)))
    arrays = {n: every[n] for n in sorted(used - own) if n in every and every[n].shape}
    used |= {n for d in arrays.values() for e in d.shape for n in names(e)}
    objects = {p.name for p in fn.objects}
    around = sorted(used - own - objects - arrays.keys() - counted)
    given = tuple(Param(n, types[n]) for n in around if n not in changing)
    locals = tuple(Decl(n, types[n]) for n in around if n in changing)
    made = replace(
        fn, params=(*fn.params, *given), body=(*locals, *arrays.values(), loop), start=None
    )
    return _renumbered(made, frozenset(p.name for p in made.params if not p.array) - changing)


def _exprs(s: Stmt) -> tuple[Expr, ...]:
    return (s.target, *stmt_exprs(s)) if isinstance(s, Assign) else stmt_exprs(s)


def _renumbered(fn: Function, fixed: frozenset[str]) -> Function:
    """The function with the flat arrays that it writes numbered from what all subscripts have in
    common."""
    for p in fn.objects:
        if p.name not in writes(fn.body) or len(p.shape) != 1 or p.rows or p.values:
            continue
        found = [
            x for _, s in walk(fn.body) for e in _exprs(s) for x in loads(e) if x.array == p.name
        ]
        common = {_offset(poly(x.index[0]), fixed) for x in found}
        if len(common) == 1 and (offset := common.pop()).terms:
            fn = _moved(fn, p, offset)
    return fn


def _offset(index: Poly, fixed: frozenset[str]) -> Poly:
    """The terms of a subscript that are the same in all iterations, a number aside."""
    return Poly(tuple((m, c) for m, c in index.terms if m and all(_is_one_of(x, fixed) for x in m)))


def _is_one_of(e: Expr, fixed: frozenset[str]) -> bool:
    return isinstance(e, Var) and e.name in fixed


def _moved(fn: Function, p: Param, offset: Poly) -> Function:
    def moved(e: Expr) -> Expr:
        if not isinstance(e, Load) or e.array != p.name:
            return e
        return replace(e, index=(to_expr(poly(e.index[0]) - offset),))

    new = replace(p, shape=(None,), flat=True)
    params, globals = (
        tuple(new if x is p else x for x in objects) for objects in (fn.params, fn.globals)
    )
    return replace(fn, params=params, globals=globals, body=map_exprs(fn.body, moved))
