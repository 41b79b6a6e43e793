"""Interval arithmetic on polynomials: the least and greatest value over the loops around.

A loop `for (v = lo; v < hi; ...)` gives lo <= v <= hi - 1 wherever its body runs, an `if` around
adds what its condition says. Eliminating the innermost variable first leaves a polynomial in the
scalars of the function.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from loopxform.ir.affine import Poly, constant, poly, to_expr
from loopxform.ir.nodes import Bin, Const, Expr, For, Select, Un, Var
from loopxform.ir.quotients import in_quotients
from loopxform.ir.types import Scalar
from loopxform.ir.typing import type_of
from loopxform.ir.visit import map_expr, substitute, walk_expr
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
        lows = [poly(e) for e in _operands(lo, "max")]
        ends = [poly(in_quotients(e)) for e in _operands(hi, "min")]
        least = (Bound(loop.var, low, True) for low in lows)
        return (*least, *(Bound(loop.var, end - _last(loop, lows, end), False) for end in ends))
    least = (Bound(loop.var, poly(e) + one, True) for e in _operands(hi, "max"))
    return (*least, *(Bound(loop.var, poly(e), False) for e in _operands(lo, "min")))


def _last(loop: For, lows: list[Poly], end: Poly) -> Poly:
    """How far in front of its end a loop is at most in the last iteration: a step, where whole
    steps lead there."""
    step = poly(loop.step)
    whole = len(lows) == 1 and (end - lows[0]).divide(step) is not None
    return step if whole else constant(1)


def _operands(e: Expr, op: str) -> Iterator[Expr]:
    """Those of nested mins or maxs: a bound of one is a bound of all."""
    if isinstance(e, Bin) and e.op == op:
        yield from _operands(e.left, op)
        yield from _operands(e.right, op)
    else:
        yield e


def under(cond: Expr, known: dict[str, Expr], context: Context, *, taken: bool) -> Context:
    """What holds where a condition does too: it says something about single variables, of a sum
    about the innermost one. Loops come last, so that their variables are eliminated first."""
    found = _facts(substitute(cond, known), taken, context)
    return (*found, *context)


def _innermost_first(context: Context) -> list[str]:
    return list(dict.fromkeys(b.var for b in reversed(context)))


_NEGATED = {"<": ">=", ">": "<=", "<=": ">", ">=": "<", "==": "!=", "!=": "=="}


def _facts(e: Expr, taken: bool, context: Context) -> Iterator[Bound]:
    match e:
        case Var():
            yield from _facts(Bin("!=", e, Const(0)), taken, context)
        case Un("!", operand):
            yield from _facts(operand, not taken, context)
        case Bin("&&" | "||" as op, left, right) if (op == "&&") == taken:
            yield from _facts(left, taken, context)
            yield from _facts(right, taken, context)
        case Bin("<" | ">" | "<=" | ">=" | "==" | "!=" as op, left, right):
            holds, difference = op if taken else _NEGATED[op], poly(left) - poly(right)
            names = (x.name for x in (left, right) if isinstance(x, Var))
            alone = [v for v in names if _is_linear(difference, v)]
            moving = [v for v in _innermost_first(context) if _is_linear(difference, v)]
            found = [v for v in moving if v in alone] or moving[:1] or list(dict.fromkeys(alone))
            for name in found:
                yield from _fact(name, holds, difference, context)
            if not found:
                yield from _plain_fact(holds, difference)


def _is_linear(p: Poly, name: str) -> bool:
    """Whether it is a variable, or minus that, and a rest without it, in quotients neither."""
    c = p.coefficient(name)
    return c.constant in (1, -1) and p.without(name) + c * poly(Var(name)) == p


def _fact(name: str, op: str, difference: Poly, context: Context) -> Iterator[Bound]:
    """`name + rest op 0` as bounds of name, which may be at the end of what holds already."""
    c, rest = difference.coefficient(name).constant, difference.without(name)
    limit = -rest if c == 1 else rest
    upward = (op in (">", ">=")) == (c == 1)
    if op == "==":
        yield Bound(name, limit, True)
        yield Bound(name, limit, False)
    elif op == "!=":
        ends = (b for b in context if b.var == name and b.limit == limit)
        yield from (Bound(name, limit + constant(1 if b.lower else -1), b.lower) for b in ends)
    elif op in ("<", ">"):
        yield Bound(name, limit + constant(1 if upward else -1), upward)
    elif op in ("<=", ">="):
        yield Bound(name, limit, upward)


def _plain_fact(op: str, difference: Poly) -> Iterator[Bound]:
    """`difference op 0` of numbers that no loop counts: between 0 and what is not negative then,
    there is something."""
    reached = difference if op in (">", ">=") else -difference
    if op not in ("==", "!="):
        yield Bound("", Poly(()), True)
        yield Bound("", reached - constant(1) if op in ("<", ">") else reached, False)


_MOST_CASES = 16


def cases(p: Poly, context: Context) -> list[tuple[Poly, Context]]:
    """The values of `p` as each `?:`, least and greatest in it chooses, and what holds then."""
    found, done = [(p, context)], list[tuple[Poly, Context]]()
    while found:
        value, where = found.pop()
        atom = next(filter(_is_innermost, walk_expr(to_expr(value))), None)
        if atom is None or len(found) + len(done) >= _MOST_CASES:
            done.append((value, where))
            continue
        cond, *operands = _choice(atom)
        for operand, taken in zip(operands, (True, False)):
            new = map_expr(to_expr(value), lambda e: operand if e == atom else e)  # noqa: B023
            found.append((poly(new), under(cond, {}, where, taken=taken)))
    return done


def _choice(e: Expr) -> tuple[Expr, ...]:
    """The condition and the two values that an expression chooses between; none for others."""
    match e:
        case Select(cond, then, orelse):
            return cond, then, orelse
        case Bin("min" | "max" as op, left, right):
            return Bin("<" if op == "min" else ">", left, right), left, right
        case _:
            return ()


def _is_innermost(e: Expr) -> bool:
    """Whether it chooses between values that hold no other choice."""
    return bool(_choice(e)) and not any(_choice(x) for o in _choice(e) for x in walk_expr(o))


def extremes(p: Poly, context: Context, positive: Sign, *, greatest: bool) -> list[Poly]:
    """Polynomials that bound `p` from above (or below), free of loop variables where possible.

    `positive` knows which scalars are never negative.
    """
    order = _innermost_first(context)
    found = [p]
    for n, var in enumerate(order):
        gone = order[: n + 1]
        limits = [b for b in reversed(context) if b.var == var and not _any_of(b.limit, gone)]
        bounded = (_bounded_remainders(p, var, context, positive, greatest) for p in found)
        found = [q for p in bounded for q in _bounded(p, var, limits, positive, greatest)][:_MOST]
    return found


def gaps(context: Context) -> list[Poly]:
    """How far the bounds of each variable are apart: not negative where they hold."""
    pairs = ((a, b) for a in context for b in context if a.var == b.var and a.lower > b.lower)
    return [b.limit - a.limit for a, b in pairs]


def counted_to(context: Context) -> frozenset[Expr]:
    """Numbers that are not negative where the bounds hold: n inside a loop from 0 to n."""
    return frozenset(e for gap in gaps(context) if (e := _counted(gap)) is not None)


def _counted(gap: Poly) -> Expr | None:
    """n of `n - 1`, or of another number below it."""
    terms = dict(gap.terms)
    first = terms.pop((), 0)
    match list(terms.items()):
        case [((e,), c)] if c > 0 and first <= 0:
            return e
        case _:
            return None


def is_between(e: Expr, first: int, last: int, context: Context, types: dict[str, Scalar]) -> bool:
    """Whether a sum of signed numbers is never below one number nor above another."""
    if any(type_of(x, types).is_unsigned for x in walk_expr(e)):
        return False

    def reaches(p: Poly) -> bool:
        ends = extremes(p, context, lambda _: False, greatest=False)
        return any(q.constant is not None and q.constant >= 0 for q in ends)

    return reaches(poly(e) - constant(first)) and reaches(constant(last) - poly(e))


def _bounded_remainders(
    p: Poly, var: str, context: Context, positive: Sign, greatest: bool
) -> Poly:
    """`p` with the least or greatest value of remainders by numbers that `var` is in."""
    out = Poly(())
    for m, c in p.terms:
        ends = _remainder(m[0], context, positive) if len(m) == 1 and p.mentions(var) else None
        if ends is None or not Poly(((m, c),)).mentions(var):
            out += Poly(((m, c),))
        else:
            out += constant(c * ends[(c > 0) == greatest])
    return out


def _remainder(e: Expr, context: Context, positive: Sign) -> tuple[int, int] | None:
    """The least and greatest values of `a % 4` and `a & 3`. The first is negative where `a` is."""
    match e:
        case Bin("&", _, Const(int(most))) if most >= 0:
            return 0, most
        case Bin("%", a, Const(int(divisor))) if divisor > 0:
            lows = extremes(poly(a), context, positive, greatest=False)
            kept = any(all(n >= 0 and all(map(positive, m)) for m, n in q.terms) for q in lows)
            return (0 if kept else 1 - divisor), divisor - 1
        case _:
            return None


def _bounded(p: Poly, var: str, limits: list[Bound], positive: Sign, greatest: bool) -> list[Poly]:
    """Without `var` where that can be: an argument of which a condition says something else, or
    that is in a quotient, stays."""
    return list(_eliminate(p, var, limits, positive, greatest)) or [p]


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
