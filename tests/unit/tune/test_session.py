"""A whole session, on a device whose times are drawn."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count, product
from random import Random
from time import sleep
from typing import Any

import pytest

from loopxform.tune.outcome import Outcome
from loopxform.tune.race import faster_half
from loopxform.tune.search import search
from loopxform.tune.session import Budget, Session
from loopxform.tune.space import Point, Space
from loopxform.tune.workers import Gone, Worker

VALUES = ((1, 2, 4, 8), (8, 16, 32), (4, 8, 16))
SPACE = Space(
    ("Ty", "Tx", "Tk"), VALUES, lambda p: ["size"] * (p[0] * p[1] > 128), lambda p: -float(sum(p))
)


@dataclass
class Drawn(Worker):
    """Answers with the times that `taken` says, some noise added."""

    taken: Callable[[dict[str, int] | None, int], float | str] = lambda _s, _n: 1.0
    rng: Random = field(default_factory=lambda: Random(5))
    jobs: int = 0

    def ask(self, job: dict[str, Any]) -> dict[str, Any]:
        if job.get("derive"):
            return {"status": "ok"}
        self.jobs += 1
        time = self.taken(job["sizes"], job["dataset"])
        if isinstance(time, str):
            return {"status": time, "why": f"it was {time}"}
        if time > job.get("stop", time):
            return {"status": "ok", "milliseconds": [time], "stopped": True}
        times = (self.taken(job["sizes"], job["dataset"]) for _ in range(job["runs"] - 1))
        noise = (self.rng.uniform(1, 1.02) for _ in range(job["runs"]))
        drawn = [float(t) * x for t, x in zip((time, *times), noise)]
        return {"status": "ok", "milliseconds": drawn}


def run(session: Session, space: Space, first: Point, budget: Budget) -> Outcome:
    return session.run(search(space, space.legal(), first, budget.measurements), budget)


def tuned(
    taken: Callable[[dict[str, int] | None, int], float | str], budget: int = 20, datasets: int = 1
) -> tuple[Outcome, Session]:
    worker = Drawn((), 1.0, taken=taken)
    session = Session(SPACE, datasets, worker, faster_half, 3, False, lambda _s, _last: None)
    return run(session, SPACE, (8, 16, 8), Budget(budget)), session


def test_the_quickest_is_found_with_its_times() -> None:
    outcome, _ = tuned(lambda s, _: 4.0 if s is None else 1.0 + abs(s["Ty"] - 2) + s["Tk"] / 16)
    assert outcome.best is not None
    assert SPACE.sizes(outcome.best)["Ty"] == 2
    assert SPACE.sizes(outcome.best)["Tk"] == 4
    assert outcome.times[0] == pytest.approx(1.25, rel=0.02)
    assert outcome.defaults[0] == pytest.approx(4.0, rel=0.02)


def test_the_kernel_of_the_defaults_is_no_find() -> None:
    """However the times fall: its sizes are those of the defaults."""

    class Same(Drawn):
        def ask(self, job: dict[str, Any]) -> dict[str, Any]:
            key = "same" if job["sizes"] in (None, {"Ty": 8, "Tx": 16, "Tk": 8}) else str(job)
            return {**super().ask(job), "key": key}

    worker = Same((), 1.0, taken=lambda s, _: 1.0 if s is None else 0.5 + (s["Ty"] != 8))
    space = Space(SPACE.names, ((8,), (16,), (8,)), SPACE.broken, SPACE.predicted)
    session = Session(space, 1, worker, faster_half, 3, False, lambda _s, _last: None)
    assert run(session, space, (8, 16, 8), Budget(5)).best is None


@pytest.mark.parametrize("least", [1.0, 0.99, 1.5])
def test_never_slower_than_the_defaults(least: float) -> None:
    outcome, _ = tuned(lambda s, _: 1.0 if s is None else least + s["Ty"] / 1000)
    assert outcome.best is None


def test_sets_of_sizes_count_alike() -> None:
    """One point is twice as quick for the first set and four times as slow for the other."""

    def taken(sizes: dict[str, int] | None, dataset: int) -> float:
        base = (1.0, 100.0)[dataset]
        if sizes is None:
            return base
        if sizes == {"Ty": 8, "Tx": 16, "Tk": 16}:
            return base * (0.5, 4.0)[dataset]
        return base * (0.9 if sizes["Ty"] == 4 else 1.2)

    outcome, _ = tuned(taken, budget=36, datasets=2)
    assert outcome.best is not None
    assert SPACE.sizes(outcome.best)["Ty"] == 4


@pytest.mark.parametrize("status", ["wrong", "timeout", "crash", "refused"])
def test_points_that_fail_are_counted_and_never_chosen(status: str) -> None:
    outcome, session = tuned(lambda s, _: 1.0 if s is None else status if s["Ty"] > 1 else 0.5)
    assert outcome.best is not None
    assert SPACE.sizes(outcome.best)["Ty"] == 1
    assert outcome.failures == {status: outcome.failures[status]}
    assert outcome.measured + outcome.failures[status] == 20
    assert all(r["why"] for r in session.rows if r["status"] == status)


def test_defaults_that_cannot_be_measured_end_it() -> None:
    outcome, session = tuned(lambda s, _: "crash" if s is None else 1.0)
    assert outcome.best is None
    assert session.baseline == [0.0]
    assert len(session.rows) == 1


def test_an_interrupt_keeps_the_best_so_far() -> None:
    calls = count(1)

    def taken(sizes: dict[str, int] | None, _: int) -> float:
        if next(calls) == 1 + 7 * 3:
            raise KeyboardInterrupt
        return 1.0 if sizes is None else 0.5 + sizes["Ty"] / 100

    outcome, _ = tuned(taken)
    assert outcome.interrupted
    assert outcome.best is not None
    assert outcome.measured == 6


def test_a_budget_of_time() -> None:
    worker = Drawn((), 1.0, taken=lambda _s, _n: 1.0)
    session = Session(SPACE, 1, worker, faster_half, 3, False, lambda _s, _last: None)
    outcome = run(session, SPACE, (8, 16, 8), Budget(1000, 0.0))
    assert outcome.measured == 0
    assert outcome.best is None


def test_builders_share_the_work_and_what_fails_is_not_measured() -> None:
    def taken(sizes: dict[str, int] | None, _: int) -> float | str:
        return 1.0 if sizes is None else "timeout" if sizes["Ty"] == 8 else 0.5

    class Busy(Drawn):
        def ask(self, job: dict[str, Any]) -> dict[str, Any]:
            sleep(0.002)  # lets others have the next
            return super().ask(job)

    first, *builders = (Busy((), 1.0, taken=taken) for _ in range(3))
    session = Session(SPACE, 1, first, faster_half, 3, False, lambda _s, _l: None, builders)
    outcome = run(session, SPACE, (4, 16, 8), Budget(36))
    assert outcome.best is not None
    assert outcome.failures == {"timeout": 6}
    assert sum(b.jobs for b in builders) == 36 - sum(p[0] * p[1] > 128 for p in product(*VALUES))
    assert min(b.jobs for b in builders) >= 8
    measured = {json.dumps(r["sizes"]) for r in session.rows if r["status"] == "ok"}
    assert not any('"Ty": 8' in sizes for sizes in measured)


def test_what_is_much_slower_runs_once() -> None:
    """In the search; in a race it does not take part."""
    outcome, session = tuned(lambda s, _: 1.0 if s is None else float(s["Ty"]), budget=36)
    stopped = {r["sizes"]["Ty"] for r in session.rows if r.get("stopped")}
    assert stopped
    assert min(stopped) >= 2
    assert not any(r["race"] and r.get("stopped") for r in session.rows)
    assert outcome.measured == 36 - 3


def test_times_that_vary_too_much_tell_nothing() -> None:
    rng = Random(9)

    def taken(sizes: dict[str, int] | None, _: int) -> float:
        return (1.0 if sizes is None else 0.8) * rng.choice((1.0, 2.0, 3.0, 4.0))

    outcome, _ = tuned(taken)
    assert outcome.is_noisy
    assert outcome.best is None


# ---------------------------------------------------------------- several machines


@dataclass
class Machine(Drawn):
    """One that is gone after so many jobs, and takes `slower` times as long as others."""

    most: int = 1 << 30
    slower: float = 1.0

    def ask(self, job: dict[str, Any]) -> dict[str, Any]:
        sleep(0.001)  # lets others have the next
        if self.jobs >= self.most:
            raise Gone
        answer = super().ask(job)
        times = [self.slower * t for t in answer.get("milliseconds", ())]
        return {**answer, "milliseconds": times} if times else answer


def machines(*every: Machine, budget: int = 36) -> tuple[Outcome, Session]:
    for machine in every:
        machine.taken = lambda s, _: 2.0 if s is None else 1.0 + abs(s["Ty"] - 2)
    first, *others = every
    session = Session(
        SPACE, 1, first, faster_half, 3, False, lambda _s, _l: None, others=list(others)
    )
    return run(session, SPACE, (8, 16, 8), Budget(budget)), session


def test_machines_share_the_work_and_one_lets_the_best_race() -> None:
    """Where one is slower, times count in proportion to the defaults there."""
    first, second = Machine((), 1.0), Machine((), 1.0, slower=7.0)
    outcome, session = machines(first, second)
    assert outcome.best is not None
    assert SPACE.sizes(outcome.best)["Ty"] == 2
    assert outcome.times[0] == pytest.approx(1.0, rel=0.02)
    assert outcome.measured == 33
    assert session.lost == []
    searched = [r for r in session.rows if not r["race"]]
    assert len(searched) == 33 + 2
    assert second.jobs >= 8
    baselines = {round(r["baseline"] / 2) for r in searched if r["sizes"]}
    assert baselines == {1, 7}


@pytest.mark.parametrize("most", [0, 1, 4])
@pytest.mark.parametrize("which", [0, 1])
def test_what_a_machine_was_measuring_that_goes_is_measured_by_another(
    which: int, most: int
) -> None:
    every = [Machine((), 1.0), Machine((), 1.0)]
    every[which].most = most
    outcome, session = machines(*every)
    assert session.lost == [every[which]]
    assert outcome.measured == 33
    assert outcome.best is not None
    assert not outcome.interrupted


def test_a_race_begins_anew_where_its_machine_goes() -> None:
    first, second = Machine((), 1.0), Machine((), 1.0, slower=3.0)
    searched = 4

    class Short(Machine):
        def ask(self, job: dict[str, Any]) -> dict[str, Any]:
            if job["race"] and self.rng.random() < 0.1:
                raise Gone
            return super().ask(job)

    first = Short((), 1.0)
    outcome, session = machines(first, second, budget=searched)
    assert session.lost == [first]
    assert outcome.defaults[0] == pytest.approx(6.0, rel=0.02)
    assert {r["baseline"] > 5 for r in session.rows if r["race"] and r["sizes"]} == {True}


def test_where_all_machines_go_the_best_so_far_is_kept() -> None:
    outcome, session = machines(Machine((), 1.0, most=8), Machine((), 1.0, most=8))
    assert outcome.interrupted
    assert outcome.best is not None
    assert outcome.measured == 14
    assert len(session.lost) == 2


def test_a_machine_that_cannot_measure_the_defaults_has_no_part() -> None:
    class Broken(Machine):
        def ask(self, job: dict[str, Any]) -> dict[str, Any]:
            return (
                {"status": "crash", "why": "it was"} if job["sizes"] is None else super().ask(job)
            )

    broken = Broken((), 1.0)
    outcome, session = machines(Machine((), 1.0), broken)
    assert session.lost == [broken]
    assert outcome.measured == 33


def test_a_point_that_ends_machines_does_not_end_all() -> None:
    class Ending(Machine):
        def ask(self, job: dict[str, Any]) -> dict[str, Any]:
            if job["sizes"] == {"Ty": 2, "Tx": 16, "Tk": 8}:
                raise Gone
            return super().ask(job)

    every = [Ending((), 1.0) for _ in range(4)]
    outcome, session = machines(*every)
    assert len(session.lost) == 2
    assert outcome.failures == {"crash": 1}
    assert outcome.measured == 32
    assert outcome.best is not None
