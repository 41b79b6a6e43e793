"""Sizes that a function computes from others: int h1 = (h + 1) / 2;  ->  h1 is (h + 1) / 2."""

from __future__ import annotations

from collections import Counter

from loopxform.ir.memo import remembered
from loopxform.ir.nodes import Assign, Call, Decl, Expr, For, Function, Load, Opaque, Param, Var
from loopxform.ir.types import INT
from loopxform.ir.typing import symbols, type_of
from loopxform.ir.visit import names, substitute, walk, walk_expr


@remembered(64)
def sizes(fn: Function) -> dict[str, Expr]:
    """Integers that are set once, first of all, by what they stand for: numbers that nothing
    sets."""
    every = [s for _, s in walk(fn.body)]
    if any(isinstance(s, Opaque) for s in every):
        return {}
    types = symbols(fn)
    targets = (s.target for s in every if isinstance(s, Assign))
    count = Counter(x.name for x in targets if isinstance(x, Var))
    changed = {s.var for s in every if isinstance(s, For)} | count.keys()
    known: dict[str, Expr] = {}
    for s in fn.body:
        if isinstance(s, Decl):
            continue
        if not isinstance(s, Assign) or not isinstance(s.target, Var) or s.op:
            break
        name, value = s.target.name, substitute(s.value, known)
        plain = not any(isinstance(x, Load | Call) for x in walk_expr(value))
        fixed = plain and count[name] == 1 and not names(value) & changed
        if fixed and name in types and types[name] == INT == type_of(value, types):
            known[name] = value
    return known


def shape_of(fn: Function, name: str) -> tuple[Expr | None, ...]:
    """The declared extents of an array."""
    found: Param | Decl | None = next((p for p in fn.objects if p.name == name), None)
    found = found or next((s for _, s in walk(fn.body) if isinstance(s, Decl) and s.name == name))
    return found.shape
