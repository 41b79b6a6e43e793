"""Division of polynomials, and numbers by their quotients."""

from __future__ import annotations

from loopxform.ir.affine import Monomial, Poly, constant, poly
from loopxform.ir.nodes import Bin, Const, Expr, Un
from loopxform.ir.visit import map_expr

Term = tuple[Monomial, int]

WORD = 31
"""Bits of a number that has a sign."""


def _rank(t: Term) -> tuple[int, str]:
    """Graded order: the leading term has the most factors."""
    return (len(t[0]), repr(t[0]))


def lead(p: Poly) -> Term:
    return max(p.terms, key=_rank)


def _divide_term(t: Term, d: Term) -> Term | None:
    rest = list(t[0])
    for atom in d[0]:
        if atom not in rest:
            return None
        rest.remove(atom)
    return None if t[1] % d[1] else (tuple(rest), t[1] // d[1])


def quotient(p: Poly, stride: Poly) -> Poly:
    """A q such that `p - q * stride` has no term that the leading term of `stride` divides.

    Numbers are divided to the nearest, so that the rest is small.
    """
    c = stride.constant
    d = lead(stride)
    q, rest = Poly(()), p
    for _ in range(len(p.terms) * (len(stride.terms) + 1)):
        terms = [t for t in (_divide_term(t, d) for t in rest.terms) if t is not None]
        if not terms:
            break
        step = Poly((max(terms, key=_rank),))
        q, rest = q + step, rest - step * stride
    if c is not None:
        left = sum(n for m, n in rest.terms if not m)
        q += constant((left + c // 2) // c)
    return q


def divide(p: Poly, d: Poly) -> Poly | None:
    """The exact quotient, or None."""
    if not d.terms:
        return None
    q = quotient(p, d)
    return q if p == q * d else None


def in_quotients(e: Expr) -> Expr:
    """The same number of signed ones, by quotients and their multiples: sums of it may cancel then,
    and say what divides them.

    n % 4  ->  n - 4*(n/4)        n & ~3  ->  (n >> 2)*4        n << 2  ->  n*4
    """
    return map_expr(e, _by_quotient)


def _by_quotient(e: Expr) -> Expr:
    match e:
        case Bin("%", n, Const(int(d)) as divisor) if d > 0:
            return Bin("-", n, Bin("*", divisor, Bin("/", n, divisor)))
        case Bin("&", n, (Const(type=t) | Un(_, Const(type=t))) as mask) if bits := cleared(mask):
            return Bin("*", Bin(">>", n, Const(bits)), Const(1 << bits, t))
        case Bin("<<", n, Const(int(bits))) if 0 <= bits < WORD:
            return Bin("*", n, Const(1 << bits))
        case _:
            return e


def cleared(mask: Expr) -> int:
    """How many of the lowest bits `& mask` leaves out, where it leaves out no others; else 0."""
    match mask:
        case Un("~", Const(int(ones), type=t)) if not t.is_unsigned:
            power = ones + 1
        case Un("-", Const(int(power), type=t)) if not t.is_unsigned:
            pass
        case Const(int(value)):
            power = -value
        case _:
            return 0
    return power.bit_length() - 1 if 1 < power < 1 << WORD and power & (power - 1) == 0 else 0


def largest_remainder(p: Poly) -> int | None:
    """The most that `n - d*(n/d)` can be; None for other numbers."""
    for m, c in p.terms:
        match m:
            case (Bin("/", n, Const(int(d))),) if d > 0 and c == -d:
                return d - 1 if p == poly(n) - constant(d) * Poly(((m, 1),)) else None
    return None
