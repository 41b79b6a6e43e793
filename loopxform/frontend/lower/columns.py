"""Whether a column is inside a row: 0 <= index < extent, for all iterations.

`0 <= index` must be proven; `index < extent` may become a condition on the arguments.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import gcd

from loopxform.frontend.lower.facts import Facts, is_stable
from loopxform.frontend.lower.ranges import Context, cases, counted_to, extremes, gaps
from loopxform.ir.affine import Monomial, Poly, constant, poly, to_expr
from loopxform.ir.nodes import Bin, Const, Expr
from loopxform.ir.quotients import WORD


def inside(
    index: Poly, extent: Poly, context: Context, facts: Facts, row: Poly | None
) -> list[Expr] | None:
    """The conditions under which 0 <= index < extent, whatever `?:` in it choose; None where it
    cannot be shown. They may be asked of the arguments where the `row` is given."""
    out: list[Expr] = []
    for value, where in cases(index, context):
        if _is_contradictory(where, facts):
            continue
        asked = _value_inside(value, extent, where, facts, row)
        if asked is None:
            return None
        out += asked
    return out


def _is_contradictory(context: Context, facts: Facts) -> bool:
    """Whether no number is where the conditions want it: `u < -x` and `u >= w - x`."""
    return any(_is_reached(-gap - constant(1), context, facts) for gap in gaps(context))


def _value_inside(
    index: Poly, extent: Poly, context: Context, facts: Facts, row: Poly | None
) -> list[Expr] | None:
    counted = counted_to(context)

    def known(e: Expr) -> bool:
        return facts.known(e) or e in counted

    lows = extremes(index, context, known, greatest=False)
    above: list[Expr] | None = [] if any(_is_reached(x, context, facts) for x in lows) else None
    if above is None:
        one = row is not None and is_stable(to_expr(index), facts.stable)  # column n - 1 of all
        asked = lows if one else [x for x in lows if row is not None and _is_margin(x)]
        above = _asked(asked, context, facts)
    if above is None:
        return None
    highs = extremes(index, context, known, greatest=True)
    left = [extent - constant(1) - high for high in highs]
    if any(g.constant is not None and g.constant >= 0 for g in left):
        return above
    if any(_is_reached(g, context, facts) for g in left):
        return above
    below = None if row is None else _asked(left, context, facts)
    return None if below is None else [*above, *below]


def _is_margin(low: Poly) -> bool:
    """Whether columns begin at an argument, or a sum of some: `for (x = r; x < w - r; x++)`,
    `a[(k + i)*n + k + j]`."""
    return all(c > 0 for m, c in low.terms if m)


def _asked(numbers: list[Poly], context: Context, facts: Facts) -> list[Expr] | None:
    """The condition on arguments under which one of the numbers is not negative."""
    for g in numbers:
        fixed = g.constant is None and is_stable(to_expr(g), facts.stable)
        if fixed and not _where_nothing_runs(g, context):
            return [_at_least_zero(g)]
    return None


def is_backwards(row: Poly, context: Context, facts: Facts) -> bool:
    """Whether the number of a row varies, but is never more than 0: then its length has the wrong
    sign."""
    highs = extremes(row, context, facts.known, greatest=True)
    return row.constant is None and any(h.constant is not None and h.constant <= 0 for h in highs)


def _where_nothing_runs(g: Poly, context: Context) -> bool:
    """Whether g >= 0 only where a loop around has no iteration: then it is no condition to ask."""
    lows = [b for b in context if b.lower]
    more = [(b.limit - a.limit) for a in lows for b in context if b.var == a.var and not b.lower]
    for trips in more:  # at least 0 where the loop runs
        for m, c in g.terms:
            other = dict(trips.terms).get(m, 0)
            if m and c * other < 0:
                both = constant(abs(other)) * g + constant(abs(c)) * trips
                if both.constant is not None and both.constant < 0:
                    return True
    return False


def _is_reached(low: Poly, context: Context, facts: Facts) -> bool:
    """Whether a number is not negative, where all loops around have an iteration."""
    spans = gaps(context)
    halved = frozenset(n for g in spans for n in _divided(g))
    return _never_negative(low, facts, halved) or any(
        _never_negative(low - g, facts, halved) for g in spans
    )


def _never_negative(p: Poly, facts: Facts, halved: frozenset[Poly] = frozenset()) -> bool:
    """By its terms: the type says nothing, a difference of unsigned numbers can be negative. Those
    of `halved` are not negative either."""

    def known(atom: Expr) -> bool:
        parts = _quotient((atom,))
        divided = parts is not None and _never_negative(parts[0], facts, halved)
        return divided or facts.known(atom) or poly(atom) in halved

    if all(c > 0 and all(map(known, m)) for m, c in p.terms):
        return True
    return any(_never_negative(x, facts, halved) for x in _without_quotients(p, facts, halved))


def _without_quotients(p: Poly, facts: Facts, halved: frozenset[Poly]) -> Iterator[Poly]:
    """What is negative where `p` is, with n instead of d*(n/d), which is at most that: of
    `w - w/2` it is `2*w - w`."""
    for m, c in p.terms:
        found = _quotient(m)
        if found is not None and c < 0 and _never_negative(found[0], facts, halved):
            n, d = found
            yield constant(d) * (p - Poly(((m, c),))) + constant(c) * n


def _has_quotient(p: Poly) -> bool:
    return any(_quotient(m) is not None for m, _ in p.terms)


def _divided(gap: Poly) -> Iterator[Poly]:
    """The numbers of which loops run to a part: `n/d - 1` is not negative, so n is not."""
    terms = dict(gap.terms)
    first, others = terms.pop((), 0), list(terms.items())
    if first < 0 and len(others) == 1 and others[0][1] > 0:
        found = _quotient(others[0][0])
        if found is not None:
            yield found[0]


def _quotient(m: Monomial) -> tuple[Poly, int] | None:
    """n and d of a term that is n/d, rounded towards 0 or downwards."""
    match m:
        case (Bin("/", n, Const(int(d))),) if d > 0:
            return poly(n), int(d)
        case (Bin(">>", n, Const(int(bits))),) if 0 <= bits < WORD:
            return poly(n), 1 << bits
        case _:
            return None


def _at_least_zero(g: Poly) -> Expr:
    """`g >= 0` with the negative terms on the left, and no common factor: `U <= lda`."""
    divisor = gcd(*(c for m, c in g.terms if m)) or 1
    terms = [(m, c // divisor) for m, c in g.terms]
    minus = Poly(tuple((m, -c) for m, c in terms if c < 0))
    plus = Poly(tuple((m, c) for m, c in terms if c > 0))
    return Bin("<=", to_expr(minus), to_expr(plus))
