"""Compares products of doubles by tensor units with the ordinary contracted kernel, bit by bit, on
a GPU that has such units.

    python scripts/tensor_bits.py                       # 1024, 4096, odd sizes
    python scripts/tensor_bits.py 1000x777x1234

Operands have mixed signs and magnitudes from 2^-40 to 2^40, some are zeros, subnormal or infinite.
Prints the elements that differ (a NaN equals a NaN) and the device time of each kernel.
"""

from __future__ import annotations

import argparse
import sys

import numpy as np

import loopxform as lx

SIZES = "1024x1024x1024 4096x4096x4096 1000x777x1234 5x3x2 1x1x1 129x4099x257 640x0x64"
PRODUCT = """
void mm(int M, int U, int N, const double A[M][U], const double B[U][N], double C[M][N])
{
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++) {
      double sum = 0;
      for (int k = 0; k < U; k++)
        sum += A[i][k] * B[k][j];
      C[i][j] = sum;
    }
}
"""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sizes", nargs="*", default=SIZES.split(), metavar="MxUxN")
    parser.add_argument("--seed", type=int, default=5)
    args = parser.parse_args()
    product = lx.loads(PRODUCT)["mm"]
    ordinary = product.tile(limits="h100").compile()
    tensor = product.tile(limits="h100", tensor_units=True).compile()
    draw, worst = np.random.default_rng(args.seed), 0
    print(f"seed {args.seed}")
    for m, u, n in (tuple(map(int, s.split("x"))) for s in args.sizes):
        for special in (False, True):
            left, right = operand(draw, m, u, special), operand(draw, u, n, special)
            results, times = [], []
            for kernel in (ordinary, tensor):
                result = np.full((m, n), 7.0)
                kernel(m, u, n, left, right, result)
                results.append(result)
                times.append((kernel.nanoseconds or 0) / 1e6)
            a, b = results
            differing = int(((a.view("u8") != b.view("u8")) & ~(np.isnan(a) & np.isnan(b))).sum())
            worst = max(worst, differing)
            kinds = "infinities, NaN" if special else "finite"
            rates = ", ".join(f"{t:.3f} ms" for t in times)
            print(f"{m} x {u} x {n}, {kinds}: {differing} of {a.size} differ ({rates})", flush=True)
    return worst > 0


def operand(draw: np.random.Generator, rows: int, columns: int, special: bool) -> np.ndarray:
    """Numbers of mixed signs and magnitudes; `special`: with subnormal ones, infinities and NaN."""
    values = draw.standard_normal((rows, columns)) * 2.0 ** draw.integers(-40, 41, (rows, columns))
    values[draw.random(values.shape) < 0.02] = -0.0
    if special:
        values[draw.random(values.shape) < 1e-3] = 5e-320
        values[draw.random(values.shape) < 1e-5] = np.inf
        values[draw.random(values.shape) < 1e-5] = np.nan
    return values


if __name__ == "__main__":
    sys.exit(main())
