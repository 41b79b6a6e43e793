"""Whether the elements that updates change are ever met by anything else in a loop.

    for (k = 0; k < i; k++) x[i] += w[k] * x[k];      x[k] is never x[i], so x[i] is a sum

The outer loops stand still: the question is about one run of the loop.
"""

from __future__ import annotations

from collections.abc import Hashable

from loopxform.analysis.accesses import Access
from loopxform.analysis.pairs import Comparison, Pair
from loopxform.analysis.region import Instance, region
from loopxform.analysis.system import feasible
from loopxform.ir.nodes import Expr, Function
from loopxform.ir.visit import Path

MAX_SYSTEMS = 64
"""Combinations of cases per pair of accesses; beyond it they may meet."""


def apart(fn: Function, path: Path, name: str, updates: frozenset[tuple[Path, Expr]]) -> bool:
    """Whether every other access of the array `name` in the loop at `path` is a read of elements
    that are none of those updated; `updates` are the statements, with what each updates."""
    mine: list[tuple[Instance, Access]] = []
    others: list[tuple[Instance, Access]] = []
    for instance in region(fn, path).instances:
        for access in instance.accesses:
            if access.storage.name == name:
                own = (instance.path, access.expr) in updates
                (mine if own else others).append((instance, access))
    if any(access.write for _, access in others):
        return False
    compared, known = Comparison(), dict[Hashable, bool]()

    def meet(pair: Pair) -> bool:
        """Whether two accesses may be of the same element, in any two iterations."""
        if pair.combinations > MAX_SYSTEMS:
            return True
        if pair.key not in known:
            known[pair.key] = any(map(feasible, pair.systems()))
        return known[pair.key]

    writes = [(i, a) for i, a in mine if a.write]
    return not any(meet(compared.pair(i, a, j, b)) for i, a in writes for j, b in others)
