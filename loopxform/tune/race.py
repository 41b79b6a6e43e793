"""The race of the finalists: which is the quickest, where times differ from run to run.

In rounds, each of those left runs in turn, so that what disturbs one disturbs all; after each round
the slower half goes. A time is judged by the median, on a CPU by the mean of the faster half:
other work on the machine makes times longer, never shorter.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import fmean, median
from typing import TypeVar

Name = TypeVar("Name")
Statistic = Callable[[Sequence[float]], float]

ROUNDS = (2, 4, 8, 16)
"""Runs of each of those left, round by round."""


def faster_half(times: Sequence[float]) -> float:
    """The mean of the faster half."""
    ordered = sorted(times)
    return fmean(ordered[: -(-len(ordered) // 2)])


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
        for name in left:
            times[name] += run(name, runs)
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
