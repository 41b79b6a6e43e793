"""Loops that run once whatever their condition says (`do`), for sizes for which it says so too.

    for (i = 0; i < (n > 0 ? n : 0 + 1); i++)   ->   for (i = 0; i < n; i++), where n > 0

The condition is asked of the caller; for other sizes the user's own text runs, an iteration.
"""

from __future__ import annotations

from dataclasses import replace

from loopxform.ir.nodes import Bin, Expr, For, Function, Select, Stmt
from loopxform.ir.visit import map_body, map_expr, names


def with_repeated_loops(fn: Function, fixed: frozenset[str]) -> Function:
    """The function with the ends of such loops as their conditions have them; `fixed` are the
    scalars that keep their value."""
    asked = list[Expr]()

    def bounded(s: Stmt) -> tuple[Stmt, ...]:
        if not isinstance(s, For):
            return (s,)
        loop = s

        def end(e: Expr) -> Expr:
            match e:
                case Select(Bin("<" | ">" as op, bound, start) as cond, then, once) if (
                    bound == then and start == loop.lo and names(cond) <= fixed
                ):
                    asked.append(Bin(f"{op}=", bound, start) if once == start else cond)
                    return then
                case _:
                    return e

        return (replace(s, hi=map_expr(s.hi, end)),)

    body = map_body(fn.body, bounded)
    if not asked:
        return fn
    assumes = tuple(dict.fromkeys((*fn.assumes, *asked)))
    return replace(fn, body=body, assumes=assumes, as_written=fn.as_written or fn)
