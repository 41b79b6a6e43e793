"""Loops whose iterations plainly have nothing in common, seen without solving anything.

    for i: C[ii + i, jj + j] = acc[i, j]

Each array that is written is subscripted in one way throughout the loop, and one of its subscripts
is the variable of the loop plus something that stays the same.
"""

from __future__ import annotations

from loopxform.ir.affine import Poly, poly, to_expr
from loopxform.ir.nodes import Assign, Call, Copy, Decl, For, If, Load, Stmt, Var
from loopxform.ir.visit import (
    Path,
    bodies,
    in_body_of,
    loads,
    names,
    stmt_exprs,
    walk,
    walk_expr,
    writes,
)


def distinct(loop: For) -> bool:
    """Whether no two iterations touch the same scalar or element, one of them writing. False also
    where that takes more to tell."""
    places = list(walk(loop.body))
    inside = [s for _, s in places]
    own = {s.name for s in inside if isinstance(s, Decl)}
    if not all(_plain(s, own) for s in inside) or not _in_scope(places, own):
        return False
    targets = [s.target for s in inside if isinstance(s, Assign)]
    if any(isinstance(t, Var) and t.name not in own for t in targets):
        return False
    written = {t.array for t in targets if isinstance(t, Load)} - own
    if any(isinstance(s, Copy) and s.source in written for s in inside):
        return False
    changing = writes(loop.body) | own | {s.var for s in inside if isinstance(s, For)}
    if any(names(e) & changing for e in stmt_exprs(loop)):
        return False
    used: dict[str, set[tuple[Poly, ...]]] = {name: set() for name in written}
    for x in (x for s in inside for e in stmt_exprs(s) for x in loads(e)):
        if x.array in written:
            used[x.array].add(tuple(map(poly, x.index)))
    return all(
        len(found) == 1 and any(_moves(p, loop.var, changing) for p in next(iter(found)))
        for found in used.values()
    )


def _plain(s: Stmt, own: set[str]) -> bool:
    """Whether a statement is one of those that are looked at here."""
    called = any(isinstance(x, Call) and x.type for e in stmt_exprs(s) for x in walk_expr(e))
    match s:
        case For():
            return not s.live_out and not called
        case Copy():
            return s.target in own
        case Assign() | Decl() | If():
            return not called
        case _:
            return False


def _in_scope(places: list[tuple[Path, Stmt]], own: set[str]) -> bool:
    """Whether the storage that the body declares is used where it is declared alone: then it is
    that of an iteration."""
    scopes: dict[str, list[Path]] = {}
    for path, s in places:
        if isinstance(s, Decl):
            scopes.setdefault(s.name, []).append(path)
    for path, s in places:
        used = {n for e in stmt_exprs(s) for n in names(e)} | (set() if bodies(s) else writes((s,)))
        if isinstance(s, Copy):
            used.add(s.source)
        if any(not any(in_body_of(d, path) for d in scopes[n]) for n in used & own):
            return False
    return True


def _moves(p: Poly, var: str, changing: frozenset[str] | set[str]) -> bool:
    """Whether a subscript is the variable, or less it, plus what stays the same."""
    factor, rest = p.coefficient(var), p.without(var)
    if factor.value not in (1, -1) or rest + factor * poly(Var(var)) != p:
        return False
    fixed = to_expr(rest)
    return not names(fixed) & ({var} | changing) and not any(loads(fixed))
