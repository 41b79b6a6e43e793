"""Memory accesses of a tiled nest and of the naive one, as formulas (seed 000, table 3).

The formulas hold where the tile sizes divide the loop ranges, as in the table; residual tiles add
copies of the last valid elements.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from loopxform.ir.evaluate import evaluate
from loopxform.ir.nodes import Assign, Copy, Expr, Function, Load
from loopxform.ir.printer import expr_text
from loopxform.ir.visit import loads, loops_around, names, stmt_exprs, walk
from loopxform.transforms.bounds import trip_count


@dataclass(frozen=True)
class Term:
    """Accesses: the product of trip counts over the product of tile sizes."""

    trips: tuple[Expr, ...]
    shared: tuple[str, ...] = ()

    def text(self) -> str:
        top = "*".join(_factor(t) for t in self.trips) or "1"
        if not self.shared:
            return top
        return (
            f"{top}/({'*'.join(self.shared)})"
            if len(self.shared) > 1
            else f"{top}/{self.shared[0]}"
        )

    def value(self, sizes: dict[str, int], tiles: dict[str, int]) -> int:
        return prod(evaluate(t, sizes) for t in self.trips) // prod(tiles[s] for s in self.shared)


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


def naive(fn: Function) -> Traffic:
    """Every access of the user's program goes to global memory. `fn` is a program in which
    accumulators are scalars already (what a naive kernel executes)."""
    objects = {p.name for p in fn.objects if p.array}
    reads, writes = [], []
    for path, s in walk(fn.body):
        term = Term(tuple(trip_count(x) for x in loops_around(fn, path)))
        for e in stmt_exprs(s):
            reads += [term for x in loads(e) if x.array in objects]
        if isinstance(s, Assign) and isinstance(s.target, Load) and s.target.array in objects:
            writes.append(term)
            if not s.op:
                reads.remove(term)
    return Traffic(tuple(reads), tuple(writes))


def tiled(naive_fn: Function, mapped: Function, rows: str, *, register: bool) -> Traffic:
    """Staged arrays are read once per tile. `rows` is the loop of the naive program that became
    Ty*Ry: what varies with it is shared by Tx*Rx columns, what does not by Ty*Ry rows."""
    base = naive(naive_fn)
    copies = [s for _, s in walk(mapped.body) if isinstance(s, Copy) and s.collective]
    staged = {s.source for s in copies}
    private = {s.source for _, s in walk(mapped.body) if isinstance(s, Copy) and not s.collective}
    reads, local_reads, copied = [], [], []
    for path, s in walk(naive_fn.body):
        term = Term(tuple(trip_count(x) for x in loops_around(naive_fn, path)))
        for x in [x for e in stmt_exprs(s) for x in loads(e)]:
            if isinstance(s, Assign) and x is s.target and not s.op:
                continue
            if x.array not in staged:
                reads.append(term)
                continue
            varies_rows = any(rows in names(i) for i in x.index)
            copied.append(_shared(term, ("Tx", "Rx") if varies_rows else ("Ty", "Ry"), register))
            kept = register and any(c.target in private for c in copies if c.source == x.array)
            local_reads.append(Term(term.trips, ("Rx" if varies_rows else "Ry",)) if kept else term)
    return Traffic((*copied, *reads), base.global_writes, tuple(local_reads), tuple(copied))


def _shared(term: Term, sizes: tuple[str, str], register: bool) -> Term:
    return Term(term.trips, sizes if register else sizes[:1])


def _factor(e: Expr) -> str:
    text = expr_text(e)
    return text if text.replace("_", "").isalnum() else f"({text})"
