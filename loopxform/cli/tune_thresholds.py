"""`loopxform tune --thresholds`: which versions of nests are quickest, for which sizes."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from datetime import date
from typing import Any

from loopxform import __version__
from loopxform.api.facade import File
from loopxform.bench import sizes
from loopxform.bench.measure import text
from loopxform.cli import running, tiling
from loopxform.cli.floating_point import permitted
from loopxform.cli.inputs import counter
from loopxform.cli.options import chosen, numbers
from loopxform.cli.tune_tree import counts, instance, require_versions
from loopxform.cli.tuned import digest_of, path_of
from loopxform.cli.versioned import versioned
from loopxform.errors import DeviceError
from loopxform.files import Output, require_writable, write_all
from loopxform.runtime.device import DeviceInfo
from loopxform.schedule.threshold_lines import with_thresholds
from loopxform.schedule.tuning_file import Tuned
from loopxform.tune.nests import Nests, nests_of
from loopxform.tune.race import STATISTICS
from loopxform.tune.threshold_session import Outcome, ThresholdSession, Times
from loopxform.tune.thresholds import Run
from loopxform.tune.workers import Worker

MODULE = "loopxform.cli.threshold_worker"


def main(args: argparse.Namespace, file: File, limit: float, statistic: str) -> int:
    """Raises LoopxformError."""
    asked = sizes.every(numbers("--size", args.size), args.sizes)
    repeat = running.launches("--repeat", args.repeat, 1)
    routine, device = chosen(file, args), tiling.device(args)
    running.require_numbers("--size", routine, asked, running.inputs(args))
    limits = running.limits_on(device, args)
    nests = nests_of(versioned(args, file, routine, limits))
    require_versions(nests, routine, args.file)
    datasets = [instance(nests, now) for now in asked]
    path = path_of(file.name)
    require_writable(Output(path, ""))
    print(f"tuning thresholds of {routine.name} on {device}", flush=True)
    print(f"  {counts(nests, datasets)}", flush=True)
    if args.plan:
        return 0
    worker = Worker(args.words[1:], limit, module=MODULE)
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

    session = ThresholdSession(nests, datasets, measure, STATISTICS[statistic], repeat, bar.update)
    bar.total = len(session.planned)
    try:
        outcome = session.run()
    finally:
        bar.close()
        worker.stop()
    _require_measured(failed, len(session.planned))
    for line in _result(outcome, nests, asked, failed):
        print(line)
    if outcome.thresholds is not None:
        own = Tuned(None, {}, digest_of(routine), permitted(args).level, outcome.thresholds)
        about = list(_about(device, asked, outcome))
        before = path.read_text(encoding="utf-8") if path.is_file() else ""
        new = with_thresholds(before, limits.name, routine.name, own, about)
        for written in write_all([Output(path, new)], file.parsed.dependencies):
            print(f"wrote {written}")
    return 1 if any(x["status"] == "wrong" for x in failed) else 0


def _require_measured(failed: Sequence[dict[str, Any]], planned: int) -> None:
    """Raises DeviceError where nothing can be measured."""
    if failed and len(failed) >= planned:
        help = "loopxform run shows whether the kernels are right; --limit gives them more time"
        raise DeviceError(f"no version can be measured: {failed[0]['why']}", help=help)


def _result(
    outcome: Outcome, nests: Nests, asked: Sequence[sizes.Sizes], failed: Sequence[dict[str, Any]]
) -> Iterator[str]:
    for why in dict.fromkeys(f"{x['status']}: {x['why']}" for x in failed):
        yield f"  {why}"
    if outcome.thresholds is None:
        yield "  the defaults are the quickest: nothing is written"
        return
    changed = (n for n, value in outcome.thresholds.items() if value != nests.defaults[n])
    yield "  " + ", ".join(f"{n}={outcome.thresholds[n]}" for n in changed)
    for now, own, default in zip(asked, outcome.times, outcome.defaults):
        ratio = f"{default / own:.2f} times" if own else ""
        yield f"  {text(now)}: {own:.4g} ms, {default:.4g} with the defaults: {ratio}"


def _about(device: DeviceInfo, asked: Sequence[sizes.Sizes], outcome: Outcome) -> Iterator[str]:
    """The comments of the file."""
    yield f"loopxform {__version__}, tuned for {device}, {date.today().isoformat()}"
    for now, own, default in zip(asked, outcome.times, outcome.defaults):
        yield f"{text(now)}: {own:.4g} ms, defaults {default:.4g} ms"
