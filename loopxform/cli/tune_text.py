"""What `loopxform tune` tells: the plan, the result, and the comments of the file."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date
from statistics import fmean
from typing import TextIO

from loopxform import __version__
from loopxform.bench.measure import text
from loopxform.cli.tune_job import Job
from loopxform.runtime.device import DeviceInfo
from loopxform.schedule.tuning_file import comment_of
from loopxform.tune.memo import Memo
from loopxform.tune.outcome import Outcome
from loopxform.tune.session import Session
from loopxform.tune.space import Value


def plan(job: Job, memo: Memo) -> list[str]:
    """What will be measured, and how long that takes by what was measured before."""
    space, budget = job.space, job.budget
    sets = "" if len(job.datasets) == 1 else f", each for {len(job.datasets)} sets of sizes"
    most = str(budget.measurements)
    if budget.seconds is not None:
        most = f"as many as {budget.seconds:g} s allow"
    share = "" if job.shard is None else ", share {} of {}".format(*job.shard)
    return [
        f"tuning {job.routine.name} on {job.device}",
        *(f"  {n:<4} {_listed(v)}" for n, v in zip(space.names, space.values)),
        f"  {space.size} candidates, {len(job.ordered)} legal, {most} to measure{sets}{share}",
        *_estimate(job, memo),
    ]


def _listed(values: Sequence[Value]) -> str:
    shown = ", ".join(map(str, values[:MOST_LISTED]))
    return shown if len(values) <= MOST_LISTED else f"{shown}, ... ({len(values)} in all)"


MOST_LISTED = 10
"""Values of a parameter that are shown."""


def _estimate(job: Job, memo: Memo) -> list[str]:
    times = [
        float(row["spent"])
        for row in memo.every
        if row.get("function") == job.routine.name
        and row.get("device") == job.device.name
        and isinstance(row.get("spent"), int | float)
    ]
    if not times or job.budget.seconds is not None:
        return []
    seconds = fmean(times) * job.budget.measurements * len(job.datasets)
    shown = f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"
    return [f"  at most {shown} by what was measured before, and a race"]


def waiting(device: DeviceInfo, talk: TextIO) -> Callable[[], None]:
    """Says once that another process measures on the device."""
    said: list[str] = []

    def say() -> None:
        if not said:
            said.append(f"  another process measures on {device}: taking turns")
            print(*said, file=talk, flush=True)

    return say


def heading(device: DeviceInfo) -> str:
    """The comment of a file about where it was measured."""
    return f"loopxform {__version__}, tuned for {device}, {date.today().isoformat()}"


def noisy(noise: float) -> str:
    """Why nothing is written where times vary too much."""
    vary = f"the times of the defaults vary by {noise:.0%}"
    return f"  too noisy to tell which is the quickest: {vary}; nothing is written"


PROGRESS = "[{n_fmt}/{total_fmt}] {desc}  ETA {remaining}"


def progress(session: Session, last: float | None) -> str:
    """`best 5.71 ms  last 9.3 ms  2 wrong 1 timeout`; for several sets of sizes, times the
    defaults' speed."""

    def shown(ratio: float) -> str:
        if session.datasets > 1:
            return f"{1 / ratio:.2f}x"
        return f"{ratio * session.baseline[0]:.4g} ms"

    best = "" if session.best is None else f"best {shown(session.best)}  "
    text = f"{best}last {'failed' if last is None else shown(last)}"
    failures = " ".join(f"{n} {status}" for status, n in sorted(session.failures.items()))
    return f"{text}  {failures}".rstrip()


def result(job: Job, outcome: Outcome) -> list[str]:
    """What came of it."""
    failures = ", ".join(f"{n} {status}" for status, n in sorted(outcome.failures.items()))
    lines = [f"  {outcome.measured} measured{'; ' + failures if failures else ''}"]
    if job.shard:
        return [*lines, f"  merge the {job.shard[1]} shares: loopxform tune merge FILE.jsonl ..."]
    if not outcome.raced:
        return [*lines, f"  another process lets the best race, and writes {job.path}"]
    if outcome.interrupted:
        lines.append("  interrupted: the best so far, without a race")
    if outcome.is_noisy:
        return [*lines, noisy(outcome.noise)]
    if out_of_time(job, outcome):
        more = f"give --budget more than {job.budget.seconds:g}s, or smaller sizes"
        return [*lines, f"  the time was over when the defaults had been measured: {more}"]
    if outcome.best is None:
        return [*lines, "  the defaults are the quickest: nothing is written"]
    best = ", ".join(f"{n}={v}" for n, v in job.space.sizes(outcome.best).items())
    lines.append(f"  {job.mapped.recipe}, {best}")
    for own, default in zip(outcome.times, outcome.defaults):
        lines.append(f"  {own:.4g} ms, {default:.4g} with the defaults: {default / own:.2f} times")
    return lines


def out_of_time(job: Job, outcome: Outcome) -> bool:
    """Whether there was no time for anything but the defaults."""
    untried = outcome.best is None and not (outcome.measured or outcome.failures)
    return untried and job.budget.seconds is not None and len(job.ordered) > 1


def about(job: Job, outcome: Outcome) -> list[str]:
    """The comments of the file: where it was measured, and what."""
    lines = [heading(job.device)]
    for now, best, default in zip(job.datasets, outcome.times, outcome.defaults):
        lines.append(comment_of(job.routine.name, text(now), best, default))
    return lines
