"""Memory accesses of the tiled program and of the naive one, as formulas (seed 000, table 3).

They are read off the programs themselves. Counted are the accesses that the text of a kernel has:
one for each element of an array of numbers, one for each member of a struct. Tables in constant
memory do not count, nor do arrays that a work-item has for itself.

The formulas hold where the tile sizes divide the ranges of the loops, as in the table, and no range
is negative; residual tiles add copies of the last valid elements. What stands under a condition
that does not narrow the ranges of counters counts as if it always happened: the formula is then an
upper bound, and says so. `trips(e)` is how often the loop over e runs, on average over all the
times that it does, where that is no formula of sizes.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from loopxform.errors import UnsupportedC
from loopxform.ir.constants import tables
from loopxform.ir.nodes import Decl, Function, Var
from loopxform.ir.types import Space
from loopxform.ir.visit import walk
from loopxform.model.accesses import Kind, Reader, Term
from loopxform.model.quasi_polynomials import Numbers, Product, sum_text
from loopxform.model.trip_counts import is_average, ranges
from loopxform.prepare.parallel_band import prepare
from loopxform.prepare.perfect_nest import nests
from loopxform.records import record
from loopxform.transforms import Derivation, DistributeGuard


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
    for space, kind, term in Reader(ranges(fn, start), spaces).terms(fn.body):
        found.setdefault((space, kind), []).append(term)
    order: tuple[tuple[Space, Kind], ...] = (
        (Space.GLOBAL, "read"),
        (Space.GLOBAL, "write"),
        (Space.LOCAL, "read"),
        (Space.LOCAL, "write"),
    )
    return Traffic(*(tuple(found.get(key, ())) for key in order))
