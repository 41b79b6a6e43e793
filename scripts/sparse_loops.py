"""Cases of `bench_loops.py`: sparse matrices of several kinds times a vector."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from loop_cases import REORDERED, Arrays, Case

Matrix = Callable[[np.random.Generator, int], tuple[Any, Any, int]]
"""The lengths of about so many rows, the columns of their entries, and how many columns there
are."""


def _csr(matrix: Matrix, mean: int) -> Case:
    """A matrix of about 2^26 entries in compressed rows, of so many on average, times a vector."""

    def arguments(random: np.random.Generator, n: int) -> Arrays:
        lengths, columns, m = matrix(random, n)
        starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
        count = int(starts[-1])
        return {
            **{"n": len(lengths), "m": m, "nz": count, "start": starts, "col": columns},
            "v": random.random(count, dtype=np.float32),
            "x": random.random(m, dtype=np.float32),
            "y": np.zeros(len(lengths), np.float32),
        }

    def expected(a: Arrays) -> Arrays:
        sums = np.concatenate([[0], np.cumsum(a["v"].astype(float) * a["x"][a["col"]])])
        return {"y": sums[a["start"][1:]] - sums[a["start"][:-1]]}

    text = """void f(int n, int m, int nz, const int start[restrict n + 1],
      const int col[restrict nz], const float v[restrict nz], const float x[restrict m],
      float y[restrict n])
    { for (int i = 0; i < n; i++) { float s = 0;
        for (int k = start[i]; k < start[i + 1]; k++) s += v[k] * x[col[k]]; y[i] = s; } }"""
    return Case(text, arguments, lambda n: n * (8.0 * mean + 12), expected, (1 << 26) // mean)


def _random_rows(mean: int) -> Matrix:
    """Up to twice the mean in a row, anywhere."""

    def drawn(random: np.random.Generator, n: int) -> tuple[Any, Any, int]:
        lengths = random.integers(0, 2 * mean + 1, n)
        return lengths, random.integers(0, n, int(lengths.sum()), dtype=np.int32), n

    return drawn


def _power_law(random: np.random.Generator, n: int) -> tuple[Any, Any, int]:
    """Rows of 5 and more, 16 on average: the longer, the fewer, up to 100000."""
    lengths = np.minimum(16 / 3 * random.random(n) ** (-2 / 3), min(n, 100000)).astype(np.int64)
    return lengths, random.integers(0, n, int(lengths.sum()), dtype=np.int32), n


def _neighbours(_: np.random.Generator, n: int) -> tuple[Any, Any, int]:
    """The points of a cube, each with those around it: 27 but for its faces."""
    side = round(n ** (1 / 3))
    at, near = np.arange(side, dtype=np.int32), np.array([-1, 0, 1], np.int32)
    along = at[:, None] + near
    inside = (along >= 0) & (along < side)
    z, y, x = (
        along.reshape(
            [side if d == n else 1 for d in range(3)] + [3 if d == n else 1 for d in range(3)]
        )
        for n in range(3)
    )
    there = (
        inside.reshape(side, 1, 1, 3, 1, 1)
        & inside.reshape(1, side, 1, 1, 3, 1)
        & inside.reshape(1, 1, side, 1, 1, 3)
    ).reshape(side**3, 27)
    columns = ((z * side + y) * side + x).reshape(side**3, 27)
    return there.sum(1), columns[there].astype(np.int32), side**3


def _blocks(random: np.random.Generator, n: int) -> tuple[Any, Any, int]:
    """Blocks of 200 rows by 200 columns, one for each block of rows, anywhere."""
    count = max(1, n // 200)
    first = np.repeat(random.permutation(count).astype(np.int32) * 200, 200)
    columns = (first[:, None] + np.arange(200, dtype=np.int32)).reshape(-1)
    return np.full(count * 200, 200), columns, count * 200


def _ellpack(subscript: str, shape: str) -> Case:
    """16 entries in each row, by rows or by columns."""

    def arguments(random: np.random.Generator, n: int) -> Arrays:
        own = (n, 16) if shape == "[n][k]" else (16, n)
        return {
            **{"n": n, "k": 16, "col": random.integers(0, n, own, dtype=np.int32)},
            "v": random.random(own, dtype=np.float32),
            **{"x": random.random(n, dtype=np.float32), "y": np.zeros(n, np.float32)},
        }

    def expected(a: Arrays) -> Arrays:
        terms = a["v"].astype(float) * a["x"][a["col"]]
        return {"y": terms.sum(1 if shape == "[n][k]" else 0)}

    arrays = shape.replace("[", "[restrict ", 1)
    text = f"""void f(int n, int k, const int col{arrays}, const float v{arrays},
      const float x[restrict n], float y[restrict n])
    {{ for (int i = 0; i < n; i++) {{ float s = 0;
        for (int e = 0; e < k; e++) s += v{subscript} * x[col{subscript}]; y[i] = s; }} }}"""
    return Case(text, arguments, lambda n: n * (8.0 * 16 + 8), expected, 1 << 22)


KINDS: dict[str, Case] = {
    "csr-banded": _csr(_neighbours, 27),
    "csr-8": _csr(_random_rows(8), 8),
    "csr-64": _csr(_random_rows(64), 64),
    "csr-power-law": _csr(_power_law, 16),
    "csr-blocks": _csr(_blocks, 200),
}
"""Matrices of different kinds, in order; `-any-order` allows sums in any."""

CASES: dict[str, Case] = {
    **KINDS,
    **{f"{name}-any-order": case.allowing(**REORDERED) for name, case in KINDS.items()},
    "ellpack-rows": _ellpack("[i][e]", "[n][k]"),
    "ellpack-rows-any-order": _ellpack("[i][e]", "[n][k]").allowing(**REORDERED),
    "ellpack-columns": _ellpack("[e][i]", "[k][n]"),
}
TORCH: dict[str, Callable[[Any, Arrays], Any]] = {
    name: lambda _, x: x["matrix"] @ x["x"] for name in KINDS
}
"""cuSPARSE."""
