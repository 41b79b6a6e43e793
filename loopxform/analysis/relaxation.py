"""Updates by key of an array that the loop reads elsewhere, too: relaxations in place.

    for e: if (d[u[e]] + w[e] < d[v[e]]) d[v[e]] = d[u[e]] + w[e];

In order an iteration reads what others have updated before it. Read from the values of before the
loop, in another array, the updates are reductions: that is another program, which only its author
can want (Jacobi's in place of Gauss and Seidel's; the rounds of Bellman and Ford).
"""

from __future__ import annotations

from loopxform.analysis.reductions import Update, updates_in
from loopxform.analysis.scope import below
from loopxform.ir.nodes import Assign, For, Function, Load
from loopxform.ir.visit import Path, enclosing, loads, stmt_exprs, writes


def relaxes(fn: Function, path: Path, array: str) -> str:
    """The operator of the updates that are all that the loop at `path` writes to an array, where it
    reads other elements of it; "" where it does anything else."""
    loop = enclosing(fn, path)[-1]
    assert isinstance(loop, For)
    found, inside = list[Update](), set[Path]()
    for place, s in below(loop, path):
        if place in inside:
            continue
        own = [u for u in updates_in(place, s) if _is_of(u, array)]
        inside.update(p for u in own for p in u.paths[1:])
        if not own and isinstance(s, Assign) and array in writes((s,)):
            return ""
        found += own
    elsewhere = {x for u in found for x in loads(u.value) if x.array == array}
    every = {u.op for u in found}
    return every.pop() if len(every) == 1 and elsewhere else ""


def _is_of(u: Update, array: str) -> bool:
    """Whether an update is of an element that differs between iterations."""
    element = isinstance(u.target, Load) and u.target.array == array
    return element and any(True for e in stmt_exprs(u.stmt) for x in loads(e) if x.array != array)
