"""Counts that stop at a bound, as counts of all that is found: then the loop is a compaction.

    for (i = 0; i < n; i++)                  for (i = 0; i < n; i++)
      if (c(i) && k < most)                    if (c(i)) { if (k < most) out[k] = e(i); k += 1; }
        { out[k] = e(i); k += 1; }           if (!(k < most)) k = 0 < most ? most : 0;

    if (c(i)) { if (k == most) break; out[k] = e(i); k += 1; }                 the same
    if (c(i)) { out[k] = e(i); k += 1; if (k >= most) break; }                 stores one at least
    for (i = 0; i < n && k < most; i++) if (c(i)) { out[k] = e(i); k += 1; }   the same

Below the bound the count of all is the count of the loop; from there on the loop counts no more,
and nothing else of it may depend on the count. What iterations compute that C does not run must be
defined there (`readable`), and have no effect. The count begins with a number that is not above
that of the first iteration, so that the count of all has room in its type.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import reduce
from typing import TypeGuard

from loopxform.analysis.idioms.capped import upper
from loopxform.analysis.idioms.guards import conjuncts
from loopxform.analysis.idioms.readable import Range, Unknown, computed, unsafe
from loopxform.analysis.liveness import first_use
from loopxform.ir.affine import value_of
from loopxform.ir.nodes import (
    Assign,
    Bin,
    Const,
    Decl,
    Expr,
    For,
    Function,
    If,
    Opaque,
    Select,
    Stmt,
    Un,
    Var,
    While,
)
from loopxform.ir.typing import symbols, type_of
from loopxform.ir.visit import Path, at, loads, names, reads, replace_at, walk, writes
from loopxform.ir.whiles import condition
from loopxform.prepare.searches import number_before, set_before
from loopxform.records import record
from loopxform.source import Loc

WHOLE = 4
"""Bytes of an int: what counts with less may wrap around."""


@record
class Counting:
    """The program whose loops count on, and why others stay, by where they begin."""

    fn: Function
    left: dict[Loc, Unknown]


def counts_of_all(fn: Function) -> Counting:
    """`fn` with each loop that stops to count at a bound as one that counts on."""
    left = dict[Loc, Unknown]()
    for path in reversed([p for p, s in walk(fn.body) if isinstance(s, For | While)]):
        header = _header(fn, path)
        for name in () if header is None else sorted(_counted(header.loop.body)):
            made = None if header is None else _counting_on(fn, path, header, name)
            loc = at(fn, path).origin.loc
            if isinstance(made, Unknown) and loc is not None:
                text = f"compaction that '{name}' counts up to a bound, but {made.message}"
                left[loc] = replace(made, message=text)
            elif isinstance(made, Function):
                fn = made
                break
    return Counting(fn, left)


# ---------------------------------------------------------------- what a loop counts, to where


@record
class _Header:
    """A loop that counts its iterations, and what else it asks before each of them."""

    loop: For
    asked: tuple[Expr, ...] = ()


@record
class _Bound:
    """What must hold for a loop to count on, `name < most`: whether it `ends` the loop, and is
    asked `behind` the count; what runs under it, besides what is done for each count."""

    cond: Bin
    ends: bool
    behind: bool
    under: tuple[Stmt, ...]
    asked: tuple[Expr, ...] = ()


def _header(fn: Function, path: Path) -> _Header | None:
    """A loop over numbers in steps of 1; where it asks for more, nothing reads its counter after
    it."""
    match at(fn, path):
        case For() as loop if condition(loop) is None and value_of(loop.step) == 1:
            return None if names(loop.hi) & writes(loop.body) or loop.sets else _Header(loop)
        case While(once=False, cond=cond, body=(*inside, Assign(Var(var), Const(1), "+"))) as s:
            body, asked = tuple(inside), tuple(conjuncts(cond))
            ends = [e for e in asked if _ends(e, var, writes(s.body))]
            lo = set_before(fn, path, var, directly=True)
            after = first_use(fn, fn.body, (), var, path[0] + 1) if len(path) == 1 else "read"
            if len(ends) != 1 or lo is None or after == "read" or var in writes(body):
                return None
            kind, end = symbols(fn)[var], ends[0].right
            loop = For(var, lo, end, Const(1), body, type=kind, origin=s.origin)
            return _Header(loop, tuple(e for e in asked if e is not ends[0]))
        case _:
            return None


def _ends(e: Expr, var: str, moving: frozenset[str]) -> TypeGuard[Bin]:
    """Whether a condition compares the counter with what stays the same."""
    below = isinstance(e, Bin) and e.op == "<" and e.left == Var(var)
    return below and isinstance(e, Bin) and not names(e.right) & moving


def _counted(body: tuple[Stmt, ...]) -> Iterator[str]:
    """What a body counts by 1, in one place."""
    sets = [s for _, s in walk(body) if isinstance(s, Assign) and isinstance(s.target, Var)]
    every = [s.target for s in sets]
    for s in sets:
        if s.op == "+" and s.value == Const(1) and every.count(s.target) == 1:
            assert isinstance(s.target, Var)
            yield s.target.name


def _counting_on(fn: Function, path: Path, header: _Header, name: str) -> Function | Unknown | None:
    """The program whose loop at `path` counts on; None where `name` has no bound, or more
    than one, or anything else depends on it."""
    loop = header.loop
    found = list(_bounds(loop.body, name))
    for e in header.asked:
        cond = upper(e, name)
        if cond is None:
            return None
        found.append(_Bound(cond, ends=True, behind=False, under=()))
    begin = number_before(fn, path, Var(name))
    first = None if begin is None else value_of(begin)
    if len(found) != 1 or first is None or not _has_room(fn, loop, found[0], name, first):
        return None
    (bound,) = found
    under = loop.body if bound.ends else bound.under
    alone, beside = (_without(x, name, None) for x in (under, loop.body))
    if alone is None or beside is None or name in reads(beside) | writes(beside):
        return None
    if any(isinstance(s, Opaque) for _, s in walk(beside)) or not _only_finds(loop, alone):
        return None
    computing = (*bound.asked, *(e for _, s in walk(alone) for e in computed(s)))
    inside = replace(fn, body=replace_at(fn, path, (loop,)).body)
    if why := unsafe(inside, computing, Range(loop.var, loop.lo, loop.hi)):
        return why
    kept = _Kept(name, bound, first)
    body = _without(loop.body, name, kept.room)
    assert body is not None
    return replace_at(fn, path, (replace(loop, body=body), kept.last(loop)))


def _bounds(body: tuple[Stmt, ...], name: str) -> Iterator[_Bound]:
    """The bounds of a count in the lists of statements around it."""
    place = next((n for n, s in enumerate(body) if _counts(s, name) or _holds(s, name)), None)
    if place is None:
        return
    for n, s in enumerate(body):
        cond = _stop(s, name)
        # behind what may not have counted, the first iteration ends the loop at its bound as well
        if cond is not None and (n < place or _counts(body[place], name)):
            yield _Bound(cond, ends=True, behind=n > place, under=())
    inner = body[place]
    if isinstance(inner, If):
        parts = tuple(conjuncts(inner.cond))
        for n, e in enumerate(parts):
            cond = upper(e, name)
            if cond is not None:
                yield _Bound(cond, False, False, inner.then, parts[n + 1 :])
        yield from _bounds(inner.then, name)


def _counts(s: Stmt, name: str) -> bool:
    return isinstance(s, Assign) and s.target == Var(name)


def _holds(s: Stmt, name: str) -> bool:
    return isinstance(s, If) and any(_counts(x, name) for _, x in walk(s.then))


def _stop(s: Stmt, name: str) -> Bin | None:
    """The bound where a statement ends the loop unless it holds."""
    match s:
        case If(cond, (Opaque() as jump,), ()) if jump.is_break:
            return upper(Un("!", cond), name)
        case _:
            return None


def _has_room(fn: Function, loop: For, bound: _Bound, name: str, first: int) -> bool:
    """Whether the bound is a number that stays the same, and the count of all has room."""
    most, types = bound.cond.right, symbols(fn)
    if any(loads(most)) or names(most) & (writes(loop.body) | {loop.var}):
        return False
    own, kind, lo = types[name], type_of(most, types), value_of(loop.lo)
    if not (kind.is_integer and own.is_integer) or own.bytes < WHOLE:
        return False
    fixed = value_of(most)
    if own.is_unsigned and not kind.is_unsigned and (fixed is None or fixed < 0):
        return False
    room = lo is not None and 0 <= first <= lo and loop.type.bytes <= own.bytes
    return room and not (bound.ends and loop.live_out)


def _only_finds(loop: For, body: tuple[Stmt, ...]) -> bool:
    """Whether statements have no effect but on variables of an iteration."""
    own = {s.name for _, s in walk(loop.body) if isinstance(s, Decl) and not s.shape}
    for _, s in walk(body):
        private = isinstance(s, Assign) and isinstance(s.target, Var) and s.target.name in own
        if not (private or isinstance(s, If | Decl)):
            return False
    return True


def _without(body: tuple[Stmt, ...], name: str, room: Expr | None) -> tuple[Stmt, ...] | None:
    """A body without the bound of a count: what is done for each count is done where there is
    `room`, or left out with the count. None where more than conditions is around the count."""
    body = tuple(s for s in body if _stop(s, name) is None)
    for n, s in enumerate(body):
        if _counts(s, name):
            if n < len(body) - 1:
                return None
            stored = (If(room, body[:n], origin=s.origin),) if n and room is not None else ()
            return () if room is None else (*stored, s)
        if isinstance(s, If) and _holds(s, name):
            parts = [e for e in conjuncts(s.cond) if upper(e, name) is None]
            cond = reduce(lambda a, b: Bin("&&", a, b), parts) if parts else Const(1)
            then = None if s.orelse else _without(s.then, name, room)
            if then is None:
                return None
            return (*body[:n], replace(s, cond=cond, then=then), *body[n + 1 :])
    return body


# ---------------------------------------------------------------- what is kept of it


@record
class _Kept:
    """What is kept of all that a loop counts from a number on: up to a bound."""

    name: str
    bound: _Bound
    first: int

    @property
    def room(self) -> Expr:
        """Whether the loop counts on: below the bound. One that is asked behind the count lets the
        first pass; what is no bound but an end that it may have passed already is none."""
        below, own = self._below(Var(self.name)), Var(self.name)
        if self.bound.behind and self._op != "!=":
            return Bin("||", below, Bin("==", own, Const(self.first)))
        return Bin("||", below, Un("!", self._begins())) if self._op == "!=" else below

    def last(self, loop: For) -> Stmt:
        """What the loop leaves of the count of all."""
        own, least = Var(self.name), Const(self.first + self.bound.behind)
        over: Expr = Un("!", self._below(own))
        if self._op == "!=":
            over, value = Bin("&&", over, self._begins()), self._most
        else:
            if self.bound.behind:
                over = Bin("&&", over, Bin("!=", own, Const(self.first)))
            most = self._most if self._op == "<" else Bin("+", self._most, Const(1))
            value = Select(self._below(least), most, least)
        return If(over, (Assign(own, value, label="S", origin=loop.origin),), origin=loop.origin)

    def _below(self, e: Expr) -> Expr:
        return Bin("<" if self._op == "!=" else self._op, e, self._most)

    def _begins(self) -> Expr:
        """Whether a count begins where it can come to the number at which it ends."""
        return Bin("<" if self.bound.behind else "<=", Const(self.first), self._most)

    @property
    def _op(self) -> str:
        return self.bound.cond.op

    @property
    def _most(self) -> Expr:
        return self.bound.cond.right
