"""The accesses of a program to its arrays, each with how often it happens, as a formula.

An access happens once for every iteration of the loops around it. A collective copy moves each
element of its box once for a group, and what a group does outside the loops over its work-items
each of them does.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import reduce
from operator import mul
from typing import Literal

from loopxform.ir.affine import Poly, to_expr
from loopxform.ir.nodes import Assign, Bin, Copy, Expr, For, If, Load, Return, Select, Stmt
from loopxform.ir.types import Space
from loopxform.ir.visit import bodies, children, walk
from loopxform.model.quasi_polynomials import Amount, Product, amount, number, product, summed
from loopxform.model.trip_counts import Around, Ranges, bare, negated
from loopxform.records import record
from loopxform.transforms.edges.bounds import conjuncts, fixed_trips

Kind = Literal["read", "write"]


@record
class Term:
    """Accesses of one place in the program; at most so many where the number is not `exact`."""

    count: Product
    exact: bool


@record
class _Place:
    """In which iterations something happens: those that the ranges of sign 1 have and those of
    sign -1 have not; in at most these where they are not `exact`."""

    parts: tuple[tuple[int, Around], ...] = ((1, ()),)
    exact: bool = True

    def inside(self, loop: For) -> _Place:
        return replace(self, parts=tuple((n, (*around, bare(loop))) for n, around in self.parts))

    def without(self, other: _Place | None) -> _Place:
        """The iterations that are not in a part of these."""
        if other is None:
            return self
        if not other.exact:
            return replace(self, exact=False)
        return replace(self, parts=(*self.parts, *((-n, around) for n, around in other.parts)))


@record
class Access:
    """One access in the text of a program: to an element, or to each element of a box, `together`
    by the work-items of a group."""

    kind: Kind
    array: str
    place: _Place
    box: tuple[Amount, ...] = ()
    together: bool = False


@record
class Reader:
    """Reads the accesses off a program whose arrays are in `spaces`."""

    ranges: Ranges
    spaces: Mapping[str, Space]

    def terms(self, body: tuple[Stmt, ...]) -> Iterator[tuple[Space, Kind, Term]]:
        """A term for each access; a nest that is launched under a condition counts as launched, and
        of versions one."""
        for s in body:
            nest = _launched((s,))
            group = _group(nest)
            for a in self._body(nest, _Place()):
                if a.array in self.spaces:
                    for term in self._terms(a, group):
                        yield self.spaces[a.array], a.kind, term

    def _body(self, body: tuple[Stmt, ...], place: _Place) -> Iterator[Access]:
        for s in body:
            yield from self._stmt(s, place)

    def _stmt(self, s: Stmt, place: _Place) -> Iterator[Access]:
        match s:
            case For():
                inside = place.inside(s)
                # The end is read before each iteration, and once more after the last.
                for e, at in ((s.lo, place), (s.hi, place), (s.hi, inside)):
                    yield from self._reads(e, at)
                yield from self._body(s.body, inside)
            case If():
                yield from self._reads(s.cond, place)
                for branch, where in zip(bodies(s), self._branches(s.cond, place)):
                    yield from () if where is None else self._body(branch, where)
            case Assign(target, value, op):
                yield from self._reads(value, place)
                if isinstance(target, Load):
                    for i in target.index:
                        yield from self._reads(i, place)
                    if op:
                        yield Access("read", target.array, place)
                    yield Access("write", target.array, place)
            case Copy():
                yield from self._copy(s, place)
            case Return(value) if value is not None:
                yield from self._reads(value, place)
            case _:
                return

    def _copy(self, s: Copy, place: _Place) -> Iterator[Access]:
        """Every element is read and written once; so is what its subscripts are read from."""
        box = tuple(amount(x.size) for x in s.slices if x.size is not None)
        every = [Load(s.source, ()), *(e for x in s.slices for e in (x.lo, x.limit) if e)]
        for a in (a for e in every for a in self._reads(e, place)):
            yield replace(a, box=box, together=s.collective)
        yield Access("write", s.target, place, box, s.collective)

    def _reads(self, e: Expr, place: _Place) -> Iterator[Access]:
        """Operands that C may leave out are read where the first one says."""
        match e:
            case Load(array, index):
                yield Access("read", array, place)
                for i in index:
                    yield from self._reads(i, place)
            case Select(cond, then, orelse):
                yield from self._reads(cond, place)
                for operand, where in zip((then, orelse), self._branches(cond, place)):
                    yield from () if where is None else self._reads(operand, where)
            case Bin("&&" | "||" as op, left, right):
                yield from self._reads(left, place)
                after = self._branches(left, place)[op == "||"]
                yield from () if after is None else self._reads(right, after)
            case _:
                for x in children(e):
                    yield from self._reads(x, place)

    # ------------------------------------------------------------ conditions

    def _branches(self, cond: Expr, place: _Place) -> tuple[_Place | None, _Place | None]:
        """Where the branches of a condition run; None for one that never does."""
        opposite = negated(cond)
        if isinstance(cond, Bin) and cond.op == "||" and opposite is not None:
            return self._branches(opposite, place)[::-1]
        then: _Place | None = place
        for test in conjuncts(cond):
            then = None if then is None else self._under(test, then)
        if opposite is not None:
            return then, self._under(opposite, place)
        return then, None if then == place and place.exact else place.without(then)

    def _under(self, test: Expr, place: _Place) -> _Place | None:
        """Where a comparison holds."""
        parts, exact = list[tuple[int, Around]](), place.exact
        for sign, around in place.parts:
            holds = self.ranges.holds(test, around)
            found = around if holds else self.ranges.narrowed(test, around)
            equal = negated(test) if isinstance(test, Bin) and test.op == "!=" else None
            but = None if equal is None else self.ranges.narrowed(equal, around)
            if holds is False:
                continue
            if found is not None:
                parts.append((sign, found))
            elif but is not None:
                parts += [(sign, around), (-sign, but)]
            else:
                parts += [(sign, around)] if sign > 0 else []
                exact = False
        return _Place(tuple(parts), exact) if parts else None

    # ------------------------------------------------------------ numbers

    def _terms(self, a: Access, group: Mapping[int, Amount]) -> list[Term]:
        """A term for each part of the place. What is taken away must be known for certain."""
        exact, out = a.place.exact, list[Product]()
        for sign, around in a.place.parts:
            count, sure = self._count(a, around, group)
            exact = exact and sure
            if sign > 0 or sure:
                out.append(replace(count, coefficient=sign * count.coefficient))
        return [Term(p, exact) for p in out if p.coefficient]

    def _count(
        self, a: Access, around: Around, group: Mapping[int, Amount]
    ) -> tuple[Product, bool]:
        """The sum over the loops around, innermost first, and whether that is exact."""
        exact, parts = True, [] if a.together else list(_each(around, group))
        for n in reversed(range(len(around))):
            loop, r = around[n], self.ranges.of(around[n], around[:n])
            moving = [p for p in parts if p.mentions(loop.var)]
            parts = [p for p in parts if not p.mentions(loop.var)]
            whole = reduce(mul, moving, number(1))
            added = summed(whole, loop.var, r.first, r.step, r.count) if moving else r.count
            assert added is not None, "counts are polynomials of counters"
            parts.append(added)
            exact = exact and r.exact
        return product((*reversed(parts), *a.box)), exact


def _launched(nest: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
    """The nest, of several variants the last, which serves what the others do not."""
    if len(nest) == 1 and isinstance(nest[0], If):
        return _launched(nest[0].orelse or nest[0].then)
    return nest


def _each(around: Around, group: Mapping[int, Amount]) -> Iterator[Amount]:
    """The work-items that do the same along each dimension of the group."""
    levels = [x.level for x in around if x.level is not None]
    if levels:
        own = {level.dimension for level in levels if level.kind == "group"}
        yield from (n for d, n in group.items() if d not in own)


def _group(body: tuple[Stmt, ...]) -> dict[int, Amount]:
    """The work-items of a group along each dimension: the most iterations of a loop over them."""
    found: dict[int, list[Poly]] = {}
    for _, s in walk(body):
        if isinstance(s, For) and s.level is not None and s.level.kind == "group":
            fixed = fixed_trips(s)
            assert fixed is not None, "a group has a fixed number of work-items"
            found.setdefault(s.level.dimension, []).append(fixed[0])
    most = {d: max(counts, key=lambda p: p.value or 1) for d, counts in found.items()}
    return {d: amount(to_expr(p)) for d, p in most.items()}
