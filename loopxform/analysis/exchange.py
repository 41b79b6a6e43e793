"""The bounds of two loops that change places though those of the inner depend on the outer.

    for i in [0, n): for j in [0, i]: S   ->   for j in [0, n): for i in [j, n): S

The domain is a set of inequalities c*i + d*j + rest >= 0. The new outer loop gets those that are
left once i is eliminated by Fourier and Motzkin's rule: all values that j may take, perhaps a few
more. The new inner one gets all that mention i, divided by c and rounded, which are exact for every
j. (Ancourt and Irigoin, "Scanning polyhedra with DO loops", 1991.)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import reduce

from loopxform.analysis.context import always
from loopxform.ir.affine import Poly, constant, poly, to_expr, value_of
from loopxform.ir.nodes import Bin, Const, Expr, For, Function, Var
from loopxform.ir.types import promote
from loopxform.ir.typing import symbols, type_of
from loopxform.ir.visit import Path, enclosing, names, replace_at
from loopxform.records import record


class NotExchanged(Exception):
    """Why the bounds cannot be written down."""


@record
class _Limit:
    """`factor * variable + rest >= 0`."""

    factor: int
    rest: Poly


def depends(loop: For, var: str) -> bool:
    """Whether the header of `loop` mentions a variable."""
    return var in names(loop.lo) | names(loop.hi) | names(loop.step)


def exchanged(fn: Function, path: Path) -> For:
    """The loop at `path` and the one that alone stands in it, in each other's place. Raises
    NotExchanged."""
    outer = enclosing(fn, path)[-1]
    assert isinstance(outer, For)
    inner = outer.body[0]
    assert isinstance(inner, For)
    _require_unit_steps(fn, outer, inner)
    given = [*_limits(outer), *_limits(inner)]
    within = [_limit(p, outer.var) for p in given]
    around = [_limit(p, inner.var) for p in _eliminated(within)]
    if any(abs(x.factor) > 1 for x in within) and not _starts_at_zero(fn, path, outer):
        raise NotExchanged(f"multiples of '{outer.var}', which may be negative")
    headed = _bounded(inner, [x for x in around if x.factor], _first_outside, _end_outside)
    inside = _bounded(outer, [x for x in within if x.factor], _first, _end)
    made = replace(headed, body=(replace(inside, body=inner.body),))
    return _pruned(fn, path, made)


def _require_unit_steps(fn: Function, outer: For, inner: For) -> None:
    types = symbols(fn) | {x.var: x.type for x in (outer, inner)}
    for e in (Var(outer.var), outer.lo, outer.hi, Var(inner.var), inner.lo, inner.hi):
        if promote(type_of(e, types)).is_unsigned:
            raise NotExchanged("they are unsigned and may wrap around")
    if not {value_of(outer.step), value_of(inner.step)} <= {1, -1}:
        raise NotExchanged("a step is neither 1 nor -1")


def _limits(loop: For) -> list[Poly]:
    """What is at least 0 for the values of the variable of `loop`."""
    v, one = poly(Var(loop.var)), constant(1)
    if value_of(loop.step) == 1:
        low = [v - poly(e) for e in operands(loop.lo, "max")]
        return low + [poly(e) - one - v for e in operands(loop.hi, "min")]
    high = [poly(e) - v for e in operands(loop.lo, "min")]
    return high + [v - one - poly(e) for e in operands(loop.hi, "max")]


def operands(e: Expr, op: str) -> list[Expr]:
    """The operands of nested mins (or maxes), left to right; another expression is its own."""
    if isinstance(e, Bin) and e.op == op:
        return [*operands(e.left, op), *operands(e.right, op)]
    return [e]


def _limit(p: Poly, var: str) -> _Limit:
    if not p.mentions(var):
        return _Limit(0, p)
    c, rest = p.coefficient(var).constant, p.without(var)
    if c is None or rest + constant(c) * poly(Var(var)) != p:
        raise NotExchanged("they are not affine")
    return _Limit(c, rest)


def _eliminated(limits: list[_Limit]) -> list[Poly]:
    """What is at least 0 for the other variables, where the first has some value."""
    low = [x for x in limits if x.factor > 0]
    high = [x for x in limits if x.factor < 0]
    pairs = [constant(-b.factor) * a.rest + constant(a.factor) * b.rest for a in low for b in high]
    return list(dict.fromkeys([*(x.rest for x in limits if not x.factor), *pairs]))


def _starts_at_zero(fn: Function, path: Path, loop: For) -> bool:
    """Whether the variable is never negative: quotients of C, rounded towards 0, then bound it as
    those that are rounded down do."""
    return always(fn, (*path, 0), Bin(">=", Var(loop.var), Const(0)))


Rounded = Callable[[_Limit], Expr]


def _bounded(loop: For, limits: list[_Limit], first: Rounded, end: Rounded) -> For:
    """The loop between limits: of those from below `first` gives the least value, of those from
    above `end` the value behind the greatest."""
    low = [first(x) for x in limits if x.factor > 0]
    high = [end(x) for x in limits if x.factor < 0]
    if value_of(loop.step) == 1:
        return replace(loop, lo=_joined("max", low), hi=_joined("min", high))
    return replace(
        loop, lo=_joined("min", map(_before, high)), hi=_joined("max", map(_before, low))
    )


def _before(e: Expr) -> Expr:
    return to_expr(poly(e) - constant(1))


def _joined(op: str, parts: Iterable[Expr]) -> Expr:
    return reduce(lambda a, b: Bin(op, a, b), dict.fromkeys(parts))


def _first(x: _Limit) -> Expr:
    """ceil(-rest / factor)."""
    return _divided(-x.rest + constant(x.factor - 1), x.factor)


def _end(x: _Limit) -> Expr:
    """floor(rest / -factor) + 1."""
    return _divided(x.rest - constant(x.factor), -x.factor)


def _first_outside(x: _Limit) -> Expr:
    """-rest / factor, rounded to 0: at most the least value."""
    return _divided(-x.rest, x.factor)


def _end_outside(x: _Limit) -> Expr:
    """rest / -factor + 1, rounded to 0: at least the end."""
    return to_expr(poly(_divided(x.rest, -x.factor)) + constant(1))


def _divided(p: Poly, by: int) -> Expr:
    return to_expr(p) if by == 1 else to_expr(poly(Bin("/", to_expr(p), Const(by))))


# ---------------------------------------------------------------- bounds that say nothing new


def _pruned(fn: Function, path: Path, loop: For) -> For:
    """Without the operands of bounds that are proven never to be the ones that count."""
    fn = replace_at(fn, path, (loop,))
    loop = _tightest(fn, path, loop)
    fn = replace_at(fn, path, (loop,))
    inner = loop.body[0]
    assert isinstance(inner, For)
    return replace(loop, body=(_tightest(fn, (*path, 0), inner),))


def _tightest(fn: Function, path: Path, loop: For) -> For:
    up = value_of(loop.step) == 1
    lo, hi = ("max", "min") if up else ("min", "max")
    return replace(loop, lo=_fewest(fn, path, loop.lo, lo), hi=_fewest(fn, path, loop.hi, hi))


def _fewest(fn: Function, path: Path, bound: Expr, op: str) -> Expr:
    kept = operands(bound, op)
    compare = ">=" if op == "max" else "<="
    for e in tuple(kept) if len(kept) > 1 else ():
        others = [x for x in kept if x is not e]
        if any(always(fn, path, Bin(compare, x, e)) for x in others):
            kept = others
    return _joined(op, kept)
