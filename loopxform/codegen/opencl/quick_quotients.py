"""Quotients and square roots of floats of the usual sizes, with the bits of a correctly rounded
division, without a branch.

A compiler's division is right for all floats: behind a branch for those that are rare, which keeps
the arithmetic of neighbouring iterations apart. Here the flag `usual` keeps 2^30 while x and the
quotient are from 2^-63 to 2^65 in size, as are those whose root is taken. For these the results are
rounded correctly. A divisor that is computed from roots needs no test of the quotient where the
flag `odd` says that their arguments are moderate (`codegen.opencl.magnitudes`).

y = 1 / b rounded to within a unit in the last place, refined once; q = x * y, refined twice: the
remainder x - q*b is exact, and q + remainder * y rounds to x / b (Markstein, "Computation of
elementary functions on the IBM RISC System/6000 processor", 1990, theorem 7). Of a divisor that is
0, infinite, subnormal or beyond 2^126 the quotient is 0 or none, which the flag tells. Quotients by
one divisor share its reciprocal, and may be of 0: +0 over a number is 0 in each of these steps, and
-0 counts as rare.

s = x * r, where r is 1 / sqrt(x) to within 2^-22.9; x - s*s is exact, and s + (x - s*s) * r/2
rounds to sqrt(x).

`tests/unit/codegen/test_quick_quotients.py` tries the digits of all roots, and of all quotients
that lie next to the middle between two floats, with each reciprocal that a device may give (PTX
ISA, `rcp.approx` and `rsqrt.approx`). One quotient and two roots are wrong with some of these:
`PROBED`. A kernel begins by computing them (`START`), and where the device gives such a reciprocal,
no loop runs without the rare cases. Reciprocals of numbers that differ by a power of two, or of
four for roots, have the same digits: tables of the digits give them (Oberman and Siu, "A
high-performance area-efficient multifunction interpolator", 2005). On an H100 no root of all floats
differed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field

from loopxform.codegen.opencl.magnitudes import LEAST, MOST, WIDTH
from loopxform.ir.nodes import Expr
from loopxform.records import record

QUOTIENT, ROOT, USUAL, START = "quick_division", "quick_root", "usual_size", "quick_start"
BY_MODERATE, OF_MODERATE = "quick_division_by_moderate", "quick_root_of_moderate"
RECIPROCAL, REFINED, WITH = "quick_reciprocal", "quick_refined", "quick_division_with"
NAMES = frozenset(
    {QUOTIENT, ROOT, USUAL, START, BY_MODERATE, OF_MODERATE, RECIPROCAL, REFINED, WITH}
)


@record
class Reciprocal:
    """The name of a reciprocal, and the text of the number that it is that of."""

    name: str
    of: str


@record
class Quick:
    """The flags of a loop without rare cases, the arguments of `roots` that are tried whether they
    are moderate, the `divisors` that are of a usual size then, and the `reciprocals` of divisors
    that the loop leaves as they are."""

    usual: str
    odd: str
    roots: frozenset[Expr] = frozenset()
    divisors: frozenset[Expr] = frozenset()
    reciprocals: Mapping[Expr, Reciprocal] = field(default_factory=dict)

    def quotient(self, divisor: Expr, x: str, y: str) -> str:
        """The text of x / y, whose divisor this is."""
        if divisor in self.reciprocals:
            return f"{WITH}({x}, {y}, {self.reciprocals[divisor].name}, &{self.usual})"
        name = BY_MODERATE if divisor in self.divisors else QUOTIENT
        return f"{name}({x}, {y}, &{self.usual})"

    def root(self, argument: Expr, x: str) -> str:
        """The text of the square root of x, which is the text of this argument."""
        if argument in self.roots:
            return f"{OF_MODERATE}({x}, &{self.odd})"
        return f"{ROOT}({x}, &{self.usual})"

    def attempt(self, left: str, lines: list[str]) -> list[str]:
        """Runs the lines of a loop without rare cases, unless the surplus of failures that `left`
        keeps is too large, up to the branch that runs it with them."""
        moderate = bool(self.roots)
        inverse = self.reciprocals.values()
        return [
            f"uint {self.usual} = {left}{f', {self.odd} = 0' if moderate else ''};",
            f"if ({self.usual} & {BIT}u) {{",
            *(f"  const float {r.name} = {RECIPROCAL}({r.of});" for r in inverse),
            *lines,
            "}",
            f"if ({self.usual} & {BIT}u{f' && !({self.odd} >> {ODD_BITS})' if moderate else ''})",
            f"  {left} |= {left} >> 1;",
            "else {",
            f"  {left} <<= {FAILURE};",
        ]


BIT = 1 << 30
"""Of the flag: set while all sizes were usual."""

ODD_BITS = 29
"""The flag `odd` is less than 2 to this while all arguments of roots were moderate."""

FAILURE = 4
"""How many times a loop must run without rare cases for each time that it did so in vain: a kernel
that has a surplus of failures tries no more."""

PROBED = (
    f"{QUOTIENT}(0x1p+0f, 0x1.fffffep+0f, &usual) == 0x1.000002p-1f",
    f"{ROOT}(0x1.f82294p+0f, &usual) == 0x1.673f4cp+0f",
    f"{ROOT}(0x1.dd26e4p+1f, &usual) == 0x1.ee44dap+0f",
)
"""The results that are not right with every reciprocal."""

_USUAL = f"""\
/* Has the bit 2^30 where x or -x is from 2^-63 to 2^65. */
#define {USUAL}(x) (as_uint(x) ^ (as_uint(x) << 1))"""
_REFINED = f"""\
/* 1 / y, and x / y, which r is next to the reciprocal of: refined, without rare cases. */
#ifdef __NV_CL_C_VERSION
float {RECIPROCAL}(float y)
{{
  float r;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(y));
  return fma(fma(-y, r, 1.0f), r, r);
}}
float {REFINED}(float x, float y, float r)
{{
  float q = x * r;
  q = fma(fma(-y, q, x), r, q);
  q = fma(fma(-y, q, x), r, q);
  return q;
}}
#else
#define {RECIPROCAL}(y) 0
#endif"""
_BY_MODERATE = f"""\
/* x / y rounded correctly, where `usual` keeps 2^30 and y is from 2^-{WIDTH} to 2^{WIDTH}. */
#ifdef __NV_CL_C_VERSION
float {BY_MODERATE}(float x, float y, uint *usual)
{{
  *usual &= {USUAL}(x);
  return {REFINED}(x, y, {RECIPROCAL}(y));
}}
#else
#define {BY_MODERATE}(x, y, usual) ((x) / (y))
#endif"""
_QUOTIENT = f"""\
/* x / y rounded correctly, where `usual` keeps 2^30. */
#ifdef __NV_CL_C_VERSION
float {QUOTIENT}(float x, float y, uint *usual)
{{
  const float q = {BY_MODERATE}(x, y, usual);
  *usual &= {USUAL}(q);
  return q;
}}
#else
#define {QUOTIENT}(x, y, usual) ((x) / (y))
#endif"""
_WITH = f"""\
/* The same, r being {RECIPROCAL}(y); x may be 0. */
#ifdef __NV_CL_C_VERSION
float {WITH}(float x, float y, float r, uint *usual)
{{
  const float q = {REFINED}(x, y, r);
  *usual &= (as_uint(x) | as_uint(q) << 1) ? {USUAL}(x) & {USUAL}(q) : ~0u;
  return q;
}}
#else
#define {WITH}(x, y, r, usual) ((x) / (y))
#endif"""
_ROOT = f"""\
/* The square root of x rounded correctly, where `usual` keeps 2^30. */
#ifdef __NV_CL_C_VERSION
float {ROOT}(float x, uint *usual)
{{
  float r;
  asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x));
  const float s = x * r, half_r = 0.5f * r;
  *usual &= {USUAL}(x);
  return fma(fma(-s, s, x), half_r, s);
}}
#else
#define {ROOT}(x, usual) sqrt(x)
#endif"""
_OF_MODERATE = f"""\
/* The square root of x rounded correctly, where `odd` stays below 2^{ODD_BITS}:
   x is from 2^{LEAST} to 2^{MOST}. */
#ifdef __NV_CL_C_VERSION
float {OF_MODERATE}(float x, uint *odd)
{{
  uint usual = 0;
  *odd |= as_uint(x) - {(LEAST + 127) << 23:#x}u;
  return {ROOT}(x, &usual);
}}
#else
#define {OF_MODERATE}(x, odd) sqrt(x)
#endif"""


_START = f"""\
/* ~0 where the reciprocals of the device are near enough, else 0. */
#ifdef __NV_CL_C_VERSION
uint {START}(void)
{{
  uint usual = ~0u;
  const int near = TESTS;
  return near ? usual : 0;
}}
#else
#define {START}() ~0u
#endif"""


def helpers(text: str) -> Iterator[str]:
    """The definitions that kernels need."""
    if f"{START}(" not in text:
        return
    shares, roots = WITH in text, ROOT in text
    divides = shares or QUOTIENT in text
    yield _USUAL
    yield from [_REFINED, _BY_MODERATE, _QUOTIENT] if divides else []
    yield from [_WITH] if shares else []
    yield from [_ROOT] if roots else []
    yield from [_OF_MODERATE] if OF_MODERATE in text else []
    tests = [x for x in PROBED if (roots if x.startswith(ROOT) else divides)]
    yield _START.replace("TESTS", " &&\n    ".join(tests) or "1")
