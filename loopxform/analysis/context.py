"""Conditions that always hold where a statement runs: what makes a guard or a `min` superfluous.

    always(P, c)  iff  { loops, guards and assumptions around P } and not c  has no integer point

Tile sizes count as their numbers. Both questions answer False when it is not known.
"""

from __future__ import annotations

from loopxform.analysis.domain import Domain, context, domain_at, names_of, said
from loopxform.analysis.formula import Translator
from loopxform.analysis.linear import conjoin
from loopxform.analysis.parts import both_possible
from loopxform.analysis.scope import NONE
from loopxform.analysis.sets import TooHard
from loopxform.analysis.system import solve
from loopxform.ir.memo import remembered
from loopxform.ir.nodes import Expr, Function
from loopxform.ir.visit import Path, counters, loops_around, names, writes


def always(fn: Function, path: Path, cond: Expr) -> bool:
    """Proven: `cond` is true whenever the statement at `path` is reached. What is assumed of names
    that keep their value is, however little analysis makes of it."""
    if cond in fn.assumes and not names(cond) & (writes(fn.body) | counters(fn)):
        return True
    return _excluded(fn, path, cond, False)


def never(fn: Function, path: Path, cond: Expr) -> bool:
    """Proven: `cond` is false whenever the statement at `path` is reached."""
    return _excluded(fn, path, cond, True)


def counterexample(fn: Function, path: Path, cond: Expr) -> str | None:
    """Numbers for which the statement at `path` is reached and `cond` is false: of loops around it
    and of parameters that keep their value. None where such numbers are not known."""
    translator = Translator(names_of(fn).within(NONE, path))
    formula = translator.condition(cond, holds=False)
    around, exact = context(fn, path)
    if not (exact and translator.exact):
        return None
    whole, loops = names_of(fn).whole, [s.var for s in loops_around(fn, path)]
    sizes = [p.name for p in fn.objects if not whole.may_change(p.name)]
    for conj in conjoin(around, formula):
        try:
            point = solve(conj)
        except TooHard:
            return None
        if point is not None:
            found = {k: v for k, v in point.items() if k[0] != "$"}
            at, given = (
                ", ".join(f"{k}={found[k]}" for k in part if k in found) for part in (loops, sizes)
            )
            known = found.keys() <= {*loops, *sizes}
            return f"{at} ({given})" if known and at and given else at or given if known else None
    return None


@remembered(512)
def _excluded(fn: Function, path: Path, cond: Expr, holds: bool) -> bool:
    """Names of `cond` mean their value on entry to the statement at `path`, so they may be changed
    in it; one that changes in a loop around it takes some value there: a free name stands for it
    only where it is the same in the conditions around, which `context` sees to."""
    names = names_of(fn).within(NONE, path)
    return _contradicts(domain_at(fn, path), said(cond, names, "$q", holds=holds))


@remembered(4096)
def _contradicts(domain: Domain, asked: Domain) -> bool:
    return not any(both_possible(x, conj) for x in domain.parts for conj in asked.formula)
