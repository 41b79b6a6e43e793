"""Tuning one nest: search, race, and what came of it."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Generator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field, replace
from statistics import fmean
from threading import Lock
from typing import Any

from loopxform.records import record
from loopxform.tune.outcome import DEFAULTS, Contender, Measured, Outcome
from loopxform.tune.race import Statistic, race
from loopxform.tune.space import Point, Space
from loopxform.tune.workers import MOST_LOST, Gone, Worker

FINALISTS = 12
"""Points that run against each other, and against the defaults."""

STOPPED = 1.5
"""Times the quickest so far: what takes longer at its first run has no others in the search.
Replayed on recordings of 17956 products of matrices on three GPUs, this left a quarter of the time
of ten runs each, and the same winner."""

PAUSE = 0.1
"""Seconds between looks at what other processes measure."""

Asking = Generator[list[Point], Sequence[float | None], object]
"""Yields points to measure together, and takes their times."""


@record
class Budget:
    """At most so many measurements, and so many seconds (None: as long as it takes)."""

    measurements: int
    seconds: float | None = None


def _quickest(times: Mapping[Point, float]) -> list[Point]:
    """Those that race."""
    return sorted(times, key=lambda p: (times[p], p))[:FINALISTS]


class Elsewhere(Exception):
    """Another process measures it."""


@dataclass
class Session:
    """A search in progress. `told` is called after each measurement with the ratio to the defaults
    (None where it failed); `best` is the least so far. `builders` build kernels side by side
    while nothing is measured. `others` measure at the same time, on devices of their own like that
    of `worker`, where the best race; those that are `lost` have no part any more, for they are gone
    or cannot measure the defaults. `may_race` says whether the finalists run against each other
    here: of the processes that share a folder, one does that."""

    space: Space
    datasets: int
    worker: Worker
    statistic: Statistic
    runs: int
    fresh: bool
    told: Callable[[Session, float | None], None]
    builders: Sequence[Worker] = ()
    may_race: Callable[[Sequence[Point]], bool] = lambda _: True
    others: list[Worker] = field(default_factory=list)
    lost: list[Worker] = field(default_factory=list)
    rows: list[dict[str, Any]] = field(default_factory=list)
    failures: dict[str, int] = field(default_factory=dict)
    baselines: dict[int, list[float]] = field(default_factory=dict)
    best: float | None = None
    _ending: dict[Point, int] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    @property
    def baseline(self) -> list[float]:
        """The milliseconds of the defaults for each set of sizes, where the best race."""
        return self.baselines.get(id(self.worker), [])

    @property
    def _measured(self) -> Measured:
        return Measured(self.space, self.rows, self.statistic)

    def run(self, asking: Asking, budget: Budget) -> Outcome:
        """Measures the points that `asking` yields, lets the best race, and says which is the
        quickest: the defaults where none is quicker. An interrupt, or the loss of the last worker,
        leaves the best so far."""
        times: dict[Point, float] = {}
        interrupted = False
        began = time.monotonic()
        try:
            self._measure_defaults()
            if all(self.baseline):
                self._search(asking, budget, began, times)
            if not self.may_race(_quickest(times)):
                return self._outcome(DEFAULTS, times, raced=False)
            ranked = self._raced(_quickest(times))
        except (KeyboardInterrupt, Gone):
            interrupted = True
            best_so_far = [(p, times[p]) for p in _quickest(times)[:1]]
            ranked = [*best_so_far, (DEFAULTS, 1.0)] if best_so_far else []
        found = self._measured
        outcome = self._outcome(found.quickest(ranked), times, interrupted=interrupted)
        return replace(outcome, noise=found.noise)

    def _outcome(
        self,
        best: Contender,
        times: Mapping[Point, float],
        *,
        interrupted: bool = False,
        raced: bool = True,
    ) -> Outcome:
        found, sets = self._measured, range(self.datasets)
        own = tuple(found.milliseconds(best, n) for n in sets)
        defaults = tuple(found.milliseconds(DEFAULTS, n) for n in sets)
        return Outcome(best, own, defaults, len(times), self.failures, interrupted, raced)

    def _measure_defaults(self) -> None:
        """Everywhere: times count in proportion to those of the same machine. Raises Gone."""

        def measure(worker: Worker) -> None:
            own = self.baselines.setdefault(id(worker), [])
            for n in range(self.datasets):
                own.append(self._waited(DEFAULTS, n, worker) or 0.0)

        self._each(measure)
        for worker in [w for w in self.others if not all(self.baselines[id(w)])]:
            self._lose(worker)

    def _each(self, task: Callable[[Worker], None]) -> None:
        """Has all workers do a task at once; those that go meanwhile are lost. Raises Gone where
        none is left."""

        def done(worker: Worker) -> None:
            try:
                task(worker)
            except Gone:
                self._lose(worker)

        workers = [self.worker, *self.others]
        if len(workers) == 1:
            done(self.worker)
            return
        with ThreadPoolExecutor(len(workers)) as pool:
            try:
                for future in [pool.submit(done, w) for w in workers]:
                    future.result()
            except KeyboardInterrupt:
                for worker in workers:
                    worker.end()
                raise

    def _lose(self, worker: Worker) -> None:
        """Goes on without a worker. Raises Gone where it was the last."""
        with self._lock:
            self.lost.append(worker)
            if worker is not self.worker:
                self.others.remove(worker)
            elif self.others:
                self.worker = self.others.pop(0)
            else:
                raise Gone

    def _search(
        self, asking: Asking, budget: Budget, began: float, times: dict[Point, float]
    ) -> None:
        """Fills `times` with the ratio of each point to the defaults. Raises Gone."""

        def late() -> bool:
            return budget.seconds is not None and time.monotonic() - began > budget.seconds

        batch = next(asking, None)
        while batch is not None:
            built = self._built(batch)
            pending = deque(p for p in batch if p in built)
            ratios: dict[Point, float | None] = {}

            def measure(
                worker: Worker,
                pending: deque[Point] = pending,
                ratios: dict[Point, float | None] = ratios,
            ) -> None:
                self._take(worker, pending, late, ratios, times)

            while pending and not late():
                self._each(measure)
            if late():
                return
            try:
                batch = asking.send([ratios.get(p) for p in batch])
            except StopIteration:
                return

    def _take(
        self,
        worker: Worker,
        pending: deque[Point],
        late: Callable[[], bool],
        ratios: dict[Point, float | None],
        times: dict[Point, float],
    ) -> None:
        """Measures one pending point after the other. What others measure comes last; what a worker
        has begun that goes, comes first. Raises Gone."""
        elsewhere = 0
        while pending and not late():
            try:
                point = pending.popleft()
            except IndexError:
                return
            following = pending[0] if pending and not self.others else None
            try:
                ratio = self._ratio(point, worker, following)
            except Elsewhere:
                pending.append(point)
                elsewhere += 1
                if elsewhere >= len(pending):
                    time.sleep(PAUSE)
                continue
            except Gone:
                self._lost_with(point, pending)
                raise
            elsewhere = 0
            with self._lock:
                ratios[point] = ratio
                if ratio is not None:
                    times[point] = ratio
                    self.best = min(times.values())
                self.told(self, ratio)

    def _lost_with(self, point: Point, pending: deque[Point]) -> None:
        """Has another worker measure a point, but no third one: perhaps it is what ends them."""
        with self._lock:
            self._ending[point] = self._ending.get(point, 0) + 1
            if self._ending[point] < MOST_LOST:
                pending.appendleft(point)
            else:
                self.failures["crash"] = self.failures.get("crash", 0) + 1

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
                    if self._row(point, 0, 1, by, build=True)["status"] == "ok":
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

    def _ratio(self, point: Point, worker: Worker, following: Contender) -> float | None:
        """The mean over the sets of sizes of the time over that of the defaults: those of the
        machine that it was measured on. `following` is likely to be the next. Raises Elsewhere,
        Gone."""
        ratios = []
        for n in range(self.datasets):
            row = self._row(point, n, self.runs, worker, following=following)
            if row["status"] != "ok":
                return None
            baseline = row.get("baseline") or self.baselines[id(worker)][n]
            ratios.append(self.statistic(row["milliseconds"]) / baseline)
        return fmean(ratios)

    def _waited(self, point: Contender, dataset: int, worker: Worker) -> float | None:
        """The time of a point, by whichever process it is measured. Raises Gone."""
        while True:
            try:
                row = self._row(point, dataset, self.runs, worker)
            except Elsewhere:
                time.sleep(PAUSE)
                continue
            return self.statistic(row["milliseconds"]) if row["status"] == "ok" else None

    def _row(
        self,
        point: Contender,
        dataset: int,
        runs: int,
        worker: Worker,
        *,
        race: bool = False,
        build: bool = False,
        following: Contender = None,
    ) -> Mapping[str, Any]:
        """What a measurement tells; of one that is only to `build`, why it fails. Raises Elsewhere,
        Gone."""
        sizes = None if point is None else self.space.sizes(point)
        job: dict[str, Any] = {"sizes": sizes, "dataset": dataset, "runs": runs, "race": race}
        job["fresh"] = race or self.fresh
        if point is not None:
            baseline = self.baselines.get(id(worker), self.baseline)[dataset]
            job["baseline"] = baseline
            job["predicted"] = self.space.predicted(point) if self.space.modelled else None
            best = self.best
            if best is not None and not race:
                most = STOPPED * best * self.datasets  # as if others took no time
                job["stop"] = most * baseline
        more: dict[str, Any] = {"build": build}
        if following is not None:
            more["next"] = self.space.sizes(following)
        began = time.monotonic()
        answer = worker.ask({**job, **more})
        answer = {**answer, "seconds": time.monotonic() - began}
        if answer["status"] == "elsewhere":
            raise Elsewhere
        with self._lock:
            if not build or answer["status"] != "ok":
                self.rows.append({**job, **answer})
            if answer["status"] != "ok":
                self.failures[answer["status"]] = self.failures.get(answer["status"], 0) + 1
        return answer

    def _runs(self, point: Contender, dataset: int, runs: int) -> list[float]:
        """The milliseconds of so many runs in a race, none where it fails."""
        row = self._row(point, dataset, runs, self.worker, race=True)
        times: list[float] = row["milliseconds"] if row["status"] == "ok" else []
        return times

    def _raced(self, finalists: Sequence[Point]) -> list[tuple[Contender, float]]:
        """The finalists and the defaults by their ratios, measured once more, in turn. Raises
        Gone."""

        def run(contender: Contender, runs: int) -> list[float]:
            each = [self._runs(contender, n, runs) for n in range(self.datasets)]
            rows = zip(*each, strict=True) if all(each) else ()
            return [fmean(t / b for t, b in zip(row, self.baseline)) for row in rows]

        while finalists:
            try:
                return race([*finalists, DEFAULTS], run, self.statistic, keep=[DEFAULTS])
            except Gone:
                self._lose(self.worker)
                self.rows = [row for row in self.rows if not row["race"]]  # it begins anew
        return []
