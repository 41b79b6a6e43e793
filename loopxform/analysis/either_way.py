"""Elements that a program touches whichever branch it takes.

    if (beta == 0) c[i] = s;  else c[i] += s;      touches c[i] for certain
    y[i] = x[i] > 0 ? a[i] + 1 : a[i];             touches a[i] for certain

What decides may be data, or a number that is not whole: one of the branches runs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from loopxform.ir.memo import remembered
from loopxform.ir.nodes import Assign, Bin, Decl, Expr, For, Function, If, Load, Select, Stmt
from loopxform.ir.visit import children, loads, names, stmt_exprs, walk, writes


@remembered(8)
def with_common_accesses(fn: Function) -> Function:
    """The program with an access of its own in front of each condition for every element that both
    branches touch. It says what is touched, and is not to be run."""
    body = _body(fn.body)
    return fn if body == fn.body else replace(fn, body=body)


def _body(body: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
    return tuple(x for s in body for x in _stmt(s))


def _stmt(s: Stmt) -> Iterator[Stmt]:
    found = _either(s) if isinstance(s, If) else _chosen(s)
    yield from (Assign(x, x, label="S", origin=s.origin) for x in dict.fromkeys(found))
    match s:
        case For():
            yield replace(s, body=_body(s.body))
        case If():
            yield replace(s, then=_body(s.then), orelse=_body(s.orelse))
        case _:
            yield s


def _chosen(s: Stmt) -> list[Load]:
    """What both values that a `?:` of an assignment chooses between read."""
    if not isinstance(s, Assign):
        return []
    found = [x for e in stmt_exprs(s) for x in _selects(e)]
    return [x for e in found for x in _both(_read(e.then), _read(e.orelse))]


def _selects(e: Expr) -> Iterator[Select]:
    """The `?:` that are evaluated whatever other conditions say."""
    match e:
        case Select(cond):
            yield e
            yield from _selects(cond)
        case Bin("&&" | "||", left):
            yield from _selects(left)
        case _:
            for x in children(e):
                yield from _selects(x)


def _either(s: If) -> list[Load]:
    """The elements that both branches touch, where their subscripts are what they were before."""
    return _both(_certain(s.then), _certain(s.orelse))


def _both(some: list[Load], others: list[Load]) -> list[Load]:
    return [x for x in some if x in others]


def _certain(body: tuple[Stmt, ...]) -> list[Load]:
    """The elements that a body touches whenever it runs, with the subscripts they have there."""
    out, changed = list[Load](), set[str]()
    for s in body:
        found = list[Load]()
        match s:
            case Assign():
                found += [x for e in stmt_exprs(s) for x in _read(e)]
            case If(cond):
                found += [*_read(cond), *_either(s)]
        out += [x for x in found if not _names(x) & changed]
        if _may_leave(s):
            return out
        changed |= _changed(s)
    return out


def _read(e: Expr) -> list[Load]:
    """What an expression reads whenever it is evaluated, but for what it finds subscripts in."""
    match e:
        case Load(_, index):
            inside = [x for i in index for x in _read(i)]
            return inside if any(x for i in index for x in loads(i)) else [e]
        case Select(cond, then, orelse):
            return [*_read(cond), *_both(_read(then), _read(orelse))]
        case Bin("&&" | "||", left):
            return _read(left)
        case _:
            return [x for child in children(e) for x in _read(child)]


def _names(x: Load) -> frozenset[str]:
    return frozenset(n for i in x.index for n in names(i))


def _may_leave(s: Stmt) -> bool:
    """Whether what follows may not run."""
    return any(not isinstance(x, Assign | Decl | For | If) for _, x in walk((s,)))


def _changed(s: Stmt) -> set[str]:
    inside = [x for _, x in walk((s,))]
    counters = {x.var for x in inside if isinstance(x, For)}
    return {*writes((s,)), *counters, *(x.name for x in inside if isinstance(x, Decl))}
