"""Loops cut where they meet the counter of a loop around them: pivot rows and columns.

    for k: for i: for j: p[i][j] = f(p[i][j], p[i][k], p[k][j])
      ->   for k: { for i < k: { for j < k: ...  for j == k: ...  for j > k: ... }  ... }

Row k and column k are written in the iteration that everything else reads them in; apart from
them the other rows and columns are parallel. What each piece may become is proven as for any loop.
(Index-set splitting: Griebl, Feautrier and Lengauer, 2000.)
"""

from __future__ import annotations

from loopxform.analysis.verdict import judge
from loopxform.errors import TransformError
from loopxform.ir.nodes import Assign, For, Function, Load, Var
from loopxform.ir.visit import loads, loops_around, perfect_nest, resolve, stmt_exprs, walk
from loopxform.prepare.perfect_nest import told_apart
from loopxform.transforms import Derivation, Split

MOST = 2
"""Loops that are cut: a nest in nine parts."""


def apart_from_pivots(derivation: Derivation, outermost: str) -> Derivation | None:
    """The loops of the perfect nest of `outermost`, the innermost first, in three parts each:
    before, at and after the counter of a loop around it that takes their place in a subscript.
    None where that makes no loop parallel."""
    site = resolve(derivation.function, outermost)[0]
    chain = perfect_nest(site.loop)
    counters = [x.var for x in (*loops_around(derivation.function, site.path), *chain)]
    found = [
        (x.var, pivot)
        for n, x in enumerate(chain)
        for pivot in counters[: len(counters) - len(chain) + n]
        if pivot in _partners(chain[-1], x.var)
    ]
    if not 0 < len(found) == len(dict(found)) <= MOST:
        return None
    w = derivation.titled(f"The nest of {outermost} apart from its pivots")
    try:
        for var, pivot in reversed(found):
            w = told_apart(w.then(Split(var, pivot)).then(Split(f"{var}#2", "lo+1")))
    except TransformError:
        return None
    return w if _parallel(w.function) > _parallel(derivation.function) else None


def _partners(loop: For, var: str) -> frozenset[str]:
    """The scalars that subscript an array where `var` subscripts an element of it that is
    written."""
    out = set()
    every = [x for _, s in walk(loop.body) for e in stmt_exprs(s) for x in loads(e)]
    for _, s in walk(loop.body):
        if isinstance(s, Assign) and isinstance(s.target, Load):
            places = [n for n, e in enumerate(s.target.index) if e == Var(var)]
            read = [x for x in every if x.array == s.target.array]
            used = [x.index[n] for x in read for n in places if n < len(x.index)]
            out |= {e.name for e in used if isinstance(e, Var)} - {var}
    return frozenset(out)


def _parallel(fn: Function) -> int:
    """How many loops are."""
    return sum(v.parallel in ("yes", "privatizable") for v in judge(fn))
