"""Stores of one value to elements that differ between iterations: `seen[key[i]] = 1`.

Where a loop does nothing else with an array, the elements hold the same behind it in whatever order
its iterations run: none stores anything but that value, which nothing in the function changes.
"""

from __future__ import annotations

from loopxform.analysis.domain import names_of
from loopxform.analysis.scope import below
from loopxform.ir.memo import remembered
from loopxform.ir.nodes import (
    Assign,
    Bin,
    Cast,
    Const,
    Copy,
    Decl,
    Expr,
    For,
    Function,
    Load,
    Opaque,
    Stmt,
    Un,
    Var,
)
from loopxform.ir.printer import expr_text
from loopxform.ir.visit import Path, enclosing, names, stmt_exprs, walk_expr
from loopxform.records import record
from loopxform.source import Loc


@record
class SameStores:
    """All that a loop does with `array`: the statements at `paths`, in text order, store `value` to
    elements of it."""

    array: str
    value: Expr
    paths: tuple[Path, ...]
    loc: Loc | None


@remembered(64)
def same_stores(fn: Function, path: Path) -> tuple[SameStores, ...]:
    """Those of the loop at `path`, in text order; remembered."""
    loop = enclosing(fn, path)[-1]
    assert isinstance(loop, For)
    inside = list(below(loop, path))
    if any(isinstance(s, Opaque) for _, s in inside):
        return ()
    stores: dict[str, list[tuple[Path, Assign]]] = {}
    used = set(names(loop.lo) | names(loop.hi) | names(loop.step))
    for place, s in inside:
        if isinstance(s, Assign) and isinstance(s.target, Load) and not s.op:
            stores.setdefault(s.target.array, []).append((place, s))
            used |= names(s.value).union(*map(names, s.target.index))
        else:
            used |= _mentioned(s)
    rows = ((array, every) for array, every in stores.items() if array not in used)
    return tuple(
        SameStores(array, every[0][1].value, tuple(p for p, _ in every), every[0][1].origin.loc)
        for array, every in rows
        if len({expr_text(s.value) for _, s in every}) == 1 and _is_constant(fn, every[0][1].value)
    )


def _is_constant(fn: Function, value: Expr) -> bool:
    """Whether a value has the same bits wherever the function computes it: sums of real numbers may
    be contracted in one place and not in another."""
    types = names_of(fn)
    for e in walk_expr(value):
        if isinstance(e, Bin):
            kind = types.type_of(e)
            if kind is None or not kind.is_integer:
                return False
        elif not isinstance(e, Const | Var | Cast | Un):
            return False
    return names(value) <= types.inputs


def _mentioned(s: Stmt) -> frozenset[str]:
    found = frozenset[str]().union(*map(names, stmt_exprs(s)))
    if isinstance(s, Copy):
        found |= {s.target, s.source}
    return found | {s.name} if isinstance(s, Decl) else found
