"""Stages of a pipeline in an order in which those that need one another are neighbours.

    a = f(x);  b = g(a);  c = h(y);  d = k(a, c);  e = l(b, d)
      ->  c = h(y);  ...  each nest directly in front of what needs it, long chains first

The order of the text need not be the best one for kernels of neighbours. The other one that is
tried: from the last results backwards, what a nest needs stands in front of it, that with the
longest chain of nests first, so that what is quickly computed comes as late as it can. It stays
where it saves bytes of memory and time by the model: of time alone that is not sure enough.
"""

from __future__ import annotations

from loopxform.ir.nodes import Function
from loopxform.ir.visit import reads, resolve, writes
from loopxform.model.fused_stages import Grouping
from loopxform.offload.program_state import Program
from loopxform.offload.recomputed_stages import Choose
from loopxform.recipes.deriving import Work
from loopxform.transforms import ReorderNests

TITLE = "Nests next to those that need them"


def in_better_order(
    program: Program, run: list[str], found: Grouping, choose: Choose
) -> tuple[list[str], Grouping]:
    """The nests in the order that takes less time, and their kernels."""
    order, w = late(program.fn, run), Work(program.derivation.titled(TITLE), {})
    if order == run or not w.attempt(ReorderNests(tuple(order))):
        return run, found
    before = {tuple(run[n : n + count]): x for (n, count), x in found.windows.items()}
    spans = ((n, count) for n, count in found.windows if n + count <= len(order))
    known = {(n, k): before[x] for n, k in spans if (x := tuple(order[n : n + k])) in before}
    other = choose(w.fn, order, known)
    if other.time >= found.time or other.bytes >= found.bytes:
        return run, found
    program.derivation = w.derivation
    return order, other


def late(fn: Function, run: list[str]) -> list[str]:
    """Nests in the order of the text, each as late as what needs it allows."""
    nests = [resolve(fn, var)[0].loop for var in run]
    touched = [(reads((x,)), writes((x,))) for x in nests]
    needs: list[list[int]] = []
    chain: list[int] = []
    for n, (own_reads, own_writes) in enumerate(touched):
        earlier = [
            k
            for k, (r, w) in enumerate(touched[:n])
            if w & (own_reads | own_writes) or r & own_writes
        ]
        needs.append(sorted(earlier, key=lambda k: (-chain[k], k)))
        chain.append(1 + max((chain[k] for k in earlier), default=0))
    order: dict[int, None] = {}

    def visit(n: int) -> None:
        for k in needs[n]:
            if k not in order:
                visit(k)
        order[n] = None

    last = set(range(len(run))) - {k for every in needs for k in every}
    for n in sorted(last):
        visit(n)
    return [run[n] for n in order]
