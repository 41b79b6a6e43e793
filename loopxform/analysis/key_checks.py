"""Subscripts that data decide, looked at before kernels run: the program that does so.

    void hist(int n, int m,                   for (i = 0; i < n; i++)
              const int a[n], int h[m])         { at = a[i]; if (at < 0 || at >= m)
      for (i = 0; i < n; i++)                       { what is told: the place, at, m, i; return; } }
        h[a[i]]++;

Of the rest of the program what decides these subscripts is left, and whether they are used: stores
included, where the program computes its keys itself. Where all of `loose_accesses` are looked at,
nothing is read that was not looked at before: the check itself stays inside the arrays.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence, Set
from dataclasses import replace

from loopxform.analysis.accesses import Guards
from loopxform.analysis.loose_accesses import shapes
from loopxform.ir.names import fresh
from loopxform.ir.nodes import (
    Assign,
    Bin,
    Cast,
    Const,
    Copy,
    Decl,
    Expr,
    For,
    Function,
    If,
    Load,
    Opaque,
    Param,
    Return,
    Select,
    Stmt,
    Un,
    Var,
)
from loopxform.ir.types import LLONG
from loopxform.ir.visit import children, loads, names, stmt_exprs, substitute_body, walk, writes
from loopxform.ir.whiles import is_while, test
from loopxform.records import record

TOLD = "lx_told"
"""What the check fills: the number of a place from 1 on, the subscript, the size of the dimension,
the counters of the loops around it; the first is 0 where all is well."""


@record
class Place:
    """An access in the text: which subscript of it data decide, and the counters of the loops
    around it, the outermost first."""

    access: Load
    dimension: int
    loops: tuple[str, ...]


@record
class KeyCheck:
    """A function of the program's parameters and TOLD, and what its numbers of places mean. It
    stores to the arrays `stores`, and reads `reads`, of those of its caller."""

    fn: Function
    places: tuple[Place, ...]
    reads: frozenset[str]
    stores: frozenset[str]

    @property
    def numbers(self) -> int:
        """How many it tells at most."""
        return 3 + max(len(p.loops) for p in self.places)


def key_check(fn: Function, loose: Set[Load]) -> KeyCheck | None:
    """The check of these accesses of a program whose loops on data are loops of the tree; None
    where there are none of them, or a statement is not modelled, so that there are no kernels."""
    modelled = not any(isinstance(s, Opaque | Copy) for _, s in walk(fn.body))
    check = _Check(fn, loose).result() if loose and modelled else None
    return check if check is not None and check.places else None


# ---------------------------------------------------------------- the check


class _Around:
    """What is around a statement: loops, and the accesses that were looked at on the way to it."""

    def __init__(self, loops: tuple[str, ...], known: Set[Load] = frozenset()) -> None:
        self.loops, self.known = loops, set(known)

    def inner(self, *loops: str) -> _Around:
        return _Around((*self.loops, *loops), self.known)

    def forget(self, changed: Set[str]) -> None:
        """The accesses that may be others now."""
        index = {x: {n for e in x.index for n in names(e)} for x in self.known}
        self.known -= {x for x, used in index.items() if not used.isdisjoint(changed)}


class _Check:
    """What is left of the program, with the accesses `loose` looked at."""

    def __init__(self, fn: Function, loose: Set[Load]) -> None:
        self.fn, self.loose = fn, loose
        self.shapes = shapes(fn)
        self.flat = {p.name for p in fn.objects if p.flat}
        self.at = fresh(fn, "lx_at")
        self.needed = frozenset[str]()
        self.places: list[Place] = []

    def result(self) -> KeyCheck:
        while True:
            self.places = []
            body = self._all(self.fn.body, _Around(()))
            needed = frozenset(n for _, s in walk(body) for n in _used(s))
            if needed <= self.needed:
                break
            self.needed |= needed
        fn = self.fn
        told = Param(TOLD, LLONG, (None,), flat=True, array=True)
        start = (Decl(self.at, LLONG), Assign(_told(0), Const(0, LLONG)))
        sizes = frozenset(n for s in self.shapes.values() for e in s if e for n in names(e))
        used = self.needed | sizes
        made = replace(
            fn,
            name=_named(fn),
            params=(*fn.params, told),
            globals=tuple(p for p in fn.globals if p.name in used),
            body=(*start, *body),
            returns=None,
            assumes=(),
            representable=(),
            as_written=None,
            start=None,
            signature=_signature(fn),
        )
        own = {p.name for p in fn.objects if p.shape}
        stores = {n for _, s in walk(body) for n in _stored(s)}
        reads = {x.array for _, s in walk(body) for e in stmt_exprs(s) for x in loads(e)}
        return KeyCheck(made, tuple(self.places), frozenset(reads & own), frozenset(stores & own))

    def _all(self, body: Sequence[Stmt], around: _Around) -> tuple[Stmt, ...]:
        return tuple(x for s in body for x in self._one(s, around))

    def _one(self, s: Stmt, around: _Around) -> Iterator[Stmt]:
        match s:
            case Assign(target, value):
                yield from self._looked(value, around)
                if isinstance(target, Load):
                    yield from self._looked(target, around)
                if _name(target) in self.needed:
                    yield s
            case If(cond, then, orelse):
                yield from self._looked(cond, around)
                inside = self._all(then, around.inner()), self._all(orelse, around.inner())
                if any(inside):
                    yield replace(s, then=inside[0], orelse=inside[1])
            case For():
                yield from self._loop(s, around)
            case Decl(name):
                if name in self.needed:
                    yield s
            case Return():
                return
            case _:
                raise AssertionError("a program with kernels is all modelled")
        around.forget(writes((s,)))

    def _loop(self, s: For, around: _Around) -> Iterator[Stmt]:
        """What a loop asks before an iteration is looked at before the first one, and behind each
        for the next one."""
        for e in (s.lo, s.step):
            yield from self._looked(e, around)
        asked = tuple(self._looked(test(s), _Around(around.loops)))
        yield from substitute_body(asked, {s.var: s.lo})
        following = substitute_body(asked, {s.var: Bin("+", Var(s.var), s.step)})
        inner = around.inner(*(() if is_while(s) else (s.var,)))
        inner.forget(writes((s,)) | {s.var})
        body = (*self._all(s.body, inner), *following)
        if body or (s.live_out and s.var in self.needed):
            yield replace(s, body=body)

    def _looked(self, e: Expr, around: _Around) -> Iterator[Stmt]:
        for x, guards in _accesses(e, ()):
            if x not in self.loose or x in around.known:
                continue
            checks: tuple[Stmt, ...] = tuple(self._checks(x, around.loops))
            for cond, holds in reversed(guards):
                checks = (If(cond if holds else Un("!", cond), checks),)
            yield from checks
            if not guards:
                around.known.add(x)

    def _checks(self, x: Load, loops: tuple[str, ...]) -> Iterator[Stmt]:
        for d, index, size in self._subscripts(x):
            self.places.append(Place(x, d, loops))
            at = Var(self.at)
            numbers = (Const(len(self.places)), at, size, *map(Var, loops))
            told = (Assign(_told(n), Cast(LLONG, e)) for n, e in enumerate(numbers))
            beyond = Bin("||", Bin("<", at, Const(0)), Bin(">=", at, size))
            yield Assign(at, Cast(LLONG, index))
            yield If(beyond, (*told, Return()))

    def _subscripts(self, x: Load) -> Iterator[tuple[int, Expr, Expr]]:
        """The subscripts of an access by their places, with their sizes where these are known: one
        of all where rows are those of a formula."""
        shape = self.shapes[x.array]
        sized = [(d, e, Cast(LLONG, n)) for d, (e, n) in enumerate(zip(x.index, shape)) if n]
        if x.array not in self.flat:
            yield from sized
            return
        if len(sized) < len(x.index):
            return
        at: Expr
        count: Expr
        _, at, count = sized[0]
        for _, index, size in sized[1:]:
            at = Bin("+", Bin("*", Cast(LLONG, at), size), index)
            count = Bin("*", count, size)
        yield 0, at, count


def _accesses(e: Expr, guards: Guards) -> Iterator[tuple[Load, Guards]]:
    """The elements an expression reads, with the conditions it reads them under, in an order of C:
    what an access or a condition is computed from comes first."""
    match e:
        case Bin("&&" | "||" as op, left, right):
            yield from _accesses(left, guards)
            yield from _accesses(right, (*guards, (left, op == "&&")))
        case Select(cond, then, orelse):
            yield from _accesses(cond, guards)
            yield from _accesses(then, (*guards, (cond, True)))
            yield from _accesses(orelse, (*guards, (cond, False)))
        case _:
            for child in children(e):
                yield from _accesses(child, guards)
            if isinstance(e, Load):
                yield e, guards


def _used(s: Stmt) -> frozenset[str]:
    """What a statement of the check reads of the program."""
    return frozenset(n for e in stmt_exprs(s) for n in names(e)) - {TOLD}


def _stored(s: Stmt) -> tuple[str, ...]:
    return (s.target.array,) if isinstance(s, Assign) and isinstance(s.target, Load) else ()


def _name(target: Var | Load) -> str:
    return target.name if isinstance(target, Var) else target.array


def _told(n: int) -> Load:
    return Load(TOLD, (Const(n),))


def _signature(fn: Function) -> str:
    """The prototype of the user's function, with what is told behind its parameters."""
    text = re.sub(rf"\b{re.escape(fn.name)}\b(?=\s*\()", _named(fn), fn.signature, count=1)
    head, _, _ = text.rpartition(")")
    before = head.removesuffix("(void")
    told = f"long long *{TOLD}"
    return f"{before}({told})" if before != head else f"{head}, {told})"


def _named(fn: Function) -> str:
    return f"lx_keys_of_{fn.name}"
