"""Whether all iterations of a search may be asked, where C stops at the first hit.

    for (i = lo; i < hi; i++) if (a[i + 1] == x) break;     a[hi] must exist: a[n] with hi < n

What decides must have no effect, and be defined for iterations that C never gets to: elements lie
inside of declared extents, nothing is divided by what may be 0, no function of the user is called.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from loopxform.ir.affine import Poly, poly, value_of
from loopxform.ir.nodes import (
    Assign,
    Bin,
    Call,
    Const,
    Decl,
    Expr,
    Function,
    Load,
    Param,
    Stmt,
    Var,
)
from loopxform.ir.printer import expr_text
from loopxform.ir.typing import symbols, type_of
from loopxform.ir.visit import declared, loops, names, stmt_exprs, walk_expr, writes
from loopxform.records import record


@record
class Range:
    """The values of a counter: `lo` to below `hi`, none where that is not above."""

    var: str
    lo: Expr
    hi: Expr


@record
class Unknown:
    """Why iterations behind the hit cannot be asked, and what helps."""

    message: str
    remedy: str

    def __str__(self) -> str:
        return f"{self.message} ({self.remedy})"


def computed(s: Stmt) -> tuple[Expr, ...]:
    """What a statement computes, the operation of an update included."""
    if isinstance(s, Assign) and s.op:
        return (Bin(s.op, s.target, s.value),)
    return stmt_exprs(s)


def unsafe(
    fn: Function, asked: Iterable[Expr], over: Range, inner: Sequence[Range] = ()
) -> Unknown | None:
    """What may go wrong where expressions are computed for all values of a counter, those in loops
    inside for all of theirs (`inner`, of other variables each)."""
    types = symbols(fn)
    for e in asked:
        for x in walk_expr(e):
            match x:
                case Bin("/" | "%", _, by) if type_of(by, types).is_integer and not value_of(by):
                    text = f"later iterations may divide by 0: {expr_text(x)}"
                    return Unknown(text, "divide by a constant, or ask behind the loop")
                case Call(name, _, type) if type is not None:
                    text = f"'{name}' is called for iterations that C does not run"
                    return Unknown(text, "write what it computes into the condition")
                case Load() if not _is_inside(fn, x, (over, *inner)):
                    begun = replace(over, lo=Const(0))
                    if value_of(over.lo) is None and _is_inside(fn, x, (begun, *inner)):
                        text = f"it is not known where {over.var} begins"
                        return Unknown(text, f"begin with a number: for ({over.var} = 0; ...)")
                    text = f"it is not known that {expr_text(x)} is there in all iterations"
                    return Unknown(text, f"declare how far {x.array} goes: {x.array}[n]")
                case _:
                    pass
    return None


def _is_inside(fn: Function, x: Load, ranges: Sequence[Range]) -> bool:
    extents = _extents(fn, x.array)
    return len(extents) == len(x.index) and all(
        extent is not None and _fits(poly(i), poly(extent), ranges)
        for i, extent in zip(x.index, extents)
    )


def _extents(fn: Function, array: str) -> tuple[Expr | None, ...]:
    """The declared extents of an array, None for those that are not what they were there."""
    owner: Param | Decl | None = next((p for p in fn.objects if p.name == array), None)
    owner = owner or declared(fn.body).get(array)
    if owner is None or (isinstance(owner, Param) and owner.flat):
        return ()
    changed = writes(fn.body) | {x.loop.var for x in loops(fn)}
    return tuple(None if e is None or names(e) & changed else e for e in owner.shape)


def _fits(subscript: Poly, extent: Poly, ranges: Sequence[Range]) -> bool:
    first, behind = _least(subscript, ranges), _least(extent - subscript, ranges)
    return first is not None and behind is not None and first >= 0 and behind >= 1


def _least(p: Poly, ranges: Sequence[Range]) -> int | None:
    """A number below which it does not fall for any values of the counters, the innermost last."""
    for r in reversed(ranges):
        factor, rest = p.coefficient(r.var), p.without(r.var)
        number = factor.value
        if number is None or rest + factor * poly(Var(r.var)) != p:
            return None
        p = rest + factor * (poly(r.lo) if number > 0 else poly(r.hi) - poly(Const(1)))
    return p.constant
