"""Times each kind of tile of `tile_times` on a GPU for products of random shapes, and fits the
times of the profile to them.

    python scripts/bench_tiles.py measure 60 --seed 21 --json times.json
    python scripts/bench_tiles.py fit times.json [MORE.json ...]

`measure` times products of floats, each side log-uniform, sums from 16 terms on, every second one
with rows of whole vectors: with each kind of tile for rows as they are (`odd`), for rows of
vectors, copied where they are none (`rows`), as the profile chooses (`auto`), and with cuBLAS.
`fit` prints rows for [tile_times] with the mean error of each, and replays which tile the profile
of today would choose, in proportion to cuBLAS: what was measured counts, not what was predicted.
Packed operands are as `auto` had them.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from math import exp, log
from pathlib import Path
from random import Random
from statistics import geometric_mean

from loopxform.bench import measure
from loopxform.cli import main as loopxform
from loopxform.model.tile_shapes import Shape, quickest
from loopxform.model.waves import SINGLE
from loopxform.targets.profile import PROFILES

CORPUS = Path(__file__).parents[1] / "corpus"
H100 = PROFILES["h100"]
TILES = {
    "16x16 8x8": 8, "8x16 8x8": 16, "8x16 12x6": 8, "8x16 6x6": 16, "8x16 10x4": 16, "8x16 8x4": 16,
    "8x16 6x4": 16, "8x16 4x4": 16, "4x16 4x2": 32, "4x16 2x2": 32, "4x32 16x4 single columns": 8,
    "8x16 8x4 single columns": 16, "8x16 4x4 single columns": 16,
}  # fmt: skip
"""Work-items and their elements, and the iterations of a tile (`Tk`); those of single columns are
for rows as they are."""

LAUNCH = 4.0
"""Microseconds of a call that does next to nothing, which no tile is to blame for."""

Sizes = tuple[int, int, int]
Times = dict[str, dict[str, float]]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(required=True)
    timing = commands.add_parser("measure", help="time each kind of tile")
    timing.add_argument("count", type=int)
    timing.add_argument("--seed", type=int, default=21)
    timing.add_argument("--json", required=True, help="where the times go")
    timing.set_defaults(run=_measure)
    fitting = commands.add_parser("fit", help="fit times to what was measured")
    fitting.add_argument("json", nargs="+")
    fitting.set_defaults(run=_fit)
    args = parser.parse_args()
    args.run(args)
    return 0


def _measure(args: argparse.Namespace) -> None:
    measure.LONGEST = 2_000_000
    times: Times = {}
    with tempfile.TemporaryDirectory() as folder:
        sizes, report = Path(folder, "sizes"), Path(folder, "report.json")
        shapes = _drawn(args.count, args.seed)
        sizes.write_text("".join(f"M={m} U={u} N={n}\n" for m, u, n in shapes))
        for kind, options in _kinds():
            print(kind, file=sys.stderr, flush=True)
            words = ["--sizes", str(sizes), "--variants", "auto", "--repeat", "5", "-q"]
            loopxform(["bench", str(CORPUS / "mm.c"), *words, "--json", str(report), *options])
            for result in json.loads(report.read_text())["results"]:
                key = " ".join(str(result["sizes"][x]) for x in "MUN")
                for row in result["rows"]:
                    name = "cublas" if row["name"] == "cublas" else kind
                    times.setdefault(key, {})[name] = row["median"]
            Path(args.json).write_text(json.dumps(times))


def _drawn(count: int, seed: int) -> list[Sizes]:
    draw, ends = Random(seed), (log(64), log(16), log(64))
    shapes = list[Sizes]()
    while len(shapes) < count:
        m, u, n = (round(exp(draw.uniform(least, log(8192)))) for least in ends)
        if len(shapes) % 2:
            u, n = u - u % 4, n - n % 4
        if 2 * m * u * n < 3e11:
            shapes.append((m, u, n))
    return shapes


def _kinds() -> list[tuple[str, list[str]]]:
    kinds = [("auto", ["--against", "cublas"])]
    for name, depth in TILES.items():
        numbers = [*_numbers(name), depth]
        sizes = [
            str(x) for o, n in zip(("Ty", "Tx", "Ry", "Rx", "Tk"), numbers) for x in (f"--{o}", n)
        ]
        wide = _numbers(name)[1]
        rows = ["--warp-tile", f"{H100.warp // wide}x{wide}"]
        single = ["--single-columns", *rows] if name.endswith(SINGLE) else []
        kinds.append((f"odd {name}", [*sizes, "--pack", "0", *single]))
        if not single:
            kinds.append((f"rows {name}", [*sizes, "--pack", "1"]))
    return kinds


# ---------------------------------------------------------------- what fits


def _fit(args: argparse.Namespace) -> None:
    times: Times = {}
    for path in args.json:
        times.update(json.loads(Path(path).read_text()))
    for name in TILES:
        for kind, label in (("odd", ""), ("rows", " vectors")):
            samples = _samples(times, f"{kind} {name}", _extent(name))
            if samples:
                error, row = min(_fitted(samples, rounds) for rounds in (1, 2, 3, 4))
                print(f'"{name}{label}" = {list(row)}  # {len(samples)} times, {error:.1%}')
    _replay(times)


def _extent(name: str) -> tuple[int, int]:
    ty, tx, ry, rx = _numbers(name)
    return ty * ry, tx * rx


def _numbers(name: str) -> tuple[int, int, int, int]:
    ty, tx, ry, rx = map(int, name.removesuffix(f" {SINGLE}").replace(" ", "x").split("x"))
    return ty, tx, ry, rx


def _sizes(key: str) -> Sizes:
    m, u, n = map(int, key.split())
    return m, u, n


def _samples(times: Times, kind: str, tile: tuple[int, int]) -> list[tuple[Sizes, Shape, float]]:
    """Shapes with the microseconds of the nest alone: rows of vectors that are no copies."""
    own = []
    for key, row in times.items():
        m, u, n = _sizes(key)
        if kind in row and (kind.startswith("odd") or (u % 4 == 0 and n % 4 == 0)):
            own.append(((m, u, n), Shape(tile, 1), 1000 * row[kind] - LAUNCH))
    return [x for x in own if x[2] > 0]


def _fitted(
    samples: list[tuple[Sizes, Shape, float]], rounds: int
) -> tuple[float, tuple[int, int, int, int]]:
    """The numbers of least mean error of the logarithm, by a random walk from the same start."""

    def error(numbers: list[float]) -> float:
        time, start, end = numbers
        total = 0.0
        for (m, u, n), shape, taken in samples:
            waves = Shape(shape.sizes, 1, resident=rounds).waves((m, n), H100.compute_units)
            expected = ((waves * time + start) * u / 1024 + waves * end) / 10
            total += min(0.5, abs(log(expected / taken)))
        return total / len(samples)

    walk, step = Random(1), 0.3
    down, across = samples[0][1].sizes
    best = [down * across / 16.0, 100.0, 20.0]
    least = error(best)
    for count in range(4000):
        trial = list(best)
        trial[walk.randrange(3)] *= exp(walk.gauss(0, step))
        if (now := error(trial)) < least:
            best, least = trial, now
        elif count % 400 == 399:
            step *= 0.7
    time, start, end = (max(1, round(x)) for x in best)
    return least, (time, start, end, rounds)


def _replay(times: Times) -> None:
    """What the tiles of the profile would reach that its times choose for each shape."""
    rows = dict[str, Shape]()
    for name, time, start, end, resident in H100.tile_times:
        plain = name.removesuffix(" vectors")
        if plain in TILES:
            kind = "odd" if plain == name else "rows"
            rows[f"{kind} {plain}"] = Shape(_extent(plain), time, start, end, resident=resident)
    chosen, large = list[tuple[float, float]](), list[tuple[float, float]]()
    for key, row in times.items():
        m, u, n = _sizes(key)
        best = row["auto"]
        if not _packed(m, u, n):
            kind = "rows" if _of_vectors(m, u, n) else "odd"
            names = [x for x in rows if x.startswith(kind) and x in row and x != "odd 16x16 8x8"]
            if names:
                which = quickest([rows[x] for x in names], (m, n), H100.compute_units, u)
                best = row[names[which]]
        pair = row["cublas"] / best, row["cublas"] / row["auto"]
        chosen.append(pair)
        if min(m, n) >= 256:
            large.append(pair)
    for label, pairs in (("all", chosen), ("rows and columns >= 256", large)):
        now, then = (geometric_mean(x) for x in zip(*pairs))
        print(f"{label}: {len(pairs)} shapes, {now:.3f} of cuBLAS as chosen today,", end=" ")
        print(f"{then:.3f} as timed")


def _packed(m: int, u: int, n: int) -> bool:
    """Whether the profile packs both operands."""
    least, turned = H100.pack_operands or 0, H100.transpose_operands or 0
    return min(m, n) >= least and u >= 523 and (u % 4 != 0 or n >= turned)


def _of_vectors(m: int, u: int, n: int) -> bool:
    """Whether rows are vectors, or copies of them pay."""
    least = H100.pack or 0
    first, second = n >= least and u >= 523, m >= least and u >= 523
    return (u % 4 == 0 or first) and (n % 4 == 0 or second)


if __name__ == "__main__":
    sys.exit(main())
