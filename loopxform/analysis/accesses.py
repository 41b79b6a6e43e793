"""Reads and writes: which element of which storage a statement instance touches.

An access lists its subscripts by cases; a subscript of None may be any index of its dimension. The
element is over-approximated where `exact` is false. Reads under a conditional operator, or behind
`&&` and `||`, carry the condition under which they happen.
"""

from __future__ import annotations

from collections.abc import Iterator, Set
from functools import cached_property
from typing import TypeAlias

from loopxform.analysis.domain import MAX_DOMAIN
from loopxform.analysis.formula import Translator
from loopxform.analysis.linear import Conj, Lin, at_least, const, plus, variable
from loopxform.analysis.parts import possible as has_points
from loopxform.analysis.scope import Names
from loopxform.ir.nodes import Assign, Bin, Copy, Expr, Load, Select, Slice, Var
from loopxform.ir.updates import atomic_word
from loopxform.ir.visit import Path, children
from loopxform.records import record

Guards: TypeAlias = tuple[tuple[Expr, bool], ...]
Subscripts: TypeAlias = tuple[Lin | None, ...]


@record
class Storage:
    """A scalar or array; `decl` says where a local is declared, `loops` how many loops of the
    region are around that place (an iteration of those has its own copy)."""

    name: str
    decl: Path | None
    loops: int
    rank: int


@record
class Access:
    """A read or write by one statement; `expr` is the Var or Load, None for a whole box. Those of
    one `atomic` operator ("" is none) may be in any order."""

    storage: Storage
    write: bool
    expr: Expr | None
    names: Names
    guards: Guards = ()
    box: tuple[Slice, ...] | None = None
    unknown: bool = False
    atomic: str = ""

    @cached_property
    def _translated(self) -> tuple[tuple[tuple[Subscripts, Conj], ...], bool, bool]:
        if self.unknown:
            return (((None,) * self.storage.rank, ()),), False, False
        if self.box is not None:
            return _box(self.box, Translator(self.names)), False, False
        translator = Translator(self.names)
        cases: list[tuple[Subscripts, Conj]] = [((), ())]
        for index in self.expr.index if isinstance(self.expr, Load) else ():
            found = translator.cases(index) or ((None, ()),)
            cases = [((*s, x), (*w, *c)) for s, w in cases for x, c in found]
        for cond, holds in self.guards:
            formula = translator.condition(cond, holds=holds)
            split = [(s, (*w, *c)) for s, w in cases for c in formula]
            if len(split) > 1:
                split = [(s, w) for s, w in split if has_points(w)]
            if len(split) <= MAX_DOMAIN:
                cases = split
            else:
                translator.exact = translator.known = False
        return tuple(cases), translator.exact, translator.known

    @property
    def cases(self) -> tuple[tuple[Subscripts, Conj], ...]:
        return self._translated[0]

    @property
    def exact(self) -> bool:
        return self._translated[1]

    @property
    def known(self) -> bool:
        """Exact, but for symbols that stand for values that never change in the region."""
        return self._translated[2]

    @cached_property
    def meaning(self) -> str:
        """The cases as text: accesses of one meaning at places of one domain depend alike."""
        return repr(self.cases)


def _box(box: tuple[Slice, ...], translator: Translator) -> tuple[tuple[Subscripts, Conj], ...]:
    """The source elements of a copy: one auxiliary index per dimension, `lo <= x < lo + size`, by
    the cases of the limits."""
    subscripts: list[Lin | None] = []
    within: list[Conj] = [()]
    for part in box:
        lo = translator.cases(part.lo)
        size = translator.cases(part.size) if part.size is not None else (({"": 1}, ()),)
        if lo is None or size is None or len(lo) * len(size) != 1:
            subscripts.append(None)
            continue
        (low, when), (extent, also) = lo[0], size[0]
        x = variable(translator.scope.fresh())
        subscripts.append(x)
        top = plus(plus(low, extent), const(-1))
        inside = (*when, *also, at_least(x, low), at_least(top, x))
        within = [(*conj, *inside) for conj in within]
        for e in () if part.limit is None else _least_of(part.limit):
            limit = translator.cases(e) or ()
            ends = [(*when, at_least(plus(end, const(-1)), x)) for end, when in limit]
            within = [(*conj, *end) for conj in within for end in ends or [()]]
        floor = None if part.floor is None else translator.cases(part.floor)
        starts = [(*when, at_least(x, start)) for start, when in floor or ()]
        within = [(*conj, *start) for conj in within for start in starts or [()]]
    return tuple((tuple(subscripts), conj) for conj in within)


def _least_of(e: Expr) -> Iterator[Expr]:
    """What an expression is the least of: an index is below all of them where it is below it."""
    match e:
        case Bin("min", left, right):
            yield from _least_of(left)
            yield from _least_of(right)
        case _:
            yield e


def touched(e: Expr, guards: Guards = ()) -> Iterator[tuple[Var | Load, Guards]]:
    """Every scalar and array element an expression reads, with the conditions it reads it under."""
    match e:
        case Var():
            yield e, guards
        case Bin("&&" | "||" as op, left, right):
            yield from touched(left, guards)
            yield from touched(right, (*guards, (left, op == "&&")))
        case Select(cond, then, orelse):
            yield from touched(cond, guards)
            yield from touched(then, (*guards, (cond, True)))
            yield from touched(orelse, (*guards, (cond, False)))
        case _:
            if isinstance(e, Load):
                yield e, guards
            for child in children(e):
                yield from touched(child, guards)


class Recorder:
    """Makes the accesses of one place: `storages` are the objects visible there."""

    def __init__(self, names: Names, storages: dict[str, Storage]) -> None:
        self.names = names
        self.storages = storages

    def reads(self, e: Expr) -> Iterator[Access]:
        for x, guards in touched(e):
            name = x.name if isinstance(x, Var) else x.array
            storage = self.storages.get(name)
            if storage is not None and self._is_data(x):
                yield Access(storage, False, x, self.names, guards)

    def all_reads(self, exprs: tuple[Expr, ...]) -> Iterator[Access]:
        for e in exprs:
            yield from self.reads(e)

    def _is_data(self, x: Var | Load) -> bool:
        """Loop variables inside their loops, and scalars nothing writes, are not data."""
        if isinstance(x, Load):
            return True
        facts = self.names.facts
        written = x.name in facts.assigned or x.name in facts.escaping or facts.may_hide(x.name)
        return written and x.name not in self.names.loops

    def assign(self, s: Assign) -> Iterator[Access]:
        index = s.target.index if isinstance(s.target, Load) else ()
        yield from self.all_reads((s.value, *index))
        storage = self.storages[s.target.name if isinstance(s.target, Var) else s.target.array]
        held = s.atomic and isinstance(s.target, Load)
        atomic = atomic_word(s) if held else ""
        if s.op:
            yield Access(storage, False, s.target, self.names, atomic=atomic)
        yield Access(storage, True, s.target, self.names, atomic=atomic)

    def copy(self, s: Copy) -> Iterator[Access]:
        for part in s.slices:
            yield from self.all_reads(part.places)
        yield Access(self.storages[s.source], False, None, self.names, box=s.slices)
        yield Access(self.storages[s.target], True, None, self.names, unknown=True)

    def everything(self, spared: Set[str]) -> Iterator[Access]:
        """What a statement that is not modelled may do."""
        for name, storage in self.storages.items():
            if name in spared:
                continue
            yield Access(storage, False, None, self.names, unknown=True)
            yield Access(storage, True, None, self.names, unknown=True)
