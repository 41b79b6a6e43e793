"""Judging the files of `check`, one after the other."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator, Sequence
from functools import cache, cached_property, partial
from typing import TypeAlias

from loopxform.api.check import CheckedFile, checked
from loopxform.api.reading import program_of
from loopxform.budget import Budget, cpu_seconds, memory_bytes, within
from loopxform.cli import inputs
from loopxform.cli.options import chosen, limits, read, read_of_program
from loopxform.cli.settings import configured, settings_of
from loopxform.errors import LoopxformError, contained
from loopxform.frontend.syntax.elsewhere import Program
from loopxform.source import Loc

LEAST, SHARE = 5.0, 2
"""CPU seconds that functions of other files may take, and how often the time that the file takes
without them."""

Judged: TypeAlias = CheckedFile | LoopxformError
"""What is true of a file, or why nothing of it can be told."""


class Judge:
    """Judges files as the command line says; `limit` is what the last one may take in all. Raises
    UsageError."""

    def __init__(self, args: argparse.Namespace) -> None:
        self.args = args
        self.in_use = memory_bytes()
        self.limit = self._limit(args)

    @cached_property
    def program(self) -> Program | None:
        """The program that the files are of: that of --program, else what the command line names,
        where that may be several. Raises InputError."""
        several = len(self.args.files) > 1 or os.path.isdir(self.args.files[0])
        named = self.args.program or (self.args.files if several else ())
        if not named:
            return None
        found = inputs.c_files(named, cache(partial(settings_of, self.args)))
        files = [path for path in found if path != "-"]
        return program_of(files, lambda path: configured(self.args, path).flags.options)

    def _limit(self, args: argparse.Namespace) -> Budget:
        """What one file may take, from now on."""
        return Budget.of(*limits(args), self.in_use)

    def file(self, path: str) -> Judged:
        """Judges one, within a limit of its own."""
        try:
            args = configured(self.args, path)
            self.limit = self._limit(args)
            with within(self.limit), contained(path, Loc(path, 1, 1)):
                begin = cpu_seconds()
                file = read(args, path)
                name = chosen(file, args).name if args.function else None
                report = checked(file, function=name, matrices=not args.stats)
                more = Budget.of(max(LEAST, SHARE * (cpu_seconds() - begin)))
                with within(more):
                    return self._with_program(args, path, report, name)
        except LoopxformError as error:
            return error

    def _with_program(
        self, args: argparse.Namespace, path: str, report: CheckedFile, name: str | None
    ) -> CheckedFile:
        """The report, better where functions of other files are in the way of verdicts."""
        asked = report.unknown_callers
        if self.program is None or path == "-" or not asked:
            return report
        try:
            whole = read_of_program(args, path, self.program, asked)
            if not whole.parsed.rests:
                return report
            found = checked(whole, function=name, matrices=not args.stats)
            return report.with_program(found)
        except LoopxformError:  # of another file, or the limits are used up
            return report

    def each(self, paths: Sequence[str]) -> Iterator[Judged]:
        """One after the other."""
        return map(self.file, inputs.progress(paths, "judging"))
