"""Thresholds of random forests: the best of all combinations, from the runs that were foretold."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

import pytest
from random_forests import Exhaustive, datasets, forest

from loopxform.tune.forest import (
    Dataset,
    Forest,
    Thresholds,
    comparisons,
    paths,
    signature,
    taken,
    versions,
)
from loopxform.tune.thresholds import LARGEST, best, best_by_region, between, region_runs, runs

COUNT, SEED = 1000, 20251125

Case = tuple[Forest, list[Dataset], dict[str, int], random.Random]


def cases(share: int, thresholds: int, instances: int) -> Iterator[Case]:
    """A tenth of the forests, each with one to three data sets."""
    for n in range(share, COUNT, 10):
        rng = random.Random(SEED + n)
        drawn = (forest(rng, rng.randint(1, thresholds)) for _ in range(99))
        own = next(x for x in drawn if paths(x) <= 13)
        data = datasets(rng, own, rng.randint(1, 3), instances)
        yield own, data, {c.threshold: rng.choice((0, 2, 32768)) for c in comparisons(own)}, rng


@pytest.mark.parametrize("share", range(10))
def test_the_best_of_all_combinations(share: int) -> None:
    """Times are of whole runs, and independent of one another."""
    print("seed", SEED)
    for own, data, defaults, rng in cases(share, 6, 1):
        planned = runs(own, data, defaults)
        ways = [(r.dataset, signature(own, data[r.dataset], r.thresholds)) for r in planned]
        measured = {way: rng.lognormvariate(0, 1) for way in ways}
        every = Exhaustive(own, data)
        assert len(measured) == len(planned)
        assert len(planned) == sum(every.signatures(n) for n in range(len(data)))
        assert len(planned) <= paths(own) * len(data) <= 39
        found = best(own, data, measured, defaults)
        now = [signature(own, d, found.thresholds) for d in data]
        assert found.time == pytest.approx(sum(measured[n, s] for n, s in enumerate(now)))
        times = {(n, frozenset(s[0])): t for (n, s), t in measured.items()}
        assert found.time == pytest.approx(every.least(times))


@pytest.mark.parametrize("share", range(10))
def test_the_best_by_the_times_of_regions(share: int) -> None:
    """Comparisons in loops, too: amounts differ between the instances of a data set."""
    print("seed", SEED)
    for own, data, defaults, rng in cases(share, 4, 3):
        planned = region_runs(own, data, defaults)
        assert len(planned) <= len(versions(own)) * len(data)
        times = {
            ((r.dataset, k), name): rng.lognormvariate(0, 1)
            for r in planned
            for k, instance in enumerate(data[r.dataset])
            for name in taken(own, instance, r.thresholds)
        }
        found = best_by_region(own, data, times, defaults)
        assert found.time == pytest.approx(Exhaustive(own, data).least_by_region(times))
        assert found.time == pytest.approx(_total(own, data, found.thresholds, times))


def _total(
    own: Forest,
    data: Sequence[Dataset],
    thresholds: Thresholds,
    times: dict[tuple[tuple[int, int], str], float],
) -> float:
    places = ((n, k, i) for n, d in enumerate(data) for k, i in enumerate(d))
    return sum(times[(n, k), name] for n, k, i in places for name in taken(own, i, thresholds))


def test_thirteen_paths_and_three_data_sets() -> None:
    """The numbers of the thesis: 39 measurements where all signatures differ, fewer by regions."""
    rng = random.Random(SEED)
    own = next(x for _ in range(9999) if paths(x := forest(rng, 9)) == 13)
    names = [c.threshold for c in comparisons(own)]
    data: list[Dataset] = [[{n: 10 * k + i for i, n in enumerate(names)}] for k in (1, 2, 3)]
    defaults = dict.fromkeys(names, 15)
    assert len(runs(own, data, defaults)) == 39
    assert len(region_runs(own, data, defaults)) <= 39


@pytest.mark.parametrize(
    ("low", "high", "default", "value"),
    [
        (None, 100, 50, 50),
        (None, 100, 500, 100),
        (100, None, 500, 500),
        (100, None, 50, 101),
        (100, 10000, 50, 1000),
        (100, 10000, 3000, 3000),
        (0, 1, 50, 1),
        (0, 100, 500, 1),
        (LARGEST - 1, None, 5, LARGEST),
    ],
)
def test_a_value_between_amounts(
    low: int | None, high: int | None, default: int, value: int
) -> None:
    assert between(low, high, default) == value
