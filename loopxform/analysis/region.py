"""Statement instances of a region: which iterations run, what each may read and write.

A region is a function or the subtree of one statement. Everything a dependence question needs is
gathered in one walk: for every statement the loops of the region around it, its iteration domain
(exact, or an over-approximation marked so), and its accesses. Constraints of what encloses the
region hold too, as far as nothing in there changes what they mention.

    domain(S) = { i : assumes and guards(i) and for each loop: i = lo + step*q, q >= 0, i < hi }
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import cached_property
from itertools import chain
from typing import assert_never

from loopxform.analysis.accesses import Access, Recorder, Storage
from loopxform.analysis.domain import (
    assumptions_of,
    context,
    given,
    iterations,
    names_of,
    restricted,
)
from loopxform.analysis.formula import Translator
from loopxform.analysis.linear import Dnf
from loopxform.analysis.scope import Facts, Names, below, gather
from loopxform.ir.affine import value_of
from loopxform.ir.memo import remembered
from loopxform.ir.nodes import (
    Assign,
    Copy,
    Decl,
    For,
    Function,
    If,
    Opaque,
    Return,
    Stmt,
    Var,
)
from loopxform.ir.visit import Path, enclosing
from loopxform.records import record
from loopxform.source import Loc

OPAQUE = "opaque"
"""The label of statements that are not modelled."""


@record
class Loop:
    """A loop of the region; `sign` is the direction its variable moves in, 0 where unknown."""

    path: Path
    node: For
    sign: int
    step: int

    @property
    def var(self) -> str:
        return self.node.var


@record
class Instance:
    """A statement with its domain and accesses. The header of a `for` is up to two instances: on
    entry (outside the loop) and before each iteration (inside it, where its bound reads data)."""

    label: str
    loc: Loc | None
    path: Path
    loops: tuple[Loop, ...]
    domain: Dnf
    exact: bool
    accesses: tuple[Access, ...]
    sure: bool = True
    """Whether just these instances run, in an iteration of the region's loop that runs; numbers
    that never change in the region may be symbols."""


@record
class Region:
    fn: Function
    scope: Path
    facts: Facts
    names: Names
    instances: tuple[Instance, ...]
    context: Dnf

    @cached_property
    def inputs(self) -> frozenset[str]:
        """Numbers that may have any value the context allows: sizes, and the loops around."""
        around = enclosing(self.fn, self.scope)[:-1] if self.scope else ()
        counters = {s.var for s in around if isinstance(s, For)}
        return self.names.inputs | counters

    @cached_property
    def given(self) -> frozenset[str]:
        """Numbers that calls gave."""
        return given(self.fn, self.scope)

    def unproven(self, values: Iterable[str]) -> list[str]:
        """Of the names that a collision gives values, those that may not be able to have them."""
        computed = [name for name in values if name not in self.inputs]
        one = len(computed) == 1 and computed[0] in self.given
        return [] if one else computed


def region(fn: Function, scope: Path | None = None, *, counters: bool = False) -> Region:
    """The region at `scope` (default: the whole function); the last few are remembered. With
    `counters`, a loop also writes its variable where that is read after the region only."""
    return _region(fn, scope or (), counters)


@remembered(256)
def _region(fn: Function, scope: Path, counters: bool) -> Region:
    return _Builder(fn, scope, counters=counters).region()


@record
class _Place:
    """What holds on the way down: loops, domain, storages in sight."""

    loops: tuple[Loop, ...]
    domain: Dnf
    exact: bool
    storages: dict[str, Storage]
    sure: bool = True

    @property
    def vars(self) -> tuple[str, ...]:
        return tuple(x.var for x in self.loops)


class _Builder:
    """One walk over the region."""

    def __init__(self, fn: Function, scope: Path, *, counters: bool) -> None:
        self.fn = fn
        self.scope = scope
        self.counters = counters
        self.names = names_of(fn).within(_facts(fn, scope), scope)
        self.instances: list[Instance] = []

    def region(self) -> Region:
        domain, exact = context(self.fn, self.scope)
        place = _Place((), domain, exact, visible(self.fn, self.scope))
        if self.scope:
            self._statement(enclosing(self.fn, self.scope)[-1], self.scope, place)
        else:
            self._body(self.fn.body, (), place)
        found = tuple(self.instances)
        return Region(self.fn, self.scope, self.names.facts, self.names, found, domain)

    def _body(
        self, body: tuple[Stmt, ...], path: Path, at: _Place, *, orelse: bool = False
    ) -> None:
        at = replace(at, storages=dict(at.storages))
        for n, s in enumerate(body):
            place = (*path, -1 - n if orelse else n)
            if isinstance(s, Decl):
                at.storages[s.name] = Storage(s.name, place, len(at.loops), len(s.shape))
            self._statement(s, place, at)

    def _emit(self, s: Stmt, label: str, path: Path, at: _Place, found: Iterable[Access]) -> None:
        accesses = tuple(found)
        if accesses:
            self.instances.append(
                Instance(
                    label, s.origin.loc, path, at.loops, at.domain, at.exact, accesses, at.sure
                )
            )

    def _statement(self, s: Stmt, path: Path, at: _Place) -> None:
        names = self.names.at(path, at.vars)
        record = Recorder(names, at.storages)
        match s:
            case Assign():
                self._emit(s, s.label or "S", path, at, record.assign(s))
            case Copy():
                self._emit(s, "copy", path, at, record.copy(s))
            case Return():
                value = () if s.value is None else record.reads(s.value)
                self._emit(s, "return", path, at, value)
            case Decl():
                self._emit(s, "declaration", path, at, record.all_reads(s.shape))
            case Opaque():
                self._emit(s, OPAQUE, path, at, record.everything(s.spares))
                inside = replace(at, domain=assumptions_of(self.fn), exact=False, sure=False)
                self._body(s.body, path, inside)
            case If():
                self._emit(s, "if", path, at, record.reads(s.cond))
                self._branches(s, path, at, names)
            case For():
                entry = [*record.all_reads((s.lo, s.hi, s.step))]
                if s.var in self.names.facts.escaping or (self.counters and s.live_out):
                    storage = at.storages.setdefault(s.var, Storage(s.var, None, 0, 0))
                    entry.append(Access(storage, True, Var(s.var), names))
                self._emit(s, f"for {s.var}", path, at, entry)
                self._loop(s, path, at)
            case _:
                assert_never(s)

    def _branches(self, s: If, path: Path, at: _Place, names: Names) -> None:
        for orelse, inner in ((False, s.then), (True, s.orelse)):
            translator = Translator(names)
            guard = translator.condition(s.cond, holds=not orelse)
            domain, few = restricted(at.domain, guard)
            inside = replace(
                at,
                domain=domain,
                exact=at.exact and translator.exact and few,
                sure=at.sure and translator.known and few,
            )
            self._body(inner, path, inside, orelse=orelse)

    def _loop(self, s: For, path: Path, at: _Place) -> None:
        step = value_of(s.step)
        sign = 0 if step is None else (step > 0) - (step < 0)
        inner = replace(at, loops=(*at.loops, Loop(path, s, sign, abs(step or 1))))
        names = self.names.at(path, inner.vars)
        again = Recorder(names, at.storages).reads(s.hi)
        self._emit(s, f"for {s.var}", path, replace(inner, exact=False, sure=False), again)
        translator = Translator(names)
        within, few = restricted(at.domain, iterations(s, translator))
        storages = {k: v for k, v in at.storages.items() if k != s.var}
        exact = at.exact and translator.exact and few
        sure = at.sure and ((translator.known and few) or path == self.scope)
        body = replace(inner, domain=within, exact=exact, sure=sure, storages=storages)
        self._body(s.body, path, body)


def _facts(fn: Function, scope: Path) -> Facts:
    """The facts of the subtree at `scope`, paths counted from the function."""
    if not scope:
        return names_of(fn).whole
    s = enclosing(fn, scope)[-1]
    return gather(chain([(scope, s)], below(s, scope)))


def visible(fn: Function, scope: Path) -> dict[str, Storage]:
    """The objects declared outside the region, and before it."""
    found = {p.name: Storage(p.name, None, 0, len(p.shape)) for p in fn.objects}
    parents = enclosing(fn, scope) if scope else ()
    for n in range(len(scope)):
        outer = parents[n - 1] if n else None
        body = fn.body if outer is None else _branch(outer, scope[n])
        position = scope[n] if scope[n] >= 0 else -1 - scope[n]
        for m, s in enumerate(body[:position]):
            if isinstance(s, Decl):
                place = (*scope[:n], m if scope[n] >= 0 else -1 - m)
                found[s.name] = Storage(s.name, place, 0, len(s.shape))
    return found


def _branch(s: Stmt, index: int) -> tuple[Stmt, ...]:
    if isinstance(s, If):
        return s.then if index >= 0 else s.orelse
    return s.body if isinstance(s, For | Opaque) else ()
