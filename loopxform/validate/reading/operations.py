"""Operations on values and conversions of them, as C's types have them."""

from __future__ import annotations

from dataclasses import dataclass

import islpy as isl
from pycparser import c_ast

from loopxform.validate import expressions as ex
from loopxform.validate.ctypes import BOOL, INT, CType, common, promoted
from loopxform.validate.model import Cases, Whole
from loopxform.validate.polynomials import Polynomial, constant_of
from loopxform.validate.reading.conditions import Conditions
from loopxform.validate.reading.syntax import line_of
from loopxform.validate.reading.values import Digits, Value
from loopxform.validate.unmodelled import Unmodelled

_SIGN_COUNTS = frozenset((*ex.COMPARED, "/", "%", ">>"))
"""Operations that differ for a negative number and what an unsigned type makes of it."""


@dataclass
class Operations(Conditions):
    ranges: isl.Set | None = None
    """What the types of the parameters hold."""
    checking: bool = True
    """Whether 32 bits must suffice for what is read."""

    def binary(self, op: str, a: Value, b: Value, node: c_ast.Node) -> Value:
        (x, s), (y, t) = a, b
        if isinstance(x, Digits) and op in ("/", "%") and isinstance(y, Polynomial):
            return self._digit(op, x, y, node), s
        shift = op in ("<<", ">>")
        type = promoted(s) if shift else common(s, t)
        if isinstance(x, Polynomial) and isinstance(y, Polynomial):
            kept = self._kept(x, s, type) and (shift or self._kept(y, t, type))
            if op in _SIGN_COUNTS and not kept:
                known = None
            else:
                known = self.arithmetic(op, x, y, type, line_of(node))
            if known is not None and self._wraps(known, type, op):
                known = None
            if known is not None:
                if op in ("+", "-", "*", "<<"):
                    self.fits(known, type, node)
                return known, (INT if op in ex.COMPARED else type)
        left = self.expression(self.cast(a, type, node), node)
        right = self.expression(self.cast(b, promoted(t) if shift else type, node), node)
        if op in ex.COMPARED:
            return ex.operation(op, (left, right), INT), INT
        return ex.operation(op, (left, right), type), type

    def _kept(self, x: Polynomial, of: CType, type: CType) -> bool:
        """Whether a number is the same in the type in which two operands meet."""
        return type.holds(of) or self.in_range(x, type)

    def _digit(self, op: str, x: Digits, y: Polynomial, node: c_ast.Node) -> Polynomial | Digits:
        """Of a number divided by the size of its last digit."""
        *rest, (last, size) = x.digits
        if op == "%" and rest and not x.divisors and self.alike(size, y):
            return last
        if op == "/":
            digits, divisors = list(x.digits), [*x.divisors, y]
            while divisors and len(digits) > 1:
                at = next((d for d in divisors if self.alike(digits[-1][1], d)), None)
                if at is None:
                    break
                divisors.remove(at)
                digits.pop()
            if not divisors and len(digits) == 1:
                return digits[0][0]
            if len(digits) > 1:
                return Digits(tuple(digits), tuple(divisors))
        raise Unmodelled("the number of a group, divided by another number", line_of(node))

    # ------------------------------------------------------------ 32 bits

    def _wraps(self, value: Polynomial, type: CType, op: str) -> bool:
        """Whether a number of 64 bits without a sign may be less than zero."""
        if type.signed or type.bits < 64 or op not in ("+", "-", "*"):
            return False
        return value.affine is not None and not self.non_negative(value)

    def fits(self, value: Polynomial, type: CType, node: c_ast.Node) -> None:
        """Raises Unmodelled where a type of up to 32 bits may be too small. C leaves it open what
        signed numbers do then: sizes for which the user's own leave their type have no meaning."""
        if type.bits > 32 or not self.checking:
            return
        users = type.signed and not self.in_kernel
        a = value.affine
        if a is None:
            if users:
                return
            raise Unmodelled("a number that its type may not hold", line_of(node))
        over = self._beyond(a, type)
        if over is None:
            return
        if not self.in_kernel and constant_of(a) is None:
            if users:
                self.program.meaningless = self.program.meaningless.union(over.params())
            else:
                self.program.wrapping = self.program.wrapping.union(over.params())
            return
        raise Unmodelled("a number that its type may not hold", line_of(node))

    def holds(self, value: Polynomial, type: CType) -> bool:
        """Whether a parameter of 32 bits takes every number that is passed to it."""
        return value.affine is not None and self._beyond(value.affine, type) is None

    def _beyond(self, a: isl.PwAff, type: CType) -> isl.Set | None:
        """The instances for which a number leaves its type; None where there are none."""
        low = -(1 << (type.bits - 1)) if type.signed else 0
        high = low + (1 << type.bits) - 1
        number = constant_of(a)
        if number is not None:
            return None if low <= number <= high else self.domain
        over = a.gt_set(self.constant(high)).union(a.lt_set(self.constant(low)))
        inside = self.domain.intersect_params(self.program.quotients)
        if self.ranges is not None:
            inside = inside.intersect_params(self.ranges)
        over = inside.intersect(over)
        return None if over.is_empty() else over

    # ------------------------------------------------------------ conversions

    def cast(self, value: Value, type: CType, node: c_ast.Node) -> Value:
        v, of = value
        if type.kind == "struct" or of.kind == "struct":
            raise Unmodelled("a struct as a whole", line_of(node))
        match v:
            case Digits():
                return v, type
            case Polynomial():
                return self._cast_number(v, of, type, node)
            case Cases():
                pieces = [
                    (w, self.expression(self.cast((x, of), type, node), node)) for w, x in v.pieces
                ]
                return Cases(tuple(pieces), type), type
        return ex.converted(v, of, type, self.whole(0)), type

    def _cast_number(self, v: Polynomial, of: CType, type: CType, node: c_ast.Node) -> Value:
        if type == BOOL:
            return self.logical(self.truth((v, of), node))[0], BOOL
        if type.whole:
            if type.holds(of) or self.in_range(v, type):
                return v, type
            return ex.operation("cast", (Whole(v, of),), type), type
        if v.constant is not None:
            return ex.number(float(v.constant), type), type
        return ex.operation("cast", (Whole(v, of),), type), type
