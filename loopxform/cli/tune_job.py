"""What `loopxform tune` is asked for: the nest, the device, the candidates and the budget."""

from __future__ import annotations

import argparse
import json
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from math import ceil
from pathlib import Path

from loopxform.api.facade import File, Routine
from loopxform.api.mapped import MappedRoutine
from loopxform.bench import sizes
from loopxform.cli.tune_candidates import candidates_of
from loopxform.cli.tune_subject import Placed, place_here, subject_of
from loopxform.cli.tuned import digest_of, path_of, path_to_write, read_tuning, shape_of
from loopxform.errors import UsageError
from loopxform.files import Output, require_writable
from loopxform.records import record
from loopxform.runtime.device import DeviceInfo
from loopxform.schedule.option_values import FLAG
from loopxform.schedule.tiling_options import OPTIONS, TUNED
from loopxform.schedule.tuning_file import Tuned
from loopxform.targets.database import Entry, Family, entries, with_entry, written
from loopxform.targets.target import Limits
from loopxform.tune.memo import Measurement, key_of
from loopxform.tune.search import WIDTH, listed, search, shard
from loopxform.tune.session import Asking, Budget
from loopxform.tune.space import Point, Space
from loopxform.written import MOST_JOBS, whole

LEAST = 20
"""Measurements of a share of the candidates, at least."""


@record
class Job:
    """What is tuned: a function, `mapped` with the defaults (the point `first`), for a device; the
    legal points of the space, the best by the model first; and where the result belongs. `limit`
    is in seconds, `repeat` are launches, `jobs` processes; `shard` is which share of how many is
    measured here. `words` are those that a process which measures is started with."""

    file: File
    routine: Routine
    device: DeviceInfo
    limits: Limits
    mapped: MappedRoutine
    space: Space
    ordered: Sequence[Point]
    first: Point
    datasets: Sequence[sizes.Sizes]
    budget: Budget
    limit: float
    repeat: int
    jobs: int
    statistic: str
    path: Path
    words: Sequence[str]
    given: Mapping[str, str]
    family: Family
    shard: tuple[int, int] | None = None

    def asking(self, together: int = 0) -> Asking:
        """What is measured, so many `together` at least: found by search, or one share of the best
        by the model."""
        if self.shard is None:
            most, width = self.budget.measurements, max(WIDTH, self.jobs, together)
            return search(self.space, self.ordered, self.first, most, width)
        points = list(dict.fromkeys((self.first, *self.ordered)))[: self.budget.measurements]
        return listed(shard(points, self.space, *self.shard))

    def tuned(self, point: Point) -> Tuned:
        """What is written of a point, with the options that were given."""
        mapped, text = self.mapped, digest_of(self.routine)
        values = self.space.sizes(point)
        return Tuned.of(mapped.recipe, values, text, mapped.fp.level, self.given)

    def entry(self, point: Point, about: str) -> Entry:
        """What the database has of a point."""
        t, recipe = self.tuned(point), self.mapped.recipe
        shape = shape_of(self.routine)
        return Entry(self.family, shape, recipe, t.fp, t.sizes, t.options, about)

    @property
    def about_space(self) -> Measurement:
        """What there is to measure, as a line that is kept."""
        limits = Counter(limit for p in self.space.plain() for limit in self.space.broken(p)[:1])
        subject = {
            "program": self.file.stem,
            "function": self.routine.name,
            "text": digest_of(self.routine),
            "recipe": self.mapped.recipe,
            "fp": self.mapped.fp.level,
            "device": self.device.name,
            "platform": self.device.platform,
            "driver": self.device.driver_version,
            "given": as_text(self.given),
        }
        counts = {"candidates": self.space.size, "legal": len(self.ordered), "limits": limits}
        key = key_of("space", subject, counts)
        return {"key": key, **subject, "status": "space", "race": False, **counts}

    @property
    def share_path(self) -> Path:
        """The file of a share: `mm.shard1of2.jsonl`."""
        number, count = self.shard or (1, 1)
        return self.path.parent / f"{self.file.stem}.shard{number}of{count}.jsonl"


def job_of(args: argparse.Namespace, placed: Placed = place_here) -> Job:
    """What is asked for; where is asked last. Raises LoopxformError, before anything is
    measured."""
    budget, jobs = _budget(args.budget), whole("--jobs", args.jobs, 1, MOST_JOBS, "2")
    share = _shard(args.shard)
    _require_compatible(args)
    subject = subject_of(args, placed)
    file, device = subject.file, subject.device
    found = candidates_of(args, subject)
    return Job(
        file,
        subject.routine,
        device,
        subject.limits,
        found.mapped,
        found.space,
        found.ordered,
        tuple(
            found.mapped.sizes.get(n, v[0]) for n, v in zip(found.space.names, found.space.values)
        ),
        subject.datasets,
        budget(len(found.ordered), found.times),
        subject.limit,
        subject.repeat,
        jobs,
        statistic_of(args, device),
        path_for(args, file, subject.limits, subject.family),
        [*args.words[1:], *found.words],
        given_options(args),
        subject.family,
        share,
    )


def as_text(given: Mapping[str, str]) -> str:
    """Options as they are kept with measurements."""
    return json.dumps(given, sort_keys=True)


def given_options(args: argparse.Namespace) -> dict[str, str]:
    """The options of the command line, as tuning files have them."""
    given = {}
    for o in OPTIONS:
        text, name = getattr(args, o.name.replace("-", "_")), o.name.removeprefix("no-")
        if text and name in TUNED:
            on = "off" if o.name.startswith("no-") else "on"
            given[name] = on if o.kind is FLAG else text
    return given


def path_for(args: argparse.Namespace, file: File, limits: Limits, family: Family) -> Path:
    """Where the result belongs. Raises UsageError, InputError where it cannot be written, or holds
    what says nothing meaningful."""
    name = Path(file.name)
    name = name if args.output is None else Path(args.output, name.name)
    for there in (path_of(str(name)), path_of(str(name), limits.name)):
        read_tuning(file, there)
    path = path_to_write(str(name), limits.name)
    require_writable(Output(path, ""))
    if args.contribute is not None:
        own = Path(args.contribute)
        require_writable(Output(own, "", "--contribute"))
        contributed(own, family)
    return path


def contribution(path: Path, own: Entry) -> Output:
    """The file for the database: with what it had of other nests on this device. Raises
    UsageError."""
    text = written(with_entry(contributed(path, own.family), own))
    return Output(path, text, "--contribute")


def contributed(path: Path, family: Family) -> list[Entry]:
    """The entries that a file has already, of this device. Raises UsageError."""
    try:
        found = list(entries(path)) if path.exists() else []
    except OSError as e:
        message = f"cannot read '{path}': {e.strerror or e}"
        raise UsageError(message, help="give a new file", subject="--contribute") from e
    other = next((e.family for e in found if e.family != family), None)
    if other is not None:
        message = f"'{path}' is for {other.device}, and this is {family.device}"
        raise UsageError(message, help="give a file for each device", subject="--contribute")
    return found


def _shard(written: str | None) -> tuple[int, int] | None:
    """Raises UsageError."""
    m = re.fullmatch(r"(\d{1,4})/(\d{1,4})", written or "1/1", re.ASCII)
    if m is None or not 1 <= int(m[1]) <= int(m[2]):
        message = f"'{written}' is no share"
        help = "--shard 1/2 here, --shard 2/2 on another machine"
        raise UsageError(message, code="LX023", help=help, subject="--shard")
    return None if written is None else (int(m[1]), int(m[2]))


def _require_compatible(args: argparse.Namespace) -> None:
    """Raises UsageError for options that exclude --shared or --dask, and where the first is no
    folder."""
    shared = (
        ("--shard", args.shard, "give one of them"),
        ("--fresh", args.fresh, "give a new folder"),
        ("--jobs", args.jobs != "1", "start several processes with the same folder"),
        ("--dask", args.dask, "give one of them"),
    )
    dask = (
        ("--shard", args.shard, "leave out --shard"),
        ("--jobs", args.jobs != "1", "each worker builds what it measures"),
    )
    for name, given, excluded in (("--shared", args.shared, shared), ("--dask", args.dask, dask)):
        for option, value, help in excluded if given is not None else ():
            if value:
                message = f"{name} and {option} exclude each other"
                raise UsageError(message, help=help, subject=name)
    if args.shared is not None:
        require_writable(Output(Path(args.shared, "claims", "claim"), "", "--shared"))


def _budget(written: str) -> Callable[[int, int], Budget]:
    """The budget for so many legal candidates, and times as many with options that vary. Raises
    UsageError."""
    m = re.fullmatch(r"(\d{1,6}(?:\.\d{1,3})?)(%|s|m|)", written, re.ASCII)
    amount = float(m[1]) if m else 0
    if m is None or not amount or (m[2] == "" and "." in m[1]) or (m[2] == "%" and amount > 100):
        message = f"'{written}' is no budget"
        help = "--budget 40, 5% of the candidates, 90s or 10m"
        raise UsageError(message, code="LX023", help=help, subject="--budget")
    unit = m[2]

    def budget(candidates: int, times: int) -> Budget:
        if unit in ("s", "m"):
            return Budget(candidates * times, amount * (60 if unit == "m" else 1))
        share = max(LEAST, ceil(candidates * amount / 100)) if unit == "%" else int(amount)
        return Budget(min(candidates * times, share))

    return budget


def statistic_of(args: argparse.Namespace, device: DeviceInfo) -> str:
    auto = "median" if device.type == "gpu" else "faster-half"
    return auto if args.statistic == "auto" else str(args.statistic)
