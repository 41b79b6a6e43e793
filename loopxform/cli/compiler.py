"""What the command line tells the C compiler: -I, -D, -U, and `--cflags OPTION...`, the options of
the compiler as a build system has them (`settings.flags`)."""

from __future__ import annotations

import argparse
import shlex
from dataclasses import replace

from loopxform.errors import InputError, UsageError
from loopxform.frontend.text.rawtext import decode, read_bytes
from loopxform.settings.flags import Flags, flags_of, require_macros


def given_flags(args: argparse.Namespace) -> Flags:
    """All of it; of -D and -U of one name the last counts.

    Raises UsageError for an option that is not modelled, InputError where --cflags-file is not
    there.
    """
    require_macros(args.define, args.undefine)
    own = Flags(tuple(args.include), define=tuple(args.define), undefine=tuple(args.undefine))
    later = flags_of([*_lines(args.cflags_file), *args.cflags])
    require_macros(later.define, later.undefine)
    return replace(later.over(own), include=(*own.include, *later.include))


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
