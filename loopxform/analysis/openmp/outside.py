"""Subscripts that leave their array whenever the loop runs: what they touch is anyone's guess.

proven  iff  for all sizes with which the access happens at all, some iteration has a subscript
             below 0 or at least the extent of its dimension
"""

from __future__ import annotations

from loopxform.analysis import sets
from loopxform.analysis.accesses import Access
from loopxform.analysis.formula import Translator
from loopxform.analysis.linear import Conj, at_least, conj_names, const
from loopxform.analysis.region import Instance, region
from loopxform.analysis.system import feasible
from loopxform.ir.nodes import Decl, Expr, Function, Load
from loopxform.ir.printer import expr_text
from loopxform.ir.visit import Path, walk
from loopxform.records import slotted
from loopxform.source import Loc


@slotted
class Outside:
    """An access outside its array: its text and place."""

    text: str
    loc: Loc | None


def outside(fn: Function, path: Path) -> Outside | None:
    """The first such access of the loop at `path`."""
    shapes: dict[str, tuple[Expr | None, ...]] = {p.name: p.shape for p in fn.objects}
    shapes |= {s.name: s.shape for _, s in walk(fn.body) if isinstance(s, Decl)}
    for instance in region(fn, path).instances:
        for a in instance.accesses:
            if isinstance(a.expr, Load) and a.exact and instance.exact:
                for n, extent in enumerate(shapes.get(a.expr.array, ())):
                    if _leaves(instance, a, n, extent):
                        return Outside(expr_text(a.expr), instance.loc)
    return None


def _leaves(instance: Instance, a: Access, n: int, extent: Expr | None) -> bool:
    translator = Translator(a.names)
    size = None if extent is None else translator.cases(extent)
    whole = [(*d, *c) for d in instance.domain for _, c in a.cases]
    wrong: list[Conj] = []
    for d in instance.domain:
        for subscripts, c in a.cases:
            x = subscripts[n]
            if x is None:
                return False
            wrong.append((*d, *c, at_least(const(-1), x)))
            if size is not None and len(size) == 1 and translator.exact:
                wrong.append((*d, *c, *size[0][1], at_least(x, size[0][0])))
    wrong = [conj for conj in wrong if feasible(conj)]
    if not wrong:
        return False
    moving = {x.var for x in instance.loops}
    params = sorted(k for k in _names([*whole, *wrong]) if k not in moving and k[0] != "$")
    try:
        return sets.covers(tuple(whole), [(w,) for w in wrong], params)
    except sets.TooHard:
        return False


def _names(parts: list[Conj]) -> frozenset[str]:
    return frozenset(k for conj in parts for k in conj_names(conj))
