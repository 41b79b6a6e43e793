"""Quotients of floats by constants have the bits of a division, whatever is divided by what."""

from __future__ import annotations

import math
import random
import struct
import subprocess
from fractions import Fraction
from pathlib import Path

import pytest
from c_project import STRICT, cc

import loopxform as lx
from loopxform.codegen.opencl import quotients
from loopxform.floating_point import Level

SEED = 20261127
PROGRAM = """\
#include <math.h>
#include <stdio.h>
#include <string.h>
#define __NV_CL_C_VERSION 120
#define fma fmaf
#define fabs fabsf
#define fmin fminf
%(helper)s
%(functions)s
static float (*const f[])(float) = {%(names)s};
static const float c[] = {%(divisors)s};

static long differing(float x, unsigned n)
{
  const float a = f[n](x), b = x / c[n];
  return memcmp(&a, &b, sizeof a) != 0 && !(a != a && b != b);
}

int main(void)
{
  static const float special[] = {0.0f, -0.0f, INFINITY, -INFINITY, NAN, 1e-45f, -1e-40f, 3.4e38f};
  static const unsigned starts[] = {
    0x3f800000, 0xbf800000, 67u << 23, 187u << 23, 254u << 23, 0, 0x80000000, 1u << 23, 3u << 23};
  long count = 0;
  for (unsigned n = 0; n < sizeof c / sizeof *c; n++) {
    for (unsigned k = 0; k < sizeof special / sizeof *special; k++)
      count += differing(special[k], n);
    for (unsigned k = 0; k < sizeof starts / sizeof *starts; k++)
      for (unsigned m = 0; m < 1u << 23; m += %(step)d) {
        const unsigned bits = starts[k] + m;
        float x;
        memcpy(&x, &bits, sizeof x);
        count += differing(x, n);
      }
    for (unsigned m = 1; fabsf(c[n]) < 1e6f && m < 1u << 23; m += %(step)d + 1)
      count += differing(c[n] * m * 0x1p-126f * 0x1p-24f, n);
  }
  printf("%%ld", count);
  return 0;
}
"""
"""The last, if they are floats, are in the middle between two subnormal numbers when divided."""


def divisors() -> list[float]:
    """Everyday ones, random ones, and those next to powers of two."""
    draw = random.Random(SEED)
    numbers = [3.0, 12.0, 0.1, 255.0, -7.0, 1e-5, 3e7, 5.0, 6.0, 10.0, 1000.0, 786432.0]
    numbers += [1.0 * draw.randrange(3, quotients.WHOLE, 2) for _ in range(4)]
    numbers += [2.0 * draw.randrange(3, quotients.WHOLE // 2, 2) for _ in range(4)]
    numbers += [draw.uniform(1, 2) * 2.0 ** draw.randint(-50, 50) for _ in range(12)]
    singles = [single(x) for x in numbers]
    return singles + [of_bits(0x3F800000 + n) for n in (1, 2, 0x7FFFFE, 0x7FFFFD)]


def single(x: float) -> float:
    return float(struct.unpack("f", struct.pack("f", x))[0])


def of_bits(bits: int) -> float:
    return float(struct.unpack("f", struct.pack("I", bits))[0])


@pytest.mark.parametrize("step", [997, pytest.param(1, marks=pytest.mark.slow)])
def test_every_quotient_has_the_bits_of_a_division(step: int, tmp_path: Path) -> None:
    known = [quotients.quotient("x", c) for c in divisors()]
    assert all(known)
    of = enumerate(known)
    parts = {
        "helper": "\n".join(quotients.helpers("".join(known), approximate=False)),
        "functions": "\n".join(f"static float f{n}(float x) {{ return {e}; }}" for n, e in of),
        "names": ", ".join(f"f{n}" for n in range(len(known))),
        "divisors": ", ".join(f"{c!r}" for c in divisors()),
        "step": step,
    }
    (tmp_path / "q.c").write_text(PROGRAM % parts)
    built = cc(tmp_path, *STRICT, "-O2", "-ffp-contract=off", "-o", "q", "q.c", "-lm")
    assert built.returncode == 0, built.stderr
    run = subprocess.run([tmp_path / "q"], capture_output=True, text=True, check=True)
    assert run.stdout == "0", f"seed {SEED}"


@pytest.mark.parametrize("divisor", [0.0, 2.0, -0.25, 2.0**70, 1.0 / 3, of_bits(0x3FFFFFFF)])
def test_divisors_that_the_compiler_divides_by(divisor: float) -> None:
    """None, powers of two, those far away, numbers that are no floats, and the one pattern of
    digits for which the correction is not known to be exact."""
    assert quotients.quotient("x", divisor) == ""


SCALED = """
void f(int n, const float x[n], float y[n])
{
  for (int i = 0; i < n; i++)
    y[i] = x[i] / 3 + x[i] / 1.5f + x[i] / 4 + x[i] / 0.1 + x[i] / y[i];
}
"""


def test_only_floats_divided_by_constants_are_written_so() -> None:
    kernel = lx.loads(SCALED)["f"].tile().kernel
    whole = "quotient_by_integer(x[i], 3.0f, 1.0f, 0.3333333432674408f, 0.3333333432674408f)"
    other = "quotient(x[i], 1.5f, 0.6666666865348816f, -1.9868215517249155e-08f)"
    assert f"y[i] = {whole} + {other} + x[i] / 4 + x[i] / 0.1 + x[i] / y[i];" in kernel


@pytest.mark.parametrize(("fp", "corrected"), [("strict", True), ("fast", False)])
def test_a_product_does_where_quotients_may_be_inexact(fp: Level, corrected: bool) -> None:
    kernel = lx.loads(SCALED)["f"].tile(fp=fp).kernel
    assert ("fma(rest, y, q)" in kernel) == corrected
    assert ("#define quotient(x, c, y, z) ((x) * (y))" in kernel) != corrected
    assert ("fma(rest, -z, q)" in kernel) == corrected
    assert ("(x, c, s, y, z) ((x) * ((s) * (y)))" in kernel) != corrected


def test_the_product_is_as_accurate_as_a_device_divides() -> None:
    """1.5 units in the last place; OpenCL C 1.2, section 7.4, allows 2.5."""
    rng, most = random.Random(SEED), Fraction(0)
    for c in divisors():
        constants = quotients.constants(c)
        assert constants is not None
        y = float(constants[1].removesuffix("f"))
        for x in (single(rng.uniform(1, 2)) for _ in range(40)):
            exact = Fraction(x) / Fraction(c)
            unit = Fraction(2) ** (math.frexp(float(exact))[1] - 24)
            most = max(most, abs(Fraction(single(x * y)) - exact) / unit)
    assert 0.9 < most <= 1.5, f"seed {SEED}"
