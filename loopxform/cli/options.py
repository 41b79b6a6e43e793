"""What several commands share: the C file and its preprocessor options, sizes, and numbers."""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Sequence
from typing import NoReturn

from loopxform.errors import InputError, LoopxformError, UsageError
from loopxform.frontend import CppOptions, Parsed, parse_file
from loopxform.ir.nodes import Function
from loopxform.source import Loc, Sources

COMMAND_LINE = "<command line>"


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


def read(args: argparse.Namespace) -> Parsed:
    """Parses the file of the command line. Raises InputError with the place."""
    cpp = CppOptions(tuple(args.include), tuple(args.define), tuple(args.undefine))
    if args.file == "-":
        return parse_file("<stdin>", cpp, text=sys.stdin.read())
    return parse_file(args.file, cpp)


def choose_function(parsed: Parsed, name: str | None) -> Function:
    """The function named, or the only one with a loop nest. Raises InputError."""
    functions = parsed.unit.functions
    known = ", ".join(f.name for f in functions) or "none"
    if name is not None:
        for f in functions:
            if f.name == name:
                return f
        if name in parsed.failed:
            raise parsed.failed[name]
        raise _at_file(
            parsed, "LX052", f"there is no function '{name}'", f"the functions are: {known}"
        )
    with_loops = [f for f in functions if _has_loop(f)]
    if len(with_loops) == 1:
        return with_loops[0]
    if parsed.problems and not with_loops:
        raise parsed.problems[0]
    if not with_loops:
        raise _at_file(
            parsed,
            "LX060",
            "no function of the file has a loop nest",
            "give a file with a for loop over arrays",
            functions[0] if functions else None,
        )
    names = ", ".join(f.name for f in with_loops)
    raise _at_file(
        parsed,
        "LX053",
        f"{len(with_loops)} functions have loop nests: {names}",
        f"name one: --function {with_loops[0].name}",
        with_loops[1],
    )


def _has_loop(fn: Function) -> bool:
    from loopxform.ir.nodes import For, Opaque
    from loopxform.ir.visit import walk

    return any(isinstance(s, For) or (isinstance(s, Opaque) and s.loop) for _, s in walk(fn.body))


def _at_file(
    parsed: Parsed, code: str, message: str, help: str, fn: Function | None = None
) -> InputError:
    loc = fn.origin.loc if fn else Loc(parsed.unit.file, 1, 1)
    error = InputError(message, loc=loc, code=code, help=help)
    error.sources = parsed.sources
    return error


def with_sources(error: LoopxformError, parsed: Parsed) -> LoopxformError:
    """The error, able to quote the user's file."""
    if error.sources is None:
        error.sources = parsed.sources
    return error


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
    if text.isdigit() and 0 < int(text) <= 1 << 20:
        return int(text)
    raise complain(
        [*argv], text, f"{option} must be a positive whole number, not '{text}'", f"{option} 16"
    )


def sizes(argv: Sequence[str], texts: list[str]) -> dict[str, int | float]:
    """`M=513,U=129` -> numbers. Raises UsageError with the place."""
    out: dict[str, int | float] = {}
    for text in texts:
        for part in text.split(","):
            name, _, value = part.partition("=")
            try:
                out[name.strip()] = (
                    int(value) if value.strip().lstrip("-").isdigit() else float(value)
                )
            except ValueError:
                raise complain(
                    argv, text, f"'{part}' is not NAME=NUMBER", "--size M=513,U=129"
                ) from None
    return out
