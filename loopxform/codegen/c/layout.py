"""Where the elements of tiles lie in C: those that the lanes of a vector read are neighbours.

    B_loc[jj - jjj + j][k], j parallel    is stored as B_loc[k][jj - jjj + j]

Only tiles that nothing else is copied from move; a copy writes its target in the new order.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from loopxform.codegen.c.phases import is_lanes
from loopxform.ir.affine import poly
from loopxform.ir.nodes import Copy, Decl, Expr, For, Function, Load, Stmt
from loopxform.ir.types import Space
from loopxform.ir.visit import loads, map_body, map_exprs, stmt_exprs, walk

Orders = Mapping[str, tuple[int, ...]]


def orders(fn: Function) -> Orders:
    """For each tile that is stored in another order: which dimension each of its own was."""
    lanes = {s.var for _, s in walk(fn.body) if isinstance(s, For) and is_lanes(s)}
    sources = {s.source for _, s in walk(fn.body) if isinstance(s, Copy)}
    moving: dict[str, set[int]] = {}
    for _, s in walk(fn.body):
        for x in (x for e in stmt_exprs(s) for x in loads(e)):
            across = {n for n, i in enumerate(x.index) if any(poly(i).mentions(v) for v in lanes)}
            moving.setdefault(x.array, set()).update(across)
    out = {}
    for _, s in walk(fn.body):
        if isinstance(s, Decl) and s.space is Space.LOCAL and s.name not in sources:
            dims = range(len(s.shape))
            order = tuple(sorted(dims, key=lambda n: (n in moving.get(s.name, ()), n)))
            if order != tuple(dims):
                out[s.name] = order
    return out


def laid_out(fn: Function, found: Orders) -> Function:
    """The function with its tiles stored in those orders; the targets of copies are left."""

    def moved(e: Expr) -> Expr:
        if isinstance(e, Load) and e.array in found:
            return replace(e, index=tuple(e.index[n] for n in found[e.array]))
        return e

    def declared(s: Stmt) -> tuple[Stmt, ...]:
        if isinstance(s, Decl) and s.name in found:
            return (replace(s, shape=tuple(s.shape[n] for n in found[s.name])),)
        return (s,)

    return replace(fn, body=map_body(map_exprs(fn.body, moved), declared)) if found else fn
