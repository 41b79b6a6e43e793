"""Which strides a flat array may have."""

from __future__ import annotations

from collections.abc import Iterator
from math import gcd

from loopxform.ir.affine import Poly, constant
from loopxform.ir.quotients import divide, lead, quotient


def sort_key(p: Poly) -> tuple[int, int]:
    """Larger strides have more factors, then larger numbers."""
    if not p.terms:
        return (0, 0)
    m, c = lead(p)
    return (len(m), abs(c))


def canonical(p: Poly) -> Poly:
    """`p` with a positive leading term."""
    return -p if p.terms and lead(p)[1] < 0 else p


def is_mixed(p: Poly) -> bool:
    """Whether there are terms of both signs: nothing tells whether it is positive."""
    return len({c > 0 for _, c in p.terms}) > 1


def both_signs(found: list[Poly]) -> Iterator[list[Poly]]:
    """The strides as they may be signed, likely ones first: those with terms of one sign positive
    (`-n` counts from the last row), the others, `(h - k + 1)*w`, as they are written or negated."""
    mixed = list(map(is_mixed, found))
    for sign in (1, -1) if any(mixed) else (1,):
        yield [constant(sign) * p if m else canonical(p) for p, m in zip(found, mixed)]


def stride_lists(coefficients: list[Poly]) -> list[list[Poly]]:
    """Lists of strides to try, largest stride first: with and without the constant ones, with
    diagonals (n + 1 next to n) reduced to rows, and with multiples of one stride (n and 2*n)
    reduced to their common divisor. Where rows hold parts that they are no multiple of (heads of
    `c / h` numbers in rows of c), the rows are tried alone, last."""
    distinct = list(dict.fromkeys(c for c in coefficients if c.constant != 1 and c.terms))
    symbolic = [c for c in distinct if c.constant is None]
    rows = _rows(symbolic)
    constants = [c for c in distinct if c.constant is not None]
    out: list[list[Poly]] = []
    for symbols in (symbolic, rows, _primitive(rows)):
        for extra in (constants, [], _primitive(constants)):
            strides = sorted([*symbols, *extra], key=sort_key, reverse=True)
            if strides and strides not in out:
                out.append(strides)
    whole = _dividing(sorted(rows, key=sort_key, reverse=True))
    return [*out, whole] if whole and whole not in out else out


def _dividing(strides: list[Poly]) -> list[Poly]:
    """The largest one, and of the others those that divide all that are larger."""
    out: list[Poly] = []
    for s in strides:
        if not out or divide(out[-1], s) is not None:
            out.append(s)
    return out


def _rows(strides: list[Poly]) -> list[Poly]:
    """A variable that moves by rows and columns at once, q * d + r, counted as moving by rows."""
    return list(dict.fromkeys(_row(c, strides) for c in strides))


def _row(c: Poly, strides: list[Poly]) -> Poly:
    """`q * d` where a simpler stride d leaves a rest of `c`, else `c`."""
    for d in strides:
        q = quotient(c, d)
        rest = c - q * d
        simpler = len(d.terms) < len(c.terms)
        same = len(d.terms) == len(c.terms) and canonical(rest) == rest
        if q.terms and rest.terms and (simpler or same):
            return q * d
    return c


def _primitive(strides: list[Poly]) -> list[Poly]:
    """One stride for all multiples of it."""
    groups: dict[Poly, int] = {}
    for s in strides:
        content = gcd(*(c for _, c in s.terms))
        base = Poly(tuple((m, c // content) for m, c in s.terms))
        groups[base] = gcd(groups.get(base, 0), content)
    return [constant(g) * base for base, g in groups.items() if constant(g) * base != constant(1)]
