"""Pointers that iterations set first, and parameters that are set first: the same as in C."""

from __future__ import annotations

import random

import numpy as np
import pytest
from differential import assert_same, compare, needs_compiler

SAME = """
int f0(int n, int m, int *a) { int *p, *q; int r, c; for (r = 0; r < n; r++) { p = a + r * m;
  q = a + 300 + r * m; for (c = 0; c < m; c++) *q++ = *p++ + r; } return a[300]; }
int f1(int n, int m, int *a) { int *p = a + 5, r, c; for (r = 0; r < n; r++) { p = a + r * m;
  for (c = 0; c < m; c++) p[c] += r; } return *p; }
int f2(int n, int m, int *a) { int *p = a, *q = a; int r; for (r = 0; r < n; r++) { if (r & 1)
  continue; p = a + r; q = p + m; *q += *p; } for (r = 0; r < n; r++) { p = a + 2 * r; *p += r; }
  return 0; }
int f3(int n, int m, int *a) { int *p = a, r; for (r = 0; r < n; r++) { *p += 1; p = a + r * m; }
  return *p; }
int f5(int n, int m, int *a) { int *p, r, c; for (r = 0; r < n; r++) { p = a + r; for (c = 0; c < m;
  c++) { *p += c; p += 3; } p = a + 50 + r; *p -= 7; } p = a + n; return *p; }
"""


@needs_compiler
def test_means_the_same() -> None:
    calls = [{"n": n, "m": m, "a": np.arange(600)} for n, m in [(0, 0), (1, 3), (5, 4), (9, 7)]]
    assert_same(SAME, *calls)


def _function(rng: random.Random, k: int) -> str:
    """Two pointers that loops set, move, and leave to others, at random."""
    places = ["a + r * 9", "a + r", "a + 100 + r * 8", "p + 2", "q + 1", "a + m"]

    def part(depth: int) -> str:
        name, other = rng.sample("pq", 2)
        kind = rng.randint(0, 5)
        if kind < 2:
            return f"{name} = {rng.choice(places).replace(name + ' ', other + ' ')};"
        if kind == 2 and depth:
            body = " ".join(part(depth - 1) for _ in range(rng.randint(1, 3)))
            return f"for (int c{depth} = 0; c{depth} < m; c{depth}++) {{ {body} }}"
        if kind == 3:
            return f"if (r & 1) {{ {name} = {rng.choice(places[:3])}; }}"
        return f"{name}[{rng.choice(['0', 'r', '1'])}] += *{other} % 9 + r;"

    loops = []
    for _ in range(rng.randint(1, 2)):
        body = " ".join(part(2) for _ in range(rng.randint(2, 5)))
        loops.append(f"for (r = 0; r < n; r++) {{ {body} }}")
    last = rng.choice(["", "*p += 5;", "q[1] = *p;"])
    return (
        f"int f{k}(int n, int m, int *a) {{ int *p = a + 300, *q = a + 320, r = 0;\n"
        f"  {' '.join(loops)} {last} return 0; }}\n"
    )


@needs_compiler
@pytest.mark.parametrize("batch", [0, pytest.param(1, marks=pytest.mark.slow)])
def test_random_pointers_mean_the_same(batch: int) -> None:
    rng = random.Random(230 + batch)
    text = "".join(_function(rng, k) for k in range(300 if batch else 40))
    calls = [{"n": n, "m": m, "a": np.arange(900)} for n, m in [(0, 2), (1, 3), (5, 4), (6, 0)]]
    compared, reasons = compare(text, *calls)
    assert compared >= (60 if batch else 8), reasons
