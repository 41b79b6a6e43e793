"""Tuning thresholds: what is measured, what is best by that, and whether it is."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf
from statistics import fmean

from loopxform.records import record
from loopxform.tune.forest import Instance, Thresholds, signature, taken
from loopxform.tune.nests import Nests
from loopxform.tune.outcome import GAIN, NOISY
from loopxform.tune.race import Statistic, race, spread
from loopxform.tune.thresholds import Best, Run, best, best_by_region, region_runs, runs

WHOLE = ""
"""The region that is all of a run; others have the name of the loop of their nest."""

Times = Mapping[str, Sequence[float]]
"""Milliseconds of each launch, by region."""

TUNED, DEFAULTS = "tuned", "defaults"


@record
class Outcome:
    """The thresholds that are quickest (None: the defaults), milliseconds for each set of sizes
    with them and with the defaults, how many measurements failed, and by what part the times of
    the defaults varied in the race."""

    thresholds: Thresholds | None
    times: tuple[float, ...]
    defaults: tuple[float, ...]
    failures: int
    noise: float = 0.0

    @property
    def is_noisy(self) -> bool:
        """Whether nobody could tell which is the quickest."""
        return self.noise > NOISY


@dataclass
class ThresholdSession:
    """Thresholds of `nests` for data sets, which are what each is compared with there. `measure`
    gives the times of so many launches, None where that fails; `told` is called after each."""

    nests: Nests
    datasets: Sequence[Instance]
    measure: Callable[[Run, int], Times | None]
    statistic: Statistic
    repeat: int
    told: Callable[[], object]
    failures: int = field(default=0, init=False)

    @property
    def by_region(self) -> bool:
        """Whether nests are timed, not whole runs."""
        return self.nests.are_several

    @property
    def planned(self) -> list[Run]:
        """What is measured."""
        every = region_runs if self.by_region else runs
        return every(self.nests.forest, [[i] for i in self.datasets], self.nests.defaults)

    def run(self) -> Outcome:
        """Measures all that is planned, and lets the best run against the defaults."""
        done = [(r, self._times(r, self.repeat)) for r in self.planned]
        found = self._by_region(done) if self.by_region else self._by_signature(done)
        if found.time == inf or not self._differs(found.thresholds):
            return Outcome(None, (), (), self.failures)
        return self._raced(found.thresholds)

    def _differs(self, thresholds: Thresholds) -> bool:
        """Whether other versions run than with the defaults."""
        forest, defaults = self.nests.forest, self.nests.defaults
        return any(
            taken(forest, i, thresholds) != taken(forest, i, defaults) for i in self.datasets
        )

    def _times(self, run: Run, repeat: int) -> Times:
        """Without times where it fails."""
        times = self.measure(run, repeat)
        self.failures += times is None
        self.told()
        return times or {}

    def _by_signature(self, done: Sequence[tuple[Run, Times]]) -> Best:
        """From the times of whole runs, in proportion to those of the defaults."""
        forest, data = self.nests.forest, [[i] for i in self.datasets]
        times = {
            (r.dataset, signature(forest, data[r.dataset], r.thresholds)): self._judged(t, WHOLE)
            for r, t in done
        }
        now = [signature(forest, d, self.nests.defaults) for d in data]
        ratios = {(n, s): _ratio(time, times[n, now[n]]) for (n, s), time in times.items()}
        return best(forest, data, ratios, self.nests.defaults)

    def _by_region(self, done: Sequence[tuple[Run, Times]]) -> Best:
        """From the times of nests, in proportion to those of all nests with the defaults."""
        forest, data = self.nests.forest, [[i] for i in self.datasets]
        times = {
            ((r.dataset, 0), name): self._judged(t, name.partition(".")[0])
            for r, t in done
            for name in taken(forest, self.datasets[r.dataset], r.thresholds)
        }
        totals = [
            sum(times[(n, 0), name] for name in taken(forest, i, self.nests.defaults))
            for n, i in enumerate(self.datasets)
        ]
        ratios = {key: _ratio(time, totals[key[0][0]]) for key, time in times.items()}
        return best_by_region(forest, data, ratios, self.nests.defaults)

    def _judged(self, times: Times, region: str) -> float:
        own = times.get(region, ())
        return self.statistic(own) if own else inf

    def _raced(self, thresholds: Thresholds) -> Outcome:
        """Against the defaults, in turns, by whole runs."""
        kept = {name: [list[float]() for _ in self.datasets] for name in (TUNED, DEFAULTS)}
        values = {TUNED: thresholds, DEFAULTS: self.nests.defaults}

        def run(name: str, launches: int) -> list[float]:
            rows = []
            for n in range(len(self.datasets)):
                times = list((self.measure(Run(n, values[name]), launches) or {}).get(WHOLE, ()))
                kept[name][n] += times
                base = self.statistic(kept[DEFAULTS][n]) if kept[DEFAULTS][n] else 0.0
                rows.append([t / base if base else 1.0 for t in times])
            return [fmean(row) for row in zip(*rows, strict=True)] if all(rows) else []

        ranked = dict(race((DEFAULTS, TUNED), run, self.statistic, keep=(DEFAULTS, TUNED)))
        if not ranked.keys() >= {TUNED, DEFAULTS}:
            return Outcome(None, (), (), self.failures)
        times, defaults = (tuple(map(self.statistic, kept[x])) for x in (TUNED, DEFAULTS))
        noise = max(map(spread, kept[DEFAULTS]))
        quicker = ranked[TUNED] <= (1 - GAIN) * ranked[DEFAULTS] and noise <= NOISY
        return Outcome(thresholds if quicker else None, times, defaults, self.failures, noise)


def _ratio(time: float, base: float) -> float:
    return time / base if 0 < base < inf else time
