"""Products by tensor units on a GPU that has them, against the ordinary kernels: integers of eight
bits are to be equal.

    python scripts/tensor_products.py                      # 1024, 4096, odd sizes
    python scripts/tensor_products.py 1000x777x1234 --kinds s8 u8
    python scripts/tensor_products.py 4096x4096x4096 --torch

Prints how many elements differ, and the device time of each kernel: the least of five.
"""

from __future__ import annotations

import argparse
import importlib
import sys
from typing import Any

import numpy as np

import loopxform as lx

SIZES = "1024x1024x1024 4096x4096x4096 8192x8192x8192 1000x777x1234 5x3x2 129x4099x257"
KINDS = {
    "s8": ("signed char", "signed char", "int"),
    "u8": ("unsigned char", "unsigned char", "unsigned"),
    "mixed": ("signed char", "unsigned char", "int"),
}
"""Types of both operands and of sums."""
PRODUCT = """
void mm(int M, int U, int N, const {0} A[M][U], const {1} B[U][N], {2} C[M][N])
{{
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++) {{
      {2} sum = 0;
      for (int k = 0; k < U; k++)
        sum += A[i][k] * B[k][j];
      C[i][j] = sum;
    }}
}}
"""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sizes", nargs="*", default=SIZES.split(), metavar="MxUxN")
    parser.add_argument("--kinds", nargs="*", default=[*KINDS], choices=[*KINDS])
    parser.add_argument("--torch", action="store_true", help="torch._int_mm too")
    parser.add_argument("--seed", type=int, default=5)
    args = parser.parse_args()
    draw, worst = np.random.default_rng(args.seed), 0
    print(f"seed {args.seed}")
    for kind in args.kinds:
        types = KINDS[kind]
        product = lx.loads(PRODUCT.format(*types))["mm"]
        ordinary = product.tile(limits="h100").compile()
        tensor = product.tile(limits="h100", tensor_units=True).compile()
        for m, u, n in (tuple(map(int, s.split("x"))) for s in args.sizes):
            left, right = operand(draw, types[0], m, u), operand(draw, types[1], u, n)
            (a, slow), (b, quick) = (timed(k, types[2], left, right) for k in (ordinary, tensor))
            differing = int((a != b).sum())
            worst = max(worst, differing)
            rate = 2e-9 * m * u * n / quick
            more = f", torch {int_mm(left, right):.3f} ms" if args.torch and kind == "s8" else ""
            text = f"{kind} {m} x {u} x {n}: {differing} of {a.size} differ"
            print(f"{text} ({slow:.3f} ms, {quick:.3f} ms, {rate:.1f} Top/s{more})", flush=True)
    return worst > 0


def operand(draw: np.random.Generator, kind: str, rows: int, columns: int) -> np.ndarray:
    """Any values of the type."""
    dtype = np.uint8 if "unsigned" in kind else np.int8
    return draw.integers(0, 256, (rows, columns)).astype(np.uint8).view(dtype)


def timed(kernel: Any, kind: str, left: np.ndarray, right: np.ndarray) -> tuple[np.ndarray, float]:
    """The product, and its device time in ms."""
    (m, u), n = left.shape, right.shape[1]
    result = np.full((m, n), 7, np.uint32 if "unsigned" in kind else np.int32)
    times = []
    for _ in range(5):
        kernel(m, u, n, left, right, result)
        times.append(kernel.nanoseconds / 1e6)
    return result, min(times)


def int_mm(left: np.ndarray, right: np.ndarray) -> float:
    """The median time of torch._int_mm in ms."""
    torch: Any = importlib.import_module("torch")
    a, b = (torch.from_numpy(x).cuda() for x in (left, right))
    times = []
    for _ in range(12):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        try:
            torch._int_mm(a, b)
        except RuntimeError:
            return float("nan")
        end.record()
        torch.cuda.synchronize()
        times.append(begin.elapsed_time(end))
    return float(np.median(times[2:]))


if __name__ == "__main__":
    sys.exit(main())
