"""Searches from the last iteration back, as searches that count upwards.

for (i = n - 1; i >= 0; i--)          for (k = 0; k < n; k++)
  if (c(i)) { pos = i; break; }  ->     if (c(n - 1 - k)) { pos = n - 1 - k; break; }
                                      i = n - 1 - k;
"""

from __future__ import annotations

from dataclasses import replace

from loopxform.analysis.idioms.searches import search_at
from loopxform.ir.affine import poly, to_expr, value_of
from loopxform.ir.names import fresh
from loopxform.ir.nodes import Assign, Const, Decl, Expr, For, Function, Opaque, Stmt, Var
from loopxform.ir.typing import symbols, type_of
from loopxform.ir.visit import (
    at,
    enclosing,
    loads,
    names,
    replace_at,
    substitute_body,
    walk,
    writes,
)


def upwards(fn: Function) -> Function:
    """Every search outside of other loops counts upwards."""
    places = [p for p, s in walk(fn.body) if isinstance(s, For)]
    for path in reversed(places):
        if any(isinstance(s, For | Opaque) for s in enclosing(fn, path)[:-1]):
            continue
        loop = at(fn, path)
        if isinstance(loop, For) and _counts_down(fn, loop) and search_at(fn, path) is not None:
            fn = replace_at(fn, path, _upwards(fn, loop))
    return fn


def _counts_down(fn: Function, loop: For) -> bool:
    """Whether a loop counts by 1 down to a number, from what can be told before it runs."""
    last, first = value_of(loop.hi), type_of(loop.lo, symbols(fn))
    least = 0 if loop.type.is_unsigned else -1
    known = last is not None and last >= least and last <= loop.type.most
    plain = value_of(loop.step) == -1 and not loop.sets
    kept = not (names(loop.lo) & (writes((loop,)) | {loop.var}) or any(loads(loop.lo)))
    same = first.is_unsigned == loop.type.is_unsigned and first.bytes <= loop.type.bytes
    return known and plain and kept and same and first.is_integer


def _upwards(fn: Function, loop: For) -> tuple[Stmt, ...]:
    counter = fresh(fn, loop.var)
    value = to_expr(poly(loop.lo) - poly(Var(counter)))
    end = to_expr(poly(loop.lo) - poly(loop.hi))
    body = substitute_body(loop.body, {loop.var: value})
    first, one = Const(0), Const(1)
    made = replace(loop, var=counter, lo=first, hi=end, step=one, body=body, asks=None)
    if not loop.live_out:
        return (made,)
    after = _after(loop, value)
    return (Decl(counter, loop.type, origin=loop.origin), made, after)


def _after(loop: For, value: Expr) -> Stmt:
    """What the counter of the text has behind the loop."""
    return Assign(Var(loop.var), value, label="S", origin=loop.origin)
