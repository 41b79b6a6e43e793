"""Pure functions of the user's file in kernels."""

from __future__ import annotations

import pytest
from harness import assert_agrees, simulate

import loopxform as lx
from loopxform.codegen import emit
from loopxform.floating_point import SEPARATE
from loopxform.verify.check_run import arguments

ESCAPES = """
static int escapes(float cx, float cy, int most)
{
  float x = 0, y = 0;
  for (int k = 0; k < most; k++) {
    float t = x * x - y * y + cx;
    y = 2 * x * y + cy;
    x = t;
    if (x * x + y * y > 4) return k;
  }
  return most;
}
void f(int n, int m, int most, int out[n][m])
{
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      out[i][j] = escapes(j * 3.f / m - 2, i * 2.f / n - 1, most);
}"""

NUMBERS = """
#include <math.h>
#include <stdbool.h>
static int gcd(int a, int b) { while (b) { int t = a % b; a = b; b = t; } return a; }
static int lcm(int a, int b) { int k = a; do { if (k % b == 0) break; k += a; } while (true);
  return k / gcd(1, b); }
static double root(double a) { double x = a; for (;;) { double y = 0.5 * (x + a / x);
  if (!(fabs(y - x) > 1e-9)) return y; x = y; } }
static bool odd(unsigned char local) { while (local > 1) local -= 2; return local; }
static unsigned char wraps(unsigned char x) { for (; x < 250; x += 7) if (x == 3) continue;
  return x; }
void f(int n, const int a[n], double x[n], unsigned char Tx[n])
{
  for (int i = 0; i < n; i++) {
    x[i] = root(x[i]) + gcd(a[i], 12) + (odd(a[i] & 63) && lcm(a[i] * a[i], 4) > 5);
    Tx[i] = wraps(Tx[i]) + sqrt(2.f);
  }
}"""

INLINED = """
static float clamped(float x, float lo, float hi) { if (x < lo) return lo; if (x > hi) return hi;
  return x; }
static float dot(const float *a, const float *b, int n) { float s = 0;
  for (int k = 0; k < n; k++) s += a[k] * b[k];
  return s; }
static int least(int a, int b) { return a < b ? a : b; }
void f(int n, int m, const float a[n][m], const float b[n][m], float c[n][n])
{
  for (int i = 0; i < n; i++)
    for (int j = 0; j < least(n, n); j++)
      c[i][j] = clamped(dot(a[i], b[j], m), 0.5f, 30);
}"""

TABLES = """
static const int table[2] = {7, 8};
static int placed(int i) { static const int table[] = {3, 1, 2, 0}; return table[i & 3]; }
void f(int n, int a[n])
{
  static const float by[2] = {0.5f, 2};
  for (int i = 0; i < n; i++)
    a[i] = by[i & 1] * placed(i) + table[i % 2] - a[i];
}"""

SIZES = {
    TABLES: {"n": 50},
    ESCAPES: {"n": 20, "m": 30, "most": 40},
    NUMBERS: {"n": 90},
    INLINED: {"n": 33, "m": 20},
}


@pytest.mark.device
@pytest.mark.parametrize("text", list(SIZES))
def test_functions(text: str) -> None:
    assert_agrees(text, SIZES[text])


@pytest.mark.oclgrind
@pytest.mark.parametrize("text", [ESCAPES, NUMBERS])
def test_functions_under_oclgrind(text: str) -> None:
    plan = emit.kernel(lx.loads(text)["f"].tile(contract=False).derivation, fp=SEPARATE)
    small = {**SIZES[text], "n": 5}
    report = simulate(plan, arguments(plan.written, small, 1))
    assert report.clean, report.findings[0]


def test_a_function_that_doubles_needs_double() -> None:
    text = (
        "static float f1(float x) { while (x > 2) x *= 0.5; return x; }"
        "void f(float *a) { for (int i = 0; i < 4; i++) a[i] = f1(a[i]); }"
    )
    assert emit.kernel(lx.loads(text)["f"].tile().derivation).computes_double
    single = emit.kernel(lx.loads(text.replace("0.5", "0.5f"))["f"].tile().derivation)
    assert not single.computes_double
