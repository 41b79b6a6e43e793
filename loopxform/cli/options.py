"""What several commands read from the command line: the C file, and numbers."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from math import ceil, isfinite

from loopxform import trace
from loopxform.api.facade import File, Routine
from loopxform.api.reading import load, load_of_program, loads
from loopxform.budget import Budget, within
from loopxform.cli.arguments.common import SECONDS_BY_LINES
from loopxform.errors import InputError, UsageError, about
from loopxform.frontend.syntax.elsewhere import Program
from loopxform.frontend.text.rawtext import decode, read_bytes
from loopxform.written import LARGEST_TILE, number, whole


def read(args: argparse.Namespace, path: str | None = None) -> File:
    """Reads the file of the command line, or `path`, with the options that hold for it. Raises
    InputError with the place."""
    path = args.file if path is None else path
    if path == "-":
        return loads(_standard_input(), "<stdin>", **args.flags.options)
    with about(path):
        return load(path, **args.flags.options)


def read_of_program(
    args: argparse.Namespace, path: str, program: Program, asked: Collection[str]
) -> File:
    """Reads a file of a program, to ask questions about some of its functions. Raises InputError
    with the place."""
    with about(path):
        return load_of_program(path, program, asked, **args.flags.options)


def _standard_input() -> str:
    """All of it, bytes that are not UTF-8 included. Raises InputError."""
    try:
        return decode(sys.stdin.buffer.read(), "<stdin>")
    except OSError as e:
        reason = f"cannot read standard input: {e.strerror or e}"
        raise InputError(reason, help="name a C file, or pipe one in", subject="-") from e


def chosen(file: File, args: argparse.Namespace) -> Routine:
    """The function that the command line means. Raises InputError."""
    try:
        return file.routine(args.function)
    except InputError as e:
        if e.code == "LX052":  # the place is the name on the command line, not the file
            e.loc, e.subject = None, "--function"
        raise


def positive(option: str, text: str | None) -> int | None:
    """The positive number given for an option. Raises UsageError."""
    return None if text is None else whole(option, text, 1, LARGEST_TILE, "16")


def amount(option: str, text: str, unit: str, example: str) -> float:
    """An amount. Raises UsageError."""
    with suppress(ValueError):
        value = float(number(text))
        if isfinite(value) and value > 0:
            return value
    message = f"{option} must be a number of {unit} above 0, not '{text}'"
    raise UsageError(message, code="LX023", help=f"{option} {example}", subject=option)


def limits(args: argparse.Namespace) -> tuple[float, float]:
    """CPU seconds and MiB that a file may take. Raises UsageError."""
    given = args.time_limit
    seconds = (
        _by_lines(args.file) if given is None else amount("--time-limit", given, "seconds", "20")
    )
    return seconds, amount("--memory-limit", args.memory_limit, "MiB", "800")


def _by_lines(path: str) -> float:
    """What the lines of a file may take; of one that cannot be looked at, what is taken for all."""
    try:
        count = 1 if path == "-" else read_bytes(path).count(b"\n")
    except (OSError, ValueError):
        count = 1
    return SECONDS_BY_LINES * float(ceil(max(1, count) / 1000))


@contextmanager
def limited(args: argparse.Namespace) -> Iterator[None]:
    """What is done inside heeds the limits of the command line; what they cut short is not kept.
    Raises UsageError."""
    with within(Budget.of(*limits(args))) as budget:
        try:
            yield
        finally:
            if budget.short or budget.exhausted:
                trace.passing()


def numbers(option: str, texts: list[str]) -> dict[str, int | float]:
    """`M=513,U=N=129` -> numbers. Raises UsageError."""
    out: dict[str, int | float] = {}
    for text in texts:
        for part in text.split(","):
            *names, value = part.strip().split("=")
            try:
                if not (names and all(x.isidentifier() for n in names for x in n.split("."))):
                    raise ValueError
                out |= dict.fromkeys(names, number(value))
            except ValueError:
                raise UsageError(
                    f"'{part}' is not NAME=NUMBER",
                    code="LX023",
                    help=f"{option} M=513,U=129",
                    subject=text if len(texts) > 1 else option,
                ) from None
    return out
