"""Statements with other names."""

from __future__ import annotations

from loopxform.ir.copies import replace
from loopxform.ir.nodes import Copy, Decl, Expr, For, Load, Stmt, Var
from loopxform.ir.visit import map_body, map_expr, map_stmt_exprs


def rename(body: tuple[Stmt, ...], new: dict[str, str]) -> tuple[Stmt, ...]:
    """`body` with scalars and arrays renamed, their declarations and copies included."""

    def expr(e: Expr) -> Expr:
        match e:
            case Var(name) if name in new:
                return replace(e, name=new[name])
            case Load(array) if array in new:
                return replace(e, array=new[array])
            case _:
                return e

    def stmt(s: Stmt) -> tuple[Stmt, ...]:
        s = map_stmt_exprs(s, expr)
        match s:
            case Decl(name):
                return (replace(s, name=new.get(name, name), like=new.get(s.like, s.like)),)
            case Copy(target, source):
                return (replace(s, target=new.get(target, target), source=new.get(source, source)),)
            case For(var):
                dealt, narrow = new.get(s.dealt, s.dealt), tuple(new.get(n, n) for n in s.narrow)
                asks = None if s.asks is None else map_expr(s.asks, expr)
                var = new.get(var, var)
                made = replace(s, var=var, dealt=dealt, narrow=narrow, asks=asks)
                if s.chained or s.look_back:
                    chained, link = (
                        tuple(new.get(n, n) for n in x) for x in (s.chained, s.look_back)
                    )
                    full = tuple((new.get(a, a), new.get(b, b), size) for a, b, size in s.filled)
                    made = replace(made, chained=chained, look_back=link, filled=full)
                return (made,)
            case _:
                return (s,)

    return map_body(body, stmt) if new else body
