"""What several commands share: the C file and its preprocessor options, and numbers."""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Sequence
from typing import NoReturn

from loopxform.api import File, load, loads
from loopxform.errors import UsageError
from loopxform.source import Loc, Sources

COMMAND_LINE = "<command line>"
LARGEST = 1 << 20


class Parser(argparse.ArgumentParser):
    """argparse whose errors are diagnostics of ours."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(message, help=f"{self.prog} --help")


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
    return load(args.file, **_cpp(args))


def _cpp(args: argparse.Namespace) -> dict[str, tuple[str, ...]]:
    return {name: tuple(getattr(args, name)) for name in ("include", "define", "undefine")}


def complain(argv: Sequence[str], word: str, message: str, help: str) -> UsageError:
    """A diagnostic with a caret under a word of the command line."""
    text = "loopxform " + shlex.join(argv)
    at = text.find(f" {shlex.quote(word)}", text.find(" "))
    sources = Sources()
    sources.add(COMMAND_LINE, text)
    column = at + 2 if at >= 0 else 1
    error = UsageError(
        message, loc=Loc(COMMAND_LINE, 1, column), code="LX023", help=help, width=len(word)
    )
    error.sources = sources
    return error


def positive(argv: Sequence[str], option: str, text: str | None) -> int | None:
    """The positive number given for an option. Raises UsageError with the place."""
    if text is None:
        return None
    if text.isascii() and text.isdigit() and 0 < int(text) <= LARGEST:
        return int(text)
    raise complain(
        argv,
        text,
        f"{option} must be a whole number from 1 to {LARGEST}, not '{text}'",
        f"{option} 16",
    )


def numbers(argv: Sequence[str], texts: list[str]) -> dict[str, int | float]:
    """`M=513,U=129` -> numbers. Raises UsageError with the place."""
    out: dict[str, int | float] = {}
    for text in texts:
        for part in text.split(","):
            name, _, value = part.strip().partition("=")
            try:
                if not name.isidentifier():
                    raise ValueError
                out[name] = _number(value)
            except ValueError:
                example = "--size M=513,U=129"
                raise complain(argv, text, f"'{part}' is not NAME=NUMBER", example) from None
    return out


def _number(text: str) -> int | float:
    try:
        return int(text)
    except ValueError:
        return float(text)
