"""Searches as reductions: the first iteration with a property is the least one of all that have it.

    for (i = lo; i < hi; i++)              at = hi;
      if (c(i)) { pos = f(i); break; }     for (i = lo; i < hi; i++) if (c(i)) if (i < at) at = i;
                                           if (at < hi) pos = f(at);
    i = lo;                                at = hi;
    while (i < hi && !c(i)) i++;           for (k = lo; k < hi; k++) if (c(k)) if (k < at) at = k;
                                           i = lo < hi ? at : lo;

Those behind the first C (`search_parts` of the device) are asked only where these have no hit:

    at = hi;  for (i = 0; i < min(hi, C); i++) if (c(i)) if (i < at) at = i;
    if (C < hi) { before = at;  for (i = C; i < hi; i++) if (before == hi) if (c(i)) ... }

Iterations are asked in any order; so what is asked must be defined for those that C does not
get to (`readable`). Searches in loops stay what they are: others run at the same time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import reduce

from loopxform.analysis.idioms.readable import Range, Unknown, computed, unsafe
from loopxform.analysis.idioms.searches import Search, ends_at_truth, kept_value, search_at
from loopxform.ir.affine import value_of
from loopxform.ir.names import fresh
from loopxform.ir.nodes import (
    Assign,
    Bin,
    Const,
    Decl,
    Expr,
    For,
    Function,
    If,
    Load,
    Opaque,
    Select,
    Stmt,
    Un,
    Var,
    While,
)
from loopxform.ir.renaming import rename
from loopxform.ir.types import INT, Scalar
from loopxform.ir.typing import symbols, type_of
from loopxform.ir.visit import (
    Path,
    at,
    declared,
    enclosing,
    names,
    reads,
    replace_at,
    substitute,
    substitute_body,
    walk,
    writes,
)
from loopxform.prepare.descending_searches import upwards
from loopxform.records import record
from loopxform.source import Loc


@record
class Found:
    """The program with its searches as reductions, what these look for, by the scalars that they
    reduce to, and why others stay, by where they begin."""

    fn: Function
    sought: dict[str, str]
    left: dict[Loc, Unknown]


def searches_as_reductions(fn: Function, parts: Sequence[int]) -> Found:
    """Makes a reduction of each search that no loop holds, cut at so many iterations (`parts`, the
    smallest first)."""
    given, fn = fn, upwards(fn)
    left: dict[Loc, Unknown] = {}
    sought: dict[str, str] = {}
    places = [p for p, s in walk(fn.body) if isinstance(s, For | While)]
    for path in reversed(places):
        if any(isinstance(s, For | Opaque) for s in enclosing(fn, path)[:-1]):
            continue
        found = search_at(fn, path)
        made = None if found is None else _reduced(fn, path, found, parts)
        if isinstance(made, Unknown):
            loc = at(fn, path).origin.loc
            if loc is not None and found is not None:
                left[loc] = replace(made, message=f"{found.idiom}, but {made.message}")
        elif made is not None and found is not None:
            new = declared(made.body).keys() - declared(fn.body).keys()
            sought |= dict.fromkeys(new, f"the first {found.counter}")
            fn = made
    return Found(fn if sought else given, sought, left)


def _reduced(
    fn: Function, path: Path, found: Search, parts: Sequence[int]
) -> Function | Unknown | None:
    """The program with a reduction in the place of a search; None where that takes more than is
    written here."""
    start = _start(fn, path, found)
    exits = _at_exit(fn, found)
    once = len(found.exits) + bool(found.conditions) == 1 or _only_leaves(fn, found)
    inner = _inner(found)
    if start is None or exits is None or inner is None or not (found.by_one and once):
        return None
    private = {s.target for s in found.asked if isinstance(s.stmt, Assign)} - {found.counter}
    if not private <= found.flow.declared:
        name = min(private - found.flow.declared)
        return Unknown(f"each iteration sets '{name}'", "declare it in the loop")
    asked = [e for s in found.asked for e in computed(s.stmt)] if found.exits else []
    over = Range(found.counter, start, found.end)
    why = _miscounted(fn, found) or unsafe(fn, (*asked, *found.conditions), over, inner)
    return why or _made(fn, path, found, parts, start, exits)


def _start(fn: Function, path: Path, found: Search) -> Expr | None:
    """What the counter begins with, where its end is a whole number."""
    loop = found.flow.loop
    lo = loop.lo if isinstance(loop, For) else set_before(fn, path, found.counter, directly=True)
    if lo is None or found.counter in names(lo) or not _end(fn, found).is_integer:
        return None
    lo = number_before(fn, path, lo) or lo
    more = isinstance(loop, For) and loop.sets
    return None if more or any(_stores(s.stmt) for s in found.asked) else lo


def _inner(found: Search) -> tuple[Range, ...] | None:
    """What the loops in a search run over; None where that is not plain."""
    loops = [s.stmt for s in found.asked if isinstance(s.stmt, For)]
    plain = all(value_of(x.step) == 1 and not x.sets for x in loops)
    changing = {s.target for s in found.asked if isinstance(s.stmt, Assign)} - {found.counter}
    plain = plain and not any(changing & (names(x.lo) | names(x.hi)) for x in loops)
    ranges = dict.fromkeys(Range(x.var, x.lo, x.hi) for x in loops)
    if not plain or len({found.counter, *(r.var for r in ranges)}) <= len(ranges):
        return None
    return tuple(ranges)


def _open(fn: Function, path: Path, found: Search) -> tuple[Expr, ...]:
    """What flags must say for the loop to begin, where that is not known."""
    conditions = []
    for name, cond in found.flags.items():
        value = set_before(fn, path, name)
        known = None if value is None else kept_value(value, symbols(fn)[name])
        if known is None or bool(known) == ends_at_truth(cond):
            conditions.append(cond)
    return tuple(conditions)


def _stores(s: Stmt) -> bool:
    return isinstance(s, Assign) and isinstance(s.target, Load)


def _miscounted(fn: Function, found: Search) -> Unknown | None:
    """Why numbers of the type of the counter do not say where the first hit is."""
    own, end, fixed = _own(fn, found), _end(fn, found), value_of(found.end)
    name = found.counter
    if fixed is not None:
        if own.least <= fixed <= own.most:
            return None
        return Unknown(f"'{name}' never is {fixed}", "declare it with a wider type")
    if own.is_unsigned != end.is_unsigned:
        text = f"one of '{name}' and its end is unsigned"
        return Unknown(text, f"declare '{name}' as {end.c}")
    if end.bytes > own.bytes:
        return Unknown(f"its end is wider than '{name}'", f"declare '{name}' as {end.c}")
    return None


def _end(fn: Function, found: Search) -> Scalar:
    """The type of the end."""
    return type_of(found.end, symbols(fn))


def _own(fn: Function, found: Search) -> Scalar:
    """The type of the counter."""
    loop = found.flow.loop
    return loop.type if isinstance(loop, For) else symbols(fn)[found.counter]


def set_before(fn: Function, path: Path, name: str, *, directly: bool = False) -> Expr | None:
    """The value that the statements in front of a loop leave in a scalar."""
    place = _setting(fn, path, name, directly=directly)
    s = None if place is None else at(fn, place)
    return s.value if isinstance(s, Assign) else None


def _setting(fn: Function, path: Path, name: str, *, directly: bool = False) -> Path | None:
    """The assignment in front of a place that leaves its value in a scalar."""
    *outer, n = path
    before = range(n - 1, -1, -1) if n >= 0 else range(n + 1, 0)
    for k in list(before)[:1] if directly else before:
        s = at(fn, (*outer, k))
        if isinstance(s, Opaque) or any(isinstance(x, Opaque) for _, x in walk((s,))):
            return None
        if name in writes((s,)):
            own = isinstance(s, Assign) and not s.op and s.target == Var(name)
            return (*outer, k) if own else None
    return None


def number_before(fn: Function, path: Path, e: Expr) -> Expr | None:
    """The number that a scalar has in front of a loop, where assignments there say so."""
    match e:
        case Const():
            return e
        case Var(name) if (place := _setting(fn, path, name)) is not None:
            s, type = at(fn, place), symbols(fn)[name]
            value = number_before(fn, place, s.value) if isinstance(s, Assign) else None
            return None if value is None or kept_value(value, type) is None else value
        case _:
            return None


def _at_exit(fn: Function, found: Search) -> tuple[Stmt, ...] | None:
    """What C does where it leaves the loop, jumps aside; with what that reads of the iteration."""
    if not found.exits:
        return ()
    place = found.exits[0].path
    body = _beside(fn, place)
    if _returns(found) or found.counter in writes(body):
        return None
    if any(not isinstance(s, Assign | If | Decl) for _, s in walk(body)):
        return None
    if not reads(body) & found.flow.declared:
        return body
    return (*_leading(found.flow.loop.body, tuple(place[len(found.flow.path) :])), *body)


def _only_leaves(fn: Function, found: Search) -> bool:
    """Whether each way out does nothing but leave the loop."""
    return bool(found.exits) and all(
        isinstance(s.stmt, Opaque) and not _beside(fn, s.path) for s in found.exits
    )


def _beside(fn: Function, place: Path) -> tuple[Stmt, ...]:
    """The statements of a branch that a jump is in, but for jumps."""
    branch = enclosing(fn, place)[-2]
    assert isinstance(branch, If)
    body = branch.then if place[-1] >= 0 else branch.orelse
    return tuple(s for s in body if not (isinstance(s, Opaque) and (s.is_break or s.is_return)))


def _returns(found: Search) -> bool:
    return any(isinstance(s.stmt, Opaque) and s.stmt.is_return for s in found.exits)


def _leading(body: tuple[Stmt, ...], path: Path) -> tuple[Stmt, ...]:
    """The statements in front of a place in a body that run before it."""
    n, *rest = path
    if not rest:
        return ()
    before, inner = body[:n], body[n]
    assert isinstance(inner, If)
    if rest[0] < 0:
        return (*before, *_leading(inner.orelse, (-1 - rest[0], *rest[1:])))
    return (*before, *_leading(inner.then, tuple(rest)))


def _made(
    fn: Function,
    path: Path,
    found: Search,
    cuts: Sequence[int],
    start: Expr,
    exits: tuple[Stmt, ...],
) -> Function:
    loop, type, origin = found.flow.loop, _own(fn, found), found.flow.loop.origin
    first, counter = fresh(fn, "first"), fresh(fn, found.counter)
    least = Assign(Var(first), Var(counter), label="S", origin=origin)
    opened = _open(fn, path, found)
    hit = (If(Bin("<", Var(counter), Var(first)), (least,), origin=origin),)
    hit = (If(_all(opened), hit, origin=origin),) if opened else hit
    body = loop.body if isinstance(loop, For) else loop.body[:-1]
    for s in found.exits:
        body = _replaced(body, s.path[len(found.flow.path) :], hit)
    if not found.exits:
        body = ()
    if found.conditions:
        body = (If(Un("!", _all(found.conditions)), hit, orelse=body, origin=origin),)
    body = rename(body, {found.counter: counter})
    if isinstance(loop, For):
        asks = None if loop.asks is None else substitute(loop.asks, {loop.var: Var(counter)})
        over = replace(loop, var=counter, lo=start, body=body, live_out=False, asks=asks)
    else:
        over = For(counter, start, found.end, Const(1), body, type=type, origin=origin)
    begin = Assign(Var(first), found.end, label="S", origin=origin)
    parts = tuple(_in_parts(fn, over, cuts, first, found.end, _own(fn, found)))
    runs = _all((*opened, Bin("<", start, found.end)))
    after = _after(fn, found, Select(runs, _last(found, first), start), exits, first)
    return replace_at(fn, path, (Decl(first, type, origin=origin), begin, *parts, *after))


def _in_parts(
    fn: Function, over: For, cuts: Sequence[int], first: str, end: Expr, type: Scalar
) -> Iterator[Stmt]:
    """The loop over all iterations; where there may be many, over some of them first, and over the
    others only where those have no hit."""
    start, last = value_of(over.lo), value_of(end)
    cut = next((c for c in cuts if start is not None and 0 <= start < c), None)
    if cut is None or type.bytes < INT.bytes or (last is not None and last <= cut):
        yield over
        return
    before, later = fresh(fn, f"{first}_before"), Const(cut)
    yield replace(over, hi=Bin("min", end, later))
    missed = If(Bin("==", Var(before), end), over.body, origin=over.origin)
    rest = replace(over, lo=later, body=(missed,))
    more = (
        Decl(before, type, origin=over.origin),
        Assign(Var(before), Var(first), label="S", origin=over.origin),
        *_in_parts(replace(fn, body=(*fn.body, Decl(before, type))), rest, cuts, first, end, type),
    )
    yield If(Bin("<", later, end), more, origin=over.origin)


def _all(conditions: Sequence[Expr]) -> Expr:
    return reduce(lambda a, b: Bin("&&", a, b), conditions)


def _last(found: Search, first: str) -> Expr:
    """What a loop that has run leaves in its counter: a flag lets it count once more."""
    hit = Bin("<", Var(first), found.end)
    return Bin("+", Var(first), hit) if found.flags else Var(first)


def _after(
    fn: Function, found: Search, last: Expr, exits: tuple[Stmt, ...], first: str
) -> Iterator[Stmt]:
    """What C leaves behind: the counter, and what it does at the exit."""
    loop = found.flow.loop
    if not isinstance(loop, For) or loop.live_out:
        yield Assign(Var(found.counter), last, label="S", origin=loop.origin)
    if exits:
        again = {s.name: fresh(fn, s.name) for s in exits if isinstance(s, Decl)}
        body = substitute_body(rename(exits, again), {found.counter: Var(first)})
        yield If(Bin("<", Var(first), found.end), body, origin=loop.origin)


def _replaced(body: tuple[Stmt, ...], path: Path, hit: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
    """The body with `hit` for all of the list that a place is in."""
    n, *rest = path
    inner = body[n]
    assert isinstance(inner, If)
    if len(rest) == 1:
        made = replace(inner, then=hit) if rest[0] >= 0 else replace(inner, orelse=hit)
    elif rest[0] < 0:
        made = replace(inner, orelse=_replaced(inner.orelse, (-1 - rest[0], *rest[1:]), hit))
    else:
        made = replace(inner, then=_replaced(inner.then, tuple(rest), hit))
    return (*body[:n], made, *body[n + 1 :])
