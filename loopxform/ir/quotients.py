"""Division of polynomials."""

from __future__ import annotations

from loopxform.ir.affine import Monomial, Poly, constant

Term = tuple[Monomial, int]


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
