"""Tuning one nest: search, race, and what came of it."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Generator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field, replace
from statistics import fmean
from typing import Any

from loopxform.records import record
from loopxform.tune.race import Statistic, race, spread
from loopxform.tune.space import Point, Space
from loopxform.tune.workers import Worker

FINALISTS = 12
"""Points that run against each other, and against the defaults."""

STOPPED = 1.5
"""Times the quickest so far: what takes longer at its first run has no others in the search.
Replayed on recordings of 17956 products of matrices on three GPUs, this left a quarter of the time
of ten runs each, and the same winner."""

NOISY = 0.45
"""Where times vary more than that, none of the ways to compare them that were tried chose well
(64 variants of a product of matrices, on a CPU that was busy)."""

DEFAULTS = None
"""The contender without sizes of its own."""

GAIN = 0.02
"""Part of the defaults' time that a point has to save: less is noise."""

PAUSE = 0.1
"""Seconds between looks at what other processes measure."""

Contender = Point | None
Asking = Generator[list[Point], Sequence[float | None], object]
"""Yields points to measure together, and takes their times."""


@record
class Budget:
    """At most so many measurements, and so many seconds (None: as long as it takes)."""

    measurements: int
    seconds: float | None = None


@record
class Outcome:
    """What came of tuning: the quickest contender with its milliseconds for each set of sizes,
    those of the defaults, how many points were measured, and why others have no time, by status.
    `raced` says whether the best ran against each other, `noise` by what part the times of the
    defaults varied then (`spread`)."""

    best: Contender
    times: tuple[float, ...]
    defaults: tuple[float, ...]
    measured: int
    failures: Mapping[str, int]
    interrupted: bool = False
    raced: bool = True
    noise: float = 0.0

    @property
    def is_noisy(self) -> bool:
        """Whether nobody could tell which is the quickest."""
        return self.noise > NOISY


class Elsewhere(Exception):
    """Another process measures it."""


@dataclass
class Session:
    """A search in progress. `told` is called after each measurement with the ratio to the defaults
    (None where it failed); `best` is the least so far. `builders` build kernels side by side
    while nothing is measured. `may_race` says whether the finalists run against each other here:
    of the processes that share a folder, one does that."""

    space: Space
    datasets: int
    worker: Worker
    statistic: Statistic
    runs: int
    fresh: bool
    told: Callable[[Session, float | None], None]
    builders: Sequence[Worker] = ()
    may_race: Callable[[Sequence[Point]], bool] = lambda _: True
    rows: list[dict[str, Any]] = field(default_factory=list)
    failures: dict[str, int] = field(default_factory=dict)
    baseline: list[float] = field(default_factory=list)
    best: float | None = None

    def run(self, asking: Asking, budget: Budget) -> Outcome:
        """Measures the points that `asking` yields, lets the best race, and says which is the
        quickest: the defaults where none is quicker."""
        times: dict[Point, float] = {}
        interrupted = False
        began = time.monotonic()
        try:
            for n in range(self.datasets):
                self.baseline.append(self._waited(DEFAULTS, n) or 0.0)
            if all(self.baseline):
                self._search(asking, budget, began, times)
        except KeyboardInterrupt:
            interrupted = True
        finalists = sorted(times, key=lambda p: (times[p], p))[:FINALISTS]
        if not interrupted and not self.may_race(finalists):
            return self._outcome(DEFAULTS, times, raced=False)
        ranked = [] if interrupted else self._raced(finalists)
        if interrupted and finalists:
            ranked = [(finalists[0], times[finalists[0]]), (DEFAULTS, 1.0)]
        same = self._kernel(DEFAULTS)
        ratios = {c: t for c, t in ranked if c is DEFAULTS or self._kernel(c) != same}
        best = min(ratios, key=lambda c: ratios[c], default=DEFAULTS)
        noise = self._noise()
        quicker = best is not DEFAULTS and ratios[best] <= (1 - GAIN) * ratios.get(DEFAULTS, 1.0)
        if not quicker or noise > NOISY:
            best = DEFAULTS
        return replace(self._outcome(best, times, interrupted=interrupted), noise=noise)

    def _outcome(
        self,
        best: Contender,
        times: Mapping[Point, float],
        *,
        interrupted: bool = False,
        raced: bool = True,
    ) -> Outcome:
        own = tuple(self._kept(best, n) for n in range(self.datasets))
        defaults = tuple(self._kept(DEFAULTS, n) for n in range(self.datasets))
        return Outcome(best, own, defaults, len(times), self.failures, interrupted, raced)

    def _search(
        self, asking: Asking, budget: Budget, began: float, times: dict[Point, float]
    ) -> None:
        """Fills `times` with the ratio of each point to the defaults. What others measure comes
        last in its batch."""
        batch = next(asking, None)
        while batch is not None:
            built = self._built(batch)
            pending = deque(p for p in batch if p in built)
            ratios: dict[Point, float | None] = {}
            elsewhere = 0
            while pending:
                if budget.seconds is not None and time.monotonic() - began > budget.seconds:
                    return
                point = pending.popleft()
                try:
                    ratios[point] = ratio = self._ratio(point, pending[0] if pending else None)
                except Elsewhere:
                    pending.append(point)
                    elsewhere += 1
                    if elsewhere >= len(pending):
                        time.sleep(PAUSE)
                    continue
                elsewhere = 0
                if ratio is not None:
                    times[point] = ratio
                    self.best = min(times.values())
                self.told(self, ratio)
            try:
                batch = asking.send([ratios.get(p) for p in batch])
            except StopIteration:
                return

    def _built(self, batch: Sequence[Point]) -> set[Point]:
        """Builds the kernels of the points by all builders at once, so that they are found on disk
        when each is measured alone, by who derives them meanwhile; those of which that succeeds."""
        if not self.builders:
            return set(batch)
        waiting = deque(batch)

        def build(by: Worker) -> list[Point]:
            own = []
            with suppress(IndexError):
                while True:
                    point = waiting.popleft()
                    if self._row(point, 0, 1, by=by)["status"] == "ok":
                        own.append(point)
            return own

        def derive() -> None:
            for point in batch:
                self.worker.ask({"sizes": self.space.sizes(point), "derive": True})

        with ThreadPoolExecutor(len(self.builders) + 1) as pool:
            deriving = pool.submit(derive)
            try:
                built = {p for points in pool.map(build, self.builders) for p in points}
                deriving.result()
            except KeyboardInterrupt:
                waiting.clear()
                raise
        return built

    def _ratio(self, point: Contender, following: Contender = None) -> float | None:
        """The mean over the sets of sizes of the time over that of the defaults: those of the
        machine that it was measured on. `following` is likely to be the next. Raises Elsewhere."""
        ratios = []
        for n in range(self.datasets):
            row = self._row(point, n, self.runs, following=following)
            if row["status"] != "ok":
                return None
            ratios.append(self.statistic(row["milliseconds"]) / self._baseline(row, n))
        return fmean(ratios)

    def _baseline(self, row: Mapping[str, Any], dataset: int) -> float:
        return row.get("baseline") or self.baseline[dataset]

    def _waited(self, point: Contender, dataset: int) -> float | None:
        """The time of a point, by whichever process it is measured."""
        while True:
            try:
                row = self._row(point, dataset, self.runs)
            except Elsewhere:
                time.sleep(PAUSE)
                continue
            return self.statistic(row["milliseconds"]) if row["status"] == "ok" else None

    def _row(
        self,
        point: Contender,
        dataset: int,
        runs: int,
        *,
        race: bool = False,
        by: Worker | None = None,
        following: Contender = None,
    ) -> Mapping[str, Any]:
        """What a measurement tells. Raises Elsewhere."""
        sizes = None if point is None else self.space.sizes(point)
        job: dict[str, Any] = {"sizes": sizes, "dataset": dataset, "runs": runs, "race": race}
        job["fresh"] = race or self.fresh
        if point is not None:
            job["baseline"] = self.baseline[dataset]
            job["predicted"] = self.space.predicted(point) if self.space.modelled else None
            if self.best is not None and not race:
                most = STOPPED * self.best * self.datasets  # as if others took no time
                job["stop"] = most * self.baseline[dataset]
        more: dict[str, Any] = {"build": by is not None}
        if following is not None:
            more["next"] = self.space.sizes(following)
        began = time.monotonic()
        answer = (by or self.worker).ask({**job, **more})
        answer = {**answer, "seconds": time.monotonic() - began}
        if answer["status"] == "elsewhere":
            raise Elsewhere
        if by is None or answer["status"] != "ok":
            self.rows.append({**job, **answer})
        if answer["status"] != "ok":
            self.failures[answer["status"]] = self.failures.get(answer["status"], 0) + 1
        return answer

    def _runs(self, point: Contender, dataset: int, runs: int) -> list[float]:
        """The milliseconds of so many runs in a race, none where it fails."""
        row = self._row(point, dataset, runs, race=True)
        times: list[float] = row["milliseconds"] if row["status"] == "ok" else []
        return times

    def _raced(self, finalists: Sequence[Point]) -> list[tuple[Contender, float]]:
        """The finalists and the defaults by their ratios, measured once more, in turn."""

        def run(contender: Contender, runs: int) -> list[float]:
            each = [self._runs(contender, n, runs) for n in range(self.datasets)]
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

    def _noise(self) -> float:
        """By what part the times of the defaults varied in the race."""
        times: dict[int, list[float]] = {}
        for row in self.rows:
            if row["race"] and row["sizes"] is None and row["status"] == "ok":
                times.setdefault(row["dataset"], []).extend(row["milliseconds"])
        return max(map(spread, times.values()), default=0.0)

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
