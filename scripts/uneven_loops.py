"""Cases of `bench_loops.py`: loops that data end, in iterations of parallel ones."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from irregular_loops import BOTH, EACH, Row
from loop_cases import Arrays

MEAN = 64
"""Iterations of loops of random length."""
CHECKED = 1 << 16
"""Results that are compared."""

ESCAPE = f"""{BOTH} {{ float cr = 3.0f * j / n - 2.0f, ci = 2.0f * i / n - 1.0f, zr = 0, zi = 0;
  int k = 0; while (k < most && zr * zr + zi * zi < 4.0f) {{
    float t = zr * zr - zi * zi + cr; zi = 2 * zr * zi + ci; zr = t; k++; }}
  a[i][j] = k; }}"""
STEPS = f"""{EACH} {{ int64_t x = i + 1; int k = 0;
  while (x != 1) {{ x = x & 1 ? 3 * x + 1 : x / 2; k++; }} a[i] = k; }}"""
MARCH = f"""{BOTH} {{ float u = 2.0f * j / n - 1, v = 2.0f * i / n - 1, t = 0, s; int k = 0;
  do {{ float x = 3 * u + t * u, y = 3 * v + t * v, z = t - 4;
    float p = x - rintf(x), q = y - rintf(y), r = z - rintf(z);
    s = fminf(sqrtf(p * p + q * q + r * r) - 0.2f, y + 3);
    t += 0.9f * s; k++; }} while (s > 1e-3f && t < 40 && k < 256);
  a[i][j] = k; }}"""
DRAWS = f"""{EACH} {{ unsigned s = i; for (int k = 0; k < len[i]; k++) {{
  s = s * 1664525u + 1013904223u; s ^= s >> 13; }} a[i] = s; }}"""
POINTS = f"""{EACH} {{ float x = 0, y = 0; int k = 0;
  while (k < 1024 && x * x + y * y < 4.0f) {{
    float t = x * x - y * y + u[i]; y = 2 * x * y + v[i]; x = t; k++; }}
  a[i] = k; }}"""
DIVISORS = f"""{EACH} {{ unsigned p = x[i], q = y[i];
  while (q) {{ unsigned t = p % q; p = q; q = t; }} a[i] = p; }}"""
COLUMNS = f"""{EACH} {{ float s = 0;
  for (int k = 0; k < len[i]; k++) s = 0.5f * s + x[k][i]; a[i] = s; }}"""
ROOTS = f"{EACH} {{ int k = i; while (up[k] != k) k = up[k]; a[i] = k; }}"
PLACES = f"""{EACH} {{ int low = 0, high = m; while (low < high) {{ int k = (low + high) / 2;
  if (x[k] < v[i]) low = k + 1; else high = k; }} a[i] = low; }}"""


def _plane(random: np.random.Generator, n: int, most: int = 256) -> Arrays:
    del random
    return {"n": n, "most": most, "a": np.zeros((n, n), np.int32)}


def _deep(random: np.random.Generator, n: int) -> Arrays:
    return _plane(random, n, 4096)


def _lengths(random: np.random.Generator, n: int) -> Arrays:
    length = np.minimum(random.geometric(1 / MEAN, n) - 1, 16 * MEAN).astype(np.int32)
    return {"n": n, "len": length, "a": np.zeros(n, np.uint32)}


def _columns(random: np.random.Generator, n: int) -> Arrays:
    length = np.minimum(_lengths(random, n)["len"], 4 * MEAN - 1)
    x = random.random((4 * MEAN, n), dtype=np.float32)
    return {"n": n, "len": length, "x": x, "a": np.zeros(n, np.float32)}


def _points(random: np.random.Generator, n: int) -> Arrays:
    u, v = (random.uniform(-2, high, n).astype(np.float32) for high in (1, 2))
    return {"n": n, "u": u, "v": v, "a": np.zeros(n, np.int32)}


def _pairs(random: np.random.Generator, n: int) -> Arrays:
    x, y = (random.integers(0, 1 << 32, n, dtype=np.uint32) for _ in range(2))
    return {"n": n, "x": x, "y": y, "a": np.zeros(n, np.uint32)}


def _forest(random: np.random.Generator, n: int) -> Arrays:
    """Each node hangs on one of those before it, or is a root."""
    up = random.integers(0, np.maximum(np.arange(n), 1), n, dtype=np.int64).astype(np.int32)
    roots = random.random(n) < 0.01
    up[roots] = np.arange(n, dtype=np.int32)[roots]
    return {"n": n, "up": up, "a": np.zeros(n, np.int32)}


def _sorted(random: np.random.Generator, n: int) -> Arrays:
    x = np.sort(random.random(n // 4 + 1, dtype=np.float32))
    v = random.random(n, dtype=np.float32)
    return {"n": n, "m": len(x), "x": x, "v": v, "a": np.zeros(n, np.int32)}


def _drawn(x: Arrays) -> Arrays:
    left = x["len"][:CHECKED].copy()
    s = np.arange(len(left), dtype=np.uint32)
    while (left > 0).any():
        t = s * np.uint32(1664525) + np.uint32(1013904223)
        s = np.where(left > 0, t ^ (t >> np.uint32(13)), s)
        left -= 1
    return {f"a[:{CHECKED}]": s}


def _summed(x: Arrays) -> Arrays:
    length = x["len"][:CHECKED]
    s = np.zeros(len(length), np.float32)
    for k in range(int(length.max(initial=0))):
        s = np.where(length > k, np.float32(0.5) * s + x["x"][k][: len(s)], s)
    return {f"a[:{CHECKED}]": s}


def _roots(x: Arrays) -> Arrays:
    k = np.arange(len(x["up"][-CHECKED:]), dtype=np.int32)
    while not np.array_equal(x["up"][k], k):
        k = x["up"][k]
    return {f"a[:{CHECKED}]": k}


def _found(x: Arrays) -> Arrays:
    return {f"a[:{CHECKED}]": np.searchsorted(x["x"], x["v"][:CHECKED]).astype(np.int32)}


def rows() -> Iterator[Row]:
    """The cases."""
    image, each = lambda n: 4.0 * n * n, lambda n: 4.0 * n
    size = "int n, int most, int a[restrict n][n]"
    for name, plane in (("mandelbrot", _plane), ("mandelbrot-deep", _deep)):
        yield name, size, ESCAPE, plane, image, lambda _: {}, 4096
    yield "ray-march", size, MARCH, _plane, image, lambda _: {}, 4096
    yield (
        *("collatz", "int n, int a[restrict n]", STEPS),
        *(lambda _, n: {"n": n, "a": np.zeros(n, "i4")}, each),
        *(lambda _: {"a[:6]": np.array([0, 1, 7, 2, 5, 8])}, 1 << 24),
    )
    length = "int n, const int len[restrict n]"
    yield (
        *("random-lengths", f"{length}, unsigned a[restrict n]", DRAWS),
        *(_lengths, lambda n: 8.0 * n, _drawn, 1 << 24),
    )
    given = "int n, const {0} {1}[restrict n], const {0} {2}[restrict n], {3} a[restrict n]"
    yield (
        *("escape-points", given.format("float", "u", "v", "int"), POINTS),
        *(_points, lambda n: 12.0 * n, lambda _: {}, 1 << 22),
    )
    yield (
        *("divisors", given.format("unsigned", "x", "y", "unsigned"), DIVISORS),
        *(_pairs, lambda n: 12.0 * n, lambda x: {"a": np.gcd(x["x"], x["y"])}, 1 << 22),
    )
    yield (
        *("random-columns", f"{length}, const float x[restrict 256][n], float a[restrict n]"),
        *(COLUMNS, _columns, lambda n: (8.0 + 4 * MEAN) * n, _summed, 1 << 19),
    )
    yield (
        *("roots", "int n, const int up[restrict n], int a[restrict n]", ROOTS),
        *(_forest, lambda n: 8.0 * n, _roots, 1 << 24),
    )
    search = "int n, int m, const float x[restrict m], const float v[restrict n], int a[restrict n]"
    yield (
        *("places", search, PLACES, _sorted, lambda n: 9.0 * n),
        *(_found, 1 << 24),
    )
