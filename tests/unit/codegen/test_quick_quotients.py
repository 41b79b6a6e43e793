"""Quotients and roots without their rare cases have the bits of correctly rounded ones, whatever
the device's approximations are, and tell where they do not."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from c_project import STRICT, cc

from loopxform.codegen.opencl import quick_quotients

PROGRAM = """\
#include <math.h>
#include <stdio.h>
#include <string.h>
#define __NV_CL_C_VERSION 120
#define fma fmaf
typedef unsigned uint;
static uint as_uint(float x) { uint n; memcpy(&n, &x, sizeof n); return n; }
static float as_float(uint n) { float x; memcpy(&x, &n, sizeof x); return x; }
static float approximation;
static float flushed(float x) { return fabsf(x) < 0x1p-126f ? copysignf(0, x) : x; }
%(helpers)s
enum { STEP = %(step)d };

static long quotient_differs(float x, float y)
{
  uint usual = ~0u;
  const float q = quick_division(x, y, &usual);
  return (usual & 1u << 30) && as_uint(q) != as_uint(x / y);
}

static long by_moderate_differs(float x, float y)
{
  uint usual = ~0u;
  const float q = quick_division_by_moderate(x, y, &usual), size = fabsf(y);
  const int moderate = 0x1p-60f <= size && size <= 0x1p+60f;
  return moderate && (usual & 1u << 30) && as_uint(q) != as_uint(x / y);
}

static long shared_differs(float x, float y)
{
  uint usual = ~0u;
  const float q = quick_division_with(x, y, quick_reciprocal(y), &usual);
  return (usual & 1u << 30) && as_uint(q) != as_uint(x / y);
}

static long root_differs(float x)
{
  uint usual = ~0u;
  const float r = quick_root(x, &usual), right = sqrtf(x);
  return (usual & 1u << 30) && as_uint(r) != as_uint(right) && !(r != r && right != right);
}

static long moderate_root_differs(float x)
{
  uint odd = 0;
  const float r = quick_root_of_moderate(x, &odd);
  return !(odd >> 29) && as_uint(r) != as_uint(sqrtf(x));
}

/* From 1 to 4, with all that 1 / sqrt(x) may be: within 2^-22.9. */
static void roots(void)
{
  for (uint n = 0x3f800000; n < 0x40800000; n += STEP) {
    const float x = as_float(n);
    const double exact = 1 / sqrt(x);
    for (int k = -4; k <= 4; k++) {
      approximation = as_float(as_uint((float)exact) + k);
      if (fabs(approximation / exact - 1) < 0x1p-22 / 1.86)
        if (root_differs(x))
          printf("root %%a\\n", x);
    }
  }
}

/* Divisors from 1 to 2, with all that 1 / y may be, within a unit in the last place: refined, it is
   so near that only quotients next to the middle between two floats, as near as can be, could be
   rounded to the wrong side: x * 2^s - y * w = 1 or -1, in units of the last place, w odd. */
static void quotients(void)
{
  for (uint n = 0x00800001; n < 0x01000000; n += 2 * STEP) {
    const float y = as_float(0x3f800000 + n - 0x00800000);
    const double exact = 1.0 / y;
    uint inverse = 1;
    for (int k = 0; k < 5; k++)
      inverse *= 2 - n * inverse;
    for (int k = -2; k <= 2; k++) {
      approximation = as_float(as_uint((float)exact) + k);
      if (fabs(approximation - exact) > 0x1.001p-24)
        continue;
      const float refined = fmaf(fmaf(-y, approximation, 1), approximation, approximation);
      if (!(fabs((double)refined * y - 1) < 1.9 * 0x1p-24))
        printf("reciprocal %%a\\n", y);
      for (int s = 24; s <= 25; s++)
        for (int side = -1; side <= 1; side += 2) {
          const uint mask = (1u << s) - 1, w = (-side * inverse & mask) | (s == 24 ? 1u << 24 : 0);
          const unsigned long long m = ((unsigned long long)n * w + side) >> s;
          const float x = as_float(0x3f000000 + (uint)m);
          if (w >> 24 == 1 && m >> 23 == 1 && (s == 24) == (m >= n) && quotient_differs(x, y))
            printf("quotient %%a %%a\\n", x, y);
        }
    }
  }
}

/* Numbers of all sizes, as a device approximates them: subnormal numbers are 0 to it. */
static void sizes(void)
{
  static const uint special[] = {0, 1, 0x007fffff, 0x00800000, 0x7e800000, 0x7e800001, 0x7f000000,
    0x7f7fffff, 0x7f800000, 0x7fc00000, 0x1fffffff, 0x20000000, 0x5fffffff, 0x60000000};
  enum { SPECIAL = sizeof special / sizeof *special };
  uint a = 1, b = 20201127;
  for (long k = 0; k < 400000; k++) {
    a = a * 1664525 + 1013904223, b = b * 1664525 + 1013904223;
    uint m = a ^ a >> 15, n = b ^ b >> 13;
    if (k < SPECIAL * SPECIAL)
      m = special[k %% SPECIAL] | (a & 1u << 31), n = special[k / SPECIAL] | (b & 1u << 31);
    const float x = as_float(m), y = as_float(n);
    approximation = flushed(1 / flushed(y));
    if (quotient_differs(x, y))
      printf("quotient %%a %%a\\n", x, y);
    if (by_moderate_differs(x, y) || shared_differs(x, y) || shared_differs(0, y))
      printf("quotient %%a %%a\\n", x, y);
    approximation = flushed(1 / sqrtf(flushed(x)));
    if (root_differs(x) || moderate_root_differs(x))
      printf("root %%a\\n", x);
  }
}

int main(void)
{
  roots();
  quotients();
  sizes();
  return 0;
}
"""


ROOTS = {"root 0x1.f82294p+0", "root 0x1.dd26e4p+1"}
QUOTIENT = {"quotient 0x1p+0 0x1.fffffep+0"}


def differing(folder: Path, step: int, *, broken: bool = False) -> set[str]:
    """Which results differ, for every `step`th number."""
    used = "quick_division( quick_division_with( quick_root_of_moderate( quick_start("
    text = "\n".join(quick_quotients.helpers(used))
    text = re.sub(r"asm\(.*;", "r = approximation;", text).replace("\nfloat ", "\nstatic float ")
    text = text.replace("\nuint ", "\nuint quick_start(void);\nuint ")
    if broken:
        text = text.replace("q = fma(fma(-y, q, x), r, q);", "(void)y, (void)r;")
        text = text.replace("0.5f * r", "0.5f")
    (folder / "q.c").write_text(PROGRAM % {"helpers": text, "step": step})
    options = ("-O2", "-ffp-contract=off", "-march=native")
    cc(folder, *STRICT, *options, "-o", "q", "q.c", "-lm").check_returncode()
    run = subprocess.run([str(folder / "q")], capture_output=True, text=True, check=True)
    return set(run.stdout.splitlines())


def test_some_numbers(tmp_path: Path) -> None:
    assert differing(tmp_path, 127) <= ROOTS | QUOTIENT


def test_what_is_not_refined_is_found(tmp_path: Path) -> None:
    kinds = {line.split()[0] for line in differing(tmp_path, 8191, broken=True)}
    assert kinds == {"root", "quotient"}


def test_what_depends_on_the_device_is_tried_by_kernels() -> None:
    asked = " ".join(quick_quotients.PROBED)
    assert all(x in asked for line in ROOTS | QUOTIENT for x in line.split()[1:])


@pytest.mark.slow
def test_all_numbers(tmp_path: Path) -> None:
    assert differing(tmp_path, 1) == ROOTS | QUOTIENT
