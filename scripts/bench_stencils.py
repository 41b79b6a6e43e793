"""Times stencils in time and pipelines on a GPU: each step, or nest, a kernel of its own, against
passes of several steps and stages in one kernel.

    python scripts/bench_stencils.py                         # every case, the tiles that are chosen
    python scripts/bench_stencils.py five harris --tile 8x128x256 --tile 32x2x128 --device 0:0

A line has the time of all kernels of a call (events, median of several), and how many elements of
the result that makes in a second, in each step of time. Sizes are those of docs/performance.md.
"""

from __future__ import annotations

import argparse
import statistics
from pathlib import Path
from typing import Any

import numpy as np

import loopxform as lx
from loopxform.ir.evaluate import evaluate

CORPUS = Path(__file__).parents[1] / "corpus"
INNER = "for (int i = 1; i < n - 1; i++) for (int j = 1; j < n - 1; j++)"
SPACE = f"{INNER} for (int k = 1; k < n - 1; k++)"
PLANES = "int T, int n, float A[2][n][n]"
NOW, NEXT = "A[t % 2]", "A[(t + 1) % 2]"


def _neighbours(*places: str) -> str:
    return " + ".join(f"0.{n + 1}f * {NOW}{p}" for n, p in enumerate(places))


CROSS = ("[i][j]", "[i - 1][j]", "[i + 1][j]", "[i][j - 1]", "[i][j + 1]")
CORNERS = ("[i - 1][j - 1]", "[i - 1][j + 1]", "[i + 1][j - 1]", "[i + 1][j + 1]")
CUBE = tuple(f"[i{a}][j{b}][k{c}]" for a, b, c in (
    ("", "", ""), (" - 1", "", ""), (" + 1", "", ""), ("", " - 1", ""), ("", " + 1", ""),
    ("", "", " - 1"), ("", "", " + 1")))  # fmt: skip
TIME = {
    "five": (PLANES, f"{INNER} {NEXT}[i][j] = ({_neighbours(*CROSS)}) / 118;", 16384, 2),
    "nine": (PLANES, f"{INNER} {NEXT}[i][j] = ({_neighbours(*CROSS, *CORNERS)}) / 118;", 16384, 2),
    "jacobi": (
        "int T, int n, double A[n][n], double B[n][n]",
        f"{INNER} B[i][j] = 0.2 * (A[i][j] + A[i][j-1] + A[i][j+1] + A[i+1][j] + A[i-1][j]);"
        f"{INNER} A[i][j] = 0.2 * (B[i][j] + B[i][j-1] + B[i][j+1] + B[i+1][j] + B[i-1][j]);",
        8192,
        2,
    ),
    "space": (
        "int T, int n, float A[2][n][n][n]",
        f"{SPACE} {NEXT}[i][j][k] = {_neighbours(*CUBE)};",
        512,
        3,
    ),
}
PIPELINES: dict[str, tuple[dict[str, int | float], int]] = {
    "blur3": ({"planes": 3, "h": 4096, "w": 4096}, 3 * 4096 * 4096),
    "unsharp_mask": ({"h": 2832, "w": 4256, "threshold": 0.1, "weight": 0.7}, 3 * 2832 * 4256),
    "harris": ({"h": 2832, "w": 4256}, 2832 * 4256),
}
STEPS = 48
"""Of time: a multiple of what two passes compute, for most tiles."""


def main() -> int:
    p = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    p.add_argument("cases", nargs="*", metavar="CASE", help=", ".join((*TIME, *PIPELINES)))
    p.add_argument("--tile", action="append", default=[], help="as --time-tile and --fuse-stages")
    p.add_argument("--device", default=None)
    p.add_argument("--profile", default="h100", help="(h100)")
    p.add_argument("--repeat", type=int, default=5, metavar="N", help="runs (5)")
    args = p.parse_args()
    for name in args.cases or (*TIME, *PIPELINES):
        for tile in ("0", "", *args.tile):
            _case(name, tile, args)
    return 0


def _case(name: str, tile: str, args: argparse.Namespace) -> None:
    numbers = None if tile == "" else () if tile == "0" else tuple(map(int, tile.split("x")))
    if name in TIME:
        params, body, n, rank = TIME[name]
        text = f"void f({params}) {{ for (int t = 0; t < T; t++) {{ {body} }} }}"
        routine, elements = lx.loads(text)["f"], n**rank * STEPS
        sizes: dict[str, Any] = {"T": STEPS, "n": n}
        asked: dict[str, Any] = {"time_tile": numbers, "fuse_stages": () if tile == "0" else None}
    else:
        sizes, elements = dict(PIPELINES[name][0]), PIPELINES[name][1]
        routine = lx.load(CORPUS / "pipelines" / f"{name}.c")[name]
        asked = {"fuse_stages": numbers}
    done = routine.offload(limits=args.profile, fp="fast", **asked)
    about = next((part.about for part in done.parts if part.about), "each step a kernel")
    call = done.compile(args.device)
    given = {**sizes, **_arrays(routine.function, sizes)}
    times = call.again(args.repeat, **given)
    ns = statistics.median(times)
    print(f"{name:13} {ns / 1e6:9.3f} ms  {elements / ns:8.1f} e9/s  {about}", flush=True)


def _arrays(fn: Any, sizes: dict[str, Any]) -> dict[str, Any]:
    rng = np.random.default_rng(1)
    some = rng.random(1_000_003)
    whole = {k: v for k, v in sizes.items() if isinstance(v, int)}
    made = {}
    for p in (p for p in fn.params if p.shape):
        shape = tuple(evaluate(e, whole) for e in p.shape)
        made[p.name] = np.resize(some.astype(p.type.numpy), shape)
    return made


if __name__ == "__main__":
    raise SystemExit(main())
