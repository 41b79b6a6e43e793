"""Memory accesses of the tiled program and of the naive one, as formulas (Cholewa-Madsen and Holst,
table 3).

They are read off the programs themselves. An access happens once for every iteration of the loops
around it; a collective copy moves each element of its box once for a group, and what a group does
outside the loops over its work-items each of them does. Counted are the accesses that the text of a
kernel has: one for each element of an array of numbers, one for each member of a struct. Tables in
constant memory do not count, nor do arrays that a work-item has for itself.

The formulas hold where the tile sizes divide the ranges of the loops, as in the table, and no range
is negative; residual tiles add copies of the last valid elements. What stands under a condition
that does not narrow the ranges of counters counts as if it always happened: the formula is then an
upper bound, and says so. `trips(e)` is how often the loop over e runs, on average over all the
times that it does, where that is no formula of sizes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from functools import reduce
from operator import mul

from loopxform.errors import UnsupportedC
from loopxform.ir.affine import Poly, to_expr
from loopxform.ir.constants import tables
from loopxform.ir.nodes import Bin, Decl, Expr, For, Function, If, Stmt, Var
from loopxform.ir.stand_ins import is_view, moved_by
from loopxform.ir.types import Space
from loopxform.ir.visit import walk
from loopxform.model.accesses import Access, Kind, Traversal
from loopxform.model.quasi_polynomials import (
    Amount,
    Numbers,
    Product,
    amount,
    number,
    product,
    sum_text,
    summed,
)
from loopxform.model.trip_counts import Around, Ranges, bare, is_average, negated, ranges
from loopxform.prepare.parallel_band import prepare
from loopxform.prepare.perfect_nest import nests
from loopxform.records import record
from loopxform.transforms import Derivation, DistributeGuard
from loopxform.transforms.edges.bounds import conjuncts, fixed_trips


@record
class Term:
    """Accesses of one place in the program; at most so many where the number is not `exact`."""

    count: Product
    exact: bool


@record
class Place:
    """In which iterations something happens: those that the ranges of sign 1 have and those of
    sign -1 have not; in at most these where they are not `exact`."""

    parts: tuple[tuple[int, Around], ...] = ((1, ()),)
    exact: bool = True

    def inside(self, loop: For) -> Place:
        return replace(self, parts=tuple((n, (*around, bare(loop))) for n, around in self.parts))

    def without(self, other: Place | None) -> Place:
        """The iterations that are not in a part of these."""
        if other is None:
            return self
        if not other.exact:
            return replace(self, exact=False)
        return replace(self, parts=(*self.parts, *((-n, around) for n, around in other.parts)))


@record
class Counter:
    """Counts the accesses of a program whose arrays are in `spaces`."""

    ranges: Ranges
    spaces: Mapping[str, Space]

    def terms(self, body: tuple[Stmt, ...]) -> Iterator[tuple[Space, Kind, Term]]:
        """A term for each access; a nest that is launched under a condition counts as launched, and
        of versions one."""
        for s in body:
            nest = _launched((s,))
            group = _group(nest)
            for a in Traversal(Place.inside, self._branches).accesses(nest, Place()):
                if a.array in self.spaces:
                    for term in self._terms(a, group):
                        yield self.spaces[a.array], a.kind, term

    def _branches(self, cond: Expr, place: Place) -> tuple[Place | None, Place | None]:
        """Where the branches of a condition run; None for one that never does."""
        opposite = negated(cond)
        if isinstance(cond, Bin) and cond.op == "||" and opposite is not None:
            return self._branches(opposite, place)[::-1]
        then: Place | None = place
        for test in conjuncts(cond):
            then = None if then is None else self._under(test, then)
        if opposite is not None:
            return then, self._under(opposite, place)
        return then, None if then == place and place.exact else place.without(then)

    def _under(self, test: Expr, place: Place) -> Place | None:
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
        return Place(tuple(parts), exact) if parts else None

    def _terms(self, a: Access[Place], group: Mapping[int, Amount]) -> list[Term]:
        """A term for each part of the place. What is taken away must be known for certain."""
        exact, out = a.place.exact, list[Product]()
        for sign, around in a.place.parts:
            count, sure = self._count(a, around, group)
            exact = exact and sure
            if sign > 0 or sure:
                out.append(replace(count, coefficient=sign * count.coefficient))
        return [Term(p, exact) for p in out if p.coefficient]

    def _count(
        self, a: Access[Place], around: Around, group: Mapping[int, Amount]
    ) -> tuple[Product, bool]:
        """The sum over the loops around, innermost first, and whether that is exact."""
        box = () if a.copy is None else tuple(x.size for x in a.copy.slices if x.size is not None)
        together = a.copy is not None and a.copy.collective
        exact, parts = True, [] if together else list(_each(around, group))
        for n in reversed(range(len(around))):
            loop, r = around[n], self.ranges.of(around[n], around[:n])
            moving = [p for p in parts if p.mentions(loop.var)]
            parts = [p for p in parts if not p.mentions(loop.var)]
            whole = reduce(mul, moving, number(1))
            added = summed(whole, loop.var, r.first, r.step, r.count) if moving else r.count
            assert added is not None, "counts are polynomials of counters"
            parts.append(added)
            exact = exact and r.exact
        return product((*reversed(parts), *map(amount, box))), exact


@record
class Traffic:
    """The four rows of table 3."""

    global_reads: tuple[Term, ...]
    global_writes: tuple[Term, ...]
    local_reads: tuple[Term, ...] = ()
    local_writes: tuple[Term, ...] = ()

    def rows(self) -> tuple[tuple[str, tuple[Term, ...]], ...]:
        return (
            ("global memory reads", self.global_reads),
            ("global memory writes", self.global_writes),
            ("local memory reads", self.local_reads),
            ("local memory writes", self.local_writes),
        )


def text(terms: tuple[Term, ...]) -> str:
    """`M*N*U/(Ty*Ry) + M*N*U/(Tx*Rx)`, `at most 2*n*m`; equal terms are added."""
    sums: dict[object, Product] = {}
    for p in (t.count for t in terms):
        known = sums.get(p.kind, replace(p, coefficient=Fraction(0)))
        sums[p.kind] = replace(p, coefficient=known.coefficient + p.coefficient)
    out = sum_text([p for p in sums.values() if p.coefficient])
    return out if exact(terms) else f"at most {out}"


def exact(terms: tuple[Term, ...]) -> bool:
    """Whether the formula is the number of accesses, not an upper bound of it."""
    return all(t.exact for t in terms)


def averages(found: Traffic) -> tuple[str, ...]:
    """The averages that occur in the formulas: `trips(e)`."""
    atoms = (a for _, terms in found.rows() for t in terms for a in t.count.atoms)
    names = (a.name for a in atoms if isinstance(a, Var) and is_average(a.name))
    return tuple(dict.fromkeys(names))


def total(terms: tuple[Term, ...], sizes: Numbers) -> Fraction:
    """The accesses for given sizes: a whole number where tiles divide them. Raises KeyError for a
    size without a value, `trips(e)` included."""
    return sum((t.count.value(sizes) for t in terms), Fraction(0))


def naive(derivation: Derivation) -> Traffic:
    """Of the program after its loops were found parallel: what a naive kernel executes."""
    fn = prepared(derivation)
    if len(nests(fn)) > 1:
        fn = _undivided(derivation.start) or fn
    return _traffic(fn, derivation.start)


def _undivided(start: Function) -> Function | None:
    """The program with its one nest, None where only the parts of that are parallel."""
    try:
        return prepare(Derivation(start)).function
    except UnsupportedC:
        return None


def tiled(derivation: Derivation) -> Traffic:
    """Of all kernels of a mapped program."""
    return _traffic(derivation.function, derivation.start)


def prepared(derivation: Derivation) -> Function:
    """The program after its loops were found parallel."""
    out = derivation.start
    for r in derivation.records:
        if r.stage != "Listing 2: Outer loops parallelized" or isinstance(r.step, DistributeGuard):
            break
        out = r.result
    return out


def _traffic(fn: Function, start: Function) -> Traffic:
    constant = {p.name for p in tables(start)}
    spaces = {p.name: Space.GLOBAL for p in fn.objects if p.array and p.name not in constant}
    spaces |= {s.name: Space.GLOBAL for s in fn.body if isinstance(s, Decl) and s.shape}
    local = (s for _, s in walk(fn.body) if isinstance(s, Decl) and s.space is Space.LOCAL)
    spaces |= {s.name: Space.LOCAL for s in local}
    found: dict[tuple[Space, Kind], list[Term]] = {}
    views = [s for s in fn.body if isinstance(s, Decl) and s.like and is_view(fn, s)]
    body = tuple(s for s in fn.body if not (isinstance(s, For) and moved_by(views, s)))
    for space, kind, term in Counter(ranges(fn, start), spaces).terms(body):
        found.setdefault((space, kind), []).append(term)
    order: tuple[tuple[Space, Kind], ...] = (
        (Space.GLOBAL, "read"),
        (Space.GLOBAL, "write"),
        (Space.LOCAL, "read"),
        (Space.LOCAL, "write"),
    )
    return Traffic(*(tuple(found.get(key, ())) for key in order))


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
