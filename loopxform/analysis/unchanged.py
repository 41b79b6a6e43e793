"""What is known of expressions that are computed with padding, and the rules by which a variable
keeps its value through them.

    x + -0.0 = x        x + 0.0 = x where x is never -0.0        (A > x ? A : x) = x for the least A

What the program computes as well, from the same values, has any value and does no harm.
"""

from __future__ import annotations

from typing import assert_never

from loopxform.analysis.abstract_values import (
    Undefined,
    Value,
    arithmetic,
    bitwise,
    compare,
    convert,
    either,
    integer,
    negative,
    real,
    truth,
    unknown,
)
from loopxform.analysis.invariants import never_minus_zero, truth_values
from loopxform.ir.functions import INTEGER, base_name, parameters
from loopxform.ir.nodes import (
    Bin,
    Call,
    Cast,
    Const,
    Expr,
    Function,
    Load,
    Select,
    Tile,
    Un,
    Var,
)
from loopxform.ir.types import INT, Scalar, common, promote
from loopxform.ir.typing import COMPARISONS, symbols, type_of
from loopxform.ir.visit import declared, loads, names


class Rule:
    """Why a value stays as it is. `x` is what it was."""

    ANY_SUM = "x + -0.0 is x"
    SUM = "x + 0.0 is x, which is never -0.0"
    DIFFERENCE = "x - 0.0 is x"
    INTEGER_SUM = "x + 0 is x"
    PRODUCT = "x * 1 is x"
    BITS = "x & ~0, x | 0 and x ^ 0 are x"
    LOGIC = "x && 1 and x || 0 are x, which is 0 or 1"
    EXTREME = "no x is beyond the last value of its type"
    NAN = "fmax and fmin of x and NaN are x"
    UNORDERED = "a comparison with NaN is false"
    SKIPPED = "the condition is false"


class Expressions:
    """What is known of expressions. `env` holds the variables that a body declares itself, `pads`
    the arrays of which every element is one number; `moving` are names with values that they never
    have in the program, `computed` those of them that were computed from padding, perhaps; `strict`
    is set where the program may never have come. `rules` collects the rules that were needed."""

    def __init__(self, fn: Function, pads: dict[str, Value], *, invariants: bool) -> None:
        self.fn, self.pads = fn, pads
        self.types, self.storage = symbols(fn), declared(fn.body)
        self.invariants = invariants
        self.rules: list[str] = []
        self.env: dict[str, Value] = {}
        self.computed: frozenset[str] = frozenset()
        self.moving: frozenset[str] = frozenset()
        self.strict = False

    def ordinary(self, e: Expr) -> bool:
        """Whether an iteration of the program computes `e` as well, with the same result."""
        return bool(names(e)) and self.steady(e)

    def steady(self, e: Expr) -> bool:
        """As `ordinary`, for expressions that may be constants."""
        return not self.strict and not names(e) & self.moving

    def converted(self, v: Value, to: Scalar) -> Value:
        """Converted as by an assignment."""
        place = v.place
        home = None if place is None else self.types[name_of(place)]
        return convert(v, to, home)

    def subscripts(self, index: tuple[Expr, ...]) -> None:
        for i in index:
            for x in loads(i):
                raise Undefined(f"a subscript is read from '{x.array}'")
            if names(i) & self.computed:
                raise Undefined("a subscript is computed from padding")

    def value(self, e: Expr) -> Value:
        """What is known of an expression. Raises Undefined."""
        match e:
            case Const(n, t):
                return real(t, float(n)) if t.is_float else integer(t, int(n))
            case Tile(_, n, is_threshold):
                return unknown(INT) if is_threshold else integer(INT, n)
            case Var(name):
                return self.env[name] if name in self.env else self._at(e, name)
            case Load(array, index):
                return self._element(e, array, index)
            case Bin(op, left, right):
                return self._binary(e, op, left, right)
            case Un(op, operand):
                return self._unary(e, op, operand)
            case Cast(t, operand):
                return unknown(t) if self.ordinary(e) else self.converted(self.value(operand), t)
            case Call(name, args):
                return self._call(e, name, args)
            case Select(cond, then, orelse):
                return self._select(e, cond, then, orelse)
            case _:
                assert_never(e)

    def _at(self, e: Var | Load, name: str) -> Value:
        """What a variable of the program holds."""
        t = self.types[name]
        if self.invariants and name in self.storage and truth_values(self.fn, name):
            return Value(t, 0, 1, place=e)
        v = unknown(t)
        return Value(t, v.low, v.high, place=e)

    def _element(self, e: Load, array: str, index: tuple[Expr, ...]) -> Value:
        if array not in self.pads and array not in self.storage:
            if self.ordinary(e):
                return unknown(self.types[array])
            raise Undefined(f"'{array}' is read past the bounds check")
        self.subscripts(index)
        if array in self.pads:
            return self.pads[array]
        return self.env[array] if array in self.env else self._at(e, array)

    def _binary(self, e: Bin, op: str, left: Expr, right: Expr) -> Value:
        if self.ordinary(e):
            return unknown(type_of(e, self.types))
        if op in ("&&", "||"):
            return self._logic(op, left, right)
        a, b = self.value(left), self.value(right)
        if op in ("<<", ">>"):
            return self._shift(op, a, b, right)
        t = common(a.type, b.type)
        a, b = self.converted(a, t), self.converted(b, t)
        if op in COMPARISONS:
            if (a.is_nan or b.is_nan) and op != "!=":
                self.rules.append(Rule.UNORDERED)
            return truth(compare(op, a, b))
        if op in ("min", "max"):
            return self._extreme(op == "max", a, b)
        if op in ("/", "%"):
            if not self.strict and not names(e):
                return unknown(t)
            raise Undefined("a division would meet padding")
        kept = self._kept(op, a, b)
        if kept is not None:
            return kept
        return bitwise(op, a, b) if op in "&|^" else arithmetic(op, a, b)

    def _kept(self, op: str, a: Value, b: Value) -> Value | None:
        """The operand that is the result, where the other one is neutral."""
        if a.place is not None and (rule := self._neutral(op, a, b)):
            self.rules.append(rule)
            return a
        if op != "-" and b.place is not None and (rule := self._neutral(op, b, a)):
            self.rules.append(rule)
            return b
        return None

    def _neutral(self, op: str, x: Value, n: Value) -> str | None:
        """The rule by which x op n is x."""
        if x.type.is_float:
            if op == "+" and n.is_number(-0.0):
                return Rule.ANY_SUM
            if op == "+" and n.is_number(0.0) and self._never_minus_zero(x):
                return Rule.SUM
            if op == "-" and n.is_number(0.0):
                return Rule.DIFFERENCE
            return Rule.PRODUCT if op == "*" and n.is_number(1.0) else None
        if op in "+-" and n.integer == 0:
            return Rule.INTEGER_SUM
        if op == "*" and n.integer == 1:
            return Rule.PRODUCT
        if op in "|^" and n.integer == 0:
            return Rule.BITS
        mask = n.integer
        if op != "&" or mask is None:
            return None
        below = mask & (mask + 1) == 0 and x.low >= 0 and x.high <= mask
        return Rule.BITS if mask == -1 or below else None

    def _never_minus_zero(self, x: Value) -> bool:
        name = "" if x.place is None else name_of(x.place)
        return self.invariants and name in self.storage and never_minus_zero(self.fn, name)

    def _logic(self, op: str, left: Expr, right: Expr) -> Value:
        decided = op == "||"
        a = self.value(left)
        if a.truth is decided:
            return truth(decided)
        strict, self.strict = self.strict, self.strict or not self.ordinary(left)
        b = self.value(right)
        self.strict = strict
        if b.truth is decided:
            return truth(decided)
        for x, n in ((a, b), (b, a)):
            if n.truth is not None and x.place is not None and (x.low, x.high) == (0, 1):
                self.rules.append(Rule.LOGIC)
                return self.converted(x, INT)
        return truth(not decided if a.truth is b.truth is (not decided) else None)

    def _shift(self, op: str, a: Value, b: Value, amount: Expr) -> Value:
        t, n = promote(a.type), b.integer
        a = self.converted(a, t)
        if not (self.ordinary(amount) if n is None else 0 <= n < 8 * t.bytes):
            raise Undefined("a shift by padding")
        if a.integer == 0:
            return integer(t, 0)
        if op == "<<" and not t.is_unsigned:
            raise Undefined("a shift that may overflow")
        return unknown(t)

    def _extreme(self, most: bool, a: Value, b: Value) -> Value:
        """The greater or the smaller of two integers."""
        for x, n in ((a, b), (b, a)):
            if a.type.is_integer and (n.high <= x.low if most else x.high <= n.low):
                self.rules += [Rule.EXTREME] if x.place is not None else []
                return x
        return either(a, b)

    def _unary(self, e: Un, op: str, operand: Expr) -> Value:
        if self.ordinary(e):
            return unknown(type_of(e, self.types))
        v = self.value(operand)
        if op == "!":
            return truth(None if v.truth is None else not v.truth)
        v = self.converted(v, promote(v.type))
        if op == "+":
            return v
        if op == "-":
            return negative(v)
        return unknown(v.type) if v.integer is None else integer(v.type, ~v.integer)

    def _call(self, e: Call, name: str, args: tuple[Expr, ...]) -> Value:
        t = type_of(e, self.types)
        wanted = parameters(name)
        if self.ordinary(e):
            return unknown(t)
        if wanted is None:
            raise Undefined(f"a call of {name}")
        values = [self.converted(self.value(a), w) for a, w in zip(args, wanted, strict=True)]
        a, b = values[0], values[-1]
        if name in INTEGER:
            return a if a.low >= 0 else negative(a) if a.high <= 0 else self._magnitude(a)
        match base_name(name):
            case "fmax" | "fmin" if a.is_nan or b.is_nan:
                self.rules.append(Rule.NAN)
                return a if b.is_nan else b
            case "fabs" if a.number is not None:
                return real(t, abs(a.number))
            case "sqrt" if a.is_nan or a.number == 0:
                return a
            case "fma":
                x = arithmetic("*", values[0], values[1])
                return self._kept("+", x, b) or arithmetic("+", x, b)
            case _:
                return unknown(t)

    def _magnitude(self, v: Value) -> Value:
        negative(v)
        return Value(v.type, 0, max(-v.low, v.high))

    def _select(self, e: Select, cond: Expr, then: Expr, orelse: Expr) -> Value:
        t = type_of(e, self.types)
        if self.ordinary(e):
            return unknown(t)
        holds = self.value(cond).truth
        strict, self.strict = self.strict, self.strict or not self.ordinary(cond)
        sides = [x for x, at in ((then, True), (orelse, False)) if holds is not (not at)]
        found = [self.converted(self.value(x), t) for x in sides]
        self.strict = strict
        if len(found) == 1:
            return found[0]
        order = _order(cond, then, orelse)
        if order is not None and t.is_integer and self._compared_in(cond, t):
            return self._extreme(order == ">", *found)
        return either(*found)

    def _compared_in(self, cond: Expr, t: Scalar) -> bool:
        assert isinstance(cond, Bin)
        return common(type_of(cond.left, self.types), type_of(cond.right, self.types)) == t


def name_of(place: Var | Load) -> str:
    """The variable or array of a place."""
    return place.name if isinstance(place, Var) else place.array


def _order(cond: Expr, then: Expr, orelse: Expr) -> str | None:
    """`>` for x > y ? x : y and what says the same, `<` for the smaller of the two."""
    if not isinstance(cond, Bin) or cond.op not in ("<", "<=", ">", ">="):
        return None
    if (cond.left, cond.right) == (then, orelse):
        return cond.op[0]
    if (cond.left, cond.right) == (orelse, then):
        return ">" if cond.op[0] == "<" else "<"
    return None
