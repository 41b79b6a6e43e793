"""Sums of a stage in parts: what each row adds is added when that row is there.

    B[r] = u * A[r-1] + (l * A[r][-1] + c * A[r] + e * A[r][1]) + d * A[r+1]
      iteration r:    B_2 = u * A_0;   B_1 = B_2 + (what row r - 1 adds);   B_0 = B_1 + d * A_0

A work-item then keeps a sum for each row that is not complete, in place of the elements of all
rows that the sum is made of. The terms are added in another order: floating-point sums round
differently, which has to be permitted. (Jangda and Guha; Matsumura et al., 2020, "partial
summation".)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from dataclasses import field as attribute
from functools import reduce

from loopxform.ir.nodes import Bin, Cast, Expr, Load, Un, Var
from loopxform.ir.types import DOUBLE, FLOAT, Scalar, common
from loopxform.ir.typing import type_of
from loopxform.ir.visit import children, loads, map_children, substitute
from loopxform.records import record
from loopxform.transforms.overlapped.stages import Stage
from loopxform.transforms.overlapped.templates import Template, outside_subscripts

Times = Callable[[Load], int | None]
"""How many iterations before that of the stage's element all work-items have an element that it
reads; None for elements of arrays that are read from memory."""

Term = tuple[bool, Expr]
"""A term of a sum, and whether it is subtracted."""


@record
class PartialSum:
    """A sum that is complete `at` so many iterations before the element of the stage, and begins at
    `first`, the most. In the expressions of the split its value is `Var(name)`."""

    name: str
    type: Scalar
    at: int
    first: int
    terms: tuple[tuple[int, tuple[Term, ...]], ...]

    @property
    def moved(self) -> int:
        """Iterations in which nothing is added."""
        return self.first - self.at + 1 - len({self.at, *dict(self.terms)})

    def of(self, early: int) -> tuple[Term, ...]:
        """What is added so many iterations before."""
        return dict(self.terms).get(early, ())

    def after(self, early: int, before: Expr | None) -> Expr:
        """The sum with what is added then; `before` is what it was an iteration before."""
        terms = [*([(False, before)] if before is not None else []), *self.of(early)]
        if not terms:
            raise AssertionError("a partial sum begins with its first terms")
        (negative, first), *rest = terms
        return reduce(_added, rest, Un("-", first) if negative else first)


@record
class Split:
    """A stage whose sums are computed in parts: its template with `sums` in place of those, the
    inner ones first, and when each of its reads takes place."""

    template: Template
    sums: tuple[PartialSum, ...]

    @property
    def words(self) -> float:
        """Words of 32 bits that a work-item keeps."""
        return sum((s.first - s.at) * s.type.bytes / FLOAT.bytes for s in self.sums)

    def reads(self) -> Iterator[tuple[Load, int]]:
        """The elements that it reads, each with how many iterations early."""
        for e in self.template.values:
            yield from ((x, 0) for x in loads(e))
        for s in self.sums:
            for early, terms in s.terms:
                yield from ((x, early) for _, e in terms for x in loads(e))


@dataclass
class Splits:
    """Splits stages of programs whose names have these `types`; those of one template, whose reads
    take place at the same times, once."""

    types: Mapping[str, Scalar]
    known: dict[tuple[int, tuple[int | None, ...]], tuple[Template, Split | None]] = attribute(
        default_factory=dict
    )

    def of(self, stage: Stage, times: Times) -> Split | None:
        """The sums of a stage in parts; None where all their terms come in the same iteration."""
        template = stage.template
        key = id(template), tuple(times(r.load) for r in stage.reads)
        if key not in self.known:
            self.known[key] = template, _split(stage, times, self.types)
        return self.known[key][1]


def _split(stage: Stage, times: Times, types: Mapping[str, Scalar]) -> Split | None:
    if stage.template.exact:
        return None
    template = _inlined(stage.template, types)
    own = {**types, **{name: type for name, type, _ in template.scalars}}
    told = {x.var for x in template.loops} | {name for name, _ in stage.host}
    told |= {name for name, _, _ in template.scalars}
    found = _Sums(times, own, frozenset(told))
    value = found.split(template.value, 0)
    return Split(replace(template, value=value), tuple(found.sums)) if found.sums else None


@dataclass
class _Sums:
    """Finds them. Terms with names that are `told` in the iteration of the element are added in
    that."""

    times: Times
    types: dict[str, Scalar]
    told: frozenset[str]
    sums: list[PartialSum] = attribute(default_factory=list)
    known: dict[int, Scalar] = attribute(default_factory=dict)

    def split(self, e: Expr, at: int) -> Expr:
        """An expression that is computed `at` so many iterations early, with names for sums."""
        if not _is_sum(e) or self._type(e) not in (FLOAT, DOUBLE):
            return e if isinstance(e, Load) else map_children(e, lambda x: self.split(x, at))
        type = self._type(e)
        by_time: dict[int, list[Term]] = {}
        for negative, term in self._terms(e, type):
            by_time.setdefault(max(at, self._when(term, at)), []).append((negative, term))
        if [*by_time] == [at]:
            return map_children(e, lambda x: self.split(x, at))
        terms = tuple(
            (early, tuple((negative, self.split(x, early)) for negative, x in found))
            for early, found in sorted(by_time.items())
        )
        name = f"#{len(self.sums)}"
        self.sums.append(PartialSum(name, type, at, max(by_time), terms))
        return Var(name)

    def _when(self, e: Expr, at: int) -> int:
        """How early all that an expression is made of is there."""
        if not self.told.isdisjoint(outside_subscripts(e)):
            return at
        every = [self.times(x) for x in loads(e)]
        known = [n for n in every if n is not None]
        return min(known) if known and len(known) == len(every) else at

    def _terms(self, e: Expr, type: Scalar) -> list[Term]:
        """The terms of a sum of numbers of one type, those of other types converted to it, as each
        of them is where it meets one of that type."""
        waiting: list[Term] = [(False, e)]
        found: list[Term] = []
        while waiting:
            minus, x = waiting.pop()
            if isinstance(x, Bin) and _is_sum(x) and self._type(x) == type:
                waiting += [(minus != (x.op == "-"), x.right), (minus, x.left)]
            else:
                found.append((minus, x if self._type(x) == type else Cast(type, x)))
        return found

    def _type(self, e: Expr) -> Scalar:
        """The type of an expression; that of each part of a long sum is found once."""
        if not (isinstance(e, Bin) and _is_sum(e)):
            return type_of(e, self.types)
        if id(e) not in self.known:
            self.known[id(e)] = common(self._type(e.left), self._type(e.right))
        return self.known[id(e)]


def _is_sum(e: Expr) -> bool:
    return isinstance(e, Bin) and e.op in ("+", "-")


def _added(total: Expr, term: Term) -> Expr:
    negative, e = term
    return Bin("-" if negative else "+", total, e)


def _inlined(template: Template, types: Mapping[str, Scalar]) -> Template:
    """With floating-point scalars that are used once put in where they are used: sums that are
    computed statement by statement."""
    every = template.scalars
    own = {**types, **{name: type for name, type, _ in every}}
    known: dict[str, Expr] = {}
    kept: list[tuple[str, Scalar, Expr]] = []
    for n, (name, type, value) in enumerate(every):
        placed = substitute(value, known)
        known.pop(name, None)
        plain = type in (FLOAT, DOUBLE) and type_of(placed, own) == type
        if plain and _uses(name, every[n + 1 :], template.value) <= 1:
            known[name] = placed
        else:
            kept.append((name, type, placed))
    left = [name for name, _, _ in kept]
    if len(set(left)) < len(left) or {*left} & known.keys():
        return template
    return replace(template, scalars=tuple(kept), value=substitute(template.value, known))


def _uses(name: str, later: tuple[tuple[str, Scalar, Expr], ...], value: Expr) -> int:
    """How often a scalar is read before it is set again."""
    total = 0
    for other, _, e in later:
        total += _reads(e, name)
        if other == name:
            return total
    return total + _reads(value, name)


def _reads(e: Expr, name: str) -> int:
    return int(isinstance(e, Var) and e.name == name) + sum(_reads(x, name) for x in children(e))
