"""What the host does between the nests of a loop over time, and which of them a step runs.

    cur = 0;
    for t: { next = 1 - cur;  forall i, j: A[next][i][j] = f(A[cur][i][j]);  cur = next; }
    for t: { if (t % 2 == 0) forall i, j: B = f(A);  else forall i, j: A = f(B); }

Scalars that the host sets are numbers in each step: expressions of the number of the step, or of
what they were in the step before, beginning with a number that is known.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import lcm

from loopxform.ir.affine import constant, poly, value_of
from loopxform.ir.nodes import (
    Assign,
    Bin,
    Cast,
    Const,
    Decl,
    Expr,
    For,
    Function,
    If,
    Load,
    Opaque,
    Stmt,
    Un,
    Var,
)
from loopxform.ir.typing import symbols, type_of
from loopxform.ir.visit import (
    Path,
    bodies,
    loads,
    map_expr,
    names,
    reads,
    replace_at,
    resolve,
    substitute,
    substitute_body,
    walk,
    walk_expr,
    writes,
)
from loopxform.records import record
from loopxform.transforms.overlapped.refusal import NotStages
from loopxform.transforms.overlapped.straight_line import folded

MOST_PERIOD = 8
"""The most steps after which the host's scalars and planes may come round again."""


@record
class State:
    """A scalar of the host that a step has from the one before: its number at the start, and in the
    next step."""

    name: str
    first: int
    after: Expr


@record
class Clock:
    """The counter of time, the number that it begins with, if that is known, and the states."""

    time: str
    first: int | None
    states: tuple[State, ...] = ()

    def numbers(self, step: int) -> dict[str, Expr]:
        """The states in a step."""
        now: dict[str, Expr] = {s.name: Const(s.first) for s in self.states}
        for _ in range(step):
            now = {s.name: folded(substitute(s.after, now)) for s in self.states}
        return now

    def host(self, step: int, now: Expr) -> tuple[tuple[str, Expr], ...]:
        """The scalars of the host in a step, which is `now`."""
        return (*([(self.time, now)] if self.time else ()), *self.numbers(step).items())

    def number(self, e: Expr, step: int) -> int | None:
        """The value of an expression in a step, where its period says it."""

        def rest(x: Expr) -> Expr:
            match x:
                case Bin("%" | "&", inner, Const(int(n))) if n > 0 and self.time in names(inner):
                    line = poly(inner)
                    factor = line.coefficient(self.time).value
                    first = line.without(self.time).value
                    count = (self.first or 0) + step
                    if factor is None or first is None or factor < 0 or factor * count + first < 0:
                        return x
                    if line != constant(factor) * poly(Var(self.time)) + constant(first):
                        return x
                    at = factor * count + first
                    return Const(at % n if x.op == "%" else at & n)
                case _:
                    return x

        return value_of(folded(map_expr(substitute(e, self.numbers(step)), rest)))

    def period(self, exprs: Iterator[Expr]) -> int | None:
        """After how many steps the states and some expressions come round again; None where that
        are too many."""
        every = (x for e in exprs for x in walk_expr(e) if isinstance(x, Bin))
        steps = lcm(*(n for n in map(_turn, every) if n))
        start = self.numbers(0)
        around = (n for n in range(1, MOST_PERIOD + 1) if self.numbers(n) == start)
        steps = lcm(steps, next(around, MOST_PERIOD + 1))
        return steps if steps <= MOST_PERIOD else None


def _turn(x: Bin) -> int:
    """After how many numbers a remainder comes round; 0 for another operator."""
    n = value_of(x.right) or 0
    return {"%": n, "&": 1 << n.bit_length()}.get(x.op, 0) if n > 0 else 0


@record
class Run:
    """A nest in a loop over time, its host scalars put in, when a step runs it, and where it is in
    the function."""

    nest: For
    when: Expr
    path: Path


ONCE = "#once"
"""The counter of the loop that a statement beside the nests stands in."""

ALWAYS = Const(1)
"""When a nest is run that every step runs."""

NO_TIME = Clock("", None)
"""That of nests which run once."""


def runs(fn: Function, loop: For) -> tuple[Clock, tuple[Run, ...]]:
    """The nests of a loop over time. Raises NotStages."""
    (site,) = (s for s in resolve(fn, loop.var) if s.loop is loop or s.loop == loop)
    host = _Host(fn, loop)
    found = tuple(host.runs(loop.body, ALWAYS, [(*site.path, n) for n in range(len(loop.body))]))
    return host.clock(site.path), found


class _Host:
    """The scalars of the host, as expressions of what they were when a step began."""

    def __init__(self, fn: Function, loop: For) -> None:
        self.fn, self.loop, self.types = fn, loop, symbols(fn)
        self.set = {x.target.name for x in _assigned(loop.body) if isinstance(x.target, Var)}
        self.now: dict[str, Expr] = {}
        self.kept: set[str] = set()

    def runs(self, body: tuple[Stmt, ...], when: Expr, paths: list[Path]) -> Iterator[Run]:
        for s, path in zip(body, paths):
            match s:
                case Decl(_, _, ()):
                    continue
                case For() if not writes((s,)) & self.set:
                    nest = substitute_body((s,), self._known(frozenset(reads((s,)))))[0]
                    assert isinstance(nest, For)
                    yield Run(nest, when, path)
                case If(cond) if not any(loads(cond)):
                    holds = self._read(cond)
                    inner = [(*path, n) for n in range(len(s.then))]
                    yield from self.runs(s.then, _both(when, holds), inner)
                    inner = [(*path, -1 - n) for n in range(len(s.orelse))]
                    yield from self.runs(s.orelse, _both(when, Un("!", holds)), inner)
                case Assign(Var(name), value, op) if when == ALWAYS and not any(loads(value)):
                    self._assign(s, name, Bin(op, s.target, value) if op else value)
                case Assign(Load(_, index)) if not any(any(loads(e)) for e in index):
                    nest = For(ONCE, Const(0), Const(1), Const(1), (s,), parallel=True)
                    yield from self.runs((replace(nest, origin=s.origin),), when, [path])
                case _:
                    text = f"a statement stands beside the nests of the loop over '{self.loop.var}'"
                    raise NotStages(text, s.origin.loc, "set scalars in the nests that use them")

    def _assign(self, s: Stmt, name: str, value: Expr) -> None:
        if any(p.name == name for p in self.fn.objects):
            raise NotStages(f"the loop sets '{name}', which belongs to others", s.origin.loc)
        type, whole = self.types[name], self._read(value)
        if not type.is_integer or not type_of(value, self.types).is_integer:
            raise NotStages(f"the loop sets '{name}', which is no whole number", s.origin.loc)
        self.now[name] = whole if type_of(whole, self.types) == type else Cast(type, whole)

    def _read(self, e: Expr) -> Expr:
        return substitute(e, self._known(names(e)))

    def _known(self, read: frozenset[str]) -> dict[str, Expr]:
        """The values of what is read; what is not set yet is a state."""
        self.kept |= read & (self.set - self.now.keys())
        return {n: e for n, e in self.now.items() if n in read}

    def clock(self, path: Path) -> Clock:
        """That of the loop at `path`. Raises NotStages."""
        loop, loc = self.loop, self.loop.origin.loc
        outside = reads(replace_at(self.fn, path, ()).body)
        for name in sorted(self.set - self.kept):
            if name in outside:
                raise NotStages(f"'{name}' is read behind the loop that sets it", loc)
        states: list[State] = []
        for name in sorted(self.kept):
            first, after = _before(self.fn.body, loop, name), self.now.get(name)
            if first is None or after is None or not names(after) <= self.kept:
                raise NotStages(f"what '{name}' is in a step of time is not known", loc)
            states.append(State(name, first, after))
        return Clock(loop.var, value_of(loop.lo), tuple(states))


def _before(body: tuple[Stmt, ...], loop: For, name: str) -> int | None:
    """The number that a scalar is set to in front of a loop, in the body that holds it."""
    here = next((n for n, s in enumerate(body) if s is loop or s == loop), None)
    if here is None:
        inner = (_before(b, loop, name) for s in body for b in bodies(s))
        return next((n for n in inner if n is not None), None)
    for s in reversed(body[:here]):
        if name in writes((s,)):
            plain = isinstance(s, Assign) and isinstance(s.target, Var) and not s.op
            return value_of(s.value) if plain and isinstance(s, Assign) else None
        if _may_set(s, name):
            return None
    return None


def _may_set(s: Stmt, name: str) -> bool:
    """Whether a statement counts with a scalar, or may change it where the tree does not say so."""
    for _, x in walk((s,)):
        if isinstance(x, For) and x.var == name:
            return True
        if isinstance(x, Opaque) and not (name in x.spares or name in x.keeps):
            return True
    return False


def _assigned(body: tuple[Stmt, ...]) -> Iterator[Assign]:
    """The assignments of the host in a body."""
    for s in body:
        if isinstance(s, Assign):
            yield s
        elif isinstance(s, If):
            yield from _assigned((*s.then, *s.orelse))


def _both(a: Expr, b: Expr) -> Expr:
    return b if a == ALWAYS else Bin("&&", a, b)
