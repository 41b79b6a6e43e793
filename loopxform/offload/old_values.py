"""Loops that wait for nothing but reads of what later iterations overwrite.

    for i: for j: { for k > i: b[i][j] += a[k][i] * b[k][j];  b[i][j] *= alpha }
      ->   forall p, q: b_old[p][q] = b[p][q]
           forall i: forall j: { for k > i: b[i][j] += a[k][i] * b_old[k][j];  b[i][j] *= alpha }

The copy takes as long as reading and storing the array once. That pays where the loop would run in
order, or where there are more loops around the reads than the array has dimensions.
"""

from __future__ import annotations

from collections.abc import Callable

from loopxform.analysis.deps import dependences
from loopxform.analysis.verdict import judge
from loopxform.ir.nodes import Assign, Decl, For, Function, Load
from loopxform.ir.visit import declared, loads, loops_around, resolve, stmt_exprs, walk
from loopxform.offload.array_expansion import lacks_room
from loopxform.offload.program_state import PARALLEL, Program
from loopxform.recipes.deriving import Work
from loopxform.transforms import NodeSplit


def from_copies(program: Program, s: For, in_order: Callable[[], bool]) -> bool:
    """Has a loop read what later iterations overwrite from copies, where that makes it parallel;
    False where it does not, or does not pay. `in_order`: whether it is no kernel without."""
    path = resolve(program.fn, s.var)[0].path
    rows = [d for d in dependences(program.fn, path, counters=True) if d.carrier == path]
    if any(d.kind == "flow" and d.exact for d in rows):
        return False  # no copy takes that away
    w = Work(program.derivation.titled(f"What iterations of {s.var} overwrite"), {})
    for array in sorted({d.array for d in rows if d.kind == "anti"}):
        w.attempt(NodeSplit(array, s.var))
    before = declared(program.fn.body)
    copies = [d for n, d in declared(w.fn.body).items() if n not in before]
    if not copies or any(lacks_room(program.fn, path, d) for d in copies):
        return False
    if not any(v.var == s.var and v.parallel in PARALLEL for v in judge(w.fn)):
        return False
    if not in_order() and not all(_is_reused(w.fn, s.var, d) for d in copies):
        return False
    program.derivation = w.derivation
    copied = dict(_copying(w.fn, d) for d in copies)
    program.copied |= copied
    names = " and ".join(sorted(copied.values()))
    program.widened[s.var] = f"what later iterations overwrite is read from a copy of {names}"
    return True


def _copying(fn: Function, copy: Decl) -> tuple[str, str]:
    """The outermost loop that fills a copy, and the array that it copies."""
    return next(
        (loops_around(fn, path)[-len(copy.shape)].var, s.value.array)
        for path, s in walk(fn.body)
        if isinstance(s, Assign) and isinstance(s.target, Load) and s.target.array == copy.name
        if isinstance(s.value, Load)
    )


def _is_reused(fn: Function, var: str, copy: Decl) -> bool:
    """Whether more loops are around some reads of a copy than it has dimensions."""
    outside = len(loops_around(fn, resolve(fn, var)[0].path))
    return any(
        len(loops_around(fn, path)) - outside > len(copy.shape)
        for path, s in walk(fn.body)
        if any(e.array == copy.name for x in stmt_exprs(s) for e in loads(x))
    )
