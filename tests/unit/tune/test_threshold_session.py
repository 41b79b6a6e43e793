"""A session for thresholds, on a device whose times are drawn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random

import pytest
from versioned import COLUMNS, ROWS, TWO, versioned

from loopxform.tune.forest import Instance, taken
from loopxform.tune.nests import Nests, nests_of
from loopxform.tune.race import ROUNDS, TURN, faster_half
from loopxform.tune.threshold_session import WHOLE, Outcome, ThresholdSession, Times
from loopxform.tune.thresholds import Run

Cost = Mapping[tuple[int, str], float]
"""What a version takes for a data set, by their number and name; 1 where nothing is said."""


def session(
    nests: Nests,
    sizes: Sequence[Mapping[str, int]],
    cost: Cost,
    broken: str = "",
    most: float = 1.005,
) -> tuple[Outcome, list[Run]]:
    """What comes of tuning for these sizes, and what was measured; versions of the name `broken`
    fail, and times are up to `most` times as long as they should be."""
    rng, measured = Random(3), list[Run]()
    datasets: list[Instance] = [nests.instance(now) for now in sizes]

    def measure(run: Run, launches: int) -> Times | None:
        measured.append(run)
        names = taken(nests.forest, datasets[run.dataset], run.thresholds)
        if broken in names:
            return None
        times = {WHOLE: 0.5 * (len(nests.forest) > 1)}
        for name in names:
            own = cost.get((run.dataset, name), 1.0)
            times[WHOLE] += own
            times[name.partition(".")[0]] = own
        noise = [rng.uniform(1, most) for _ in range(launches)]
        return {region: [time * x for x in noise] for region, time in times.items()}

    told = list[int]()
    made = ThresholdSession(nests, datasets, measure, faster_half, 3, lambda: told.append(1))
    outcome = made.run()
    assert len(told) == len(made.planned)
    return outcome, measured


SIZES = [{"n": n, "m": m} for n in (1, 40) for m in (1, 500)]


def test_the_quickest_version_for_each_set_of_sizes() -> None:
    """Few rows of many terms by several groups, many of few by work-items."""
    nests = nests_of(versioned(ROWS).derivation)
    cost = {(1, "i.chunks"): 0.2, (2, "i.items"): 0.1, (3, "i.groups"): 0.5, (0, "i.items"): 0.9}
    outcome, measured = session(nests, SIZES, cost)
    assert outcome.thresholds is not None
    found = [taken(nests.forest, nests.instance(s), outcome.thresholds) for s in SIZES]
    assert found == [("i.items",), ("i.chunks",), ("i.items",), ("i.groups",)]
    assert outcome.times == pytest.approx((0.9, 0.2, 0.1, 0.5), rel=0.01)
    assert len({(r.dataset, tuple(r.thresholds.items())) for r in measured}) <= 4 * 3 + 2 * 4


def test_one_set_of_thresholds_for_all() -> None:
    """What is best for each alone cannot be had: as many rows, as many terms."""
    nests = nests_of(versioned(COLUMNS).derivation)
    same = [{"n": 20, "m": 500}, {"n": 20, "m": 500}]
    cost = {(0, "i.chunks"): 0.5, (1, "i.chunks"): 1.2}
    outcome, _ = session(nests, same, cost)
    assert outcome.thresholds is not None
    assert taken(nests.forest, nests.instance(same[0]), outcome.thresholds) == ("i.chunks",)
    outcome, _ = session(nests, same, {**cost, (1, "i.chunks"): 1.6})
    assert outcome.thresholds is None


def test_the_defaults_stay_where_nothing_is_quicker() -> None:
    nests = nests_of(versioned(ROWS).derivation)
    assert session(nests, SIZES, {})[0].thresholds is None


def test_times_that_vary_too_much_to_tell() -> None:
    nests = nests_of(versioned(ROWS).derivation)
    cost = {(n, "i.chunks"): 0.1 for n in range(4)}
    for most, is_noisy in ((1.1, False), (9.0, True)):
        outcome, _ = session(nests, SIZES, cost, most=most)
        assert outcome.is_noisy == is_noisy
        assert (outcome.thresholds is None) == is_noisy


def test_nests_are_timed_where_there_are_several() -> None:
    nests = nests_of(versioned(TWO).derivation)
    sizes = [{"n": 2}, {"n": 50}]
    cost = {(1, "i.groups"): 0.3, (0, "i_2.items"): 0.2}
    outcome, measured = session(nests, sizes, cost)
    assert outcome.thresholds is not None
    found = [taken(nests.forest, nests.instance(s), outcome.thresholds) for s in sizes]
    assert found[1][0] == "i.groups"
    assert found[0][1] == "i_2.items"
    assert (
        len(measured) - 2 * 2 * sum(ROUNDS) // TURN <= 2 * 3
    )  # the race, and a version of both nests at a time


def test_a_version_that_fails_is_not_taken() -> None:
    nests = nests_of(versioned(ROWS).derivation)
    cheap = {(n, "i.groups"): 0.001 for n in range(4)}
    outcome, _ = session(nests, SIZES, {**cheap, (1, "i.chunks"): 0.5}, broken="i.groups")
    assert outcome.failures
    if outcome.thresholds is not None:
        found = [taken(nests.forest, nests.instance(s), outcome.thresholds) for s in SIZES]
        assert ("i.groups",) not in found
