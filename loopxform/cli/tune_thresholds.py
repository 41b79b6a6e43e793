"""`loopxform tune --thresholds`: which versions of nests are quickest, for which sizes."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from loopxform.bench import sizes
from loopxform.bench.measure import text
from loopxform.cli.arguments.tune import BUDGET
from loopxform.cli.floating_point import permitted
from loopxform.cli.inputs import counter
from loopxform.cli.tune_job import contribution, path_for, statistic_of
from loopxform.cli.tune_subject import NOISY, NOTHING, WRONG, Subject, subject_of
from loopxform.cli.tune_text import heading, noisy
from loopxform.cli.tune_text import waiting as waiting_for
from loopxform.cli.tune_tree import counts, instance, require_versions
from loopxform.cli.tuned import digest_of, entry_of, updated
from loopxform.cli.versioned import versioned
from loopxform.errors import DeviceError, UsageError
from loopxform.files import write_all
from loopxform.schedule.tuning_file import Tuned, comment_of
from loopxform.tune.forest import Instance
from loopxform.tune.locks import locked
from loopxform.tune.nests import Nests, nests_of
from loopxform.tune.race import STATISTICS
from loopxform.tune.threshold_session import Outcome, ThresholdSession, Times
from loopxform.tune.thresholds import Run
from loopxform.tune.workers import Worker

MODULE = "loopxform.cli.threshold_worker"


def main(args: argparse.Namespace) -> int:
    """Raises LoopxformError."""
    _require_compatible(args)
    subject = subject_of(args)
    file, routine, device, limits = subject.file, subject.routine, subject.device, subject.limits
    nests = nests_of(versioned(args, file, routine, limits))
    require_versions(nests, args, file, routine, limits)
    datasets = [instance(nests, now) for now in subject.datasets]
    path = path_for(args, file, limits, subject.family)
    print(f"tuning thresholds of {routine.name} on {device}", flush=True)
    print(f"  {counts(nests, datasets)}", flush=True)
    if args.plan:
        return 0
    outcome, failed = _measured(args, subject, nests, datasets)
    for line in _result(outcome, nests, subject.datasets, failed):
        print(line)
    if outcome.thresholds is not None:
        level = permitted(args).level
        tuned = Tuned(
            None,
            {},
            thresholds=outcome.thresholds,
            threshold_text=digest_of(routine),
            threshold_fp=level,
        )
        about = list(_about(subject, outcome))
        path.parent.mkdir(parents=True, exist_ok=True)
        with locked(path.parent):
            c_file = path.parent / f"{file.stem}.c"
            outputs = [updated(c_file, limits.name, routine.name, tuned, about)]
            if args.contribute is not None:
                own = entry_of(subject.family, routine, tuned, "; ".join(about[1:]))
                outputs.append(contribution(Path(args.contribute), own))
            for written in write_all(outputs, file.parsed.dependencies):
                print(f"wrote {written}")
    if any(x["status"] == "wrong" for x in failed):
        return WRONG
    return NOISY if outcome.is_noisy else 0


def _require_compatible(args: argparse.Namespace) -> None:
    """Raises UsageError for options that are about the search for sizes."""
    for option, is_given in (
        ("--tune", args.tune),
        ("--budget", args.budget != BUDGET),
        ("--jobs", args.jobs != "1"),
        ("--shard", args.shard),
        ("--shared", args.shared),
        ("--dask", args.dask),
        ("--json", args.json),
    ):
        if is_given:
            message = f"--thresholds and {option} exclude each other"
            help = f"leave out {option}: it is about the search for sizes"
            raise UsageError(message, help=help, subject=option)


def _measured(
    args: argparse.Namespace, subject: Subject, nests: Nests, datasets: Sequence[Instance]
) -> tuple[Outcome, list[dict[str, Any]]]:
    """What comes of it, and the answers that are no times. Raises DeviceError where there are no
    others."""
    waiting = waiting_for(subject.device, sys.stdout)
    worker = Worker(args.words[1:], subject.limit, waiting=waiting, module=MODULE)
    failed = list[dict[str, Any]]()
    bar = counter(0, "measurement")

    def measure(run: Run, launches: int) -> Times | None:
        job = {"thresholds": run.thresholds, "dataset": run.dataset, "runs": launches}
        answer = worker.ask({**job, "regions": session.by_region})
        if answer["status"] != "ok":
            failed.append(answer)
            return None
        times: Times = answer["times"]
        return times

    statistic = STATISTICS[statistic_of(args, subject.device)]
    session = ThresholdSession(nests, datasets, measure, statistic, subject.repeat, bar.update)
    bar.total = len(session.planned)
    try:
        outcome = session.run()
    finally:
        bar.close()
        worker.stop()
    _require_measured(failed, len(session.planned))
    return outcome, failed


def _require_measured(failed: Sequence[dict[str, Any]], planned: int) -> None:
    """Raises DeviceError where nothing can be measured."""
    if failed and len(failed) >= planned:
        help = "loopxform run shows whether the kernels are right; --limit gives them more time"
        error = DeviceError(f"no version can be measured: {failed[0]['why']}", help=help)
        error.status = WRONG if any(x["status"] == "wrong" for x in failed) else NOTHING
        raise error


def _result(
    outcome: Outcome, nests: Nests, asked: Sequence[sizes.Sizes], failed: Sequence[dict[str, Any]]
) -> Iterator[str]:
    for why in dict.fromkeys(f"{x['status']}: {x['why']}" for x in failed):
        yield f"  {why}"
    if outcome.is_noisy:
        yield noisy(outcome.noise)
        return
    if outcome.thresholds is None:
        yield "  the defaults are the quickest: nothing is written"
        return
    changed = (n for n, value in outcome.thresholds.items() if value != nests.defaults[n])
    yield "  " + ", ".join(f"{n}={outcome.thresholds[n]}" for n in changed)
    for now, own, default in zip(asked, outcome.times, outcome.defaults):
        ratio = f"{default / own:.2f} times" if own else ""
        yield f"  {text(now)}: {own:.4g} ms, {default:.4g} with the defaults: {ratio}"


def _about(subject: Subject, outcome: Outcome) -> Iterator[str]:
    """The comments of the file."""
    yield heading(subject.device)
    for now, own, default in zip(subject.datasets, outcome.times, outcome.defaults):
        yield comment_of(subject.routine.name, text(now), own, default, thresholds=True)
