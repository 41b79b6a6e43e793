"""Compaction: what a condition holds for is written one behind the other.

    if (c) out[k++] = a[i];        if (c) { out[k] = a[i]; idx[k] = i; k += 1; }

Wherever an iteration writes such elements, it counts them in the same list of statements: between
the counts before and after it, so that no other iteration writes them, and nothing reads them.
"""

from __future__ import annotations

from loopxform.analysis.idioms.flow import Flow
from loopxform.ir.affine import poly, value_of
from loopxform.ir.nodes import Assign, For, If, Load, Stmt, Var
from loopxform.ir.visit import bodies, loads, stmt_exprs, writes


def is_filled(flow: Flow, array: str, counter: str) -> bool:
    """Whether all that the loop does with an array is to write elements that `counter` counts."""
    written = {s.path for s in flow.of(array)}
    used = [x for s in flow.sites for e in stmt_exprs(s.stmt) for x in loads(e) if x.array == array]
    plain = all(isinstance(s.stmt, Assign) and not s.stmt.op for s in flow.of(array))
    if not plain or len(used) != len(written):
        return False
    return any(_fits(flow.loop.body, array, counter, first) for first in (0, 1))


def _fits(body: tuple[Stmt, ...], array: str, counter: str, first: int) -> bool:
    """Whether the elements that a list of statements writes are among those that it counts, the
    first of which has the number of the count before, or the next one (`out[++k]`)."""
    steps = [_step(s, counter) for s in body]
    if not any(steps):
        inner = (x for s in body for x in bodies(s))
        direct = any(isinstance(s, Assign) and array in writes((s,)) for s in body)
        return not direct and all(_fits(x, array, counter, first) for x in inner)
    before, total = 0, sum(steps)
    for s, step in zip(body, steps):
        if not step and counter in writes((s,)):
            return False
        for at in _places(s, array, counter):
            if at is None or not first <= before + at < first + total:
                return False
        before += step
    return True


def _step(s: Stmt, counter: str) -> int:
    """By how much a statement counts; 0 where that is no number above 0."""
    match s:
        case Assign(Var(name), value, "+") if name == counter:
            return max(value_of(value) or 0, 0)
        case _:
            return 0


def _places(s: Stmt, array: str, counter: str) -> list[int | None]:
    """Which elements from the count on a statement writes; None for others."""
    match s:
        case Assign(Load(name, index)) if name == array:
            found = (poly(i) - poly(Var(counter)) for i in index)
            return [next((x.constant for x in found if x.constant is not None), None)]
        case If() | For():
            return [x for body in bodies(s) for y in body for x in _places(y, array, counter)]
        case _:
            return []
