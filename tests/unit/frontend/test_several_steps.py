"""Loops whose body steps their counter in several places: what they become, and the same as C's."""

from __future__ import annotations

import random

import numpy as np
import pytest
from differential import assert_same, compare, needs_compiler
from lowering import body, opaques, text

PARAMS = "int n, int m, float *a, float *b"

BECOMES = [
    (
        "int i = 0; while (i < n) { float x = a[i++]; b[i] = x; i++; }",
        "for (i = 0; i < n; i += 2) x = a[i]; b[i+1] = x;",
    ),
    (
        "for (int i = 0; i < n; i++) { b[i] = a[i]; i++; b[i] = a[i] * 2; }",
        "for (i = 0; i < n; i += 2) b[i] = a[i]; b[i+1] = a[i+1] * 2;",
    ),
    (
        "int i = n; while (i > 3) { a[i--] = 1; a[i--] = 2; a[i] = 3; i -= 2; }",
        "for (i = n; i > 3; i -= 4) a[i] = 1; a[i-1] = 2; a[i-2] = 3;",
    ),
    (
        "float *p = a; while (p < a + n) { float x = *p++; float y = *p++; b[0] += x * y; }",
        "for (p = 0; p < n; p += 2) x = a[p]; y = a[p+1]; b[0] += x*y;",
    ),
    (
        "int i = m, k = 0; while (i < n && k < m) { i++; b[k++] = a[i]; i--; }",
        "i += 1; b[k] = a[i]; k += 1; i -= 1;",
    ),
]


@pytest.mark.parametrize(("statements", "expected"), BECOMES)
def test_becomes(statements: str, expected: str) -> None:
    assert expected in text(statements, PARAMS)


SAME = """
int f0(int n, int m, int *a) { int i = 0; while (i < n) { a[i] += 1; i++; a[i] += i; i += 2; }
  return i; }
int f1(int n, int m, int *a) { int i; for (i = m; i < n; i += 2) { a[i++] = m; a[i & 15] = i; }
  return i; }
int f2(int n, int m, int *a) { int s = 0; const int *p = a, *e = a + n; while (p < e) {
  int x = *p++; int y = *p++; int z = *p++; s += x * y - z; } return s; }
int f3(int n, int m, int *a) { size_t i = n; while (i > 2) { a[i]++; --i; a[i] += 3; i--; }
  return (int)i; }
int f4(int n, int m, int *a) { int i = 0, s = 0; do { s += a[i]; i++; s *= i; i++; } while (i < n);
  return s; }
int f5(int n, int m, int *a) { unsigned i = 0; for (; i < (unsigned)n;) { for (int k = 0; k < 2;
  k++) a[i + k] += k; i += 3; if (a[i & 15] > m) a[0] = i; i -= 1; } return i; }
"""


@needs_compiler
def test_means_the_same() -> None:
    calls = [{"n": n, "m": m, "a": np.arange(24)} for n, m in [(0, 0), (1, 0), (5, 2), (12, 8)]]
    assert_same("#include <stddef.h>\n" + SAME, *calls)


LEFT = [
    # It may be stepped or not, or by what nobody knows.
    "int i = 0; while (i < n) { a[i++] = 1; if (m) i++; a[i++] = 2; }",
    "int i = 0; while (i < n) { a[i++] = 1; i += m; a[i] = 2; }",
    # The counter is seen where the loop is left between its steps.
    "int i = 0; while (i < n) { a[i++] = 1; if (a[i] > 0) break; a[i++] = 2; } b[0] = i;",
    # Another variable has its name, or its type wraps around earlier.
    "int i = 0; while (i < n) { a[i++] = 1; { int i = 2; a[i] = 2; } i++; }",
    "unsigned char i = 0; while (i < n) { a[i++] = 1; a[i++] = 2; }",
    # The steps take it back to where it was.
    "int i = 0; while (i < n) { a[i++] = 1; a[i--] = 2; a[i] += 1; }",
]


@pytest.mark.parametrize("statements", LEFT)
def test_stays_as_it_is(statements: str) -> None:
    assert opaques(body(statements, PARAMS))


def _loop(rng: random.Random, n: int) -> str:
    type = rng.choice(["int", "long", "unsigned", "size_t"])
    up = rng.choice([True, True, False])
    steps = ["i++;", "++i;", "i += 2;", "i = i + 1;"] if up else ["i--;", "i -= 3;", "--i;"]
    uses = ["a[i & 15] += 1;", "t += i;", "if (a[i & 15] > 5) t ^= i;", "a[t & 15] = i;"]
    uses.append("for (int k = 0; k < 3; k++) t += i * k;")
    if n % 5 == 0:
        uses.append("if (t > 60) break;")
    lines = [rng.choice(uses) for _ in range(4)] + [rng.choice(steps) for _ in range(2)]
    rng.shuffle(lines)
    start, cond = ("m", "i < n") if up else ("n", "i > 7")
    head = f"{type} i = {start}; while ({cond})"
    if n % 3 == 0:
        head = f"{type} i; for (i = {start}; {cond}; i{'++' if up else '--'})"
    back = rng.choice(["t", "t + (int)i"])
    text = " ".join(lines)
    return f"int f{n}(int n, int m, int *a) {{ int t = 0; {head} {{ {text} }} return {back}; }}\n"


@needs_compiler
@pytest.mark.parametrize("batch", [0, pytest.param(1, marks=pytest.mark.slow)])
def test_random_loops_mean_the_same(batch: int) -> None:
    rng = random.Random(41 + batch)
    loops = [_loop(rng, n) for n in range(300 if batch else 40)]
    calls = [{"n": n, "m": m, "a": np.arange(16)} for n, m in [(0, 0), (8, 2), (3, 6), (13, 1)]]
    compared, reasons = compare("#include <stddef.h>\n" + "".join(loops), *calls)
    assert compared >= (120 if batch else 15), (compared, reasons)
