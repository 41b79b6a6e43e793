"""Scalars that carry a copy of another one, as that one (copy coalescing).

    { t = s; t += x[i]; s = t; }       ->  s += x[i];
    { t = s + x[i]; u = t; s = u; }    ->  s = s + x[i];

So read functions that take a struct by value and return it (`sum = add(sum, v[i])`). Of a copy
`s = t` both are variables of the function, of one type; `t` is set in the same statements and
mentioned nowhere else, and `s` is not mentioned between the two. (Chaitin, Register allocation and
spilling via graph coloring, 1982.)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

from loopxform.ir.nodes import Assign, Decl, For, Function, If, Stmt, Var
from loopxform.ir.visit import declared, names, reads, substitute_body, walk, writes

Body = tuple[Stmt, ...]


def with_coalesced_copies(fn: Function) -> Function:
    """The function without such copies; itself where there are none."""
    if not all(isinstance(s, Assign | If | For | Decl) for _, s in walk(fn.body)):
        return fn
    own = {n: d for n, d in declared(fn.body).items() if not d.shape and not d.exposed}
    counters = {s.var for _, s in walk(fn.body) if isinstance(s, For)}
    scalars = {n: d for n, d in own.items() if n not in counters}
    if not any(map(_copied, (s for _, s in walk(fn.body)))):
        return fn
    body = _body(fn.body, scalars, _mentions(fn.body))
    return fn if body == fn.body else replace(fn, body=body)


def _mentions(body: Body) -> Counter[str]:
    """In how many statements that hold no others each name stands, or in their own expressions."""
    return Counter(n for _, s in walk(body) for n in _own(s))


def _own(s: Stmt) -> frozenset[str]:
    """The names in a statement, but for those in statements inside it."""
    match s:
        case For():
            return names(s.lo) | names(s.hi) | names(s.step)
        case If():
            return names(s.cond)
        case _:
            return reads((s,)) | writes((s,))


def _body(body: Body, scalars: Mapping[str, Decl], whole: Counter[str]) -> Body:
    out = [_inside(s, scalars, whole) for s in body]
    at = 0
    while at < len(out):
        begin = _begin(out, at, scalars, whole)
        if begin is None:
            at += 1
            continue
        copy = _copied(out[at])
        assert copy is not None
        to, of = copy
        merged = substitute_body(tuple(out[begin:at]), {of: Var(to)})
        merged = tuple(s for s in merged if _copied(s) != (to, to))
        whole[to] += _mentions(merged)[to] - _mentions(tuple(out[begin : at + 1]))[to]
        own = [s for s in merged if isinstance(s, Decl) and s.name == to]
        out[begin : at + 1] = [*own, *(s for s in merged if s not in own)]
        out = [s for s in out if not (isinstance(s, Decl) and s.name == of)]
        at = 0
    return tuple(out)


def _inside(s: Stmt, scalars: Mapping[str, Decl], whole: Counter[str]) -> Stmt:
    match s:
        case For():
            return replace(s, body=_body(s.body, scalars, whole))
        case If():
            then, orelse = (_body(b, scalars, whole) for b in (s.then, s.orelse))
            return replace(s, then=then, orelse=orelse)
        case _:
            return s


def _copied(s: Stmt) -> tuple[str, str] | None:
    """The names of `s = t`."""
    match s:
        case Assign(Var(name=to), Var(name=of), ""):
            return to, of
        case _:
            return None


def _begin(
    body: list[Stmt], at: int, scalars: Mapping[str, Decl], whole: Counter[str]
) -> int | None:
    """Where what is copied at a place is set first, if it may as well be what it is copied to."""
    copy = _copied(body[at])
    if copy is None or copy[0] == copy[1] or not set(copy) <= scalars.keys():
        return None
    to, of = copy
    if scalars[to].type != scalars[of].type:
        return None
    begin = next((n for n, s in enumerate(body[:at]) if of in _mentions((s,))), None)
    if begin is None or _mentions(tuple(body[begin : at + 1]))[of] != whole[of]:
        return None
    first = body[begin]
    if not (isinstance(first, Assign) and first.target == Var(of) and not first.op):
        return None
    if of in names(first.value) or to in _mentions(tuple(body[begin + 1 : at])):
        return None
    carried = to in names(first.value) or isinstance(first.value, Var)
    return begin if carried else None
