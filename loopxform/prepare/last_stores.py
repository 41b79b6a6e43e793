"""Loops that store to elements that data name, where the last iteration wins.

for i: out[key[i]] = v[i]   ->   step `last-stores`
"""

from __future__ import annotations

from loopxform.analysis.verdict import LoopVerdict, judge
from loopxform.ir.affine import value_of
from loopxform.ir.nodes import Function
from loopxform.ir.visit import perfect_nest, resolve
from loopxform.prepare.perfect_nest import told_apart
from loopxform.prepare.same_stores import FREE
from loopxform.transforms import AtomicStores, Derivation, LastStores, Normalise, Privatise


def last_stored(derivation: Derivation, var: str) -> tuple[Derivation | None, str]:
    """An outermost loop that runs in order for such stores alone, in any order: the last iteration
    that stores to each element is found first. None where that cannot be, and why; no reason where
    there are no such stores."""
    verdict = _verdict(derivation.function, var)
    if verdict is None or verdict.parallel in FREE or not verdict.left:
        return None, ""
    after = derivation.titled("The last iteration that stores to each element")
    (site,) = resolve(after.function, var)
    for loop in perfect_nest(site.loop):
        if (value_of(loop.step) or 1) < 0:
            after, _ = after.optional(Normalise(loop.var))
    after, _ = after.optional(*(Privatise(x, var) for x in verdict.shared))
    after, _ = after.optional(AtomicStores(var))
    for array in dict.fromkeys(verdict.left):
        after, refused = after.optional(LastStores(array, var))
        if refused is not None and any(x.kind == "scatter" for x in verdict.idioms):
            return None, f"{refused.obstacles[0].message} ({refused.obstacles[0].remedy})"
    now = _verdict(after.function, var)
    return (None if now is None or now.parallel not in FREE else told_apart(after)), ""


def _verdict(fn: Function, var: str) -> LoopVerdict | None:
    """That of the only loop of a name."""
    sites = resolve(fn, var)
    if len(sites) != 1:
        return None
    (path,) = (s.path for s in sites)
    return next((v for v in judge(fn, inlined=True, at=path) if v.path == path), None)
