"""The race, run with times that are drawn."""

from __future__ import annotations

from functools import partial
from random import Random
from statistics import fmean

import pytest

from loopxform.tune.race import ROUNDS, STATISTICS, TURN, faster_half, race


def runs_of(rng: Random, true: dict[str, float], noise: float, name: str, runs: int) -> list[float]:
    disturbed = (rng.uniform(1, 5) if rng.random() < 0.1 else 1.0 for _ in range(runs))
    return [true[name] * rng.lognormvariate(0, noise) * x for x in disturbed]


@pytest.mark.parametrize("busy", [0.05, 0.3])
def test_the_quickest_wins_on_a_machine_that_is_busy(busy: float) -> None:
    """Eight that are 0 to 14 % apart; a tenth of the runs take up to five times as long."""
    regrets = []
    for seed in range(40):
        rng = Random(seed)
        true = {f"p{n}": 1 + 0.02 * n for n in range(8)}

        (winner, _), *_ = race(true, partial(runs_of, rng, true, busy / 10), faster_half)
        regrets.append(true[winner] - 1)
    assert fmean(regrets) <= 0.01


def test_the_slower_half_goes_after_each_round_but_who_is_kept() -> None:
    runs: dict[str, int] = {}

    def run(name: str, count: int) -> list[float]:
        runs[name] = runs.get(name, 0) + count
        return [float(name)] * count

    ranked = race(["1", "2", "3", "4", "9"], run, STATISTICS["median"], keep=["9"])
    assert ranked[0] == ("1", 1.0)
    assert ranked[-1] == ("9", 9.0)
    assert runs["1"] == runs["9"] == sum(ROUNDS)
    assert runs["4"] == ROUNDS[0]


def test_nobody_runs_for_long_in_a_row() -> None:
    """Clocks of GPUs stay as they are for some ten runs."""
    turns: list[tuple[str, int]] = []

    def run(name: str, count: int) -> list[float]:
        turns.append((name, count))
        return [float(name)] * count

    race("12", run, STATISTICS["median"], keep="12")
    assert [name for name, _ in turns] == ["1", "2"] * (sum(ROUNDS) // TURN)
    assert {count for _, count in turns} == {TURN}
    assert TURN <= 2


def test_one_that_fails_is_out() -> None:
    ranked = race("abc", lambda name, n: [] if name == "a" else [1.0] * n, faster_half)
    assert "a" not in dict(ranked)
    assert dict(ranked).get("b") == 1.0
    assert race("a", lambda _name, _n: [], faster_half) == []


def test_the_mean_of_the_faster_half() -> None:
    assert faster_half([5.0, 1.0, 3.0]) == 2.0
    assert faster_half([4.0]) == 4.0
