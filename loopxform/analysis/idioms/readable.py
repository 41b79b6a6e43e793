"""Whether all iterations of a search may be asked, where C stops at the first hit.

    for (i = lo; i < hi; i++) if (a[i + 1] == x) break;     a[hi] must exist: a[n] with hi < n

What decides must have no effect, and be defined for iterations that C never gets to: elements lie
inside of declared extents, nothing is divided by what may be 0, no function of the user is called.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from loopxform.ir.affine import Poly, poly, simplify, to_expr, value_of
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
                    return Unknown(text, _declared_as(fn, x, (over, *inner)))
                case _:
                    pass
    return None


def _declared_as(fn: Function, x: Load, ranges: Sequence[Range]) -> str:
    """How the array of an element is to be declared for the element to be there."""
    if any(isinstance(y, Load) for i in x.index for y in walk_expr(i)):
        return f"copy the values of {expr_text(x)} to an array in front, if all of them are there"
    moving = writes(fn.body) | {s.loop.var for s in loops(fn)}
    ends = [_end(i, ranges, moving) for i in x.index]
    fitting = [
        e for i, e in zip(x.index, ends) if e is not None and _fits(poly(i), poly(e), ranges)
    ]
    if len(fitting) < len(ends):
        return (
            f"read {x.array} from its first element on, up to a size that declares it: {x.array}[n]"
        )
    sizes = sorted({n for e in fitting for n in names(e)})
    behind = f", behind {' and '.join(repr(n) for n in sizes)} in the parameters" if sizes else ""
    owner, places = _owner(fn, x.array), "".join(f"[{expr_text(i)}]" for i in x.index)
    flat = isinstance(owner, Param) and owner.flat and len(ends) > 1
    written = f", and write {x.array}{places}" if flat else ""
    text = f"{x.array}{''.join(f'[{expr_text(e)}]' for e in fitting)}"
    return f"declare how far {x.array} goes: {text}{behind}{written}"


def _end(e: Expr, ranges: Sequence[Range], moving: frozenset[str]) -> Expr | None:
    """The number behind the last value of a subscript; None where sizes do not say it."""
    p = poly(e)
    for r in reversed(ranges):
        factor = p.coefficient(r.var)
        rest, number = p.without(r.var), factor.value
        if number is None or rest + factor * poly(Var(r.var)) != p:
            return None
        p = rest + factor * (poly(r.hi) - poly(Const(1)) if number > 0 else poly(r.lo))
    end = simplify(to_expr(p + poly(Const(1))))
    return None if names(end) & (moving | {r.var for r in ranges}) else end


def _is_inside(fn: Function, x: Load, ranges: Sequence[Range]) -> bool:
    extents = _extents(fn, x.array)
    return len(extents) == len(x.index) and all(
        extent is not None and _fits(poly(i), poly(extent), ranges)
        for i, extent in zip(x.index, extents)
    )


def _extents(fn: Function, array: str) -> tuple[Expr | None, ...]:
    """The declared extents of an array, None for those that are not what they were there."""
    owner = _owner(fn, array)
    if owner is None or (isinstance(owner, Param) and owner.flat):
        return ()
    changed = writes(fn.body) | {x.loop.var for x in loops(fn)}
    return tuple(None if e is None or names(e) & changed else e for e in owner.shape)


def _owner(fn: Function, array: str) -> Param | Decl | None:
    owner = next((p for p in fn.objects if p.name == array), None)
    return owner or declared(fn.body).get(array)


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
