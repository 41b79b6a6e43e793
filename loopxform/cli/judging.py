"""Judging the files of `check`, one after the other."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from typing import TypeAlias

from loopxform.api.check import CheckedFile, checked
from loopxform.budget import Budget, memory_bytes, within
from loopxform.cli import inputs
from loopxform.cli.options import chosen, limits, read
from loopxform.cli.settings import configured
from loopxform.errors import LoopxformError, contained
from loopxform.source import Loc

Judged: TypeAlias = CheckedFile | LoopxformError
"""What is true of a file, or why nothing of it can be told."""


class Judge:
    """Judges files as the command line says; `limit` is what the last one may take in all. Raises
    UsageError."""

    def __init__(self, args: argparse.Namespace) -> None:
        self.args = args
        self.in_use = memory_bytes()
        self.limit = self._limit(args)

    def _limit(self, args: argparse.Namespace) -> Budget:
        """What one file may take, from now on."""
        return Budget.of(*limits(args), self.in_use)

    def file(self, path: str) -> Judged:
        """Judges one, within a limit of its own."""
        try:
            args = configured(self.args, path)
            self.limit = self._limit(args)
            with within(self.limit), contained(path, Loc(path, 1, 1)):
                file = read(args, path)
                name = chosen(file, args).name if args.function else None
                return checked(file, function=name)
        except LoopxformError as error:
            return error

    def each(self, paths: Sequence[str]) -> Iterator[Judged]:
        """One after the other."""
        return map(self.file, inputs.progress(paths, "judging"))
