"""Times matrix products of random shapes on a GPU against cuBLAS, each side log-uniform.

    python scripts/bench_shapes.py 200 --seed 7
    python scripts/bench_shapes.py 200 --seed 7 -- --fp reassociate --repeat 5
    python scripts/bench_shapes.py 200 --seed 7 "--compare=--shift-inwards --interleave-copies 1"

What stands behind -- goes to `loopxform bench`. Printed are the shapes from the slowest on, in
proportion to cuBLAS, and geometric means: over all of them, and over those whose result has at
least 256 rows and columns; and how many times as long as the least that C's order allows on an
H100 cuBLAS takes for these. With --compare, the shapes are timed again with more options. Printed
is how many times as fast these make each shape, short sums first, and the mean of large results
that they would come to from this many terms on.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
from collections.abc import Iterable
from math import exp, log
from pathlib import Path
from statistics import geometric_mean

from loopxform.bench import measure
from loopxform.cli import main as loopxform
from loopxform.targets.profile import PROFILES

CORPUS = Path(__file__).parents[1] / "corpus"
ACCESSES = 20_000_000
"""Up to which shapes are compared with the C; larger ones with the naive kernel."""

LANES, LATENCY = 128, 4
"""Multiply-adds that a compute unit begins in a clock cycle, and the cycles until one of them has
its result (compute capability 9.0)."""

LARGE = 256
"""Rows and columns of what counts as a large result."""

Shape = tuple[int, int, int]
Ratios = dict[Shape, tuple[float, ...]]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("count", type=int)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--least", type=int, default=16)
    parser.add_argument("--most", type=int, default=8192)
    parser.add_argument("--shapes", help="shapes instead of random ones: 64x65536x64,1x8192x8192")
    parser.add_argument("--double", action="store_true", help="products of doubles")
    parser.add_argument("--compare", help="options to time the shapes with again, in one word")
    parser.add_argument("--json", help="write the ratios of the shapes to this file")
    own, more = _halves(sys.argv[1:])
    args = parser.parse_args(own)
    measure.LONGEST = ACCESSES
    shapes = _named(args.shapes) if args.shapes else _random(args)
    element = "double" if args.double else "float"
    ratios = ratio_of_each(shapes, more, element)
    for (m, u, n), (ratio, ours, rate) in sorted(ratios.items(), key=lambda x: x[1][0]):
        print(f"{m:>6} x {u:>6} x {n:>6}  {ratio:6.3f} {ours:9.4f} ms {rate:9.1f} GFLOP/s")
    _print_mean("all", [x for x, *_ in ratios.values()])
    large = [x for s, (x, *_) in ratios.items() if _large(s)]
    _print_mean("rows and columns >= 256", large)
    above = [r[0] * r[1] / in_order(s) for s, r in ratios.items() if _large(s)]
    if above:
        print(f"cuBLAS: {geometric_mean(above):.2f} times the least of C's order, {min(above):.2f}")
    if args.compare:
        _print_gains(ratios, ratio_of_each(shapes, [*more, *args.compare.split()], element))
    if args.json:
        Path(args.json).write_text(json.dumps([[*s, *r] for s, r in ratios.items()]))
    return 0 if len(ratios) == len(shapes) else 1


def ratio_of_each(shapes: list[Shape], options: list[str], element: str = "float") -> Ratios:
    """The time of cuBLAS over ours, our milliseconds, and GFLOP/s."""
    with tempfile.TemporaryDirectory() as folder:
        sizes, report = Path(folder, "sizes"), Path(folder, "report.json")
        product = Path(folder, "mm.c")
        product.write_text((CORPUS / "mm.c").read_text().replace("float", element))
        sizes.write_text("".join(f"M={m} U={u} N={n}\n" for m, u, n in shapes))
        words = ["--sizes", str(sizes), "--variants", "auto", "--against", "cublas"]
        words += ["--json", str(report), *options]
        loopxform(["bench", str(product), *words])
        results = json.loads(report.read_text())["results"]
    ratios = Ratios()
    for result in results:
        shape = _shape(result["sizes"][name] for name in "MUN")
        rows = {r["name"]: r for r in result["rows"]}
        theirs, ours = rows.get("cublas", {}), next(iter(rows.values()))
        if "median" in ours and "median" in theirs:
            ratios[shape] = theirs["median"] / ours["median"], ours["median"], ours["gflops"]
        else:
            print(shape, ours.get("wrong") or ours.get("refused"), theirs, file=sys.stderr)
    return ratios


def _print_gains(before: Ratios, after: Ratios) -> None:
    """What other options come to, the shortest sums first; where they were used from there on."""
    both = sorted((s for s in before if s in after), key=lambda s: s[1])
    print("gain of the other options, and the mean of shapes of 256 rows and columns from there on")
    for n, (m, u, k) in enumerate(both):
        used = [after[s][0] if i >= n else before[s][0] for i, s in enumerate(both) if _large(s)]
        gain, mean = after[m, u, k][0] / before[m, u, k][0], geometric_mean(used or [1])
        print(f"{m:>6} x {u:>6} x {k:>6}  {before[m, u, k][0]:6.3f} * {gain:5.3f}  {mean:.4f}")


def _large(shape: Shape) -> bool:
    return min(shape[0], shape[2]) >= LARGE


def _halves(words: list[str]) -> tuple[list[str], list[str]]:
    """The words in front of -- and behind it."""
    at = words.index("--") if "--" in words else len(words)
    return words[:at], words[at + 1 :]


def in_order(shape: Shape) -> float:
    """The least milliseconds of a product whose sums stay in order: all multiply-adds at the peak
    rate, those of one result one after the other, or the arrays once from memory."""
    (m, u, n), h100 = shape, PROFILES["h100"]
    clock = h100.peak / (2 * LANES * h100.compute_units)
    arithmetic = 2 * m * u * n / h100.peak
    chain = LATENCY * u / clock
    memory = 4 * (m * u + u * n + m * n) / h100.bandwidth
    return max(arithmetic, chain, memory) / 1e6


def _random(args: argparse.Namespace) -> list[Shape]:
    print(f"{args.count} shapes, sides from {args.least} to {args.most}, seed {args.seed}")
    draw = random.Random(args.seed)
    ends = log(args.least), log(args.most)
    return [_shape(round(exp(draw.uniform(*ends))) for _ in "MUN") for _ in range(args.count)]


def _named(text: str) -> list[Shape]:
    try:
        return [_shape(map(int, word.split("x"))) for word in text.split(",")]
    except ValueError:
        sys.exit("a shape is MxUxN")


def _shape(numbers: Iterable[int]) -> Shape:
    m, u, n = numbers
    return m, u, n


def _print_mean(label: str, ratios: list[float]) -> None:
    if ratios:
        worst, mean = min(ratios), geometric_mean(ratios)
        print(f"{label}: {len(ratios)} shapes, geometric mean {mean:.3f}, worst {worst:.3f}")


if __name__ == "__main__":
    sys.exit(main())
