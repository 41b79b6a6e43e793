"""Loops that store one value to elements that data name, in any order.

for i: seen[key[i]] = 1   ->   step `atomic-stores`
"""

from __future__ import annotations

from loopxform.analysis.same_stores import SameStores, same_stores
from loopxform.analysis.verdict import judge
from loopxform.ir.nodes import Assign, Function, Load
from loopxform.ir.visit import LoopSite, at, loads, loops, names, resolve, writes
from loopxform.transforms import AtomicStores, Derivation

PARALLEL = ("yes", "privatizable")
FREE = (*PARALLEL, "reduction")


def stored_alike(derivation: Derivation) -> Derivation:
    """Each loop that runs in order for such stores alone, with atomic ones. Elements that formulas
    name are left to the loops around or inside that are parallel, if there are such."""
    for var in [
        s.loop.var for s in loops(derivation.function) if _is_wanted(derivation.function, s)
    ]:
        sites = resolve(derivation.function, var)
        if len(sites) == 1 and _answer(derivation.function, sites[0]) not in FREE:
            titled = derivation.titled("Stores of one value, in any order")
            after, refusal = titled.optional(AtomicStores(var))
            if refusal is None and _answer(after.function, sites[0]) in FREE:
                derivation = after
    return derivation


def _is_wanted(fn: Function, site: LoopSite) -> bool:
    found = same_stores(fn, site.path)
    if any(_is_by_key(fn, site, x) for x in found):
        return True
    nest = judge(fn, inlined=True, at=site.path) if found else ()
    return bool(nest) and not any(v.parallel in PARALLEL for v in nest)


def _is_by_key(fn: Function, site: LoopSite, stores: SameStores) -> bool:
    """Whether elements that iterations read say where they store."""
    targets = [s.target for p in stores.paths if isinstance(s := at(fn, p), Assign)]
    index = [e for t in targets if isinstance(t, Load) for e in t.index]
    return any(any(loads(e)) or names(e) & writes(site.loop.body) for e in index)


def _answer(fn: Function, site: LoopSite) -> str:
    """The verdict on the loop that stands there."""
    found = (v for v in judge(fn, inlined=True, at=site.path) if v.path == site.path)
    return next((v.parallel for v in found), "unknown")
