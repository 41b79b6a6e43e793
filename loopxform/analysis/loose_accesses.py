"""Accesses that data may lead out of their arrays: subscripts that they decide, whatever else is
known (`h[a[i]]`, `x[col[k]]`, `y[i + 1]` under a condition on data).

Where formulas say which elements are touched, sizes of arrays are compared with these; what types,
bounds of loops and conditions keep inside a dimension is no matter of data.
"""

from __future__ import annotations

from collections.abc import Iterator

from loopxform.analysis.accesses import Access
from loopxform.analysis.domain import names_of
from loopxform.analysis.formula import Translator
from loopxform.analysis.largest_value import greatest
from loopxform.analysis.linear import Constraint, Lin, at_least, conj_names, plus, times
from loopxform.analysis.region import Instance, region
from loopxform.analysis.sets import TooHard
from loopxform.analysis.system import feasible
from loopxform.ir.affine import value_of
from loopxform.ir.nodes import Assign, Decl, Expr, Function, Load, Var
from loopxform.ir.typing import symbols
from loopxform.ir.visit import loads, names, walk


def shapes(fn: Function) -> dict[str, tuple[Expr | None, ...]]:
    """Of the objects, and of the arrays of the function."""
    own = (s for _, s in walk(fn.body) if isinstance(s, Decl) and s.shape)
    return {**{s.name: s.shape for s in own}, **{p.name: p.shape for p in fn.objects if p.shape}}


def loose_accesses(fn: Function) -> frozenset[Load]:
    """Those that are not inside their arrays whatever the data are; of arrays of unknown size
    none."""
    sizes, types, translator = shapes(fn), symbols(fn), Translator(names_of(fn))
    out = set[Load]()
    for instance in region(fn).instances:
        for access in instance.accesses:
            e = access.expr
            if not isinstance(e, Load) or e in out or e.array not in sizes:
                continue
            if _is_certain(fn, instance, access):
                continue
            for d, (index, size) in enumerate(zip(e.index, sizes[e.array])):
                top = greatest(index, types)
                if size is None or (top is not None and top < (value_of(size) or 0)):
                    continue
                if not is_inside(instance, access, d, size, translator):
                    out.add(e)
    return frozenset(out)


def loose_updates(fn: Function) -> frozenset[Load]:
    """Those of them that are stored to, and whose subscripts are made of elements: keys."""
    loose, data = loose_accesses(fn), _from_data(fn)
    return frozenset(
        s.target
        for _, s in walk(fn.body)
        if isinstance(s, Assign) and isinstance(s.target, Load) and s.target in loose
        if any(any(loads(e)) or not names(e).isdisjoint(data) for e in s.target.index)
    )


def _from_data(fn: Function) -> frozenset[str]:
    """Scalars that hold what is computed from elements, and no value that runs through a loop."""
    values = [(t, s) for _, s in walk(fn.body) if isinstance(s, Assign) for t in _scalars(s)]
    running = {t for t, s in values if s.op or t in names(s.value)}
    found = {t for t, s in values if any(loads(s.value))} - running
    while True:
        more = {t for t, s in values if not names(s.value).isdisjoint(found)} - running
        if more <= found:
            return frozenset(found)
        found |= more


def _scalars(s: Assign) -> Iterator[str]:
    if isinstance(s.target, Var):
        yield s.target.name


def _is_certain(fn: Function, instance: Instance, access: Access) -> bool:
    """Whether formulas say what is touched: that is compared with the sizes of arrays."""
    if not (access.exact and instance.exact):
        return False
    known = names_of(fn).inputs | {x.var for x in instance.loops}
    parts = ((*domain, *when) for domain in instance.domain for _, when in access.cases)
    named = {n for part in parts for n in conj_names(part)}
    named |= {n for subscripts, _ in access.cases for x in subscripts if x for n in x}
    return all(n in known or n.startswith("$") or not n for n in named)


def is_inside(instance: Instance, access: Access, d: int, size: Expr, t: Translator) -> bool:
    """Whether a subscript is from 0 up to below the size in all iterations."""
    sizes = t.cases(size)
    if sizes is None or len(sizes) != 1 or sizes[0][1]:
        return False
    top: Lin = sizes[0][0]
    for domain in instance.domain:
        for subscripts, when in access.cases:
            x = subscripts[d]
            if x is None:
                return False
            below = Constraint(False, plus(times(x, -1), {"": -1}))
            try:
                if any(feasible((*domain, *when, c)) for c in (below, at_least(x, top))):
                    return False
            except TooHard:
                return False
    return True
