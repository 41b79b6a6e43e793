"""Interval arithmetic on polynomials: the least and greatest value over the loops around.

A loop `for (v = lo; v < hi; ...)` gives lo <= v <= hi - 1 wherever its body runs, an `if` around
adds what its condition says. Eliminating the innermost variable first leaves a polynomial in the
scalars of the function.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from loopxform.ir.affine import Poly, constant, poly
from loopxform.ir.nodes import Bin, Const, Expr, For, If, Var
from loopxform.ir.visit import substitute
from loopxform.records import record

_MOST = 24


@record
class Bound:
    """`var >= limit` (lower) or `var <= limit`."""

    var: str
    limit: Poly
    lower: bool


Context = tuple[Bound, ...]
Sign = Callable[[Expr], bool]


def loop_bounds(loop: For, known: dict[str, Expr]) -> Context:
    """What holds for the variable inside the body of its loop."""
    if not isinstance(loop.step, Const):
        return ()
    lo, hi, one = substitute(loop.lo, known), substitute(loop.hi, known), constant(1)
    if loop.step.value > 0:
        least = (Bound(loop.var, poly(e), True) for e in _operands(lo, "max"))
        return (*least, *(Bound(loop.var, poly(e) - one, False) for e in _operands(hi, "min")))
    least = (Bound(loop.var, poly(e) + one, True) for e in _operands(hi, "max"))
    return (*least, *(Bound(loop.var, poly(e), False) for e in _operands(lo, "min")))


def _operands(e: Expr, op: str) -> Iterator[Expr]:
    """Those of nested mins or maxs: a bound of one is a bound of all."""
    if isinstance(e, Bin) and e.op == op:
        yield from _operands(e.left, op)
        yield from _operands(e.right, op)
    else:
        yield e


def branch_bounds(s: If, known: dict[str, Expr], *, taken: bool) -> Context:
    """What a condition says about single variables."""
    return tuple(_facts(substitute(s.cond, known), taken))


_NEGATED = {"<": ">=", ">": "<=", "<=": ">", ">=": "<", "==": "!=", "!=": "=="}


def _facts(e: Expr, taken: bool) -> Iterator[Bound]:
    match e:
        case Bin("&&", left, right) if taken:
            yield from _facts(left, True)
            yield from _facts(right, True)
        case Bin("||", left, right) if not taken:
            yield from _facts(left, False)
            yield from _facts(right, False)
        case Bin("<" | ">" | "<=" | ">=" | "==" | "!=" as op, left, right):
            holds = op if taken else _NEGATED[op]
            for name in {x.name for x in (left, right) if isinstance(x, Var)}:
                yield from _fact(name, holds, poly(left) - poly(right))


def _fact(name: str, op: str, difference: Poly) -> Iterator[Bound]:
    """`name + rest op 0` as bounds of name."""
    c = difference.coefficient(name).constant
    if c not in (1, -1):
        return
    rest = difference.without(name)
    limit = -rest if c == 1 else rest
    upward = (op in (">", ">=")) == (c == 1)
    if op == "==":
        yield Bound(name, limit, True)
        yield Bound(name, limit, False)
    elif op in ("<", ">"):
        yield Bound(name, limit + constant(1 if upward else -1), upward)
    elif op in ("<=", ">="):
        yield Bound(name, limit, upward)


def extremes(p: Poly, context: Context, positive: Sign, *, greatest: bool) -> list[Poly]:
    """Polynomials that bound `p` from above (or below), free of loop variables where possible.

    `positive` knows which scalars are never negative.
    """
    order = list(dict.fromkeys(b.var for b in reversed(context)))
    found = [p]
    for n, var in enumerate(order):
        gone = order[: n + 1]
        limits = [b for b in reversed(context) if b.var == var and not _any_of(b.limit, gone)]
        found = [q for p in found for q in _eliminate(p, var, limits, positive, greatest)][:_MOST]
    return found


def _any_of(p: Poly, variables: list[str]) -> bool:
    return any(p.mentions(v) for v in variables)


def _eliminate(
    p: Poly, var: str, limits: list[Bound], positive: Sign, greatest: bool
) -> Iterator[Poly]:
    """`p` with `var` replaced by each of its bounds on the right side."""
    if not p.mentions(var):
        yield p
        return
    c, rest = p.coefficient(var), p.without(var)
    sign = 1 if _is_positive(c, positive) else -1 if _is_positive(-c, positive) else 0
    if not sign or c.mentions(var) or rest + c * poly(Var(var)) != p:
        return
    for b in limits:
        if b.lower == ((sign < 0) == greatest):
            yield rest + c * b.limit


def _is_positive(c: Poly, positive: Sign) -> bool:
    return bool(c.terms) and all(n > 0 and all(map(positive, m)) for m, n in c.terms)
