"""`loopxform check FILE.c ...`: a verdict for every loop, the dependence matrix of every nest."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache, partial

from loopxform.api.check import CheckedFile
from loopxform.api.facade import Routine
from loopxform.budget import within
from loopxform.cli import check_output, inputs, questions, streams
from loopxform.cli.baseline import Baseline, Compared, Looked
from loopxform.cli.colour import painter
from loopxform.cli.compiler import given_flags
from loopxform.cli.finding import findings
from loopxform.cli.judging import Judge, Judged
from loopxform.cli.options import chosen
from loopxform.cli.outcome import Outcome
from loopxform.cli.place import put_on_command_line
from loopxform.cli.settings import placed, settings_of, with_project_value
from loopxform.errors import InternalError, LoopxformError, UsageError
from loopxform.ir.types import INT_MAX
from loopxform.settings.lookup import NONE
from loopxform.written import MOST_JOBS, whole

MOST_NOTED = 20
"""Problems of a file that its diagnostic lists."""


def main(args: argparse.Namespace) -> int:
    judge, jobs = Judge(args), whole("--jobs", args.jobs, 1, MOST_JOBS, "2")
    _require_together(args, jobs)
    settings = cache(partial(settings_of, args))
    files = inputs.c_files(args.files, settings)
    _require_one(args, files)
    folders = dict.fromkeys(os.path.dirname(os.path.abspath(f)) for f in files)
    baseline = _baseline(with_project_value(args, "baseline", map(settings, folders)))
    every: list[Judged] = list(_judged(args, judge, files, jobs))
    failed = [x for x in every if isinstance(x, LoopxformError)]
    answers: list[questions.Answer] = []
    if len(files) == 1 and isinstance(every[0], CheckedFile):
        with within(judge.limit):
            every[0], answers = _asked(args, every[0])
    reports = [x for x in every if isinstance(x, CheckedFile)]
    if args.function and len(files) > 1 and reports:
        failed = [e for e in failed if e.code != "LX052"]  # it is in another file
    found = [x for path, judged in zip(files, every) for x in findings(path, judged)]
    if baseline is None:
        compared = Compared(new=found)
    else:
        narrowed = bool(args.function)
        looked = {} if args.line else {r.name: Looked.at(r, narrowed=narrowed) for r in reports}
        compared = baseline.compare(found, looked)
    outcome = Outcome(reports, answers, failed, compared, many=len(files) > 1)
    if baseline is not None and args.write_baseline is not None:
        return _write_baseline(args, baseline, outcome, files)
    check_output.show(args, outcome)
    check_output.write(args, outcome, files)
    _complain(args, outcome)
    wrong = any(x.kind == "wrong" for x in compared.new)
    return int(wrong or any(not a.holds for a in answers))


def _baseline(args: argparse.Namespace) -> Baseline | None:
    """The one to compare with. Raises InputError."""
    if args.write_baseline is not None:
        return Baseline.to_write(args.write_baseline)
    with placed(args):
        return None if args.baseline in (None, NONE) else Baseline.read(args.baseline)


def _write_baseline(
    args: argparse.Namespace, baseline: Baseline, o: Outcome, files: Sequence[str]
) -> int:
    """Writes what was found: all of it is known from now on. Raises InputError, also where a file
    could not be judged for what no baseline remembers."""
    missing = [e for e in o.unknown_errors if not isinstance(e, InternalError)]
    if missing:
        _complain(args, replace(o, compared=Compared(known=o.compared.found)))
    print(baseline.write(o.compared, files))
    _complain(args, replace(o, compared=Compared(known=o.compared.found)))
    return 0


def _complain(args: argparse.Namespace, o: Outcome) -> None:
    """Prints what went wrong and is not known, but for the last of it, which is raised."""
    failed = [e for e in o.failed if not o.compared.knows(e)]
    for r in o.reports:
        problems = tuple(e for e in r.problems if not o.compared.knows(e))
        failed += file_diagnostics(replace(r, problems=problems))
    failed.sort(key=lambda e: isinstance(e, InternalError))  # the last gives the exit status
    for e in failed[:-1]:
        if e.loc is None:
            put_on_command_line(e, args.words)
        streams.complain(e.render(paint=painter(args.words, sys.stderr)))
    if failed:
        raise failed[-1]


EXCLUDED = {
    "stats": ("line", "can", "require", "sarif", "baseline", "write_baseline"),
    "write_baseline": ("line", "can", "require", "sarif", "baseline", "function"),
}
FORMATS = {"stats": ("text", "json"), "write_baseline": ("text",)}
"""Options that stand beside none of these, and the formats in which they answer."""


def _require_together(args: argparse.Namespace, jobs: int) -> None:
    """Raises UsageError where an option stands beside what asks for something else."""
    if args.dask is not None and jobs > 1:
        raise _excluded("--dask", "--jobs", "--jobs")
    for name, excluded in EXCLUDED.items():
        others = [_option(o) for o in excluded if _is_given(args, o)]
        others += [] if args.format in FORMATS[name] else [f"--format {args.format}"]
        if _is_given(args, name) and others:
            raise _excluded(_option(name), others[0], _option(name))


def _excluded(one: str, other: str, subject: str) -> UsageError:
    message = f"{one} and {other} exclude each other"
    return UsageError(message, help=f"leave out {other}", subject=subject)


def _require_one(args: argparse.Namespace, files: Sequence[str]) -> None:
    """Raises UsageError where several files are asked what only one can answer."""
    asked = next((o for o in ("line", "can", "require") if getattr(args, o)), None)
    if len(files) > 1 and asked:
        message = f"--{asked} is asked of one file, and there are {len(files)}"
        raise UsageError(message, help="name one C file", subject=f"--{asked}")


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _is_given(args: argparse.Namespace, name: str) -> bool:
    return getattr(args, name) not in (None, False, [])


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
