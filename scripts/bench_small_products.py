"""Times batches of small products by the bytes that they move, next to a copy.

    python scripts/bench_small_products.py
    python scripts/bench_small_products.py 16x16x16 double:8x8x8 --elements 50000000

Rows are `TYPE:MxUxN` (float where no type is named); --elements are those of the three arrays
together. Kernels are compared with the naive one.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

import loopxform as lx
from loopxform.bench.kernels import Kernels, kernels
from loopxform.runtime.queues import queue_on
from loopxform.runtime.selection import choose
from loopxform.schedule.params import Recipe

PRODUCTS = """
void products(int n, const {t} A[n][{m}][{u}], const {t} B[n][{u}][{w}], {t} C[n][{m}][{w}])
{{
  for (int p = 0; p < n; p++)
    for (int i = 0; i < {m}; i++)
      for (int j = 0; j < {w}; j++) {{
        {t} sum = 0;
        for (int k = 0; k < {u}; k++)
          sum += A[p][i][k] * B[p][k][j];
        C[p][i][j] = sum;
      }}
}}
"""
COPY = """
void copy(int n, const float *restrict a, float *restrict b)
{
  for (int i = 0; i < n; i++)
    b[i] = a[i];
}
"""
SHAPES = "4x4x4 6x6x6 8x8x8 12x8x12 16x16x16 32x32x32 double:8x8x8 double:16x16x16"
LAUNCHES = 9


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("shapes", nargs="*", default=SHAPES.split())
    parser.add_argument("--elements", type=int, default=150_000_000)
    parser.add_argument("--profile", default="h100")
    args = parser.parse_args()
    n = args.elements // 2
    given = {"n": n, "a": np.ones(n, np.float32), "b": np.zeros(n, np.float32)}
    copied = bandwidth(mapped("copy", COPY, None, args.profile), given)
    print(f"copy of {n} floats: {copied:.2f} GB/s")
    same = True
    for shape in args.shapes:
        kind, _, extents = shape.rpartition(":")
        m, u, w = map(int, extents.split("x"))
        text = PRODUCTS.format(t=kind or "float", m=m, u=u, w=w)
        given = operands(kind or "float", m, u, w, args.elements)
        taken, naive = (mapped("products", text, r, args.profile) for r in (None, "naive"))
        rate, plain = bandwidth(taken, given), bandwidth(naive, given)
        ours, theirs = (k.result(given)["C"] for k in (taken, naive))
        agree = np.allclose(ours, theirs, rtol=1e-5)
        same &= agree
        print(
            f"{given['n']:>8} of {shape:<16} {taken.label:<10} {rate:8.2f} GB/s, "
            f"{rate / copied:.2f} of the copy; naive {plain:8.2f}"
            + (" WRONG" if not agree else ""),
            flush=True,
        )
    return 0 if same else 1


def mapped(name: str, text: str, recipe: Recipe | None, profile: str) -> Kernels:
    """The kernels of a function, labelled by their recipe."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"{name}.c")
        path.write_text(text)
        done = lx.load(path)[name].tile(limits=profile, recipe=recipe)
    device = choose()
    return kernels(done.tiled.recipe, done, device, queue_on(device))


def operands(kind: str, m: int, u: int, w: int, elements: int) -> dict[str, Any]:
    """A batch of that many elements, in A, B and C."""
    dtype = np.float64 if kind == "double" else np.float32
    n = elements // (m * u + u * w + m * w)
    draw = np.random.default_rng(20200608).random(1 << 20)
    parts = {"A": (n, m, u), "B": (n, u, w)}
    arrays = {name: np.resize(draw, shape).astype(dtype) for name, shape in parts.items()}
    return {"n": n, **arrays, "C": np.zeros((n, m, w), dtype)}


def bandwidth(k: Kernels, given: Mapping[str, Any]) -> float:
    """Bytes of all arrays, in GB/s, by the median of the launches."""
    nanoseconds = median(k.times(given, LAUNCHES)[2:])
    return float(sum(x.nbytes for x in given.values() if isinstance(x, np.ndarray)) / nanoseconds)


if __name__ == "__main__":
    sys.exit(main())
