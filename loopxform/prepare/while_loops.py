"""Loops on data as loops of the tree: those that `while`, `do` and `break` make.

    while (c) S                            while (c) S, a For that asks c
    do S while (c)                         more = 1; while (more) { S; more = c; }
    while (c) { A; if (x) break; B }       more = c; while (more)
                                             { A; if (x) more = 0; if (more) { B; more = c; } }
    for (i = lo; i < hi; i++)              more = 1; for (k = lo; more && k < hi; k++)
      { A(i); if (x) break; B(i) }           { A(k); if (x) more = 0; if (more) B(k); }

What a loop counts stays in its variable, where that is read afterwards. The counter of a loop that
was left is stepped once more, which only steps of 1 can without passing the bound: other loops, and
breaks in a switch, stay what they are.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import count

from loopxform.ir.affine import value_of
from loopxform.ir.names import used_names
from loopxform.ir.nodes import (
    Assign,
    Bin,
    Const,
    Decl,
    For,
    Function,
    If,
    Opaque,
    Stmt,
    Var,
    While,
)
from loopxform.ir.renaming import rename
from loopxform.ir.types import INT
from loopxform.ir.visit import names, substitute
from loopxform.ir.whiles import watching, while_loop
from loopxform.transforms.restructure.exit_flag import truth


def whole_loops(fn: Function) -> Function:
    """`fn` with each loop that is modelled, but for when it ends, as a `For` that asks."""
    body = _Writer(fn).body(fn.body)
    return fn if body == fn.body else replace(fn, body=body)


def whole_bodies(fn: Function) -> Function:
    """The same of the loops inside others: a loop that stands alone stays what it is."""
    writer = _Writer(fn)
    body = tuple(replace(s, body=writer.body(s.body)) if isinstance(s, For) else s for s in fn.body)
    return fn if body == fn.body else replace(fn, body=body)


class _Writer:
    def __init__(self, fn: Function) -> None:
        self.taken = set(used_names(fn))

    def body(self, body: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
        return tuple(x for s in body for x in self._stmt(s))

    def _stmt(self, s: Stmt) -> tuple[Stmt, ...]:
        match s:
            case For():
                loop = replace(s, body=self.body(s.body))
                plain = abs(value_of(loop.step) or 0) != 1 or not _leaves(loop.body)
                return (loop,) if plain else self._left(loop)
            case While():
                return self._while(replace(s, body=self.body(s.body)))
            case If():
                return (replace(s, then=self.body(s.then), orelse=self.body(s.orelse)),)
            case _:
                return (s,)

    def _while(self, s: While) -> tuple[Stmt, ...]:
        at, counter = s.origin, self._fresh("w")
        if not (s.once or _leaves(s.body)):
            return (while_loop(counter, s.cond, s.body, at),)
        more = self._fresh("more")
        again = Assign(Var(more), truth(s.cond), label="S", origin=at)
        first = replace(again, value=Const(1)) if s.once else again
        body = _guarded((*s.body, again), more)
        loop = while_loop(counter, Var(more), body, at)
        return (Decl(more, INT, origin=at), first, loop)

    def _left(self, s: For) -> tuple[Stmt, ...]:
        """A counting loop that a break leaves."""
        at, counter, more = s.origin, self._fresh(s.var), self._fresh("more")
        first = Assign(Var(more), Const(1), label="S", origin=at)
        body = _guarded(rename(s.body, {s.var: counter}), more)
        before, lo = tuple[Stmt, ...](), s.lo
        if s.live_out:
            before = (Assign(Var(s.var), lo, label="S", origin=at),)
            lo = Var(s.var) if s.var in names(lo) else lo
            step = Bin("+", Var(counter), s.step)
            later = Assign(Var(s.var), step, label="S", origin=at)
            body = (*body, If(Var(more), (later,), origin=at))
        asks = None if s.asks is None else substitute(s.asks, {s.var: Var(counter)})
        loop = replace(s, var=counter, lo=lo, body=body, live_out=False, asks=asks)
        return (Decl(more, INT, origin=at), first, *before, watching(loop, Var(more)))

    def _fresh(self, wanted: str) -> str:
        wishes = (wanted if n == 1 else f"{wanted}_{n}" for n in count(1))
        name = next(n for n in wishes if n not in self.taken)
        self.taken.add(name)
        return name


def _leaves(body: tuple[Stmt, ...]) -> bool:
    """Whether a statement of the body leaves the loop around it."""
    return any(
        (isinstance(s, Opaque) and s.is_break)
        or (isinstance(s, If) and (_leaves(s.then) or _leaves(s.orelse)))
        for s in body
    )


def _guarded(body: tuple[Stmt, ...], more: str) -> tuple[Stmt, ...]:
    """The body, with what breaks skip under the flag that they clear."""
    for n, s in enumerate(body):
        if isinstance(s, Opaque) and s.is_break:
            return (*body[:n], Assign(Var(more), Const(0), label="S", origin=s.origin))
        if isinstance(s, If) and _leaves((s,)):
            left = replace(s, then=_guarded(s.then, more), orelse=_guarded(s.orelse, more))
            rest = _guarded(body[n + 1 :], more)
            guard = (If(Var(more), rest, origin=s.origin),) if rest else ()
            return (*body[:n], left, *guard)
    return body
