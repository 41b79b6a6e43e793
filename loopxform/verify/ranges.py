"""Between which numbers a value lies: intervals, closed at both ends, infinite where unknown."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from loopxform.ir.types import Scalar
from loopxform.verify import arith


@dataclass(frozen=True, slots=True)
class Interval:
    """Every number from `low` to `high`."""

    low: float = -math.inf
    high: float = math.inf

    @property
    def is_point(self) -> bool:
        return self.low == self.high

    @property
    def is_finite(self) -> bool:
        return math.isfinite(self.low) and math.isfinite(self.high)

    def holds(self, other: Interval) -> bool:
        """Whether all of `other` is inside."""
        return self.low <= other.low and other.high <= self.high

    def both(self, other: Interval) -> Interval:
        """What the two have in common; empty (`low > high`) where nothing is."""
        return Interval(max(self.low, other.low), min(self.high, other.high))

    def either(self, other: Interval) -> Interval:
        """The least interval around the two."""
        return Interval(min(self.low, other.low), max(self.high, other.high))

    def mapped(self, f: Callable[[float], float]) -> Interval:
        """Under a function that never falls; an end where it has no value is unknown."""
        ends = []
        for end, default in ((self.low, -math.inf), (self.high, math.inf)):
            try:
                ends.append(f(end) if math.isfinite(end) else default)
            except ValueError:
                ends.append(default)
        return Interval(*ends)


ANY = Interval()
TRUTH = Interval(0, 1)


def of_type(t: Scalar) -> Interval:
    """What a type can hold."""
    return ANY if t.is_float else Interval(*arith.bounds(t))


def binary(op: str, a: Interval, b: Interval, *, whole: bool) -> Interval:
    """The values of `x op y`; `whole` says that it is integer arithmetic."""
    match op:
        case "+":
            return Interval(a.low + b.low, a.high + b.high)
        case "-":
            return Interval(a.low - b.high, a.high - b.low)
        case "*" if a.is_finite and b.is_finite:
            return _hull([x * y for x in (a.low, a.high) for y in (b.low, b.high)])
        case "/" if a.is_finite and b.is_finite and b.low * b.high > 0:
            found = _hull([x / y for x in (a.low, a.high) for y in (b.low, b.high)])
            return found.mapped(math.trunc) if whole else found
        case "%" if b.is_point and b.high > 0 and math.isfinite(b.high):
            most = b.high - 1
            return Interval(-most if a.low < 0 else 0, most)
        case "&" if max(a.low, b.low) >= 0:
            return Interval(0, min(x.high for x in (a, b) if x.low >= 0))
        case ">>" if a.low >= 0 and a.is_finite and b.is_point and 0 <= b.low < 64:
            return a.mapped(lambda x: int(x) >> int(b.low))
        case "min":
            return Interval(min(a.low, b.low), min(a.high, b.high))
        case "max":
            return Interval(max(a.low, b.low), max(a.high, b.high))
        case "<" | "<=" | ">" | ">=" | "==" | "!=" | "&&" | "||":
            return TRUTH
        case _:
            return ANY


def _hull(values: list[float]) -> Interval:
    return Interval(min(values), max(values))


def compared(op: str, b: Interval) -> Interval:
    """What is left of an integer x where `x op y` holds for a y between the ends of `b`."""
    match op:
        case "<":
            return Interval(high=b.high - 1)
        case "<=":
            return Interval(high=b.high)
        case ">":
            return Interval(low=b.low + 1)
        case ">=":
            return Interval(low=b.low)
        case "==":
            return b
        case _:
            return ANY
