"""Replays the search and the race of `loopxform tune` on recordings: cache files of Kernel Tuner.

    python scripts/replay_search.py RTX_3090.json.gz ...

Each configuration is looked up with its recorded times in place of being run
(github.com/AutoTuningAssociation/benchmark_hub has recordings). For products of matrices (`Xgemm`)
there is a model, 30 lines that nobody fitted; others have none. It prints for each file how far the
choice is from the best configuration (by the median of all its times), what part of the time of
exhaustive measuring with ten runs an early stop leaves, and how well the race chooses among the 64
best.
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from itertools import product
from pathlib import Path
from random import Random
from statistics import fmean, median, pstdev
from typing import Any

from loopxform.tune.race import STATISTICS, race
from loopxform.tune.search import search
from loopxform.tune.session import FINALISTS, STOPPED
from loopxform.tune.space import Point, Space

RUNS = 3
Times = Mapping[Point, Sequence[float]]


def recorded(path: Path) -> tuple[tuple[str, ...], dict[Point, list[float]], dict[str, Any]]:
    """The parameters that vary, the milliseconds of each configuration that ran, and the rest."""
    data = path.read_bytes()
    about = json.loads(gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data)
    rows = [r for r in about.pop("cache").values() if isinstance(r["time"], int | float)]
    names = [n for n in about["tune_params_keys"] if len({r[n] for r in rows}) > 1]
    return tuple(names), {tuple(r[n] for n in names): r["times"] for r in rows}, about


def like_ours(
    names: Sequence[str], times: Times
) -> tuple[tuple[str, ...], dict[Point, list[float]]]:
    """Of the products of matrices, those with parameters like those of our tiles: both operands in
    local memory, filled by the work-items as they stand."""
    kept = [names.index(n) for n in ("MWG", "NWG", "MDIMC", "NDIMC", "VWM", "VWN")]
    found = {}
    for point, row in times.items():
        now = dict(zip(names, point))
        same = now["MDIMA"] == now["MDIMC"] and now["NDIMB"] == now["NDIMC"]
        if same and now.get("SA", 1) == now.get("SB", 1) == 1:
            found[tuple(point[n] for n in kept)] = list(row)
    return tuple(names[n] for n in kept), found


def modelled(names: Sequence[str], point: Point) -> float:
    """A product of matrices of 4096 x 4096: traffic and arithmetic against what hides latency."""
    v = {n: int(x) for n, x in zip(names, point)}
    rows, columns = v["MWG"], v["NWG"]
    items = v["MDIMC"] * v["NDIMC"]
    own = rows * columns / items
    local = 4 * 32 * (rows * v.get("SA", 1) + columns * v.get("SB", 1))
    registers = own + 2 * (rows / v["MDIMC"] + columns / v["NDIMC"]) + 24
    groups = min(16, 65536 // (items * min(255, registers)), 98304 // max(local, 1), 1024 // items)
    if groups < 1:
        return 1e6 * registers
    reads = 1 / rows + 1 / columns
    reads *= 1 + 0.5 * (2 - v.get("SA", 1) - v.get("SB", 1))
    words = v["MDIMC"] / rows + v["NDIMC"] / columns
    vectors = 1 / min(v["VWM"], 4) + 1 / min(v["VWN"], 4)
    warps = groups * items / 32
    hidden = min(1.0, warps * min(own, 32) / 256)
    spilled = 1 + max(0.0, registers - 160) / 16
    waves = 4096 * 4096 / (rows * columns * 82 * groups)
    full = -(-waves // 1) / waves
    return spilled * full * (1 + 60 * reads + 2.5 * words * (0.5 + vectors / 4)) / hidden


def space_of(names: Sequence[str], times: Times, predicted: Callable[[Point], float]) -> Space:
    """The recorded configurations as a space; what was not recorded is not legal."""
    values = tuple(tuple(sorted(set(column))) for column in zip(*times))
    return Space(tuple(names), values, lambda p: () if p in times else ("recorded",), predicted)


def chosen(space: Space, times: Times, budget: int, rng: Random) -> Point:
    """What a search of so many measurements and a race come to."""
    ordered = [p for p in product(*space.values) if p in times]
    ordered.sort(key=space.predicted)
    asking = search(space, ordered, ordered[0], budget)
    measured: dict[Point, float] = {}
    batch = next(asking)
    try:
        while True:
            for point in batch:
                measured[point] = median(rng.choices(times[point], k=RUNS))
            batch = asking.send([measured[p] for p in batch])
    except StopIteration:
        finalists = sorted(measured, key=lambda p: measured[p])[:FINALISTS]
    ranked = race(finalists, lambda p, n: rng.choices(times[p], k=n), STATISTICS["median"])
    return ranked[0][0]


def regrets(
    names: Sequence[str], times: Times, share: float, sigma: float | None, seeds: int
) -> list[float]:
    """How much slower the choice is than the best, for each seed. `sigma` None: no model."""
    truth = {p: median(t) for p, t in times.items()}
    best, budget = min(truth.values()), round(len(times) * share)
    found = []
    for seed in range(seeds):
        rng = Random(seed)
        if sigma is None:
            seen = {p: rng.random() for p in times}
        else:
            seen = {p: modelled(names, p) * rng.lognormvariate(0, sigma) for p in times}
        space = space_of(names, times, seen.__getitem__)
        found.append(truth[chosen(space, times, budget, rng)] / best - 1)
    return found


def stopped_early(times: Times, seeds: int) -> tuple[float, float]:
    """The part of the time of ten runs each that an early stop leaves, and how often the winner is
    the same."""
    parts, same = [], 0
    for seed in range(seeds):
        order = sorted(times)
        Random(seed).shuffle(order)
        best, spent, winner = float("inf"), 0.0, order[0]
        for point in order:
            runs = times[point][:10]
            if runs[0] > STOPPED * best:
                spent += runs[0]
                continue
            spent += sum(runs)
            if median(runs) < best:
                best, winner = median(runs), point
        whole = min(order, key=lambda p: median(times[p][:10]))
        parts.append(spent / sum(sum(times[p][:10]) for p in order))
        same += median(times[winner][:10]) == median(times[whole][:10])
    return fmean(parts), same / seeds


def raced(times: Times, seeds: int) -> tuple[float, float, float]:
    """The mean regret of a race of the 64 best with its standard error, and the part of the runs of
    ten each."""
    truth = {p: median(t) for p, t in times.items()}
    best = sorted(truth, key=lambda p: truth[p])[:64]
    found, runs = [], 0
    for seed in range(seeds):
        rng = Random(seed)
        count = [0]

        def run(point: Point, n: int, rng: Random = rng, count: list[int] = count) -> list[float]:
            count[0] += n
            start = rng.randrange(len(times[point]))
            return [times[point][(start + k) % len(times[point])] for k in range(n)]

        found.append(truth[race(best, run, STATISTICS["median"])[0][0]] / truth[best[0]] - 1)
        runs += count[0]
    return fmean(found), pstdev(found) / seeds**0.5, runs / seeds / 640


def main(argv: list[str]) -> int:
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    p.add_argument("files", nargs="+", type=Path)
    p.add_argument("--seeds", type=int, default=60)
    args = p.parse_args(argv)
    for path in args.files:
        names, times, about = recorded(path)
        print(f"{path.name}: {about['kernel_name']} on {about['device_name']}, {len(times)}")
        is_product = about["kernel_name"] == "Xgemm"
        spaces = [("all", names, times, 0.01 if is_product else 0.05)]
        if is_product:
            spaces.append(("like ours", *like_ours(names, times), 0.05))
        for label, own_names, own, share in spaces:
            for sigma in (0.0, 0.5, None) if is_product else (None,):
                found = regrets(own_names, own, share, sigma, args.seeds)
                within = [sum(r <= x for r in found) / len(found) for x in (0.02, 0.05)]
                model = "no model" if sigma is None else f"model blurred by {sigma:g}"
                head = f"  {label:<10} {len(own):>6} points, {share:.0%} measured, {model:<20}"
                parts = f"within 2 % {within[0]:.2f}, within 5 % {within[1]:.2f}"
                print(f"{head} {parts}, worst {max(found):.1%}", flush=True)
        left, same = stopped_early(times, min(10, args.seeds))
        print(f"  early stop: {left:.0%} of the time of ten runs, the same winner {same:.2f}")
        regret, error, runs = raced(times, 20 * args.seeds)
        parts = f"mean regret {regret:.3%} +- {error:.3%}, {runs:.0%} of the runs of ten each"
        print(f"  race of the 64 best: {parts}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
