"""Elimination by columns in place of rows.

    for i: { x[i] = b[i]; for j < i: x[i] -= L[i][j]*x[j]; x[i] /= L[i][i] }
      ->   forall i: x[i] = b[i]    for j: { x[j] /= L[j][j]; forall i > j: x[i] -= L[i][j]*x[j] }

What follows an inner loop becomes its last iteration, the loops change places, the iteration is
split off again: each element sees the same updates in the same order. Each step is checked.
"""

from __future__ import annotations

from loopxform.analysis.verdict import judge
from loopxform.errors import TransformError
from loopxform.ir.nodes import Decl, For, Function
from loopxform.ir.visit import loops_around, resolve
from loopxform.prepare.perfect_nest import told_apart
from loopxform.transforms import Derivation, Distribute, Interchange, SinkTail, Split


def by_columns(derivation: Derivation, outer: str) -> Derivation | None:
    """The loop `outer` inside the last of the loops in its body; None where that makes no loop
    parallel."""
    loop = resolve(derivation.function, outer)[0].loop
    inner = [s.var for s in loop.body if isinstance(s, For)]
    if not inner:
        return None
    try:
        w = derivation.titled(f"The columns of {outer}").then(SinkTail(inner[-1]))
        statements = resolve(w.function, outer)[0].loop.body
        if len([s for s in statements if not isinstance(s, Decl)]) > 1:
            w = told_apart(w.then(Distribute((outer,))))
        rows = loops_around(w.function, resolve(w.function, inner[-1])[0].path)[-1].var
        w = w.then(Interchange(rows, inner[-1])).then(Split(rows, "lo+1"))
    except TransformError:
        return None
    w = told_apart(w)
    return w if _parallel(w.function) > _parallel(derivation.function) else None


def _parallel(fn: Function) -> int:
    """How many loops are."""
    return sum(v.parallel in ("yes", "privatizable") for v in judge(fn))
