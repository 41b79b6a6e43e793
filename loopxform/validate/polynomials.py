"""Whole numbers of a program: polynomials in the parameters whose coefficients are affine in the
iterations. Isl has no products of parameters, and `a[i*m + j]` has one: it is {m: i, 1: j} here.

An array with the strides s1, s2, ... has cells of several dimensions: `split` divides an offset by
the extents, and leaves it to the caller to prove that each subscript stays in its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import islpy as isl

from loopxform.validate.unmodelled import Unmodelled

Monomial = tuple[str, ...]
ONE: Monomial = ()
Terms = dict[Monomial, isl.PwAff]


@dataclass(frozen=True)
class Polynomial:
    """`terms`: affine coefficients by their product of parameters. `strides`: numbers of parameters
    alone that a part of it was multiplied by, as {monomial: coefficient}."""

    terms: Terms
    strides: tuple[Plain, ...] = ()

    @property
    def affine(self) -> isl.PwAff | None:
        """As one affine number, where no product of parameters is in it."""
        return self.terms.get(ONE) if set(self.terms) <= {ONE} else None

    @property
    def constant(self) -> int | None:
        """The number that it always is."""
        return None if self.affine is None else constant_of(self.affine)

    @staticmethod
    def of(value: isl.PwAff) -> Polynomial:
        return Polynomial({ONE: value})

    def lifted(self, dims: int) -> Polynomial:
        """In a space with so many dimensions, new ones behind."""
        return Polynomial({m: lifted(x, dims) for m, x in self.terms.items()}, self.strides)


Plain = dict[Monomial, int]
"""A polynomial in parameters alone."""


def lifted(value: isl.PwAff, dims: int) -> isl.PwAff:
    more = dims - value.dim(isl.dim_type.in_)
    return value.add_dims(isl.dim_type.in_, more) if more > 0 else value


def is_zero(value: isl.PwAff) -> bool:
    return bool(value.is_equal(value.sub(value).intersect_domain(value.domain())))


def added(a: Polynomial, b: Polynomial, sign: int = 1) -> Polynomial:
    terms = dict(a.terms)
    for m, x in b.terms.items():
        if m in terms:
            terms[m] = terms[m].add(x) if sign > 0 else terms[m].sub(x)
        else:
            terms[m] = x if sign > 0 else x.neg()
    terms = {m: x for m, x in terms.items() if m == ONE or not is_zero(x)}
    return Polynomial(terms, (*a.strides, *b.strides))


def constant_of(value: isl.PwAff) -> int | None:
    """The number that it always is."""
    if value.n_piece() != 1:
        return None
    ((_, x),) = value.get_pieces()
    if not x.is_cst():
        return None
    v = x.get_constant_val()
    return int(v.to_python()) if v.is_int() else None


def plain(value: Polynomial) -> Plain | None:
    """As a polynomial in parameters alone, where it is one."""
    total: Plain = {}
    for monomial, x in value.terms.items():
        if x.n_piece() != 1:
            return None
        ((_, a),) = x.get_pieces()
        if a.dim(isl.dim_type.div) or any(
            not a.get_coefficient_val(isl.dim_type.in_, i).is_zero()
            for i in range(a.dim(isl.dim_type.in_))
        ):
            return None
        if not a.get_denominator_val().is_one():
            return None
        parts: list[tuple[Monomial, isl.Val]] = [(ONE, a.get_constant_val())]
        for i in range(a.dim(isl.dim_type.param)):
            name = a.get_dim_name(isl.dim_type.param, i)
            assert name is not None
            parts.append(((name,), a.get_coefficient_val(isl.dim_type.param, i)))
        for m, v in parts:
            if not v.is_zero():
                key = tuple(sorted((*monomial, *m)))
                total[key] = total.get(key, 0) + int(v.to_python())
    return {m: c for m, c in total.items() if c}


def multiplied(a: Polynomial, b: Polynomial, line: int = 0) -> Polynomial:
    """Raises Unmodelled where neither is one of parameters alone."""
    for x, y in ((a, b), (b, a)):
        number = y.constant
        if number is not None:
            by = isl.Val(number)
            return Polynomial({m: v.scale_val(by) for m, v in x.terms.items()}, x.strides)
    for x, y in ((a, b), (b, a)):
        factors = plain(y)
        if factors is None:
            continue
        terms: Terms = {}
        for m, v in x.terms.items():
            for f, c in factors.items():
                key = tuple(sorted((*m, *f)))
                piece = v.scale_val(isl.Val(c))
                terms[key] = terms[key].add(piece) if key in terms else piece
        strides = (*(product(s, factors) for s in x.strides), factors)
        return Polynomial({m: v for m, v in terms.items() if m == ONE or not is_zero(v)}, strides)
    raise Unmodelled("a product of two numbers that vary", line)


def product(a: Plain, b: Plain) -> Plain:
    terms: Plain = {}
    for m, x in a.items():
        for n, y in b.items():
            key = tuple(sorted((*m, *n)))
            terms[key] = terms.get(key, 0) + x * y
    return {m: c for m, c in terms.items() if c}


def _leading(p: Plain) -> Monomial:
    return max(p, key=lambda m: (len(m), m))


def _without(m: Monomial, factor: Monomial) -> Monomial | None:
    """m / factor, where it divides it."""
    rest = list(m)
    for name in factor:
        if name not in rest:
            return None
        rest.remove(name)
    return tuple(rest)


def quotient(a: Plain, b: Plain) -> Plain | None:
    """a / b, where b divides it."""
    terms: Plain = {}
    left = dict(a)
    lead = _leading(b)
    while left:
        top = _leading(left)
        rest = _without(top, lead)
        if rest is None or left[top] % b[lead]:
            return None
        c = left[top] // b[lead]
        terms[rest] = terms.get(rest, 0) + c
        for m, x in product({rest: c}, b).items():
            left[m] = left.get(m, 0) - x
        left = {m: x for m, x in left.items() if x}
    return terms


def extents_of(strides: Iterable[Plain]) -> tuple[Plain, ...]:
    """The extents, outermost left out, of an array with these strides."""
    known: list[Plain] = []
    for s in strides:
        if s not in known and _leading(s) != ONE:
            known.append(s)
    known.sort(key=lambda s: -len(_leading(s)))
    extents: list[Plain] = []
    for n, s in enumerate(known):
        if n + 1 < len(known):
            q = quotient(s, known[n + 1])
            if q is None:
                raise Unmodelled("an array with strides of which none divides the other")
            extents.append(q)
        else:
            extents.append(s)
    return tuple(extents)


def split(offset: Polynomial, extents: Sequence[Plain], line: int = 0) -> tuple[isl.PwAff, ...]:
    """The subscripts of an offset in an array whose inner extents these are, outermost first.
    Raises Unmodelled where extents do not divide it so."""
    some = next(iter(offset.terms.values()))
    zero = some.sub(some)
    subscripts: list[isl.PwAff] = []
    rows = offset.terms
    for extent in (*reversed(extents), None):
        rows, rest = ({}, rows) if extent is None else _divided(rows, extent, line)
        if set(rest) - {ONE}:
            raise Unmodelled("an offset with a stride that the array has not", line)
        subscripts.append(rest.get(ONE, zero))
    return tuple(reversed(subscripts))


def _divided(terms: Terms, extent: Plain, line: int) -> tuple[Terms, Terms]:
    """Quotient and remainder, where the leading monomial of the extent divides none of it."""
    lead = _leading(extent)
    quotients: Terms = {}
    rest = dict(terms)
    while tops := [m for m in rest if _without(m, lead) is not None]:
        top = max(tops, key=lambda m: (len(m), m))
        factor = _without(top, lead)
        assert factor is not None
        whole = _multiple(rest.pop(top), extent[lead], line)
        quotients[factor] = quotients[factor].add(whole) if factor in quotients else whole
        for m, c in extent.items():
            if m != lead:
                key = tuple(sorted((*factor, *m)))
                piece = whole.scale_val(isl.Val(c)).neg()
                rest[key] = rest[key].add(piece) if key in rest else piece
        rest = {m: v for m, v in rest.items() if not is_zero(v)}
    return quotients, rest


def _multiple(value: isl.PwAff, n: int, line: int) -> isl.PwAff:
    """value / n, where n divides it. Raises Unmodelled."""
    whole = value.scale_down_val(isl.Val(n))
    if n != 1 and not is_zero(whole.sub(whole.floor())):
        raise Unmodelled("an offset that is no multiple of a row", line)
    return whole


def merged(extents: Iterable[Plain | None]) -> tuple[Plain | None, ...]:
    """Extents that are numbers joined with those on their left: [n][8][m][3] is [8*n][3*m]."""
    joined: list[Plain | None] = []
    for e in extents:
        if joined and e is not None and set(e) <= {ONE}:
            left = joined.pop()
            joined.append(None if left is None else product(left, e))
        else:
            joined.append(e)
    return tuple(joined)
