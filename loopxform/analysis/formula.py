"""C expressions as linear formulas: subscripts by cases, conditions in disjunctive normal form.

Division and remainder truncate towards zero (C11 6.5.5), so they split into a case for operands
>= 0 and one for operands < 0. `min` and `max` split the comparison they stand in. A condition that
is not affine is over-approximated by true, under negation too, and reported as inexact.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from loopxform.analysis.cases import Case, Cases, with_sign
from loopxform.analysis.linear import (
    FALSE,
    TRUE,
    Conj,
    Constraint,
    Dnf,
    Lin,
    at_least,
    conjoin,
    const,
    constant_of,
    equal,
    plus,
    times,
    variable,
)
from loopxform.ir.affine import Poly, poly, to_expr
from loopxform.ir.nodes import Bin, Cast, Const, Expr, Load, Select, Tile, Un, Var
from loopxform.ir.types import Scalar
from loopxform.ir.visit import walk_expr

MAX_CASES = 16

NEGATED = {"<": ">=", ">=": "<", ">": "<=", "<=": ">", "==": "!=", "!=": "=="}


class Scope(Protocol):
    """What the names of an expression mean at its place in the program."""

    def meaning(self, name: str) -> Cases | None:
        """The value of an integer scalar, or None where it is not known to be affine."""

    def symbol(self, e: Expr) -> str | None:
        """The name of an unknown constant for an expression that never changes here, or None."""

    def member(self, e: Load) -> str | None:
        """The name of a member of a struct that never changes in the function, or None."""

    def fresh(self) -> str:
        """A new auxiliary integer."""

    def type_of(self, e: Expr) -> Scalar | None:
        """The C type of an expression, or None where it is not known."""


@dataclass
class Translator:
    """Translates expressions in one scope; `exact` says whether nothing was approximated so far,
    `known` whether nothing was but for symbols, which stand for values that never change here."""

    scope: Scope
    exact: bool = True
    known: bool = True
    found: dict[int, tuple[Expr, Cases | None, bool, bool]] = field(default_factory=dict)
    """Operands that were translated, by identity, and whether they were `exact` and `known`: `min`
    and `max` compare theirs, and nested ones do so again and again."""

    # ------------------------------------------------------------ values

    def cases(self, e: Expr) -> Cases | None:
        """The value of an integer expression by cases that exclude each other and cover
        everything, or None (which clears `exact`) where it is not affine."""
        if isinstance(e, Const | Var):
            return self._translated(e)
        known = self.found.get(id(e))
        if known is None or known[0] is not e:
            inner = Translator(self.scope, found=self.found)
            known = e, inner._translated(e), inner.exact, inner.known
            self.found[id(e)] = known
        _, cases, exact, is_known = known
        self.exact, self.known = self.exact and exact, self.known and is_known
        return cases

    def _translated(self, e: Expr) -> Cases | None:
        found = self._cases(e)
        if found is not None and len(found) <= MAX_CASES:
            return found
        self.exact = False
        symbol = self.scope.symbol(e)
        self.known = self.known and symbol is not None
        return None if symbol is None else ((variable(symbol), ()),)

    def _cases(self, e: Expr) -> Cases | None:  # noqa: C901
        match e:
            case Const(value):
                return ((const(value), ()),) if isinstance(value, int) else None
            case Tile(name, value, is_threshold):
                return ((variable(f"`{name}`") if is_threshold else const(value), ()),)
            case Var(name):
                return self.scope.meaning(name)
            case Un("+", operand):
                return self.cases(operand)
            case Bin("+" | "-" | "*" | "<<") | Un("-") if self._of_elements(e):
                return None
            case Un("-", operand):
                return _map(self.cases(operand), lambda x: times(x, -1))
            case Un("~", operand) if not self._is_unsigned(e):
                return _map(self.cases(operand), lambda x: plus(const(-1), x, -1))
            case Cast(type, operand):
                return self._converted(type, operand)
            case Bin("+", left, right):
                return _both(self.cases(left), self.cases(right), plus)
            case Bin("-", left, right):
                return _both(self.cases(left), self.cases(right), lambda a, b: plus(a, b, -1))
            case Bin("*", left, right):
                return self._product(left, right)
            case Bin("/" | "%" as op, left, right):
                return self._divided(op, *self._alike(e, left, right))
            case Bin("<<" | ">>", left, right):
                return self._bits(e.op, left, right)
            case Bin("&", left, right):
                return self._bits("&", *self._alike(e, left, right))
            case Bin("min" | "max" as op, left, right):
                less = "<=" if op == "min" else ">="
                return self._select(Bin(less, left, right), left, right)
            case Select(cond, then, orelse):
                return self._select(cond, *self._alike(e, then, orelse))
            case Load(_, index) if all(isinstance(i, Const) for i in index):
                return self._element(e)
            case _:
                return None

    def _element(self, e: Load) -> Cases | None:
        """A member of a struct, or an element of an array, that the function never sets is any
        number, as a parameter is."""
        element, t = self.scope.member(e), self.scope.type_of(e)
        if element is None or t is None or t.bytes < 4:
            return None
        x = variable(element)
        return ((x, (at_least(x, {}),) if t.is_unsigned else ()),)

    def _is_unsigned(self, e: Expr) -> bool:
        t = self.scope.type_of(e)
        return t is None or t.is_unsigned

    def _of_elements(self, e: Expr) -> bool:
        """Unsigned arithmetic on array elements, which may wrap around."""
        t = self.scope.type_of(e)
        return t is not None and t.is_unsigned and any(isinstance(x, Load) for x in walk_expr(e))

    def _alike(self, e: Expr, *operands: Expr) -> tuple[Expr, Expr]:
        """The operands of an unsigned quotient, remainder, `&` or `?:`, the signed ones converted
        as C does before (C11 6.3.1.8)."""
        t = self.scope.type_of(e)
        types = [self.scope.type_of(x) for x in operands]
        left, right = (
            Cast(t, x)
            if t is not None and t.is_unsigned and s is not None and not s.is_unsigned
            else x
            for x, s in zip(operands, types)
        )
        return left, right

    def _converted(self, type: Scalar, operand: Expr) -> Cases | None:
        """Widening keeps a value; a negative number that becomes unsigned counts from the top (C11
        6.3.1.3), and what a signed type cannot hold counts from below 0, as compilers have it. A
        cast to the same unsigned type marks arithmetic that may wrap around."""
        source = self.scope.type_of(operand)
        if source is None or not (type.is_integer and source.is_integer):
            return None
        if type == source and type.is_unsigned and isinstance(operand, Bin | Un):
            return None
        if type.bytes < source.bytes or (type.kind == "bool" and source.kind != "bool"):
            return None
        found = self.cases(operand)
        if found is None or source.is_unsigned == type.is_unsigned:
            return found
        if source.is_unsigned and type.bytes > source.bytes:
            return found
        return with_sign(found, type)

    def _product(self, left: Expr, right: Expr) -> Cases | None:
        a, b = self.cases(left), self.cases(right)
        if a is None or b is None:
            return None
        for number, value in ((b, a), (a, b)):
            factor = constant_of(number[0][0]) if len(number) == 1 else None
            if factor is not None:
                return tuple((times(x, factor), when) for x, when in value)
        return self._multiple(Bin("*", left, right))

    def _multiple(self, e: Expr) -> Cases | None:
        """A number times a product of which nothing is known: `3*h*w` is three times `h*w`."""
        terms = poly(e).terms
        if len(terms) != 1 or terms[0][1] == 1 or self._is_unsigned(e):
            return None
        ((product, factor),) = terms
        return _map(self.cases(to_expr(Poly(((product, 1),)))), lambda x: times(x, factor))

    def _divided(self, op: str, left: Expr, right: Expr) -> Cases | None:
        a, divisor = self.cases(left), self._positive(right)
        if a is None or divisor is None:
            return None
        out: list[Case] = []
        for x, when in a:
            value = constant_of(x)
            for sign in (1, -1):
                if value is not None and (value >= 0) != (sign > 0):
                    continue
                q = variable(self.scope.fresh())
                side = at_least(times(x, sign), const(0 if sign > 0 else 1))
                rest = times(plus(x, q, -divisor), sign)
                within = (at_least(rest, {}), at_least(const(divisor - 1), rest))
                result = q if op == "/" else plus(x, q, -divisor)
                out.append((result, (*when, side, *within)))
        return tuple(out)

    def _positive(self, e: Expr) -> int | None:
        found = self.cases(e)
        value = constant_of(found[0][0]) if found and len(found) == 1 else None
        return value if value is not None and value > 0 else None

    def _bits(self, op: str, left: Expr, right: Expr) -> Cases | None:
        """Shifts by a constant, `x & (2^n - 1)`, which is x modulo 2^n in two's complement, and
        `x & -(2^n)`, which is x without that."""
        a, number = self.cases(left), self.cases(right)
        amount = constant_of(number[0][0]) if number and len(number) == 1 else None
        least, most = (-(1 << 31), 1 << 31) if op == "&" else (0, 31)
        if a is None or amount is None or not least <= amount < most:
            return None
        if op == "<<":
            return _map(a, lambda x: times(x, 1 << amount))
        power = 1 << amount if op == ">>" else amount + 1 if amount >= 0 else -amount
        if power & (power - 1):
            return None
        out: list[Case] = []
        for x, when in a:
            q = variable(self.scope.fresh())
            rest = plus(x, q, -power)
            within = (at_least(rest, {}), at_least(const(power - 1), rest))
            value = q if op == ">>" else rest if amount >= 0 else times(q, power)
            out.append((value, (*when, *within)))
        return tuple(out)

    def _select(self, cond: Expr, then: Expr, orelse: Expr) -> Cases | None:
        inner = Translator(self.scope, found=self.found)
        yes, no = inner.condition(cond), inner.condition(cond, holds=False)
        a, b = self.cases(then), self.cases(orelse)
        if a is None or b is None or not inner.known:
            return None
        self.exact = self.exact and inner.exact
        out = [(x, c + when) for c in yes for x, when in a]
        out += [(x, c + when) for c in no for x, when in b]
        return tuple(out) if len(out) <= MAX_CASES else None

    # ------------------------------------------------------------ conditions

    def condition(self, e: Expr, *, holds: bool = True) -> Dnf:
        """A formula implied by the truth (or falsehood) of `e`, equal to it while `exact`."""
        match e:
            case Un("!", operand):
                return self.condition(operand, holds=not holds)
            case Bin("&&" | "||" as op, left, right):
                a = self.condition(left, holds=holds)
                b = self.condition(right, holds=holds)
                return self._and(a, b) if (op == "&&") == holds else self._or(a, b)
            case Bin(op, left, right) if op in NEGATED:
                return self.compare(op if holds else NEGATED[op], left, right)
            case Const(value):
                return TRUE if bool(value) == holds else FALSE
            case _:
                return self.compare("!=" if holds else "==", e, Const(0))

    def compare(self, op: str, a: Expr, b: Expr) -> Dnf:
        """The formula of a comparison of integers."""
        match op:
            case "<":
                return self._below(a, b, 1)
            case "<=":
                return self._below(a, b, 0)
            case ">":
                return self._below(b, a, 1)
            case ">=":
                return self._below(b, a, 0)
            case "!=":
                return self._or(self._below(a, b, 1), self._below(b, a, 1))
            case _:
                return self._relate(a, b, equal)

    def _below(self, a: Expr, b: Expr, gap: int) -> Dnf:
        """a + gap <= b."""
        for side, other, is_low in ((a, b, True), (b, a, False)):
            if isinstance(side, Bin) and side.op in ("min", "max"):
                parts = [
                    self._below(x, other, gap) if is_low else self._below(other, x, gap)
                    for x in (side.left, side.right)
                ]
                both = (side.op == "max") == is_low
                return self._and(*parts) if both else self._or(*parts)
        for side, other, is_low in ((a, b, True), (b, a, False)):
            if isinstance(side, Bin) and side.op == "/":
                found = self._quotient(side, other, -gap if is_low else gap, is_low=is_low)
                if found is not None:
                    return found
        return self._relate(a, b, lambda x, y: at_least(y, x, gap))

    def _quotient(self, q: Bin, other: Expr, shift: int, *, is_low: bool) -> Dnf | None:
        """x / d <= y where `is_low`, else x / d >= y, with y = other + shift: by the sign of y, so
        that the quotient needs no name. None where that is not known to be affine."""
        left, right = self._alike(q, q.left, q.right)
        numerators, d, others = self.cases(left), self._positive(right), self.cases(other)
        if numerators is None or d is None or others is None:
            return None
        out: list[Conj] = []
        for x, c in numerators:
            for value, e in others:
                y = plus(value, const(shift))
                if is_low:
                    out.append((*c, *e, at_least(y, {}), at_least(times(y, d), x, 1 - d)))
                    out.append((*c, *e, at_least({}, y, 1), at_least(times(y, d), x)))
                else:
                    out.append((*c, *e, at_least(y, {}, 1), at_least(x, times(y, d))))
                    out.append((*c, *e, at_least({}, y), at_least(x, times(y, d), 1 - d)))
        return self._few(tuple(_plain(conj) for conj in out if not _contradicts(conj)))

    def _relate(self, a: Expr, b: Expr, relation: Callable[[Lin, Lin], Constraint]) -> Dnf:
        left, right = self.cases(a), self.cases(b)
        if left is None or right is None:
            return TRUE
        out: list[Conj] = []
        for x, c in left:
            for y, d in right:
                found = relation(x, y)
                value = constant_of(found.lin)
                if value is None:
                    out.append((*c, *d, found))
                elif value == 0 or (value > 0 and not found.eq):
                    out.append((*c, *d))
        return self._few(tuple(out))

    def _and(self, a: Dnf, b: Dnf) -> Dnf:
        return self._few(conjoin(a, b))

    def _or(self, a: Dnf, b: Dnf) -> Dnf:
        if () in a or () in b:
            return TRUE
        return self._few(a + b)

    def _few(self, dnf: Dnf) -> Dnf:
        if len(dnf) <= MAX_CASES:
            return dnf
        self.exact = self.known = False
        return TRUE


def _map(cases: Cases | None, f: Callable[[Lin], Lin]) -> Cases | None:
    return None if cases is None else tuple((f(x), when) for x, when in cases)


def _both(a: Cases | None, b: Cases | None, f: Callable[[Lin, Lin], Lin]) -> Cases | None:
    if a is None or b is None or len(a) * len(b) > MAX_CASES:
        return None
    return tuple((f(x, y), c + d) for x, c in a for y, d in b)


def _contradicts(conj: Conj) -> bool:
    """Whether a number in it is not at least 0."""
    return any((constant_of(c.lin) or 0) < 0 for c in conj if not c.eq)


def _plain(conj: Conj) -> Conj:
    """Without inequalities of numbers."""
    return tuple(c for c in conj if c.eq or constant_of(c.lin) is None)
