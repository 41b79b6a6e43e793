"""Times sums of few terms, whose number is a constant, by each recipe that could tile them.

    python scripts/few_terms.py --device 0:0 --profile h100 --size 8192
    python scripts/few_terms.py --profile pocl --size 2048 --terms 2,16

Products of floats with 2 to 32 terms, a convolution layer of three channels, and the distances of
points in space. Medians of seven calls in ms of the device; results are compared with those of the
naive kernel, bit for bit. The last row of each is what is chosen.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator

import numpy as np

import loopxform as lx
from loopxform.schedule.params import Recipe

PRODUCT = """\
void f(int n, int m, const float a[n][{k}], const float b[{k}][m], float c[n][m])
{{
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {{
      float s = 0;
      for (int k = 0; k < {k}; k++) s += a[i][k] * b[k][j];
      c[i][j] = s;
    }}
}}
"""
LAYER = """\
void f(int n, int m, const float a[n][3][3][3], const float b[3][m + 2][m + 2], float c[n][m][m])
{
  for (int o = 0; o < n; o++)
    for (int i = 0; i < m; i++)
      for (int j = 0; j < m; j++) {
        float s = 0;
        for (int d = 0; d < 3; d++)
          for (int u = 0; u < 3; u++)
            for (int v = 0; v < 3; v++) s += a[o][d][u][v] * b[d][i + u][j + v];
        c[o][i][j] = s;
      }
}
"""
POINTS = """\
void f(int n, int m, const float a[n][3], const float b[m][3], float c[n][m])
{
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {
      float s = 0;
      for (int k = 0; k < 3; k++) s += (a[i][k] - b[j][k]) * (a[i][k] - b[j][k]);
      c[i][j] = s;
    }
}
"""
RECIPES: tuple[Recipe | None, ...] = ("naive", "stencil", "register", None)
Shape = tuple[int, ...]


def cases(size: int, terms: list[int]) -> Iterator[tuple[str, str, dict[str, int], list[Shape]]]:
    """Names, functions, sizes and the shapes of a, b and c."""
    for k in terms:
        shapes: list[Shape] = [(size, k), (k, size), (size, size)]
        yield f"product of {k} terms", PRODUCT.format(k=k), {"n": size, "m": size}, shapes
    side = max(32, size // 32)
    planes: list[Shape] = [(64, 3, 3, 3), (3, side + 2, side + 2), (64, side, side)]
    yield "layer of three channels", LAYER, {"n": 64, "m": side}, planes
    points: list[Shape] = [(size, 3), (size, 3), (size, size)]
    yield "distances of points", POINTS, {"n": size, "m": size}, points


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", help="PLATFORM:DEVICE")
    parser.add_argument("--profile", default="h100")
    parser.add_argument("--size", type=int, default=8192)
    parser.add_argument("--terms", default="2,4,8,16,32")
    args = parser.parse_args()
    draw, wrong = np.random.default_rng(1), 0
    for name, text, sizes, shapes in cases(args.size, [*map(int, args.terms.split(","))]):
        a, b = (draw.random(shape, np.float32) for shape in shapes[:2])
        first: np.ndarray | None = None
        for recipe in RECIPES:
            tiled = lx.loads(text)["f"].tile(recipe=recipe, limits=args.profile)
            kernel, c = tiled.compile(device=args.device), np.zeros(shapes[2], np.float32)
            kernel(**sizes, a=a, b=b, c=c)
            times = kernel.again(7, **sizes, a=a, b=b, c=c.copy())
            first = c if first is None else first
            wrong += int(first.tobytes() != c.tobytes())
            said = "" if recipe else "  (chosen)"
            print(f"{name:24} {tiled.recipe:10} {np.median(times) / 1e6:9.3f} ms{said}", flush=True)
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
