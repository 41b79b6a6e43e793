"""Memory accesses of a tiled nest and of the naive one, as formulas (seed 000, table 3).

The formulas hold where the tile sizes divide the loop ranges, as in the table; residual tiles add
copies of the last valid elements. What stands under a condition counts as if it always happened.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import prod

from loopxform.analysis.invariance import Read
from loopxform.ir.evaluate import evaluate
from loopxform.ir.nodes import Assign, Expr, For, Function, Load
from loopxform.ir.printer import expr_text
from loopxform.ir.visit import loads, loops_around, stmt_exprs, walk
from loopxform.recipes.choice import Choice
from loopxform.recipes.extents import Factors, Width, amount
from loopxform.recipes.reuse import Stage, Staged
from loopxform.transforms.bounds import trip_count


@dataclass(frozen=True)
class Term:
    """Accesses: the product of trip counts and widths over the product of tile sizes."""

    trips: tuple[Expr, ...]
    widths: tuple[Width, ...] = ()
    shared: Factors = ()

    def text(self) -> str:
        names = [*map(_factor, self.trips), *(w.text for w in self.widths)]
        top = "*".join(n for n in names if n != "1") or "1"
        below = "*".join(map(str, self.shared))
        if not below:
            return top
        return f"{top}/({below})" if len(self.shared) > 1 else f"{top}/{below}"

    def value(self, sizes: Mapping[str, int], tiles: Mapping[str, int]) -> int:
        top = prod(evaluate(t, dict(sizes)) for t in self.trips)
        return top * prod(w.value(tiles) for w in self.widths) // amount(self.shared, tiles)


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
    """`M*N*U/(Ty*Ry) + M*N*U/(Tx*Rx)`; equal terms are counted: `2*M*N*U`."""
    counts: dict[str, int] = {}
    for t in terms:
        counts[t.text()] = counts.get(t.text(), 0) + 1
    return " + ".join(k if n == 1 else f"{n}*{k}" for k, n in counts.items()) or "0"


def total(terms: tuple[Term, ...], sizes: Mapping[str, int], tiles: Mapping[str, int]) -> int:
    """The accesses for given sizes."""
    return sum(t.value(sizes, tiles) for t in terms)


def naive(fn: Function) -> Traffic:
    """Every access of the user's program goes to global memory. `fn` is a program in which
    accumulators are scalars already (what a naive kernel executes)."""
    objects = {p.name for p in fn.objects if p.array}
    reads = tuple(term for term, x, _ in _reads(fn) if x.array in objects)
    return Traffic(reads, tuple(_writes(fn, objects)))


def _reads(fn: Function) -> Iterator[tuple[Term, Load, tuple[For, ...]]]:
    for path, s in walk(fn.body):
        around = loops_around(fn, path)
        term = Term(tuple(trip_count(x) for x in around))
        for x in (x for e in stmt_exprs(s) for x in loads(e)):
            if not (isinstance(s, Assign) and x is s.target and not s.op):
                yield term, x, around


def _writes(fn: Function, objects: set[str]) -> Iterator[Term]:
    for path, s in walk(fn.body):
        if isinstance(s, Assign) and isinstance(s.target, Load) and s.target.array in objects:
            yield Term(tuple(trip_count(x) for x in loops_around(fn, path)))


def tiled(
    base: Function, choice: Choice, staged: tuple[Staged, ...], kept: tuple[Read, ...] = ()
) -> Traffic:
    """The accesses of the tiled program derived from `base`: what is staged is read once for each
    copy of its box, what is `kept` in a register once for the elements that share it."""
    objects = {p.name for p in base.objects if p.array}
    plain, local, copied, done = [], [], list[Term](), list[Stage]()
    for term, x, around in _reads(base):
        own = next((s for s in staged if _is(s.stage, x)), None)
        if own is None:
            mine = next((r for r in kept if _at(r.load, x)), None)
            shared = [d.kept for d in choice.dims if mine and d.loop not in mine.varies]
            term = Term(term.trips, (), tuple(f for f in shared if f))
            plain += [term] if x.array in objects else []
            continue
        if not any(own.stage is d for d in done):
            done.append(own.stage)
            copied.append(_copies(own.stage, choice, around))
        shared = [d.kept for d in choice.dims if own.private and d.loop in own.stage.kept]
        local.append(Term(term.trips, (), tuple(shared)))
    return Traffic((*copied, *plain), tuple(_writes(base, objects)), tuple(local), tuple(copied))


def _is(stage: Stage, x: Load) -> bool:
    return x.array == stage.array and x.origin.loc in stage.places


def _at(a: Load, b: Load) -> bool:
    return a.array == b.array and a.origin.loc == b.origin.loc


def _copies(stage: Stage, choice: Choice, around: tuple[For, ...]) -> Term:
    """Elements copied: a box for each group, and each tile of the loops it is staged in."""
    tiles = {d.loop: d.factors for d in choice.dims}
    home = next((n for n, x in enumerate(around) if x.var == stage.loop), -1)
    parallel = {x.var for x in around if x.parallel}
    trips, below = [], list[str | int]()
    for n, x in enumerate(around):
        if x.var in parallel or n <= home:
            trips.append(trip_count(x))
            below += tiles.get(x.var, ("Tk",) if n == home and stage.tiled else ())
    widths = []
    for w in stage.box.widths:
        plain = (
            not w.spread
            and [c for c, _ in w.terms] == [1]
            and all(f in below for f in w.terms[0][1])
        )
        if not plain:
            widths.append(w)
            continue
        for f in w.terms[0][1]:
            below.remove(f)
    return Term(tuple(trips), tuple(widths), tuple(below))


def _factor(e: Expr) -> str:
    text = expr_text(e)
    return text if text.replace("_", "").isalnum() else f"({text})"
