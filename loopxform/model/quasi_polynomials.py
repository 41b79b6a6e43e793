"""Amounts: sums of products of sizes over tile sizes, as `M*N*U/(Ty*Ry)` or `n*(n + 1)/2`.

An `Amount` is a sum of rational coefficients times powers of atoms; atoms are those of `ir.affine`,
and powers may be negative. A `Product` keeps amounts apart that are multiplied, which is how people
write such formulas.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from functools import reduce
from math import comb, gcd, lcm
from operator import mul

from loopxform.ir.affine import Poly, atom_key, constant, poly
from loopxform.ir.evaluate import evaluate
from loopxform.ir.nodes import Bin, Expr, Tile, Var
from loopxform.ir.printer import expr_text
from loopxform.ir.visit import names
from loopxform.records import record

Powers = tuple[tuple[Expr, int], ...]
"""A product of atoms with their exponents, none of them 0, in the order in which it prints."""

Numbers = Mapping[str, int | Fraction]
"""What scalars are, averages included."""

Divisions = Mapping[Poly, frozenset[Poly]]
NO_DIVISIONS: Divisions = {}


@record
class Amount:
    """Terms in the order in which they print, no coefficient 0."""

    terms: tuple[tuple[Powers, Fraction], ...] = ()

    def __add__(self, other: Amount) -> Amount:
        return _sum((*self.terms, *other.terms))

    def __neg__(self) -> Amount:
        return Amount(tuple((p, -c) for p, c in self.terms))

    def __sub__(self, other: Amount) -> Amount:
        return self + -other

    def __mul__(self, other: Amount) -> Amount:
        return _sum((_joined(p, q), c * d) for p, c in self.terms for q, d in other.terms)

    def __pow__(self, n: int) -> Amount:
        return reduce(mul, [self] * n, number(1))

    def over(self, divisor: Amount) -> Amount:
        """The quotient by an amount of a single term."""
        ((powers, c),) = divisor.terms
        return self * Amount(((tuple((a, -n) for a, n in powers), 1 / c),))

    def mentions(self, name: str) -> bool:
        return any(name in names(a) for powers, _ in self.terms for a, _ in powers)

    def powers_of(self, name: str) -> dict[int, Amount] | None:
        """What each power of a scalar is multiplied by; None where this is no polynomial of it."""
        out: dict[int, Amount] = {}
        for powers, c in self.terms:
            n = dict(powers).get(Var(name), 0)
            rest = tuple((a, k) for a, k in powers if a != Var(name))
            if n < 0 or any(name in names(a) for a, _ in rest):
                return None
            out[n] = out.get(n, Amount()) + Amount(((rest, c),))
        return out

    @property
    def known(self) -> Fraction | None:
        """The number, where only tile sizes occur."""
        if not all(isinstance(a, Tile) for powers, _ in self.terms for a, _ in powers):
            return None
        return self.value({})

    def value(self, sizes: Numbers) -> Fraction:
        """The number for given sizes. Raises KeyError for a scalar without a value."""
        total = Fraction(0)
        for powers, c in self.terms:
            for a, n in powers:
                c *= _number(a, sizes) ** n
            total += c
        return total


def _number(e: Expr, sizes: Numbers) -> Fraction:
    if isinstance(e, Var):
        return Fraction(sizes[e.name])
    # Asked one by one: `sizes` may know more than it holds.
    return Fraction(evaluate(e, {n: v for n in names(e) if isinstance(v := sizes[n], int)}))


def number(n: int | Fraction) -> Amount:
    return Amount((((), Fraction(n)),)) if n else Amount()


def atom(e: Expr) -> Amount:
    return Amount(((((e, 1),), Fraction(1)),))


def amount(e: Expr, exact: Divisions = NO_DIVISIONS) -> Amount:
    """An integer expression, where divisions by steps of loops over tiles leave no rest: `exact`
    has the ranges that they divide, by step. `(U + T - 1) / T` is `U/T` where U is such a range."""
    return _amount(poly(e), exact)


def _amount(p: Poly, exact: Divisions) -> Amount:
    out = Amount()
    for monomial, c in p.terms:
        out += reduce(mul, (_atom(a, exact) for a in monomial), number(c))
    return out


def _atom(e: Expr, exact: Divisions) -> Amount:
    match e:
        case Bin("/", left, right) if (step := poly(right)) in exact:
            rounded = poly(left) - step + constant(1)
            top = rounded if rounded in exact[step] else poly(left)
            return _amount(top, exact).over(amount(right))
        case _:
            return atom(e)


def summed(a: Amount, name: str, first: Amount, step: Amount, count: Amount) -> Amount | None:
    """The sum of `a` for `name` = first, first + step, ... `count` times; None where `a` is no
    polynomial of it."""
    powers = a.powers_of(name)
    if powers is None:
        return None
    out = Amount()
    for n, factor in powers.items():
        for k in range(n + 1):  # the terms of (first + step*t)^n, summed over t
            binomial = number(comb(n, k)) * first ** (n - k) * step**k
            out += factor * binomial * _power_sum(k, count)
    return out


def _power_sum(k: int, count: Amount) -> Amount:
    """0^k + 1^k + ... + (count - 1)^k, from count^(k+1) = sum of C(k+1, j) * S_j for j <= k."""
    lower = (number(comb(k + 1, j)) * _power_sum(j, count) for j in range(k))
    rest = reduce(lambda x, y: x - y, lower, count ** (k + 1))
    return rest * number(Fraction(1, k + 1))


def _sum(terms: Iterable[tuple[Powers, Fraction]]) -> Amount:
    out: dict[Powers, Fraction] = {}
    for p, c in terms:
        out[p] = out.get(p, Fraction(0)) + c
    return Amount(tuple(sorted(((p, c) for p, c in out.items() if c), key=lambda t: _place(t[0]))))


def _place(powers: Powers) -> tuple[object, ...]:
    """High powers first, the number last."""
    return (not powers, [(atom_key(a), -n) for a, n in powers])


def _joined(a: Powers, b: Powers) -> Powers:
    out = dict(a)
    for x, n in b:
        out[x] = out.get(x, 0) + n
    return tuple(sorted(((x, n) for x, n in out.items() if n), key=lambda p: atom_key(p[0])))


# ---------------------------------------------------------------- products


@record
class Product:
    """`coefficient * powers * factors`; each factor is a sum of several terms, without a common
    divisor."""

    coefficient: Fraction
    powers: Powers
    factors: tuple[Amount, ...]

    @property
    def atoms(self) -> Iterator[Expr]:
        sums = (Amount(((self.powers, self.coefficient),)), *self.factors)
        return (a for s in sums for powers, _ in s.terms for a, _ in powers)

    @property
    def kind(self) -> object:
        """What products that differ by a number have in common."""
        return self.powers, frozenset(Counter(self.factors).items())

    def value(self, sizes: Numbers) -> Fraction:
        """The number for given sizes. Raises KeyError for a scalar without a value."""
        one = Amount(((self.powers, self.coefficient),)) if self.coefficient else Amount()
        return reduce(mul, (f.value(sizes) for f in self.factors), one.value(sizes))

    def text(self) -> str:
        """`3*M*N*(U - 1)/(2*Ty)`."""
        top = [_text(a) for a, n in self.powers for _ in range(n)]
        sums = ([Product(c, p, ()) for p, c in f.terms] for f in self.factors)
        top += [f"({sum_text(s)})" for s in sums]
        below = [_text(a) for a, n in self.powers for _ in range(-n)]
        if self.coefficient.numerator != 1 or not top:
            top.insert(0, str(self.coefficient.numerator))
        if self.coefficient.denominator != 1:
            below.insert(0, str(self.coefficient.denominator))
        divisor = "*".join(below)
        if len(below) > 1:
            divisor = f"({divisor})"
        return "*".join(top) + (f"/{divisor}" if below else "")


def product(parts: Iterable[Amount]) -> Product:
    """What the amounts multiplied are, common divisors taken out of each."""
    out = Product(Fraction(1), (), ())
    for a in parts:
        if not a.terms:
            return Product(Fraction(0), (), ())
        coefficient, powers, rest = _content(a)
        factors = out.factors if len(a.terms) == 1 else (*out.factors, rest)
        out = Product(out.coefficient * coefficient, _joined(out.powers, powers), factors)
    return out


def _content(a: Amount) -> tuple[Fraction, Powers, Amount]:
    """The greatest common divisor of the terms, and what they are over it."""
    coefficients = [c for _, c in a.terms]
    top = gcd(*(c.numerator for c in coefficients))
    share = Fraction(top, lcm(*(c.denominator for c in coefficients)))
    if coefficients[0] < 0:
        share = -share
    tables = [dict(p) for p, _ in a.terms]
    atoms = {x: None for t in tables for x in t}
    common = {x: min(t.get(x, 0) for t in tables) for x in atoms}
    powers = _joined(tuple(common.items()), ())
    return share, powers, a.over(Amount(((powers, share),)))


def sum_text(products: Iterable[Product]) -> str:
    """`n + Ty*Ry - 1`, positive terms first; `0` for none."""
    out = ""
    for p in sorted(products, key=lambda p: p.coefficient < 0):
        text = replace(p, coefficient=abs(p.coefficient)).text()
        sign = "-" if p.coefficient < 0 else "+"
        out += f" {sign} {text}" if out else text if sign == "+" else f"-{text}"
    return out or "0"


def _text(e: Expr) -> str:
    text = expr_text(e)
    return text if isinstance(e, Var | Tile) else f"({text})"
