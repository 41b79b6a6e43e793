"""Statement instances of a region: which iterations run, what each may read and write.

A region is a function or the subtree of one statement. Everything a dependence question needs is
gathered in one walk: for every statement the loops of the region around it, its iteration domain
(exact, or an over-approximation marked so), and its accesses. Constraints of what encloses the
region hold too, as far as nothing in there changes what they mention.

    domain(S) = { i : assumes and guards(i) and for each loop: i = lo + step*q, q >= 0, i < hi }
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import chain
from typing import assert_never

from loopxform.analysis.accesses import Access, Recorder, Storage
from loopxform.analysis.formula import Translator
from loopxform.analysis.linear import TRUE, Conj, Constraint, Dnf, at_least, conjoin, plus, times
from loopxform.analysis.linear import variable as var
from loopxform.analysis.scope import Facts, Names, below, gather, scalar_types
from loopxform.analysis.system import feasible
from loopxform.ir.affine import value_of
from loopxform.ir.nodes import (
    Assign,
    Bin,
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
from loopxform.ir.visit import Path, enclosing, walk
from loopxform.ir.visit import names as mentioned
from loopxform.source import Loc


@dataclass(frozen=True, slots=True)
class Loop:
    """A loop of the region; `sign` is the direction its variable moves in, 0 where unknown."""

    path: Path
    node: For
    sign: int
    step: int

    @property
    def var(self) -> str:
        return self.node.var


@dataclass(frozen=True, slots=True)
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


@dataclass(frozen=True)
class Region:
    fn: Function
    scope: Path
    facts: Facts
    names: Names
    instances: tuple[Instance, ...]
    context: Dnf

    @property
    def opaque(self) -> Opaque | None:
        """The first statement of the region that is not modelled."""
        body = self.fn.body if not self.scope else (enclosing(self.fn, self.scope)[-1],)
        return next((s for _, s in walk(body) if isinstance(s, Opaque)), None)


_recent: list[tuple[Function, Path, Region]] = []
_names: list[tuple[Function, Names]] = []


def region(fn: Function, scope: Path | None = None) -> Region:
    """The region at `scope` (default: the whole function); the last few are remembered."""
    at = scope or ()
    for known, path, found in _recent:
        if known is fn and path == at:
            return found
    made = _Builder(fn, at).region()
    _recent.append((fn, at, made))
    del _recent[:-24]
    return made


def names_of(fn: Function) -> Names:
    """What the names of a function mean at its top; the last few functions are remembered."""
    for known, found in _names:
        if known is fn:
            return found
    facts = gather(walk(fn.body))
    made = Names(facts, facts, scalar_types(fn))
    _names.append((fn, made))
    del _names[:-8]
    return made


def assumptions_of(fn: Function) -> Dnf:
    """`Function.assumes` as far as it is affine (leaving a part out is an over-approximation).
    The conditions speak of parameters on entry, so a parameter that is assigned says nothing."""
    out, names = TRUE, names_of(fn)
    for e in fn.assumes:
        if any(names.whole.may_change(name) for name in mentioned(e)):
            continue
        translator = Translator(names)
        found = translator.condition(e)
        if translator.exact:
            out = conjoin(out, found)
    return out


def context(fn: Function, path: Path) -> tuple[Dnf, bool]:
    """What loops, guards and assumptions around `path` say when it is reached, over names that do
    not change in the statements they belong to; False where something had to be left out."""
    out, exact = assumptions_of(fn), True
    parents = enclosing(fn, path)[:-1]
    for n, s in enumerate(parents):
        if isinstance(s, Opaque):
            out, exact = assumptions_of(fn), False
        if not isinstance(s, For | If):
            continue
        facts = gather(below(s, path[: n + 1]))
        if facts.opaque:
            exact = False
            continue
        translator = Translator(names_of(fn).within(facts, path[: n + 1]))
        if isinstance(s, For):
            found = iterations(s, translator)
        else:
            found = translator.condition(s.cond, holds=path[n + 1] >= 0)
        exact = exact and translator.exact
        out = possible(conjoin(out, found))
    return out, exact


def iterations(loop: For, translator: Translator) -> Dnf:
    """The values the loop variable takes: `v = lo + step*q, q >= 0` and `v < hi` (`v > hi` where
    the step is negative)."""
    step = value_of(loop.step)
    start = translator.cases(loop.lo)
    if step is None or step == 0:
        translator.exact = False
        return TRUE
    v = Var(loop.var)
    end = translator.compare("<" if step > 0 else ">", v, loop.hi)
    if abs(step) == 1 and isinstance(loop.lo, Bin) and loop.lo.op in ("min", "max"):
        return conjoin(translator.compare(">=" if step > 0 else "<=", v, loop.lo), end)
    if start is None:
        return end
    out: list[Conj] = []
    for lo, when in start:
        gap = times(plus(var(loop.var), lo, -1), 1 if step > 0 else -1)
        if abs(step) == 1:
            out.append((*when, at_least(gap, {})))
            continue
        q = var(translator.scope.fresh())
        stride = Constraint(True, plus(gap, q, -abs(step)))
        out.append((*when, stride, at_least(q, {})))
    return conjoin(tuple(out), end)


def possible(dnf: Dnf) -> Dnf:
    """Without the cases that contradict themselves."""
    if len(dnf) < 2:
        return dnf
    return tuple(conj for conj in dnf if feasible(conj))


@dataclass(frozen=True, slots=True)
class _Place:
    """What holds on the way down: loops, domain, storages in sight."""

    loops: tuple[Loop, ...]
    domain: Dnf
    exact: bool
    storages: dict[str, Storage]

    @property
    def vars(self) -> tuple[str, ...]:
        return tuple(x.var for x in self.loops)


class _Builder:
    """One walk over the region."""

    def __init__(self, fn: Function, scope: Path) -> None:
        self.fn = fn
        self.scope = scope
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
                Instance(label, s.origin.loc, path, at.loops, at.domain, at.exact, accesses)
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
                self._emit(s, "opaque", path, at, record.everything())
                inside = replace(at, domain=assumptions_of(self.fn), exact=False)
                self._body(s.body, path, inside)
            case If():
                self._emit(s, "if", path, at, record.reads(s.cond))
                self._branches(s, path, at, names)
            case For():
                entry = [*record.all_reads((s.lo, s.hi, s.step))]
                if s.var in self.names.facts.escaping:
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
            domain = possible(conjoin(at.domain, guard))
            inside = replace(at, domain=domain, exact=at.exact and translator.exact)
            self._body(inner, path, inside, orelse=orelse)

    def _loop(self, s: For, path: Path, at: _Place) -> None:
        step = value_of(s.step)
        sign = 0 if step is None else (step > 0) - (step < 0)
        inner = replace(at, loops=(*at.loops, Loop(path, s, sign, abs(step or 1))))
        names = self.names.at(path, inner.vars)
        again = Recorder(names, at.storages).reads(s.hi)
        self._emit(s, f"for {s.var}", path, replace(inner, exact=False), again)
        translator = Translator(names)
        within = possible(conjoin(at.domain, iterations(s, translator)))
        storages = {k: v for k, v in at.storages.items() if k != s.var}
        exact = at.exact and translator.exact
        self._body(s.body, path, replace(inner, domain=within, exact=exact, storages=storages))


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
