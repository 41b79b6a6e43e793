"""What measurements that were kept say: which candidates there are, and which is the quickest."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean

from loopxform.errors import UsageError
from loopxform.floating_point import LEVELS
from loopxform.records import record
from loopxform.schedule.offload_options import OF_PROGRAMS, OFFLOAD, program_options
from loopxform.schedule.params import NAMES, RECIPES
from loopxform.schedule.requests import options_of
from loopxform.schedule.tiling_options import TUNED
from loopxform.tune.memo import Measurement
from loopxform.tune.outcome import GAIN
from loopxform.tune.race import STATISTICS, Statistic
from loopxform.tune.space import Value

SUBJECT = ("program", "function", "text", "recipe", "fp", "device", "platform", "driver", "given")
"""What is told of a measurement that times may be compared within, and not across. `given` are the
options of the command line, as tuning files have them, in JSON."""


@record
class Candidate:
    """Sizes that were measured: milliseconds of each run for each set of sizes (by its JSON), and
    the mean over these of the time over that of the defaults on the same machine; where it `raced`
    against others, those of the race. `place` is its place among all by the model, from 1 on."""

    sizes: Mapping[str, Value]
    runs: Mapping[str, Sequence[float]]
    ratio: float
    raced: bool
    place: int | None = None


@record
class Result:
    """What was measured of a function on a device: the candidates, the quickest first, that have
    times for all sets of sizes (`datasets`, by their JSON), the milliseconds of the defaults, and
    the last measurement of each candidate and set. `space` tells what there was to measure."""

    subject: Mapping[str, str]
    datasets: Mapping[str, Mapping[str, int | float]]
    candidates: tuple[Candidate, ...]
    defaults: Mapping[str, float]
    rows: tuple[Measurement, ...]
    space: Measurement | None = None

    @property
    def best(self) -> Candidate | None:
        """The quickest, where it is quicker than the defaults."""
        return next((c for c in self.candidates[:1] if c.ratio <= 1 - GAIN), None)

    @property
    def given(self) -> Mapping[str, str]:
        """The options of the command line."""
        return _options(self.subject["given"]) or {}

    @property
    def statistic(self) -> Statistic:
        """How times are judged."""
        return statistic_of(self.rows[-1])

    @property
    def failures(self) -> Mapping[str, int]:
        """How many measurements failed, by status."""
        return Counter(r["status"] for r in self.rows if r["status"] != "ok")


def statistic_of(row: Measurement) -> Statistic:
    """How times of a measurement are judged."""
    name: str = row["statistic"]
    return STATISTICS[name]


def results(rows: Iterable[Measurement]) -> list[Result]:
    """The results by function and device, in the order in which they were measured last.
    Measurements of an older text of the function are of another one."""
    groups: dict[tuple[str, ...], list[Measurement]] = {}
    spaces: dict[tuple[str, ...], Measurement] = {}
    for row in filter(_has_subject, rows):
        subject = tuple(row[name] for name in SUBJECT)
        if is_space(row):
            spaces[subject] = row
        elif _is_complete(row):
            groups[subject] = [*groups.pop(subject, []), row]
    return [
        _result(dict(zip(SUBJECT, key)), group, spaces.get(key)) for key, group in groups.items()
    ]


def is_space(row: Measurement) -> bool:
    """Whether a line tells what there was to measure: how many candidates, how many of them legal,
    and how many others exceed which limit of the device."""
    numbers, limits = (row.get("candidates"), row.get("legal")), row.get("limits")
    return (
        row.get("status") == "space"
        and all(map(_is_whole, numbers))
        and isinstance(limits, dict)
        and all(map(_is_whole, limits.values()))
    )


def _has_subject(row: Measurement) -> bool:
    return (
        all(isinstance(row.get(name), str) for name in SUBJECT)
        and row["recipe"] in (*RECIPES, OFFLOAD)
        and row["fp"] in LEVELS
        and _options(row["given"]) is not None
    )


def _is_complete(row: Measurement) -> bool:
    """Whether a line, which anybody may have written, says all that it should."""
    sizes, times = row.get("sizes"), row.get("milliseconds", [])
    return (
        all(isinstance(row.get(name), str) for name in ("host", "status"))
        and row.get("statistic") in STATISTICS
        and isinstance(row.get("race"), bool)
        and isinstance(row.get("data"), dict)
        and (sizes is None or (isinstance(sizes, dict) and all(map(_is_value, sizes.items()))))
        and isinstance(times, list)
        and all(map(_is_time, times))
        and bool(times) == (row["status"] == "ok")
        and all(row.get(n) is None or _is_time(row[n]) for n in ("baseline", "predicted"))
    )


def _options(text: str) -> dict[str, str] | None:
    try:
        given = json.loads(text)
        options_of(given)
    except (ValueError, AttributeError, KeyError, TypeError, UsageError):
        return None
    return dict(given)


def _is_value(pair: tuple[str, object]) -> bool:
    name, value = pair
    if name in OF_PROGRAMS:
        return isinstance(value, str) and _is_tile(name, value)
    return value in TUNED[name] if name in TUNED else name in NAMES and _is_whole(value)


def _is_tile(name: str, text: str) -> bool:
    try:
        program_options({name: text})
    except UsageError:
        return False
    return True


def _is_whole(value: object) -> bool:
    return type(value) is int and 0 < value < 1 << 31


def _is_time(value: object) -> bool:
    return isinstance(value, int | float) and 0 <= value < 1e12


def _result(
    subject: Mapping[str, str], rows: Sequence[Measurement], space: Measurement | None
) -> Result:
    datasets = {_text(row["data"]): row["data"] for row in rows}
    last = {(_text(r["sizes"]), _text(r["data"])): r for r in rows if not r["race"]}
    races: dict[tuple[str, str], list[Measurement]] = {}
    for row in rows:
        if row["race"] and row["status"] == "ok":
            races.setdefault((_text(row["sizes"]), _text(row["data"])), []).append(row)
    defaults = {
        data: statistic_of(row)(row["milliseconds"])
        for (_, data), row in last.items()
        if row["sizes"] is None and row["status"] == "ok"
    }
    by_sizes = {sizes: row for (sizes, _), row in last.items() if row["sizes"] is not None}
    ordered = sorted(
        (r["predicted"], sizes) for sizes, r in by_sizes.items() if r.get("predicted") is not None
    )
    places = {sizes: n for n, (_, sizes) in enumerate(ordered, 1)}
    candidates = []
    for sizes, row in by_sizes.items():
        raced = all((sizes, data) in races for data in datasets)
        found = {d: races[sizes, d] if raced else [last.get((sizes, d), {})] for d in datasets}
        if all(r.get("baseline") and r["status"] == "ok" for rs in found.values() for r in rs):
            runs = {d: [t for r in rs for t in r["milliseconds"]] for d, rs in found.items()}
            ratio = fmean(
                statistic_of(rs[0])([t / r["baseline"] for r in rs for t in r["milliseconds"]])
                for rs in found.values()
            )
            candidates.append(Candidate(row["sizes"], runs, ratio, raced, places.get(sizes)))
    candidates.sort(key=lambda c: (not c.raced, c.ratio, _text(c.sizes)))
    return Result(subject, datasets, tuple(candidates), defaults, tuple(last.values()), space)


def _text(value: object) -> str:
    return json.dumps(value, sort_keys=True)
