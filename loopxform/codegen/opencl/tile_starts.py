"""Names for where the tiles of a group begin, where that is computed: `min(iii, M - Ty*Ry)`.

forall<group.x> iii: forall<thread.x> (ii = min(iii, M - 64); ...)   (step shift-inwards)
-> const int iii = ..., iii_from = min(iii, M - 64); ...
"""

from __future__ import annotations

from dataclasses import replace

from loopxform.ir.names import fresh
from loopxform.ir.nodes import Assign, Bin, Const, Decl, Expr, For, Function, Stmt, Tile, Var
from loopxform.ir.typing import symbols, type_of
from loopxform.ir.visit import at, map_exprs, names, replace_at, walk, walk_expr, writes

Starts = tuple[tuple[Decl, Assign], ...]


def with_starts(fn: Function) -> Function:
    """The program, with a scalar of the group for each such start of a loop over work-items."""
    for path, s in walk(fn.body):
        inside = s.body if isinstance(s, For) and _is_mapped(s, "grid") else ()
        if inside and not any(_is_mapped(x, "grid") for _, x in walk(inside)):
            fn = replace_at(fn, path, (_named(fn, at(fn, path)),))
    return fn


def leading(body: tuple[Stmt, ...]) -> Starts:
    """The scalars that a body begins by setting to such starts, and never sets again."""
    out = list[tuple[Decl, Assign]]()
    for decl, first in zip(body[::2], body[1::2]):
        if not isinstance(decl, Decl) or not isinstance(first, Assign):
            break
        again = decl.name in writes(body[2 * len(out) + 2 :])
        if first.target != Var(decl.name) or not _is_least(first.value) or again:
            break
        out.append((decl, first))
    return tuple(out)


def _is_mapped(s: Stmt, kind: str) -> bool:
    return isinstance(s, For) and s.level is not None and s.level.kind == kind


def _named(fn: Function, group: Stmt) -> For:
    """The innermost loop over groups with these names."""
    assert isinstance(group, For)
    grid = {s.var for _, s in walk(fn.body) if isinstance(s, For) and _is_mapped(s, "grid")}
    loops = [s for _, s in walk(group.body) if isinstance(s, For)]
    own = writes(group.body) | {s.var for s in loops}
    found = dict.fromkeys(s.lo for s in loops if _is_mapped(s, "group") and _is_least(s.lo))
    types, values = symbols(fn), dict[Expr, Expr]()
    for start in (e for e in found if not names(e) & own):
        tile = min(names(start) & grid, default=group.var)
        values[start] = Var(fresh(fn, f"{tile}_from"))
    body = map_exprs(group.body, lambda e: values.get(e, e) if _is_least(e) else e)
    set_first = list[Stmt]()
    for start, name in values.items():
        assert isinstance(name, Var)
        set_first += [Decl(name.name, type_of(start, types)), Assign(name, start)]
    return replace(group, body=(*set_first, *body))


def _is_least(e: Expr) -> bool:
    """Whether an expression is a min that can be computed at any time."""
    plain = all(isinstance(x, Var | Const | Tile | Bin) for x in walk_expr(e))
    safe = plain and all(not isinstance(x, Bin) or x.op not in "/%" for x in walk_expr(e))
    return isinstance(e, Bin) and e.op == "min" and safe
