"""What comes of tuning a nest: the quickest contender, by what was measured of each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from loopxform.records import record
from loopxform.tune.race import Statistic, spread
from loopxform.tune.space import Point, Space

GAIN = 0.02
"""Part of the defaults' time that a point has to save: less is noise."""

NOISY = 0.45
"""Where times vary more than that, none of the ways to compare them that were tried chose well
(64 variants of a product of matrices, on a CPU that was busy)."""

Contender: TypeAlias = Point | None

DEFAULTS: Contender = None
"""The contender without sizes of its own."""


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


@record
class Measured:
    """The measurements of a session, in order (`rows`)."""

    space: Space
    rows: Sequence[Mapping[str, Any]]
    statistic: Statistic

    def quickest(self, ranked: Sequence[tuple[Contender, float]]) -> Contender:
        """The quickest contender by ratios; the defaults, unless one with a kernel of its own is
        clearly quicker."""
        same = self._kernel(DEFAULTS)
        ratios = {c: t for c, t in ranked if c is DEFAULTS or self._kernel(c) != same}
        best = min(ratios, key=lambda c: ratios[c], default=DEFAULTS)
        quicker = best is not DEFAULTS and ratios[best] <= (1 - GAIN) * ratios.get(DEFAULTS, 1.0)
        return best if quicker and self.noise <= NOISY else DEFAULTS

    @property
    def noise(self) -> float:
        """By what part the times of the defaults varied in the race."""
        times: dict[int, list[float]] = {}
        for row in self._of(DEFAULTS):
            if row["race"]:
                times.setdefault(row["dataset"], []).extend(row["milliseconds"])
        return max(map(spread, times.values()), default=0.0)

    def milliseconds(self, contender: Contender, dataset: int) -> float:
        """The time of a contender in the race, else in the search."""
        rows = [row for row in self._of(contender) if row["dataset"] == dataset]
        raced = [row for row in rows if row["race"]] or rows
        times = [t for row in raced for t in row["milliseconds"]]
        return self.statistic(times) if times else 0.0

    def _of(self, contender: Contender) -> Iterator[Mapping[str, Any]]:
        """What succeeded of a contender."""
        sizes = self._sizes(contender)
        return (r for r in self.rows if r["sizes"] == sizes and r["status"] == "ok")

    def _kernel(self, contender: Contender) -> object:
        """What tells its kernel from others; each is one of its own where nobody says."""
        sizes = self._sizes(contender)
        keys = (r["key"] for r in self.rows if r["sizes"] == sizes and r.get("key"))
        return next(keys, contender)

    def _sizes(self, contender: Contender) -> Mapping[str, Any] | None:
        return None if contender is None else self.space.sizes(contender)
