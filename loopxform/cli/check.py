"""`loopxform check FILE.c ...`: a verdict for every loop, the dependence matrix of every nest."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from loopxform.api.check import CheckedFile
from loopxform.api.facade import Routine
from loopxform.budget import within
from loopxform.cli import check_text, inputs, questions, streams
from loopxform.cli.colour import painter
from loopxform.cli.compiler import given_flags
from loopxform.cli.judging import Judge, Judged
from loopxform.cli.options import chosen
from loopxform.cli.place import put_on_command_line
from loopxform.cli.settings import settings_of
from loopxform.errors import InternalError, LoopxformError, UsageError
from loopxform.ir.types import INT_MAX
from loopxform.written import MOST_JOBS, whole

MOST_NOTED = 20
"""Problems of a file that its diagnostic lists."""


def main(args: argparse.Namespace) -> int:
    judge, jobs = Judge(args), whole("--jobs", args.jobs, 1, MOST_JOBS, "2")
    if args.dask is not None and jobs > 1:
        message = "--dask and --jobs exclude each other"
        raise UsageError(message, help="leave out --jobs", subject="--jobs")
    files = inputs.c_files(args.files, partial(settings_of, args))
    many = len(files) > 1
    asked = next((o for o in ("line", "can", "require") if getattr(args, o)), None)
    if many and asked:
        message = f"--{asked} is asked of one file, and there are {len(files)}"
        raise UsageError(message, help="name one C file", subject=f"--{asked}")
    _require_stats_alone(args)
    answers: list[questions.Answer] = []
    every = list(_judged(args, judge, files, jobs))
    reports = [x for x in every if isinstance(x, CheckedFile)]
    failed = [x for x in every if isinstance(x, LoopxformError)]
    if args.function and many and reports:
        failed = [e for e in failed if e.code != "LX052"]  # it is in another file
    if not many and not failed:
        with within(judge.limit):
            reports[0], answers = _asked(args, reports[0])
    if reports and args.stats:
        _show_stats(args, reports)
    elif reports:
        _show(args, reports, answers, failed, many=many)
    failed += [e for r in reports for e in file_diagnostics(r)]
    failed.sort(key=lambda e: isinstance(e, InternalError))  # the last gives the exit status
    for e in failed[:-1]:
        if e.loc is None:
            put_on_command_line(e, args.words)
        streams.complain(e.render(paint=painter(args.words, sys.stderr)))
    if failed:
        raise failed[-1]
    refuted = any(c.proven is False for r in reports for c in r.claims)
    refuted = refuted or not all(a.holds for r in reports for a in r.asserted)
    return int(refuted or any(not a.holds for a in answers))


def _require_stats_alone(args: argparse.Namespace) -> None:
    """Raises UsageError where --stats stands beside what asks for something else."""
    others = [f"--{o}" for o in ("line", "can", "require") if getattr(args, o)]
    others += ["--format sarif"] if args.format == "sarif" else []
    if args.stats and others:
        message = f"--stats and {others[0]} exclude each other"
        raise UsageError(message, help=f"leave out {others[0]}", subject="--stats")


def _judged(
    args: argparse.Namespace, judge: Judge, files: Sequence[str], jobs: int
) -> Iterator[Judged]:
    """What is true of each file."""
    count = min(jobs, len(files))
    if count == 1 and args.dask is None:
        yield from judge.each(files)
        return
    from loopxform.cli import check_many  # loads what only these need
    from loopxform.cli.cluster import cluster

    words = args.words[1:]
    if args.dask is None:
        yield from check_many.side_by_side(judge, files, check_many.workers(words, count))
        return
    own = given_flags(args)
    with cluster(args.dask) as there:
        there.require_same(own.flags)
        yield from check_many.side_by_side(judge, files, check_many.of_cluster(there, words))


def _legality(routine: Routine, steps: Sequence[str]) -> list[questions.Answer]:
    """Whether each of the steps is legal."""
    from loopxform.cli.step_questions import can  # loads every step

    return [can(routine, text) for text in steps]


def _asked(
    args: argparse.Namespace, report: CheckedFile
) -> tuple[CheckedFile, list[questions.Answer]]:
    """The part of a report that the command line is about, and its questions answered."""
    shown = report
    if args.line is not None:
        line = whole("--line", args.line, 1, INT_MAX, "12")
        questions.at_line(report, line, "--line")
        shown = report.only(line)
    answers = _legality(chosen(report.file, args), args.can) if args.can else []
    return shown, answers + [questions.require(text, report) for text in args.require]


def _show_stats(args: argparse.Namespace, reports: Sequence[CheckedFile]) -> None:
    from loopxform.cli.check_stats import Statistics  # loads what only --stats needs

    found = Statistics(reports)
    if args.format == "json":
        print(json.dumps(found.json(), indent=2))
    else:
        print("\n".join(found.text()))


def _show(
    args: argparse.Namespace,
    reports: Sequence[CheckedFile],
    answers: Sequence[questions.Answer],
    failed: Sequence[LoopxformError],
    *,
    many: bool,
) -> None:
    paint = painter(["--color", args.color], sys.stdout)
    if args.format == "sarif":
        from loopxform.cli import sarif  # loads what only SARIF needs

        print(json.dumps(sarif.log(reports, answers, failed), indent=2))
    elif args.format == "json":
        print(json.dumps(_json(reports, answers, many=many), indent=2))
    elif answers:
        print("\n".join(line for a in answers for line in a.text(paint)))
    else:
        for r in reports:
            judged = r.loops or r.claims or r.asserted
            if not judged:
                print(check_text.without_loops(r))
            for f in r.functions if judged else ():
                print("\n".join(check_text.function(f, r.name if many else None, paint)))
        if any(m.rows for r in reports for f in r.functions for m in f.matrices):
            print(check_text.LEGEND)
        if many:
            print(check_text.total(reports))


def _json(
    reports: Sequence[CheckedFile], answers: Sequence[questions.Answer], *, many: bool
) -> dict[str, Any]:
    """The contract; several files are a list of it."""
    if many:
        return {"schema_version": 1, "files": [r.json() for r in reports]}
    data: dict[str, Any] = reports[0].json()
    if answers:
        data["answers"] = [a.json() for a in answers]
    return data


def file_diagnostics(report: CheckedFile) -> Iterator[LoopxformError]:
    """What could not be read of a file: one diagnostic, with a note for each of the others; and
    each mistake of ours."""
    broken = [e for e in report.problems if isinstance(e, InternalError)]
    refused = [e for e in report.problems if e not in broken]
    yield from broken
    if refused:
        first, *others = refused
        first.notes += tuple(f"also: {e.loc}: {e.message}" for e in others[:MOST_NOTED])
        if (more := len(others) - MOST_NOTED) > 0:
            first.notes += (f"also: {more} more; --format json lists them all",)
        yield first
