"""`loopxform report FILE.c ... -o report.html`: what is known of the files, as a page."""

from __future__ import annotations

import argparse
import json
import os
import shlex
import sys
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from loopxform.budget import Budget, memory_bytes, within
from loopxform.cli import inputs, streams
from loopxform.cli.colour import painter
from loopxform.cli.floating_point import permitted
from loopxform.cli.options import chosen, limits, read
from loopxform.cli.settings import configured, settings_of
from loopxform.cli.tune_rows import nothing_in, rows_of
from loopxform.errors import LoopxformError, about, contained
from loopxform.files import Output, in_folder, require_writable, write_all
from loopxform.frontend.text.rawtext import decode, read_bytes
from loopxform.records import record
from loopxform.report import page
from loopxform.report.build import file_report
from loopxform.report.collect import unread
from loopxform.report.facts import FileFact
from loopxform.report.mapping import Wanted
from loopxform.source import Loc
from loopxform.targets.profile import profile
from loopxform.tune.memo import Measurement, measurement
from loopxform.written import MOST_JOBS, whole


def main(args: argparse.Namespace) -> int:
    jobs = whole("--jobs", args.jobs, 1, MOST_JOBS, "2")
    in_pages = _is_folder(args.output)
    if not in_pages:
        require_writable(Output(Path(args.output), ""))
    paths = inputs.c_files(args.files, partial(settings_of, args))
    measured = tuple(_measured(args.measured))
    wanted = _wanted(args, measured, _around(paths))
    looked = [*_looked_at(args, measured, paths, jobs)]
    files = [x.facts for x in looked]
    for line in (x.told for x in looked if x.told):
        streams.complain(line)
    internal = any(f.internal for f in files)
    if not internal and any(f.problems for f in files) and not any(f.functions for f in files):
        return 2
    made = page.pages(files, wanted) if in_pages else {"": page.one_page(files, wanted)}
    outputs = in_folder(args.output, made) if in_pages else [Output(Path(args.output), made[""])]
    written = write_all(outputs, [f for x in looked for f in x.read])
    if not args.quiet:
        shown = [f"{written[0]} and {len(written) - 1} more"] if in_pages else written
        print(*(f"wrote {path}" for path in shown), sep="\n")
    return 101 if internal else 0


def _around(paths: Sequence[str]) -> str:
    """The file, or the folder that has all of them."""
    if len(paths) == 1:
        return paths[0]
    return os.path.commonpath([os.path.dirname(os.path.abspath(p)) for p in paths])


def _wanted(args: argparse.Namespace, measured: tuple[Measurement, ...], path: str) -> Wanted:
    """What a page is made for, with the words that other commands need for the same: those of the
    command line. Raises LoopxformError."""
    given = []
    if args.profile is not None:
        given += ["--profile", args.profile]
    given += ["--fp", args.fp] if args.fp else []
    given += ["--fp-contract", args.fp_contract] if args.fp_contract else []
    given += ["--no-tuning"] if args.no_tuning else []
    for option, values in (("-I", args.include), ("-D", args.define), ("-U", args.undefine)):
        given += [word for v in values for word in (option, v)]
    words = "".join(f" {shlex.quote(w)}" for w in given)
    args = configured(args, path)
    with about("--profile"):
        room = profile(args.profile or "generic")
    named = args.profile is not None
    return Wanted(room, permitted(args), not args.no_tuning, words, named, measured)


def _measured(names: Sequence[str]) -> Iterator[Measurement]:
    """The measurements of files, a line each or a list of them. Raises InputError."""
    for name in names:
        with about("--measured"):
            rows = rows_of(name)
        if not rows:
            rows = _listed(name)
        if not rows:
            raise nothing_in(name, "--measured")
        yield from rows


def _listed(name: str) -> list[Measurement]:
    """Those that `tune --json` has saved."""
    try:
        rows = json.loads(Path(name).read_bytes())
    except ValueError:
        return []
    each = rows if isinstance(rows, list) else []
    return list(filter(None, (measurement(json.dumps(row).encode()) for row in each)))


def _is_folder(output: str) -> bool:
    """Whether a page for each file is asked for."""
    return output.endswith(os.sep) or os.path.isdir(output)


@record
class Looked:
    """What is known of a file, which files were read for it, and a line for the terminal where it
    could not be read."""

    facts: FileFact
    read: tuple[str, ...]
    told: str


def _looked_at(
    args: argparse.Namespace, measured: tuple[Measurement, ...], paths: Sequence[str], jobs: int
) -> Iterator[Looked]:
    """What is known of each file, in their order."""
    one = partial(_one, args, measured)
    numbered = [*enumerate(paths, 1)]
    if min(jobs, len(paths)) == 1 or "-" in paths:  # only this process has standard input
        yield from map(one, inputs.progress(numbered, "looking at"))
        return
    from concurrent.futures import ProcessPoolExecutor  # loads what only this needs
    from multiprocessing import get_context

    with ProcessPoolExecutor(min(jobs, len(paths)), get_context("spawn")) as pool:
        yield from pool.map(one, numbered)


def _one(
    args: argparse.Namespace, measured: tuple[Measurement, ...], numbered: tuple[int, str]
) -> Looked:
    """What is known of a file, within limits of its own."""
    number, path = numbered
    prefix = f"file-{number}"
    args.file = path
    try:
        wanted = _wanted(args, measured, path)
        args = configured(args, path)
        budget = Budget.of(*limits(args), memory_bytes())
        with within(budget), contained(path, Loc(path, 1, 1)):
            file = read(args, path)
            name = chosen(file, args).name if args.function else None
            facts = file_report(file, prefix, wanted, name)
            return Looked(facts, tuple(map(str, file.parsed.dependencies)), "")
    except LoopxformError as e:
        said = e.render(paint=painter(args.words, sys.stderr))
        return Looked(unread(path, _text(path), e, prefix), (path,), said)


def _text(path: str) -> str:
    """The text of a file that could not be understood, where there is one."""
    try:
        return decode(read_bytes(path), path)
    except (LoopxformError, OSError, ValueError):
        return ""
