"""What is known of a value without running anything: an interval of integers, a float to the last
bit, the variable that holds the same value; arithmetic on that as C does it.

    [2, 5] * [0, 0] = [0, 0]        0.0 * -0.0 = -0.0        NaN + x = NaN        0.0 * x is unknown

A float is known only where no operation rounded it, so that fusing a*b + c makes no difference.
What C leaves undefined raises Undefined: an operation that might overflow is not one to add to a
program.
"""

from __future__ import annotations

import math
import struct
from dataclasses import replace
from fractions import Fraction
from typing import Any

from loopxform.ir.nodes import Load, Var
from loopxform.ir.types import BOOL, DOUBLE, HALF, INT, Scalar, as_half
from loopxform.records import record


class Undefined(Exception):
    """An operation that C may leave undefined, or whose result decides too much; says which."""


@record
class Value:
    """A value of `type`: an integer of low..high, or a float that is `number` (None: any). `place`
    is a variable or element that has this value, up to a conversion that loses nothing."""

    type: Scalar
    low: int = 0
    high: int = 0
    number: float | None = None
    place: Var | Load | None = None

    @property
    def integer(self) -> int | None:
        """The only integer that it can be."""
        return self.low if self.type.is_integer and self.low == self.high else None

    @property
    def is_nan(self) -> bool:
        return self.number is not None and math.isnan(self.number)

    @property
    def truth(self) -> bool | None:
        """Whether it is other than zero; None where that is not known."""
        if self.type.is_float:
            return None if self.number is None else self.number != 0
        if self.low > 0 or self.high < 0:
            return True
        return False if self.integer == 0 else None

    def is_number(self, x: float) -> bool:
        """Whether it is this float, the sign of zero included."""
        return self.number is not None and same_bits(self.number, x)


def limits(t: Scalar) -> tuple[int, int]:
    """The least and the greatest value of an integer type."""
    if t == BOOL:
        return 0, 1
    bits = 8 * t.bytes
    return (0, (1 << bits) - 1) if t.is_unsigned else (-(1 << (bits - 1)), (1 << (bits - 1)) - 1)


def unknown(t: Scalar) -> Value:
    return Value(t) if t.is_float else Value(t, *limits(t))


def integer(t: Scalar, n: int) -> Value:
    """The integer `n`, reduced to the range of its type."""
    low, high = limits(t)
    n = low + (n - low) % (high - low + 1)
    return Value(t, n, n)


def real(t: Scalar, x: float) -> Value:
    """The float `x`, where `t` can hold it."""
    return Value(t, number=x if _holds(t, x) else None)


def truth(holds: bool | None) -> Value:
    """What a comparison gives."""
    return Value(INT, 0, 1) if holds is None else integer(INT, int(holds))


def same_bits(a: float, b: float) -> bool:
    if math.isnan(a) or math.isnan(b):
        return math.isnan(a) and math.isnan(b)
    return a == b and math.copysign(1, a) == math.copysign(1, b)


def either(a: Value, b: Value) -> Value:
    """What is known of a value that is one of two, both of one type."""
    place = a.place if a.place == b.place else None
    number = a.number
    if a.number is None or b.number is None or not same_bits(a.number, b.number):
        number = None
    return Value(a.type, min(a.low, b.low), max(a.high, b.high), number, place)


def convert(v: Value, to: Scalar, home: Scalar | None = None) -> Value:
    """`v` converted as an assignment converts; `home` is the type of its place."""
    if v.type == to:
        return v
    if to == BOOL:
        return v if _within(v, to) else replace(truth(v.truth), type=BOOL)
    if to.is_float and v.type.is_float:
        exact = v.number is None or _holds(to, v.number)
        whole = home if home is not None and home.is_float else v.type
        place = v.place if to.bytes >= min(whole.bytes, v.type.bytes) else None
        return Value(to, number=v.number if exact else None, place=place)
    if to.is_float:
        n = v.integer
        return Value(to) if n is None or abs(n) > 1 << 53 else real(to, float(n))
    if v.type.is_float:
        raise Undefined("a conversion to an integer")
    if _within(v, to):
        return replace(v, type=to)
    return unknown(to) if v.integer is None else integer(to, v.integer)


def _within(v: Value, to: Scalar) -> bool:
    low, high = limits(to)
    return v.type.is_integer and low <= v.low and v.high <= high


def _holds(t: Scalar, x: float) -> bool:
    """Whether `x` is a value of the type."""
    if t == DOUBLE or not math.isfinite(x):
        return True
    if t == HALF:
        return as_half(x) == x
    try:
        single: float = struct.unpack("f", struct.pack("f", x))[0]
    except OverflowError:
        return False
    return single == x


# ---------------------------------------------------------------- operations, operands of one type


def arithmetic(op: str, a: Value, b: Value) -> Value:
    """a + b, a - b, a * b."""
    if a.type.is_float:
        return Value(a.type, number=_exact(op, a, b))
    corners = [_apply(op, x, y) for x in (a.low, a.high) for y in (b.low, b.high)]
    low, high = min(corners), max(corners)
    least, most = limits(a.type)
    if least <= low and high <= most:
        return Value(a.type, low, high)
    if not a.type.is_unsigned:
        raise Undefined("arithmetic that may overflow")
    return integer(a.type, low) if low == high else unknown(a.type)


def negative(a: Value) -> Value:
    if a.type.is_float:
        return Value(a.type, number=None if a.number is None else -a.number)
    return arithmetic("-", integer(a.type, 0), a)


def bitwise(op: str, a: Value, b: Value) -> Value:
    """a & b, a | b, a ^ b."""
    x, y = a.integer, b.integer
    if op == "&" and 0 in (x, y):
        return integer(a.type, 0)
    if x is None or y is None:
        return unknown(a.type)
    return integer(a.type, x & y if op == "&" else x | y if op == "|" else x ^ y)


def compare(op: str, a: Value, b: Value) -> bool | None:
    if a.type.is_float:
        if a.is_nan or b.is_nan:
            return op == "!="
        if a.number is None or b.number is None:
            return None
        return _ordered(op, (a.number, a.number), (b.number, b.number))
    return _ordered(op, (a.low, a.high), (b.low, b.high))


def _ordered(op: str, a: tuple[float, float], b: tuple[float, float]) -> bool | None:
    match op:
        case "<":
            return True if a[1] < b[0] else False if a[0] >= b[1] else None
        case ">":
            return _ordered("<", b, a)
        case "<=" | ">=":
            found = _ordered("<", b, a) if op == "<=" else _ordered("<", a, b)
            return None if found is None else not found
        case _:
            apart = a[1] < b[0] or b[1] < a[0]
            equal = a[0] == a[1] == b[0] == b[1]
            return apart == (op == "!=") if apart or equal else None


def _exact(op: str, a: Value, b: Value) -> float | None:
    """The result, where it is not rounded."""
    if a.is_nan or b.is_nan:
        return math.nan
    if a.number is None or b.number is None:
        return None
    result: float = _apply(op, a.number, b.number)
    if math.isinf(a.number) or math.isinf(b.number):
        return result
    if not math.isfinite(result) or not _holds(a.type, result):
        return None
    exact: Fraction = _apply(op, Fraction(a.number), Fraction(b.number))
    return result if exact == Fraction(result) else None


def _apply(op: str, a: Any, b: Any) -> Any:
    return a + b if op == "+" else a - b if op == "-" else a * b
