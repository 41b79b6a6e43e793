"""Arithmetic on loop bounds that several steps share: trip counts, ranges, and substitution."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from loopxform.ir.affine import Poly, constant, poly, simplify, to_expr, value_of
from loopxform.ir.memo import remembered
from loopxform.ir.nodes import Bin, Cast, Const, Expr, For, If, Load, Stmt, Var
from loopxform.ir.types import Scalar, promote
from loopxform.ir.typing import type_of
from loopxform.ir.visit import map_body, map_stmt_exprs, names, stmt_exprs, walk_expr


def operands(e: Expr) -> list[Expr]:
    """The operands of nested mins, left to right; a lone expression is its own operand."""
    if isinstance(e, Bin) and e.op == "min":
        return [*operands(e.left), *operands(e.right)]
    return [e]


def ends_of(loop: For) -> list[Expr]:
    """The bounds a loop must all stay within: the operands of a min, where it counts upwards."""
    down = (value_of(loop.step) or 1) < 0
    return [loop.hi] if down else operands(loop.hi)


def least(parts: list[Expr]) -> Expr:
    """min(...) of the parts, in order."""
    out = parts[0]
    for p in parts[1:]:
        out = Bin("min", out, p)
    return out


def trips_to(loop: For, end: Expr) -> Poly | None:
    """ceil((end - lo) / step) as a polynomial, None where the division is not exact symbolically
    and the step is not a number."""
    gap = poly(end) - poly(loop.lo)
    step = poly(loop.step)
    exact = gap.divide(step)
    if exact is not None:
        return exact
    number, total = value_of(loop.step), gap.value
    if number is None or number == 0:
        return None
    if total is not None:
        return constant(-(-total // number))
    if number > 0:
        return poly(Bin("/", to_expr(gap + step - constant(1)), loop.step))
    return poly(Bin("/", to_expr(-gap - step - constant(1)), to_expr(-step)))


def counted_without_overflow(loop: For, end: Expr) -> bool:
    """Whether `trips_to` computes no difference that may overflow where the loop does not."""
    begin, count = value_of(loop.lo), trips_to(loop, end)
    exact = (poly(end) - poly(loop.lo)).divide(poly(loop.step)) is not None
    fixed = exact or (count is not None and count.value is not None)
    return fixed or (count is not None and begin is not None and begin >= 0)


def trip_count(loop: For) -> Expr:
    """ceil((hi - lo) / step), 0 or less where the loop does not run. The step must be a number."""
    count = trips_to(loop, loop.hi)
    assert count is not None
    return to_expr(count)


def fixed_trips(loop: For) -> tuple[Poly, list[Expr]] | None:
    """The trip count as a polynomial of tile sizes, and the bounds that may cut it short.

    `min(M, ii + Ry)` from `ii` is (Ry, [M]). None where no bound gives a fixed number.
    """
    found = _fixed(loop)
    return None if found is None else (found[0], list(found[1]))


@remembered(2048)
def _fixed(loop: For) -> tuple[Poly, tuple[Expr, ...]] | None:
    ends = ends_of(loop)
    for n, end in enumerate(ends):
        count = trips_to(loop, end)
        if count is not None and count.value is not None:
            return count, (*ends[:n], *ends[n + 1 :])
    return None


def trips(loop: For, known: Callable[[Expr], bool]) -> Expr | None:
    """An upper bound of the trip count made only of what `known` accepts; fixed ones first."""
    fixed = fixed_trips(loop)
    if fixed is not None and known(to_expr(fixed[0])):
        return to_expr(fixed[0])
    for end in ends_of(loop):
        count = trips_to(loop, end)
        if count is not None and known(to_expr(count)):
            return to_expr(count)
    return None


def positive(extent: Expr) -> Expr:
    """A loop may run no iteration, but C arrays have at least one element."""
    match extent:
        case Bin("max", _, Const(least)) | Bin("max", Const(least), _) if least >= 1:
            return extent
        case _:
            known = (value_of(extent) or 0) >= 1
            return extent if known else simplify(Bin("max", extent, Const(1)))


@remembered(1024)
def iteration_number(loop: For) -> Expr:
    """(i - lo) / step: 0, 1, 2, ... over the iterations."""
    return simplify(Bin("/", Bin("-", Var(loop.var), loop.lo), loop.step))


def iteration_value(loop: For, number: Expr, types: dict[str, Scalar]) -> Expr:
    """lo + number*step, in the type the loop variable has in an expression."""
    value = simplify(Bin("+", loop.lo, Bin("*", number, loop.step)))
    wanted = promote(loop.type)
    return value if type_of(value, types) == wanted else Cast(wanted, value)


def span(index: Poly, inner: tuple[For, ...]) -> tuple[Poly, Poly] | None:
    """The least value of `index` over the loops `inner` (outermost first) and the number of
    consecutive values it covers; None where that is not fixed by tile sizes."""
    low = high = index
    for loop in reversed(inner):
        if not (low.mentions(loop.var) or high.mentions(loop.var)):
            continue
        fixed = fixed_trips(loop)
        if fixed is None or (fixed[0].value or 0) < 1:
            return None
        last = poly(loop.lo) + poly(loop.step) * (fixed[0] - constant(1))
        ends = []
        for bound, want_low in ((low, True), (high, False)):
            factor, rest = bound.coefficient(loop.var), bound.without(loop.var)
            c = factor.value
            if c is None or rest + factor * poly(Var(loop.var)) != bound:
                return None
            up = (value_of(loop.step) or 1) > 0
            at = poly(loop.lo) if ((c >= 0) == want_low) == up else last
            ends.append(rest + factor * at)
        low, high = ends
    return low, high - low + constant(1)


def replace_iterator(body: tuple[Stmt, ...], var: str, value: Expr) -> tuple[Stmt, ...]:
    """`body` with `var` replaced, subscripts and bounds simplified.

    Only subscripts and loop bounds are rearranged; other expressions keep the user's order of
    evaluation, and so do subscripts with a cast, which may be of a real number.
    """

    def expr(e: Expr) -> Expr:
        if isinstance(e, Var) and e.name == var:
            return value
        return e

    def subscripts(e: Expr) -> Expr:
        if isinstance(e, Load):
            return replace(e, index=tuple(i if _casts(i) else simplify(i) for i in e.index))
        return e

    def stmt(s: Stmt) -> tuple[Stmt, ...]:
        touched = any(var in names(e) for e in stmt_exprs(s))
        new = map_stmt_exprs(map_stmt_exprs(s, expr), subscripts) if touched else s
        if isinstance(new, For) and touched:
            hi = least([simplify(o) for o in operands(new.hi)])
            new = replace(new, lo=simplify(new.lo), hi=hi, step=simplify(new.step))
        return (new,)

    return map_body(body, stmt)


def _casts(e: Expr) -> bool:
    return any(isinstance(x, Cast) for x in walk_expr(e))


def conjuncts(e: Expr) -> list[Expr]:
    """The parts of a conjunction, left to right."""
    if isinstance(e, Bin) and e.op == "&&":
        return [*conjuncts(e.left), *conjuncts(e.right)]
    return [e]


def conjunction(parts: list[Expr]) -> Expr:
    """All of the parts; 1 for none."""
    if not parts:
        return Const(1)
    out = parts[0]
    for p in parts[1:]:
        out = Bin("&&", out, p)
    return out


def guarded(conditions: list[Expr], body: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
    """`body` under the conditions, joined with the `if` that already wraps all of it."""
    if not conditions:
        return body
    if len(body) == 1 and isinstance(body[0], If) and not body[0].orelse:
        inner = body[0]
        return (If(conjunction([*conditions, *conjuncts(inner.cond)]), inner.then),)
    return (If(conjunction(conditions), body),)
