"""What several commands share: the C file and its preprocessor options, and numbers."""

from __future__ import annotations

import argparse
import sys

from loopxform.api import File, Routine, load, loads
from loopxform.cli.parser import Parser
from loopxform.errors import InputError, UsageError, about
from loopxform.transforms.base import LARGEST_TILE


def parser(name: str, about: str) -> Parser:
    """The parser of a command that reads one C file."""
    p = Parser(prog=f"loopxform {name}", description=about, allow_abbrev=False)
    p.add_argument("file", metavar="FILE.c", help="the C file, or - for standard input")
    p.add_argument(
        "--function", metavar="NAME", help="the function to use, where there are several"
    )
    c = p.add_argument_group("preprocessor")
    c.add_argument("-I", dest="include", action="append", default=[], metavar="DIR")
    c.add_argument("-D", dest="define", action="append", default=[], metavar="NAME[=VALUE]")
    c.add_argument("-U", dest="undefine", action="append", default=[], metavar="NAME")
    return p


def read(args: argparse.Namespace) -> File:
    """Reads the file of the command line. Raises InputError with the place."""
    if args.file == "-":
        return loads(sys.stdin.read(), "<stdin>", **_cpp(args))
    with about(args.file):
        return load(args.file, **_cpp(args))


def _cpp(args: argparse.Namespace) -> dict[str, tuple[str, ...]]:
    return {name: tuple(getattr(args, name)) for name in ("include", "define", "undefine")}


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
    if text is None:
        return None
    if text.isascii() and text.isdigit() and 0 < int(text) <= LARGEST_TILE:
        return int(text)
    raise UsageError(
        f"{option} must be a whole number from 1 to {LARGEST_TILE}, not '{text}'",
        code="LX023",
        help=f"{option} 16",
        subject=option,
    )


def numbers(option: str, texts: list[str]) -> dict[str, int | float]:
    """`M=513,U=129` -> numbers. Raises UsageError."""
    out: dict[str, int | float] = {}
    for text in texts:
        for part in text.split(","):
            name, _, value = part.strip().partition("=")
            try:
                if not name.isidentifier():
                    raise ValueError
                out[name] = _number(value)
            except ValueError:
                raise UsageError(
                    f"'{part}' is not NAME=NUMBER",
                    code="LX023",
                    help=f"{option} M=513,U=129",
                    subject=text if len(texts) > 1 else option,
                ) from None
    return out


def _number(text: str) -> int | float:
    try:
        return int(text)
    except ValueError:
        return float(text)
