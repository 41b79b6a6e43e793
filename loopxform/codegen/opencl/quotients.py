"""Quotients of floats by constants, with the bits of a division, in four multiply-adds.

A compiler rounds x / 3 correctly by a reciprocal, several corrections and a branch. Where the
divisor c is known, so are y, its reciprocal, and z, what y lacks: q = x*y + x*z is one of the two
floats next to x / c, and then q + (x - q*c)*y is x / c, rounded correctly (Markstein, "Computation
of elementary functions on the IBM RISC System/6000 processor", 1990, theorem 7, for divisors whose
digits are not all ones; Brisebarre, Muller and Raina, "Accelerating correctly rounded
floating-point division when the divisor is known in advance", 2004).

That is not exact for the smallest and the largest x, which are divided instead, behind a branch.
An integer c = m * 2^e, m odd, below `WHOLE` needs none. With q next to x / c, x - q*c is an integer
number of units of x or q, whatever x is, and thus exact, and q + (x - q*c)*z rounds correctly for
each z close enough to 1 / c where x / c does not lie in the middle between two floats. It does so
only where these are subnormal. Then x / 2^e, rounded to an even number, makes q = x/2^e / m the
even one of the two where m = 1 (mod 4), which a z below 1 / c keeps, and the other one where m = 3
(mod 4), which a z above 1 / c corrects. An infinite x would leave no number, but for the minimum.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator
from fractions import Fraction

from loopxform.codegen.literals import floating
from loopxform.ir.types import FLOAT

QUOTIENT, BY_INTEGER = "quotient", "quotient_by_integer"
NAMES = frozenset({QUOTIENT, BY_INTEGER})

LARGEST = 60
"""Powers of two up to which nothing overflows, nor rounds as a subnormal number does."""

WHOLE = 2**20
"""Integers below it are far enough from the middle between floats when they divide one."""

_PLAIN = f"#define {QUOTIENT}(x, c, y, z) ((x) / (c))"
_PRODUCT = f"#define {QUOTIENT}(x, c, y, z) ((x) * (y))"
"""Both roundings together are 1.5 units in the last place at most; OpenCL allows a division 2.5."""
_HELPER = f"""\
/* x / c rounded correctly, where y is 1 / c rounded, and z is 1 / c - y rounded. */
#ifdef __NV_CL_C_VERSION
float {QUOTIENT}(float x, float c, float y, float z)
{{
  const float q = fma(x, y, x * z), rest = fma(-q, c, x), size = fabs(x);
  if (size < 0x1p-{LARGEST}f || size > 0x1p+{LARGEST}f)
    return x == 0 ? x * y : x / c;
  return fma(rest, y, q);
}}
#else
{_PLAIN}
#endif"""

_PLAIN_BY_INTEGER = f"#define {BY_INTEGER}(x, c, s, y, z) ((x) / (c))"
_PRODUCT_BY_INTEGER = f"#define {BY_INTEGER}(x, c, s, y, z) ((x) * ((s) * (y)))"
_HELPER_BY_INTEGER = f"""\
/* x / c rounded correctly, where s * y is 1 / c rounded, s a power of two, and z is next to it. */
#ifdef __NV_CL_C_VERSION
float {BY_INTEGER}(float x, float c, float s, float y, float z)
{{
  const float q = x * s * y, rest = fmin(fma(q, c, -x), 0x1.fffffep+127f);
  return fma(rest, -z, q);
}}
#else
{_PLAIN_BY_INTEGER}
#endif"""


def helpers(text: str, *, approximate: bool) -> Iterator[str]:
    """The definitions that kernels need: products, where they may be `approximate`."""
    if f"{QUOTIENT}(" in text:
        yield _PRODUCT if approximate else _HELPER
    if f"{BY_INTEGER}(" in text:
        yield _PRODUCT_BY_INTEGER if approximate else _HELPER_BY_INTEGER


def quotient(x: str, divisor: float) -> str:
    """A float over a constant; "" where a compiler needs no division, or this is not exact."""
    if whole := integer_constants(divisor):
        return f"{BY_INTEGER}({', '.join((x, *whole))})"
    if parts := constants(divisor):
        return f"{QUOTIENT}({', '.join((x, *parts))})"
    return ""


def integer_constants(divisor: float) -> tuple[str, str, str, str] | None:
    """An integer, 1 over its factor of two, 1 over the odd one, and the float below or above its
    reciprocal, as literals; None for other divisors."""
    if not 2 < divisor < WHOLE or divisor != int(divisor):
        return None
    whole = int(divisor)
    power = whole & -whole
    odd = whole // power
    if odd == 1:
        return None
    exact, near = Fraction(1, whole), _nearest(Fraction(1, whole))
    away = odd % 4 == 3
    if away != (near > exact):
        near = _from_bits(_bits(near) + (1 if away else -1))
    parts = (divisor, 1 / power, _nearest(Fraction(1, odd)), near)
    c, s, y, z = (floating(x, FLOAT)[0] for x in parts)
    return c, s, y, z


def constants(divisor: float) -> tuple[str, str, str] | None:
    """The divisor, its reciprocal and what that lacks, as literals; None where a compiler needs no
    division (a power of two), or this would not be exact."""
    digits, exponent = math.frexp(divisor)
    usual = math.isfinite(divisor) and abs(exponent) <= LARGEST
    if not usual or abs(digits) in (0, 0.5, 1 - 2.0**-24):
        return None
    if divisor != _nearest(Fraction(divisor)):
        return None
    y = _nearest(1 / Fraction(divisor))
    z = _nearest(1 / Fraction(divisor) - Fraction(y))
    c, reciprocal, lacking = (floating(x, FLOAT)[0] for x in (divisor, y, z))
    return c, reciprocal, lacking


def _nearest(x: Fraction) -> float:
    """The float next to a number, of two the even one."""
    bits = _bits(float(x))
    near = (_from_bits(bits + n) for n in (-1, 0, 1))
    return min(near, key=lambda f: (abs(Fraction(f) - x), _bits(f) % 2))


def _bits(f: float) -> int:
    (bits,) = struct.unpack("I", struct.pack("f", f))
    return int(bits)


def _from_bits(bits: int) -> float:
    (f,) = struct.unpack("f", struct.pack("I", bits))
    return float(f)
