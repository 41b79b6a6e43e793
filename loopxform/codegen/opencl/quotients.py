"""Quotients of floats by constants, with the bits of a division, in four multiply-adds.

A compiler rounds x / 3 correctly by a reciprocal, several corrections and a branch. Where the
divisor c is known, so are y, its reciprocal, and z, what y lacks: q = x*y + x*z is one of the two
floats next to x / c, and then q + (x - q*c)*y is x / c, rounded correctly (Markstein, "Computation
of elementary functions on the IBM RISC System/6000 processor", 1990, theorem 7, for divisors whose
digits are not all ones; Brisebarre, Muller and Raina, "Accelerating correctly rounded
floating-point division when the divisor is known in advance", 2004).
"""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator
from fractions import Fraction

from loopxform.codegen.literals import floating
from loopxform.ir.types import FLOAT

QUOTIENT = "quotient"
NAMES = frozenset({QUOTIENT})

LARGEST = 60
"""Powers of two up to which nothing overflows, nor rounds as a subnormal number does."""

_PLAIN = f"#define {QUOTIENT}(x, c, y, z) ((x) / (c))"
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


def helpers(text: str, *, approximate: bool) -> Iterator[str]:
    """The definition that kernels need: a division, where it may be `approximate`."""
    if f"{QUOTIENT}(" in text:
        yield _PLAIN if approximate else _HELPER


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
    near = (float(struct.unpack("f", struct.pack("I", bits + n))[0]) for n in (-1, 0, 1))
    return min(near, key=lambda f: (abs(Fraction(f) - x), _bits(f) % 2))


def _bits(f: float) -> int:
    (bits,) = struct.unpack("I", struct.pack("f", f))
    return int(bits)
