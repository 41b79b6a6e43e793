"""Numbers of 16 bits in OpenCL C, where half is a type of memory only and needs no extension.

Elements of global and local memory are their bits, in a ushort; what a work-item computes with is
a float that holds a value of half, rounded where C rounds it: by assignments and casts.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

from loopxform.ir.types import DOUBLE, Scalar

VALUE, BITS, ROUND = "float_of_half", "half_of_float", "round_to_half"

_CALLED = """/* A CPU converts in many instructions: calls keep the compiler from taking minutes. */
#if defined(__x86_64__) || defined(__aarch64__)
#define CALLED __attribute__((noinline))
#else
#define CALLED
#endif"""

_HELPERS = {
    VALUE: f"""CALLED float {VALUE}(ushort h)
{{
  return vload_half(0, (const __private half *)&h);
}}""",
    BITS: f"""CALLED ushort {BITS}(float x)
{{
  ushort h;
  vstore_half_rte(x, 0, (__private half *)&h);
  return h;
}}""",
    f"{BITS}_d": f"""ushort {BITS}_d(double x)
{{
  const float f = convert_float_rtz(x);
  return {BITS}((double)f == x ? f : as_float(as_uint(f) | 1));
}}""",
    ROUND: f"float {ROUND}(float x)\n{{\n  return {VALUE}({BITS}(x));\n}}",
    f"{ROUND}_d": f"float {ROUND}_d(double x)\n{{\n  return {VALUE}({BITS}_d(x));\n}}",
}
_NEEDS = {
    f"{BITS}_d": (BITS,),
    ROUND: (VALUE, BITS),
    f"{ROUND}_d": (VALUE, BITS, f"{BITS}_d"),
}

NAMES = frozenset({*_HELPERS, "CALLED"})


def helper(name: str, t: Scalar) -> str:
    """The function for an argument of that type. A double is rounded once: it is cut off to a
    float, whose last bit then says whether anything is missing, so that it is no tie of halves."""
    return f"{name}_d" if t == DOUBLE else name


def helpers(text: str) -> Iterator[str]:
    """The definitions that kernels need, in order."""
    called = {n for n in NAMES if f"{n}(" in text}
    called |= {m for n in called for m in _NEEDS.get(n, ())}
    if called:
        yield _CALLED
    yield from (body for name, body in _HELPERS.items() if name in called)


def bits(x: float) -> str:
    """The 16 bits of a half, as a literal."""
    (found,) = struct.unpack("H", struct.pack("e", x))
    return f"{found:#06x}" if found else "0"
