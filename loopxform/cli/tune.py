"""`loopxform tune FILE.c --size M=1024,...`: the tile sizes that are quickest on a device."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TextIO

from loopxform.cli import tune_text, tune_thresholds, tune_tree
from loopxform.cli.inputs import counter
from loopxform.cli.tune_dask import Machines
from loopxform.cli.tune_job import Job, contribution, job_of
from loopxform.cli.tune_subject import NOISY, NOTHING, WRONG
from loopxform.cli.tuned import digest_of, updated
from loopxform.errors import DeviceError
from loopxform.files import Output, write_all
from loopxform.tune.claims import Claims
from loopxform.tune.locks import locked
from loopxform.tune.memo import Memo, key_of, stored
from loopxform.tune.outcome import Outcome
from loopxform.tune.race import STATISTICS
from loopxform.tune.session import Session
from loopxform.tune.space import Point
from loopxform.tune.workers import Worker


def main(args: argparse.Namespace) -> int:
    if args.tree or args.dot:
        return tune_tree.main(args)
    if args.thresholds:
        return tune_thresholds.main(args)
    if args.dask is None:
        return _tuned(args, job_of(args))
    with ExitStack() as held:
        machines = Machines(held)
        return _tuned(args, job_of(args, machines.place), machines)


def _tuned(args: argparse.Namespace, job: Job, machines: Machines | None = None) -> int:
    talk = sys.stderr if args.json == "-" else sys.stdout
    memo = Memo.of(job.file.stem, args.shared)
    for line in tune_text.plan(job, memo):
        print(line, file=talk, flush=True)
    if args.plan:
        return 0
    with ExitStack() as held:
        session, outcome = measured(args, job, memo, talk, held, machines)
        lost = machines.shown(session.lost) if machines is not None else []
        for line in [*lost, *tune_text.result(job, outcome)]:
            print(line, file=talk)
        _write(args, job, session, outcome, talk)
    return _status(job, outcome)


def _status(job: Job, outcome: Outcome) -> int:
    if outcome.failures.get("wrong"):
        return WRONG
    if tune_text.out_of_time(job, outcome):
        return NOTHING
    if not outcome.measured and outcome.failures and not outcome.interrupted:
        return NOTHING
    return NOISY if outcome.is_noisy else 0


def measured(
    args: argparse.Namespace,
    job: Job,
    memo: Memo,
    talk: TextIO,
    held: ExitStack,
    machines: Machines | None,
) -> tuple[Session, Outcome]:
    """Searches and races, with a line of progress where a person waits. What this process alone may
    do, of those that share a folder, is `held` until the result is written. Raises DeviceError."""
    about = job.about_space
    if memo.find(about["key"]) is None:
        memo.keep(about)
    bar = counter(job.budget.measurements, "point", tune_text.PROGRESS)
    waiting = tune_text.waiting(job.device, talk)

    def told(session: Session, last: float | None) -> None:
        bar.set_description_str(tune_text.progress(session, last), refresh=False)
        bar.update()

    def may_race(finalists: Sequence[Point]) -> bool:
        if job.shard or args.shared is None:
            return not job.shard
        claims = Claims(Path(args.shared, "claims"))
        key = key_of("race", job.routine.name, digest_of(job.routine), job.device.name, finalists)
        return held.enter_context(claims.taken(key))

    if machines is None:
        count = job.jobs if job.jobs > 1 else 0
        worker, *builders = (Worker(job.words, job.limit, memo, waiting) for _ in range(count + 1))
        others = list[Worker]()
    else:
        worker, *others = machines.workers(job, memo)
        builders = []
    session = Session(
        job.space,
        len(job.datasets),
        worker,
        STATISTICS[job.statistic],
        job.repeat,
        args.fresh,
        told,
        builders,
        may_race,
        others,
    )
    everybody = [worker, *builders, *others]
    try:
        outcome = session.run(job.asking(2 * len(others)), job.budget)
    finally:
        bar.close()
        for process in everybody:
            process.stop()
    _require_measured(outcome, session)
    return session, outcome


def _require_measured(outcome: Outcome, session: Session) -> None:
    """Raises DeviceError where the defaults themselves cannot be measured."""
    if outcome.interrupted or all(session.baseline):
        return
    why = next((r["why"] for r in session.rows if r["status"] != "ok"), "no answer")
    error = DeviceError(
        f"the kernel with default sizes cannot be measured: {why}",
        help="loopxform run shows whether it is right; --limit gives it more time",
    )
    wrong = outcome.failures.get("wrong")
    error.status = WRONG if wrong else NOTHING
    raise error


def _write(
    args: argparse.Namespace, job: Job, session: Session, outcome: Outcome, talk: TextIO
) -> None:
    """The tuning file, as it is by now, with what was found, and all measurements where they are
    asked for. Raises UsageError, InputError."""
    report = json.dumps(session.rows, indent=2) + "\n"
    if args.json == "-":
        print(report, end="")
    outputs = [Output(Path(args.json), report, "--json")] if args.json not in (None, "-") else []
    if job.shard:
        lines = (json.dumps(stored(row)) for row in session.rows)
        outputs.append(Output(job.share_path, "".join(f"{x}\n" for x in lines)))
    job.path.parent.mkdir(parents=True, exist_ok=True)
    with locked(job.path.parent):
        if outcome.best is not None:
            about = tune_text.about(job, outcome)
            tuned = job.tuned(outcome.best)
            c_file = job.path.parent / f"{job.file.stem}.c"
            outputs.append(updated(c_file, job.limits.name, job.routine.name, tuned, about))
            if args.contribute is not None:
                own = job.entry(outcome.best, "; ".join(about[1:]))
                outputs.append(contribution(Path(args.contribute), own))
        for path in write_all(outputs, job.file.parsed.dependencies):
            print(f"wrote {path}", file=talk)
