"""Memory accesses of the tiled program and of the naive one, as formulas (seed 000, table 3).

They are read off the programs themselves: an access happens once for every iteration of the loops
around it, a collective copy moves each element of its box once for a group, and what a group does
outside the loops over its work-items each of them does. Counted are the accesses that the kernel's
text has, one for each element of an array of numbers and for each member of a struct; tables in
constant memory do not count, nor do arrays that a work-item has for itself.

The formulas hold where the tile sizes divide the ranges of the loops, as in the table; residual
tiles add copies of the last valid elements. What is done under a condition that is none on counters
of loops counts as if it always happened, and the formula is an upper bound. `trips(e)` is how often
a loop runs on average, where only the data tell.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import reduce
from typing import Literal

from loopxform.ir.affine import Poly, to_expr
from loopxform.ir.constants import tables
from loopxform.ir.nodes import (
    Assign,
    Bin,
    Copy,
    Decl,
    Expr,
    For,
    Function,
    If,
    Load,
    Return,
    Select,
    Stmt,
)
from loopxform.ir.types import Space
from loopxform.ir.visit import bodies, children, walk
from loopxform.recipes.amounts import Amount, Product, amount, number, product, summed
from loopxform.recipes.ranges import Around, Ranges, bare, negated, ranges
from loopxform.transforms import Derivation, DistributeGuard
from loopxform.transforms.bounds import conjuncts, fixed_trips

Kind = Literal["read", "write"]


@dataclass(frozen=True)
class Term:
    """Accesses of one place in the program; at most so many where the number is not `exact`."""

    count: Product
    exact: bool


@dataclass(frozen=True)
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
        known = sums.get((p.powers, p.factors), replace(p, coefficient=Fraction(0)))
        total = known.coefficient + p.coefficient
        sums[p.powers, p.factors] = replace(p, coefficient=total)
    bound = "" if exact(terms) else "at most "
    return bound + (" + ".join(p.text() for p in sums.values()) or "0")


def exact(terms: tuple[Term, ...]) -> bool:
    """Whether the formula is the number of accesses, not an upper bound of it."""
    return all(t.exact for t in terms)


def total(terms: tuple[Term, ...], sizes: Mapping[str, int]) -> Fraction:
    """The accesses for given sizes: a whole number where tiles divide them. Raises MalformedIR
    where only the data tell how often a loop runs."""
    return sum((t.count.value(sizes) for t in terms), Fraction(0))


def naive(derivation: Derivation) -> Traffic:
    """Of the program after its loops were found parallel: what a naive kernel executes."""
    return _traffic(prepared(derivation), derivation.start)


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
    for space, kind, term in _Reader(ranges(fn, start), spaces).terms(fn.body):
        if term.count.coefficient:
            found.setdefault((space, kind), []).append(term)
    order: tuple[tuple[Space, Kind], ...] = (
        (Space.GLOBAL, "read"),
        (Space.GLOBAL, "write"),
        (Space.LOCAL, "read"),
        (Space.LOCAL, "write"),
    )
    return Traffic(*(tuple(found.get(key, ())) for key in order))


# ---------------------------------------------------------------- accesses of a program


@dataclass(frozen=True)
class _Place:
    """Where something happens: in which iterations, in at most these where they are not all."""

    around: Around = ()
    exact: bool = True


@dataclass(frozen=True)
class _Access:
    kind: Kind
    array: str
    place: _Place
    box: tuple[Amount, ...] = ()
    together: bool = False


@dataclass(frozen=True)
class _Reader:
    """Reads the accesses off a program whose arrays are in `spaces`."""

    ranges: Ranges
    spaces: Mapping[str, Space]

    def terms(self, body: tuple[Stmt, ...]) -> Iterator[tuple[Space, Kind, Term]]:
        """A term for each access; a nest that is launched under a condition counts as launched."""
        for s in body:
            nest = s.then if isinstance(s, If) else (s,)
            group = _group(nest)
            for a in self._body(nest, _Place()):
                if a.array in self.spaces:
                    yield self.spaces[a.array], a.kind, self._term(a, group)

    def _body(self, body: tuple[Stmt, ...], place: _Place) -> Iterator[_Access]:
        for s in body:
            yield from self._stmt(s, place)

    def _stmt(self, s: Stmt, place: _Place) -> Iterator[_Access]:
        match s:
            case For():
                inside = replace(place, around=(*place.around, bare(s)))
                # The end is read before each iteration, and once more after the last.
                for e, at in ((s.lo, place), (s.hi, place), (s.hi, inside)):
                    yield from self._reads(e, at)
                yield from self._body(s.body, inside)
            case If():
                yield from self._reads(s.cond, place)
                for branch, at in zip(bodies(s), self._branches(s.cond, place)):
                    yield from () if at is None else self._body(branch, at)
            case Assign(target, value, op):
                yield from self._reads(value, place)
                if isinstance(target, Load):
                    for i in target.index:
                        yield from self._reads(i, place)
                    if op:
                        yield _Access("read", target.array, place)
                    yield _Access("write", target.array, place)
            case Copy():
                yield from self._copy(s, place)
            case Return(value) if value is not None:
                yield from self._reads(value, place)
            case _:
                return

    def _copy(self, s: Copy, place: _Place) -> Iterator[_Access]:
        """Every element is read and written once; so is what its subscripts are read from."""
        box = tuple(amount(x.size) for x in s.slices if x.size is not None)
        every = [Load(s.source, ()), *(e for x in s.slices for e in (x.lo, x.limit) if e)]
        for a in (a for e in every for a in self._reads(e, place)):
            yield replace(a, box=box, together=s.collective)
        yield _Access("write", s.target, place, box, s.collective)

    def _reads(self, e: Expr, place: _Place) -> Iterator[_Access]:
        """Operands that C may leave out are read where the first one says."""
        match e:
            case Load(array, index):
                yield _Access("read", array, place)
                for i in index:
                    yield from self._reads(i, place)
            case Select(cond, then, orelse):
                yield from self._reads(cond, place)
                for operand, at in zip((then, orelse), self._branches(cond, place)):
                    yield from () if at is None else self._reads(operand, at)
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
        tests = conjuncts(cond)
        opposite = negated(tests[0]) if len(tests) == 1 else None
        other = replace(place, exact=False) if opposite is None else self._under(opposite, place)
        inside: _Place | None = place
        for test in tests:
            inside = None if inside is None else self._under(test, inside)
        always = all(self.ranges.holds(t, place.around) for t in tests)
        return inside, None if always else other

    def _under(self, test: Expr, place: _Place) -> _Place | None:
        holds = self.ranges.holds(test, place.around)
        if holds is not None:
            return place if holds else None
        around = self.ranges.narrowed(test, place.around)
        if around is None:
            return replace(place, exact=False)
        return replace(place, around=around)

    # ------------------------------------------------------------ numbers

    def _term(self, a: _Access, group: Mapping[int, Amount]) -> Term:
        """The sum over the loops around, innermost first."""
        around, sure = a.place.around, a.place.exact
        parts = [*a.box, *(() if a.together else _each(around, group))]
        for n in reversed(range(len(around))):
            loop, r = around[n], self.ranges.of(around[n], around[:n])
            moving = [p for p in parts if p.mentions(loop.var)]
            parts = [p for p in parts if not p.mentions(loop.var)]
            whole = reduce(lambda a, b: a * b, moving, number(1))
            added = summed(whole, loop.var, r.first, r.step, r.count) if moving else r.count
            assert added is not None, (
                "the range of a loop is a polynomial of counters that have one"
            )
            parts.append(added)
            sure = sure and r.exact
        return Term(product(parts), sure)


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
