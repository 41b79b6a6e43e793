"""Arithmetic of C on Python numbers, for what Python's own operators do differently.

A float is a Python float that holds a value of its C type: after each operation in `float` it is
rounded to 24 bits, which gives the same result as computing in float, since a double holds the
exact result of every operation up to an innocuous second rounding. A half is rounded to 11 bits
where it is converted; nothing is computed in it.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable
from fractions import Fraction
from functools import cache

import numpy as np

from loopxform.ir.functions import base_name, parameters, result
from loopxform.ir.types import DOUBLE, FLOAT, INT, LLONG, LONG, Scalar
from loopxform.verify.memory import Fault

_c_float = ctypes.c_float


def f32(x: float) -> float:
    """`x` rounded to float; a value out of range becomes an infinity."""
    return _c_float(x).value


def int_to_f32(x: int) -> float:
    """A 64-bit integer rounded once (through double it would be rounded twice)."""
    return float((np.int64(x) if x < 1 << 63 else np.uint64(x)).astype(np.float32))


def bounds(t: Scalar) -> tuple[int, int]:
    """The least and the greatest value of an integer type."""
    bits = 1 if t.kind == "bool" else 8 * t.bytes
    return (0, (1 << bits) - 1) if t.is_unsigned else (-(1 << (bits - 1)), (1 << (bits - 1)) - 1)


def truncate(x: float, low: int, high: int) -> int:
    """A float converted to an integer type; C leaves values out of range undefined."""
    if math.isfinite(x) and low <= math.trunc(x) <= high:
        return math.trunc(x)
    raise Fault(f"{x!r} is converted to an integer type that cannot hold it")


def divide(a: int, b: int, top: int) -> int:
    """Integer quotient, truncated toward zero; `top` is the greatest value of its type."""
    if a >= 0 and b > 0:
        return a // b
    if b == 0:
        raise Fault(f"{a} is divided by zero")
    q = abs(a) // abs(b) if (a < 0) == (b < 0) else -(abs(a) // abs(b))
    if q > top:
        raise Fault(f"{a} / {b} overflows")
    return q


def modulo(a: int, b: int, top: int) -> int:
    """Remainder with the sign of the dividend, defined where the quotient is."""
    if a >= 0 and b > 0:
        return a % b
    divide(a, b, top)
    return -(-a % abs(b)) if a < 0 else a % abs(b)


def fused(a: float, b: float, c: float) -> float:
    """a*b + c in double, rounded once (C's fma)."""
    if not all(map(math.isfinite, (a, b, c))):
        return a * b + c
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    if exact == 0:
        return a * b + c if 0 in (a, b) else 0.0
    try:
        return float(exact)
    except OverflowError:
        return math.copysign(math.inf, exact)


def quotient(a: float, b: float) -> float:
    """IEEE division: by zero gives an infinity or NaN."""
    if b != 0:
        return a / b
    if a == 0 or a != a or b != b:
        return math.nan
    return math.copysign(math.inf, a) * math.copysign(1.0, b)


def shift_left(a: int, n: int, bits: int) -> int:
    if not 0 <= n < bits:
        raise Fault(f"{a} is shifted by {n}, its type has {bits} bits")
    return a << n


def shift_right(a: int, n: int, bits: int) -> int:
    if not 0 <= n < bits:
        raise Fault(f"{a} is shifted by {n}, its type has {bits} bits")
    return a >> n


def smaller(a: float, b: float) -> float:
    return a if a < b else b


def larger(a: float, b: float) -> float:
    return a if a > b else b


def steps(lo: int, hi: int, step: int, low: int, top: int, down: bool) -> range:
    """The values of a loop variable of range low..top that counts up while below `hi`, or down
    while above it; raises Fault where the loop would never end or overflow."""
    if step == 0 or (step < 0) != down:
        if lo > hi if down else lo < hi:
            raise Fault(f"a loop with step {step} does not end")
        return range(0)
    values = range(lo, hi, step)
    if values and not low <= values[-1] + step <= top:
        raise Fault(f"the loop variable overflows after {values[-1]}")
    return values


def as_uint(x: float) -> int:
    """The bits of a float."""
    return int(np.float32(x).view(np.uint32))


def as_float(bits: int) -> float:
    """The float that has these bits."""
    return float(np.uint32(bits).view(np.float32))


def as_ulong(x: float) -> int:
    """The bits of a double."""
    return int(np.float64(x).view(np.uint64))


def as_double(bits: int) -> float:
    """The double that has these bits."""
    return float(np.uint64(bits).view(np.float64))


@cache
def math_function(name: str) -> Callable[..., float]:
    """The function of the C library itself, so that results agree with compiled C to the bit.

    Raises Fault where the function is unknown.
    """
    types, value, base = parameters(name), result(name), base_name(name)
    if types is None or value is None or not types[0].is_float:
        raise Fault(f"the function {name} is not known")
    if base in _CLASSES:
        return _CLASSES[base]
    if base == "isnormal":
        least = 2.0**-126 if types[0] == FLOAT else 2.0**-1022
        return lambda x: int(math.isfinite(x) and abs(x) >= least)
    found = getattr(ctypes.CDLL(None), name)
    kinds = {DOUBLE: ctypes.c_double, FLOAT: ctypes.c_float, INT: ctypes.c_int}
    kinds |= {LONG: ctypes.c_long, LLONG: ctypes.c_longlong}
    found.restype = kinds[value]
    found.argtypes = [kinds[t] for t in types]
    return found  # type: ignore[no-any-return]


_CLASSES: dict[str | None, Callable[[float], int]] = {
    "isfinite": lambda x: int(math.isfinite(x)),
    "isinf": lambda x: int(math.copysign(math.isinf(x), x)),
    "isnan": lambda x: int(math.isnan(x)),
    "signbit": lambda x: int(math.copysign(1, x) < 0),
}
"""Macros of C, which no library has."""


def float_literal(text: str, value: float) -> float:
    """The value of a float constant: the decimal text rounded once to 24 bits."""
    once = f32(value)
    other = float(
        np.nextafter(np.float32(once), np.float32(math.inf if value > once else -math.inf))
    )
    if value == once or not math.isfinite(value) or 2 * value != once + other:
        return once
    exact = _fraction(text)
    if exact is None or exact == Fraction(value):
        return once
    return max(once, other) if exact > Fraction(value) else min(once, other)


def _fraction(text: str) -> Fraction | None:
    stem = text.rstrip("fFlL") if not text.lower().startswith("0x") else ""
    try:
        return Fraction(stem)
    except ValueError:
        return None
