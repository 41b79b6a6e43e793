"""Nests in both branches of a condition, as one nest with the condition inside.

    if (b == 0) for (i...) for (j...) { s = 0; for (k...) s += a; c[i][j] = s; }
    else        for (i...) for (j...) { t = 0; for (k...) t += a; c[i][j] = t + b * c[i][j]; }
        ->  for (i...) for (j...) { s = 0; for (k...) s += a;
                                    if (b == 0) c[i][j] = s; else c[i][j] = s + b * c[i][j]; }

The condition reads nothing that a statement of the branches sets, and the loops of both have the
same bounds: the inverse of loop unswitching. What both branches do stands outside of the condition.
A loop under a condition of its own (`else if (b != 1) for ...`) takes that inside. Branches that
would have loops left, and sums of different terms, stay apart. (Allen, Cocke, A catalogue of
optimizing transformations, 1971, on unswitching.)
"""

from __future__ import annotations

from dataclasses import replace
from itertools import chain, takewhile

from loopxform.ir.nodes import (
    Assign,
    Decl,
    Expr,
    For,
    Function,
    If,
    Load,
    Opaque,
    Return,
    Stmt,
    Var,
)
from loopxform.ir.visit import loads, names, substitute_body, walk, writes
from loopxform.transforms.restructure.guards import enters_unseen

Body = tuple[Stmt, ...]


def with_joined_branches(fn: Function) -> Function:
    """The function with one nest for each pair of nests that a condition chooses from."""
    body = _body(fn.body)
    return fn if body == fn.body else replace(fn, body=body, as_written=fn.as_written or fn)


def _body(body: Body) -> Body:
    return tuple(chain.from_iterable(_stmt(s) for s in body))


def _stmt(s: Stmt) -> Body:
    match s:
        case For():
            return (replace(s, body=_body(s.body)),)
        case If():
            then, orelse = _body(s.then), _body(s.orelse)
            joined = _joined(s, then, orelse) if _has_loops(then) and _has_loops(orelse) else None
            return joined or (replace(s, then=then, orelse=orelse),)
        case _:
            return (s,)


def _joined(s: If, then: Body, orelse: Body) -> Body | None:
    """One body for both branches; None where the condition may change in it, or loops would be left
    in a branch."""
    inside = tuple(x for _, x in walk((*then, *orelse)))
    has_arrays = any(isinstance(x, Decl) and x.shape for x in inside)
    has_jumps = any(isinstance(x, Opaque | Return) for x in inside)
    if has_arrays or has_jumps or _changes(s.cond, (*then, *orelse)):
        return None
    return _zipped(s, _taken_inside(then), _taken_inside(orelse))


def _taken_inside(body: Body) -> Body:
    """The loop that is all of a branch, with the condition around it inside, if it has any that it
    does not change and may be entered without."""
    match body:
        case (If(then=then, orelse=()) as s,):
            match _taken_inside(then):
                case (For() as loop,) if enters_unseen(loop) and not _changes(s.cond, (loop,)):
                    return (replace(loop, body=(replace(s, then=loop.body),)),)
    return body


def _changes(cond: Expr, body: Body) -> bool:
    """Whether the condition may change in statements that assign, count or declare."""
    inside = tuple(x for _, x in walk(body))
    own = {x.var if isinstance(x, For) else x.name for x in inside if isinstance(x, For | Decl)}
    arrays = {x.array for x in loads(cond)}
    return bool((names(cond) | arrays) & (writes(inside) | own))


def _zipped(s: If, then: Body, orelse: Body) -> Body | None:
    """What both do in order, the condition about what differs; loops of the same bounds are one."""
    joined = list[Stmt]()
    while then and orelse:
        (mine, *rest), (theirs, *others) = then, orelse
        renamed = _renamed(mine, theirs)
        if mine == theirs or renamed is not None:
            joined.append(mine)
            then, orelse = tuple(rest), substitute_body(tuple(others), renamed or {})
            continue
        (first, then), (second, orelse) = _before_loop(then), _before_loop(orelse)
        joined += _chosen(s, first, second)
        if not (then and orelse):
            break
        loop = _one_loop(s, then[0], orelse[0])
        if loop is None:
            return None
        joined.append(loop)
        then, orelse = then[1:], orelse[1:]
    if _has_loops((*then, *orelse)):
        return None
    return (*joined, *_chosen(s, then, orelse))


def _before_loop(body: Body) -> tuple[Body, Body]:
    """The statements in front of the first one with loops, and the others."""
    count = next((n for n, x in enumerate(body) if _has_loops((x,))), len(body))
    return body[:count], body[count:]


def _chosen(s: If, then: Body, orelse: Body) -> Body:
    """The condition about statements, behind what these declare, and in front of what both end
    with."""
    own = [x for x in (*then, *orelse) if isinstance(x, Decl)]
    rest = [tuple(x for x in b if not isinstance(x, Decl)) for b in (then, orelse)]
    same = sum(1 for _ in takewhile(lambda p: p[0] == p[1], zip(*map(reversed, rest))))
    ends = rest[0][len(rest[0]) - same :]
    first, second = (b[: len(b) - same] for b in rest)
    asked = (replace(s, then=first, orelse=second),) if first or second else ()
    return (*own, *asked, *ends)


def _renamed(mine: Stmt, theirs: Stmt) -> dict[str, Expr] | None:
    """What the second of two declarations declares, by the name of the first."""
    match mine, theirs:
        case Decl(name, shape=()), Decl(other) if replace(mine, name=other) == theirs:
            return {other: Var(name)}
        case _:
            return None


def _one_loop(s: If, mine: Stmt, theirs: Stmt) -> For | None:
    """A loop over what both do in an iteration."""
    if not (isinstance(mine, For) and isinstance(theirs, For)):
        return None
    counted = theirs.var == mine.var or not (mine.live_out or theirs.live_out)
    same = replace(theirs, var=mine.var, body=mine.body) == mine and theirs.asks == mine.asks
    if not (counted and same):
        return None
    body = _zipped(s, mine.body, substitute_body(theirs.body, {theirs.var: Var(mine.var)}))
    sums = body is not None and not _has_loops(body) and not any(map(_stores, body))
    asks = sums and any(isinstance(x, If) and x.cond == s.cond for x in body or ())
    return None if body is None or asks else replace(mine, body=body)


def _stores(s: Stmt) -> bool:
    return any(isinstance(x, Assign) and isinstance(x.target, Load) for _, x in walk((s,)))


def _has_loops(body: Body) -> bool:
    return any(isinstance(x, For) for _, x in walk(body))
