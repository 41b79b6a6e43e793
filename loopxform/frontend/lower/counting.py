"""Whether a loop counts in C as it does in the integers: signs, widths and wrap-around."""

from __future__ import annotations

from pycparser import c_ast

from loopxform.frontend.lower.expressions import Expressions
from loopxform.frontend.lower.facts import Facts, is_truth
from loopxform.frontend.lower.refusal import refused
from loopxform.frontend.names.symbols import Symbol
from loopxform.ir.affine import value_of
from loopxform.ir.nodes import Bin, Cast, Const, Expr
from loopxform.ir.types import INT, Scalar, common


class Counting:
    """Refuses headers that could wrap around; asks `facts` for what only the arguments decide."""

    def __init__(self, expressions: Expressions, facts: Facts) -> None:
        self.type_of = expressions.type_of
        self.facts = facts

    def keeps(self, c: Cast) -> bool:
        """Whether a conversion keeps every value, or can be asked to."""
        t, inner = c.type, self.type_of(c.operand)
        if not (t.is_integer and inner.is_integer):
            return False
        if t.is_unsigned and not inner.is_unsigned:
            return t.bytes >= inner.bytes and self.facts.non_negative(c.operand)
        if t.bytes > inner.bytes or (t.bytes == inner.bytes and t.is_unsigned == inner.is_unsigned):
            return True
        largest = Const((1 << (8 * t.bytes - (0 if t.is_unsigned else 1))) - 1, inner)
        upper = self.facts.assume(Bin("<=", c.operand, largest))
        return upper and (inner.is_unsigned or self.facts.non_negative(c.operand))

    def reaches(self, symbol: Symbol, lo: Expr, hi: Expr, step: int, node: c_ast.For) -> None:
        """An unsigned variable that passes its bound with != wraps around."""
        low, high = (lo, hi) if step > 0 else (hi, lo)
        assert symbol.type.base is not None
        if symbol.type.base.is_unsigned and not (value_of(low) == 0 and self.facts.known(high)):
            raise refused(node.cond, "the loop may pass its bound and wrap around", "end it with <")
        if symbol.type.base.bytes < INT.bytes and not self._in_order(low, high):
            # Its value is converted back to the narrow type, which is no overflow.
            raise refused(node.cond, "the loop may pass its bound and wrap around", "end it with <")

    def _in_order(self, low: Expr, high: Expr) -> bool:
        """Whether a bound is not below another, or can be asked to be."""
        ends = value_of(low), value_of(high)
        if ends[0] is not None and ends[1] is not None:
            return ends[0] <= ends[1]
        if self._values(low)[1] <= self._values(high)[0]:
            return True
        return self.facts.assume(Bin("<=", low, high))

    def agrees(
        self, symbol: Symbol, lo: Expr, hi: Expr, form: tuple[str, int, int], node: c_ast.For
    ) -> None:
        """Counting in C agrees with counting in the integers."""
        op, step, shift = form
        t = symbol.type.base
        assert t is not None
        if t.bytes < INT.bytes:
            self._narrow(symbol, t, lo, hi, form, node)
        compared = common(t, self.type_of(hi)).is_unsigned
        falls = step < 0 and (t.is_unsigned or compared)
        if falls and (shift or not self._ends_above_zero(op, step, hi)):
            help = "use a signed variable (int or long)"
            raise refused(
                node.cond, f"the unsigned '{symbol.name}' may wrap around below zero", help
            )
        self._fits(symbol, t, lo, node)
        help = "make the loop variable and its bounds all signed, or all unsigned"
        if (t.is_unsigned or compared) and not self.facts.non_negative(lo):
            raise refused(node.init, "a signed start is converted to unsigned", help)
        if compared and not self.facts.non_negative(hi):
            raise refused(node.cond, "a signed bound is converted to unsigned", help)
        if compared and shift:
            least = Bin(">=", hi, Const(shift))
            if shift < 0 or not self.facts.assume(least):
                help = "make the variables signed (int or long)"
                raise refused(node.cond, "an unsigned sum may wrap around", help)

    def _ends_above_zero(self, op: str, step: int, hi: Expr) -> bool:
        """Whether the first value past the bound of a loop that counts down is no less than 0, or
        can be asked to be."""
        least = -step if op == ">=" else -step - 1
        value = value_of(hi)
        if least == 0 or value is not None:
            return least == 0 or (value is not None and value >= least)
        return self.facts.assume(Bin(">=", hi, Const(least)))

    def _fits(self, symbol: Symbol, t: Scalar, lo: Expr, node: c_ast.For) -> None:
        """The start value survives the conversion to the type of the variable."""
        given = self.type_of(lo)
        signed_wins = given.is_unsigned and not t.is_unsigned and given.bytes >= t.bytes
        if (given.bytes <= t.bytes and not signed_wins) or value_of(lo) is not None:
            return
        if is_truth(lo):
            return
        largest = Const((1 << (8 * t.bytes - (0 if t.is_unsigned else 1))) - 1, given)
        if not self.facts.assume(Bin("<=", lo, largest)):
            reason = f"the start of '{symbol.name}' may not fit its type"
            raise refused(node.init, reason, f"declare '{symbol.name}' as {given}")

    def _narrow(
        self,
        symbol: Symbol,
        t: Scalar,
        lo: Expr,
        hi: Expr,
        form: tuple[str, int, int],
        node: c_ast.For,
    ) -> None:
        """All values, the one that ends the loop included, are values of the narrow type, or the
        bound can be asked to see to it."""
        op, step, shift = form
        smallest, largest = _range(t)
        beyond = abs(step) - (1 if op in ("<", ">") else 0)
        last = largest + shift - beyond if step > 0 else smallest + shift + beyond
        ends = [("<=", hi, last)] if step > 0 else [(">=", hi, last)]
        if all(self._is_within(*x) for x in (("<=", lo, largest), (">=", lo, smallest), *ends)):
            return
        reason = f"'{symbol.name}' of type {t} may wrap around before the bound"
        raise refused(node, reason, "count with an int")

    def _is_within(self, op: str, e: Expr, limit: int) -> bool:
        """Whether a number keeps to a limit, or can be asked to."""
        least, most = self._values(e)
        known = most <= limit if op == "<=" else least >= limit
        return known or (value_of(e) is None and self.facts.assume(Bin(op, e, Const(limit))))

    def _values(self, e: Expr) -> tuple[int, int]:
        """The least and greatest value of an expression, as far as its type tells."""
        value = value_of(e)
        if value is not None:
            return value, value
        return (0, 1) if is_truth(e) else _range(self.type_of(e))


def _range(t: Scalar) -> tuple[int, int]:
    most = (1 << (8 * t.bytes - (0 if t.is_unsigned else 1))) - 1
    return (0 if t.is_unsigned else -most - 1), most
