"""Programs of several files with data regions: functions that are offloaded, and random functions
that call them between updates which are all there."""

from __future__ import annotations

import random
from collections.abc import Iterator

N = 48

HEAD = """
#ifdef __GNUC__
#pragma GCC diagnostic ignored "-Wunknown-pragmas"
#endif
#include <stdio.h>
#include <stdlib.h>
#include "kernels.h"
"""
KERNELS_H = """
void blur(int n, const double *restrict a, double *restrict b);
void scale(int n, double f, double *a);
void pick(int n, const double *restrict a, double *restrict b);
void gather(int n, const int *restrict at, const double *restrict a, double *restrict b);
void settle(int n, int most, double *a);
void rows(int n, int m, double a[n][m]);
"""
FIRST = """
void blur(int n, const double *restrict a, double *restrict b)
{
  for (int i = 1; i < n - 1; i++)
    b[i] = (a[i - 1] + a[i + 1]) / 2;
}

void scale(int n, double f, double *a)
{
  for (int i = 0; i < n; i++)
    a[i] *= f;
}

void pick(int n, const double *restrict a, double *restrict b)
{
  for (int i = 0; i < n; i++)
    if (a[i] > 1)
      b[i] = a[i] - 1;
}
"""
SECOND = """
void gather(int n, const int *restrict at, const double *restrict a, double *restrict b)
{
  for (int i = 0; i < n; i++)
    b[i] += a[at[i]];
}

void settle(int n, int most, double *a)
{
  int left = 1, it = 0;
  while (left > 0 && it < most) {
    for (int i = 0; i < n; i++)
      a[i] *= 0.5;
    left = 0;
    for (int i = 0; i < n; i++)
      if (a[i] > 2)
        left++;
    it++;
  }
}

void rows(int n, int m, double a[n][m])
{
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      a[i][j] += 0.125 * i - j;
}
"""
FILES = {"kernels.h": KERNELS_H, "first.c": FIRST, "second.c": SECOND}


def random_program(seed: int, functions: int) -> str:
    """A program that prints what some random functions make of three arrays."""
    rng = random.Random(seed)
    made = [_function(rng, n) for n in range(functions)]
    calls = "".join(f"  f{n}(x, y, z, at);\n  show(x, y, z);\n" for n in range(functions))
    return f"""{HEAD}
enum {{ N = {N} }};

static void show(const double *x, const double *y, const double *z)
{{
  double s = 0;
  for (int i = 0; i < N; i++)
    s = s * 0.75 + x[i] + 2 * y[i] + 3 * z[i];
  printf("%.17g\\n", s);
}}

{"".join(made)}
int main(void)
{{
  double *x = malloc(N * sizeof *x), y[N], z[N];
  int at[N];
  for (int i = 0; i < N; i++) {{
    x[i] = i % 7 + 1;
    y[i] = i % 5 - 1;
    z[i] = 4 - i % 3;
    at[i] = (i * 7 + 3) % N;
  }}
{calls}  free(x);
  return 0;
}}
"""


def _function(rng: random.Random, number: int) -> str:
    names = "double *x, double *y, double *z, int *at"
    body = "".join(f"  {line}\n" for line in _region(rng, 0))
    return f"void f{number}({names})\n{{\n{body}}}\n\n"


def _region(rng: random.Random, depth: int) -> Iterator[str]:
    """A data region, or enter data and exit data, around some statements. All arrays come back."""
    kept = rng.sample(["x", "y", "z"], rng.randint(1, 3))
    first = {a: rng.choice([0, 0, 0, 5]) for a in kept}
    sections = ", ".join(f"{a}[{first[a]}:N - {first[a]}]" for a in kept)
    with_at = rng.random() < 0.5
    inside = list(_statements(rng, depth))
    if rng.random() < 0.7:
        clauses = f"copy({sections})" + (" copyin(at[0:N])" if with_at else "")
        yield f"#pragma loopxform data {clauses}"
        yield from ("{", *(f"  {x}" for x in inside), "}")
    else:
        yield f"#pragma loopxform enter data copyin({sections})"
        yield from inside
        yield f"#pragma loopxform exit data copyout({sections})"


def _statements(rng: random.Random, depth: int) -> Iterator[str]:
    for _ in range(rng.randint(2, 5)):
        kind = rng.random()
        if kind < 0.15 and depth < 2:
            yield from _region(rng, depth + 1)
        elif kind < 0.3 and depth < 2:
            yield "for (int t = 0; t < 2; t++) {"
            yield from (f"  {x}" for x in _statements(rng, depth + 1))
            yield "}"
        elif kind < 0.5:
            yield from _on_host(rng)
        else:
            yield _call(rng)


def _on_host(rng: random.Random) -> Iterator[str]:
    """A statement of the host, with all updates that it needs."""
    a, b = rng.sample(["x", "y", "z"], 2)
    i, k = rng.randrange(N), rng.randrange(N)
    yield f"#pragma loopxform update host({a}[{i}:1], {b}[{k}:1])"
    yield f"{a}[{i}] = {b}[{k}] * 0.5 + {a}[{i}];"
    yield f"#pragma loopxform update device({a}[{i}:1])"


def _call(rng: random.Random) -> str:
    a, b = rng.sample(["x", "y", "z"], 2)
    at, skip = rng.choice([0, 0, 2, 16]), rng.choice([0, 0, 8])
    n = N - max(at, skip) - rng.choice([0, 0, 3])
    return rng.choice(
        [
            f"blur({n}, {a} + {at}, {b} + {skip});",
            f"scale({n}, 0.75, {a} + {at});",
            f"pick({n}, {a} + {at}, {b} + {skip});",
            f"gather({n}, at, {a}, {b} + {at});",
            f"settle({n}, 3, {a} + {at});",
            f"rows(4, 5, (double (*)[5])({a} + {at}));",
        ]
    )
