"""`--cflags OPTION...`: the options of the C compiler, as a build system has them.

What changes the text that the compiler sees is taken (-I, -D, -U, -isystem, -idirafter, and what
decides the macros of the compiler: -std, -O, -m, -f); what changes it in a way that is not modelled
is refused; the rest is passed over.
"""

from __future__ import annotations

import argparse
import re
import shlex
from collections.abc import Iterable, Iterator

from loopxform import compiler
from loopxform.errors import InputError, UsageError
from loopxform.frontend.text.rawtext import decode, read_bytes

_TAKEN = re.compile(r"-(isystem|idirafter|[IDU])(.*)", re.DOTALL)
_REFUSED = re.compile(r"-(include|imacros|iquote|iprefix|iwithprefix|Wp,|Xpreprocessor).*|-I-|@.*")
_WITH_VALUE = frozenset(
    ["-o", "-x", "-MF", "-MT", "-MQ", "-L", "-l", "-T", "-u", "-arch", "-target", "-isysroot"]
)


def take_cflags(args: argparse.Namespace) -> None:
    """Moves what --cflags-file and --cflags say to -I, -D and -U, and leaves in --cflags what
    decides the macros of the compiler; folders are in the order in which a compiler searches them.

    Raises UsageError for an option that is not modelled, InputError where there is no such file.
    """
    words = [*_lines(args.cflags_file), *args.cflags]
    args.cflags_file, args.cflags = None, list(compiler.flags(words))
    late: dict[str, list[str]] = {"isystem": [], "idirafter": []}
    into = {"I": args.include, "D": args.define, "U": args.undefine, **late}
    for option, value in _options(words):
        if option == "D":  # of -D and -U of one name the last counts
            name = re.split(r"\W", value)[0]
            args.undefine[:] = [n for n in args.undefine if n != name]
        into[option].append(value)
    for folders in late.values():
        args.include.extend(folders)


def _lines(path: str | None) -> list[str]:
    """The lines of the file of --cflags-file; CMake marks words that stay together with SHELL:."""
    if path is None:
        return []
    try:
        lines = decode(read_bytes(path), path).splitlines()
    except OSError as e:
        message, help = f"cannot read {path}: {e.strerror or e}", "name a file of options"
        raise InputError(message, help=help, subject="--cflags-file") from e
    return [word for line in lines for word in _words(line) if word]


def _words(line: str) -> list[str]:
    """Those of one line. Raises UsageError."""
    text = line.removeprefix("SHELL:")
    try:
        return [line] if text == line else shlex.split(text)
    except ValueError as e:
        message = f"a line of --cflags-file is not closed: {text}"
        raise UsageError(message, help="close its quotes", subject="--cflags-file") from e


def _options(words: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Every option that counts, and its value. Raises UsageError."""
    rest = iter(words)
    for word in rest:
        if _REFUSED.fullmatch(word):
            message, help = f"'{word}' is not modelled", "name folders with -I, macros with -D"
            raise UsageError(message, help=help, subject=word)
        if m := _TAKEN.fullmatch(word):
            value = m[2] or next(rest, None)
            if value is None:
                raise UsageError(f"'{word}' needs a value", help=f"{word} VALUE", subject=word)
            yield m[1], value
        elif word in _WITH_VALUE:
            next(rest, None)
