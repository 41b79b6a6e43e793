"""Loops that store one value to elements that data name, in any order.

for i: seen[key[i]] = 1   ->   step `atomic-stores`
"""

from __future__ import annotations

from loopxform.analysis.same_stores import same_stores
from loopxform.analysis.verdict import judge
from loopxform.ir.nodes import Function
from loopxform.ir.visit import Path, loops, resolve
from loopxform.transforms import AtomicStores, Derivation

FREE = ("yes", "privatizable", "reduction")


def stored_alike(derivation: Derivation) -> Derivation:
    """Each loop that runs in order for such stores alone, with atomic ones."""
    wanted = [
        s.loop.var for s in loops(derivation.function) if same_stores(derivation.function, s.path)
    ]
    for var in wanted:
        sites = resolve(derivation.function, var)
        if len(sites) == 1 and not _is_free(derivation.function, sites[0].path):
            titled = derivation.titled("Stores of one value, in any order")
            after, refusal = titled.optional(AtomicStores(var))
            if refusal is None and _is_free(after.function, sites[0].path):
                derivation = after
    return derivation


def _is_free(fn: Function, path: Path) -> bool:
    return any(v.path == path and v.parallel in FREE for v in judge(fn, inlined=True, at=path))
