"""Quotients of floats by constants have the bits of a division, whatever is divided by what."""

from __future__ import annotations

import random
import struct
import subprocess
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
%(helper)s
static long differing(float x, const float *c)
{
  const float a = quotient(x, c[0], c[1], c[2]), b = x / c[0];
  return memcmp(&a, &b, sizeof a) != 0;
}

int main(void)
{
  static const float c[][3] = {%(divisors)s};
  static const float special[] = {0.0f, -0.0f, INFINITY, -INFINITY, 1e-45f, -1e-40f, 3.4e38f};
  static const unsigned starts[] = {0x3f800000, 0xbf800000, 67u << 23, 187u << 23, 1u << 23};
  long count = 0;
  for (unsigned n = 0; n < sizeof c / sizeof *c; n++) {
    for (unsigned k = 0; k < sizeof special / sizeof *special; k++)
      count += differing(special[k], c[n]);
    for (unsigned k = 0; k < sizeof starts / sizeof *starts; k++)
      for (unsigned m = 0; m < 1u << 23; m += %(step)d) {
        const unsigned bits = starts[k] + m;
        float x;
        memcpy(&x, &bits, sizeof x);
        count += differing(x, c[n]);
      }
  }
  printf("%%ld", count);
  return 0;
}
"""


def divisors() -> list[float]:
    """Everyday ones, random ones, and those next to powers of two."""
    draw = random.Random(SEED)
    numbers = [3.0, 12.0, 0.1, 255.0, -7.0, 1e-5, 3e7]
    numbers += [draw.uniform(1, 2) * 2.0 ** draw.randint(-50, 50) for _ in range(12)]
    singles = [single(x) for x in numbers]
    return singles + [of_bits(0x3F800000 + n) for n in (1, 2, 0x7FFFFE, 0x7FFFFD)]


def single(x: float) -> float:
    return float(struct.unpack("f", struct.pack("f", x))[0])


def of_bits(bits: int) -> float:
    return float(struct.unpack("f", struct.pack("I", bits))[0])


@pytest.mark.parametrize("step", [997, pytest.param(1, marks=pytest.mark.slow)])
def test_every_quotient_has_the_bits_of_a_division(step: int, tmp_path: Path) -> None:
    known = [quotients.constants(c) for c in divisors()]
    (helper,) = quotients.helpers(f"{quotients.QUOTIENT}(", approximate=False)
    rows = ", ".join(f"{{{', '.join(row)}}}" for row in known if row is not None)
    assert None not in known
    text = PROGRAM % {"helper": helper, "divisors": rows, "step": step}
    (tmp_path / "q.c").write_text(text)
    built = cc(tmp_path, *STRICT, "-O2", "-ffp-contract=off", "-o", "q", "q.c", "-lm")
    assert built.returncode == 0, built.stderr
    run = subprocess.run([tmp_path / "q"], capture_output=True, text=True, check=True)
    assert run.stdout == "0", f"seed {SEED}"


@pytest.mark.parametrize("divisor", [0.0, 2.0, -0.25, 2.0**70, 1.0 / 3, of_bits(0x3FFFFFFF)])
def test_divisors_that_the_compiler_divides_by(divisor: float) -> None:
    """None, powers of two, those far away, numbers that are no floats, and the one pattern of
    digits for which the correction is not known to be exact."""
    assert quotients.constants(divisor) is None


SCALED = """
void f(int n, const float x[n], float y[n])
{
  for (int i = 0; i < n; i++)
    y[i] = x[i] / 3 + x[i] / 4 + x[i] / 0.1 + x[i] / y[i];
}
"""


def test_only_floats_divided_by_constants_are_written_so() -> None:
    kernel = lx.loads(SCALED)["f"].tile().kernel
    value = "quotient(x[i], 3.0f, 0.3333333432674408f, -9.934107758624577e-09f)"
    assert f"y[i] = {value} + x[i] / 4 + x[i] / 0.1 + x[i] / y[i];" in kernel


@pytest.mark.parametrize(("fp", "corrected"), [("strict", True), ("fast", False)])
def test_a_division_does_where_quotients_may_be_inexact(fp: Level, corrected: bool) -> None:
    kernel = lx.loads(SCALED)["f"].tile(fp=fp).kernel
    assert ("fma(rest, y, q)" in kernel) == corrected
