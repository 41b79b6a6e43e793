"""The race of the finalists: which is the quickest, where times differ from run to run.

In rounds, each of those left runs in turn, twice at a time, so that what disturbs one disturbs all;
after each round the slower half goes. A time is judged by the median, on a CPU by the mean of the
faster half: other work on the machine makes times longer, never shorter.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from random import Random
from statistics import fmean, median, quantiles
from typing import TypeVar

Name = TypeVar("Name")
Statistic = Callable[[Sequence[float]], float]

ROUNDS = (2, 2, 4, 8, 8, 16)
"""Runs of each of those left, round by round."""

TURN = 2
"""Runs in a row. Those of longer turns are less independent: GPUs change their clock for some ten
runs at a time. Replayed on recordings of three GPUs, turns of two left half the regret."""


def faster_half(times: Sequence[float]) -> float:
    """The mean of the faster half."""
    ordered = sorted(times)
    return fmean(ordered[: -(-len(ordered) // 2)])


def spread(times: Sequence[float]) -> float:
    """By what part of their median times vary: the distance of the quartiles, as that of a normal
    distribution stands for its standard deviation. One time that is far off changes little."""
    if len(times) < 4:
        return 0.0
    low, middle, high = quantiles(times, n=4)
    return (high - low) / (1.349 * middle) if middle else 0.0


def interval(times: Sequence[float], statistic: Statistic) -> tuple[float, float]:
    """Where the statistic lies with a probability of 95 % (bootstrap of 400 samples)."""
    rng = Random(len(times))
    drawn = sorted(statistic(rng.choices(times, k=len(times))) for _ in range(400))
    return drawn[10], drawn[-11]


STATISTICS: Mapping[str, Statistic] = {"median": median, "faster-half": faster_half, "min": min}


def race(
    names: Iterable[Name],
    run: Callable[[Name, int], Sequence[float]],
    statistic: Statistic,
    keep: Iterable[Name] = (),
) -> list[tuple[Name, float]]:
    """The names with their times, the quickest first. `run` gives times of so many runs, none where
    it fails; those of `keep` are never dropped."""
    kept, left = set(keep), list(dict.fromkeys(names))
    times: dict[Name, list[float]] = {name: [] for name in left}
    for runs in ROUNDS:
        for name in left * (runs // TURN):
            times[name] += run(name, TURN)
        left = [name for name in left if times[name]]
        if not left:
            return []
        left.sort(key=lambda name: statistic(times[name]))
        half = -(-len(left) // 2)
        left = [*left[:half], *(name for name in left[half:] if name in kept)]
        if len(left) == 1:
            break
    ranked = sorted(left, key=lambda name: statistic(times[name]))
    return [(name, statistic(times[name])) for name in ranked]
