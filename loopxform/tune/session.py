"""Tuning one nest: search, race, and what came of it."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any

from loopxform.records import record
from loopxform.tune.race import Statistic, race
from loopxform.tune.search import search
from loopxform.tune.space import Point, Space
from loopxform.tune.workers import Worker

FINALISTS = 8
"""Points that run against each other, and against the defaults."""

DEFAULTS = None
"""The contender without sizes of its own."""

GAIN = 0.02
"""Part of the defaults' time that a point has to save: less is noise."""

Contender = Point | None


@record
class Budget:
    """At most so many measurements, and so many seconds (None: as long as it takes)."""

    measurements: int
    seconds: float | None = None


@record
class Outcome:
    """What came of tuning: the quickest contender with its milliseconds for each set of sizes,
    those of the defaults, how many points were measured, and why others have no time, by status."""

    best: Contender
    times: tuple[float, ...]
    defaults: tuple[float, ...]
    measured: int
    failures: Mapping[str, int]
    interrupted: bool = False


@dataclass
class Session:
    """A search in progress. `told` is called after each measurement with the best ratio to the
    defaults so far, and the last one (None where it failed). `builders` build kernels side by side
    while nothing is measured."""

    space: Space
    datasets: int
    worker: Worker
    statistic: Statistic
    runs: int
    fresh: bool
    told: Callable[[float, float | None], None]
    builders: Sequence[Worker] = ()
    rows: list[dict[str, Any]] = field(default_factory=list)
    failures: dict[str, int] = field(default_factory=dict)
    baseline: list[float] = field(default_factory=list)

    def run(self, ordered: Sequence[Point], first: Point, budget: Budget) -> Outcome:
        """Searches, lets the best race, and says which is the quickest: the defaults where none is
        quicker."""
        times: dict[Point, float] = {}
        interrupted = False
        began = time.monotonic()
        try:
            self.baseline = [self._time(DEFAULTS, n) or 0.0 for n in range(self.datasets)]
            if all(self.baseline):
                self._search(ordered, first, budget, began, times)
        except KeyboardInterrupt:
            interrupted = True
        finalists = sorted(times, key=lambda p: times[p])[:FINALISTS]
        ranked = [] if interrupted else self._raced(finalists)
        if interrupted and finalists:
            ranked = [(finalists[0], times[finalists[0]]), (DEFAULTS, 1.0)]
        same = self._kernel(DEFAULTS)
        ratios = {c: t for c, t in ranked if c is DEFAULTS or self._kernel(c) != same}
        best = min(ratios, key=lambda c: ratios[c], default=DEFAULTS)
        if best is not DEFAULTS and ratios[best] > (1 - GAIN) * ratios.get(DEFAULTS, 1.0):
            best = DEFAULTS
        own = tuple(self._kept(best, n) for n in range(self.datasets))
        defaults = tuple(self._kept(DEFAULTS, n) for n in range(self.datasets))
        return Outcome(best, own, defaults, len(times), self.failures, interrupted)

    def _search(
        self,
        ordered: Sequence[Point],
        first: Point,
        budget: Budget,
        began: float,
        times: dict[Point, float],
    ) -> None:
        """Fills `times` with the ratio of each point to the defaults."""
        asking = search(self.space, ordered, first, budget.measurements)
        batch = next(asking, None)
        while batch is not None:
            built, ratios = self._built(batch), list[float | None]()
            for point in batch:
                if budget.seconds is not None and time.monotonic() - began > budget.seconds:
                    return
                ratio = self._ratio(point) if point in built else None
                ratios.append(ratio)
                if ratio is not None:
                    times[point] = ratio
                self.told(min(times.values(), default=1.0), ratio)
            try:
                batch = asking.send(ratios)
            except StopIteration:
                return

    def _built(self, batch: Sequence[Point]) -> set[Point]:
        """Builds the kernels of the points by all builders at once, so that they are found on disk
        when each is measured alone; those of which that succeeds."""
        if not self.builders:
            return set(batch)

        def build(n: int) -> list[Point]:
            own = batch[n :: len(self.builders)]
            return [p for p in own if self._runs(p, 0, 1, by=self.builders[n])]

        with ThreadPoolExecutor(len(self.builders)) as pool:
            return {p for points in pool.map(build, range(len(self.builders))) for p in points}

    def _ratio(self, point: Contender) -> float | None:
        """The mean over the sets of sizes of the time over that of the defaults."""
        ratios = []
        for n in range(self.datasets):
            own = self._time(point, n)
            if own is None:
                return None
            ratios.append(own / self.baseline[n])
        return fmean(ratios)

    def _time(self, point: Contender, dataset: int) -> float | None:
        times = self._runs(point, dataset, self.runs)
        return self.statistic(times) if times else None

    def _runs(
        self,
        point: Contender,
        dataset: int,
        runs: int,
        *,
        race: bool = False,
        by: Worker | None = None,
    ) -> list[float]:
        sizes = None if point is None else self.space.sizes(point)
        job = {"sizes": sizes, "dataset": dataset, "runs": runs, "fresh": race or self.fresh}
        answer = (by or self.worker).ask({**job, "build": by is not None})
        if by is None or answer["status"] != "ok":
            self.rows.append({**job, "race": race, **answer})
        if answer["status"] != "ok":
            self.failures[answer["status"]] = self.failures.get(answer["status"], 0) + 1
            return []
        times: list[float] = answer["milliseconds"]
        return times

    def _raced(self, finalists: Sequence[Point]) -> list[tuple[Contender, float]]:
        """The finalists and the defaults by their ratios, measured once more, in turn."""

        def run(contender: Contender, runs: int) -> list[float]:
            each = [self._runs(contender, n, runs, race=True) for n in range(self.datasets)]
            rows = zip(*each, strict=True) if all(each) else ()
            return [fmean(t / b for t, b in zip(row, self.baseline)) for row in rows]

        if not finalists:
            return []
        return race([*finalists, DEFAULTS], run, self.statistic, keep=[DEFAULTS])

    def _kernel(self, contender: Contender) -> object:
        """What tells its kernel from others; each is one of its own where nobody says."""
        sizes = None if contender is None else self.space.sizes(contender)
        keys = (r["key"] for r in self.rows if r["sizes"] == sizes and r.get("key"))
        return next(keys, contender)

    def _kept(self, contender: Contender, dataset: int) -> float:
        """The milliseconds of a contender in the race, else in the search."""
        sizes = None if contender is None else self.space.sizes(contender)
        rows = [
            row
            for row in self.rows
            if row["sizes"] == sizes and row["dataset"] == dataset and row["status"] == "ok"
        ]
        raced = [row for row in rows if row["race"]] or rows
        times = [t for row in raced for t in row["milliseconds"]]
        return self.statistic(times) if times else 0.0
