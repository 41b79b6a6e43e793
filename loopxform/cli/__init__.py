"""The command line: `loopxform COMMAND`, one of `commands.COMMANDS`.

This module only finds the command; each command is a module of its own and loads what it needs.
Exit status: 0 done or legal, 1 illegal or a mismatch, 2 bad input or usage, 101 our own bug.
"""

from __future__ import annotations

import gc
import os
import signal
import sys

from loopxform import __version__
from loopxform.cli.commands import COMMANDS, WITHIN

TYPE_CHECKING = False

if TYPE_CHECKING:
    from loopxform.errors import UsageError

TAKEN_ELSEWHERE = ("--color", "-I", "-D", "-U", "-o", "--function", "--config", "--no-config", "-p")
"""Options of commands, which stand behind these."""


def main(argv: list[str] | None = None) -> int:
    """Runs the command line and returns the exit status."""
    if argv is not None:
        return _status(argv)
    gc.set_threshold(ALLOCATIONS, 10, 10)
    try:
        return _status(sys.argv[1:])
    finally:  # nothing is left to interrupt but Python's own end, and nothing has to be freed
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        gc.freeze()


ALLOCATIONS = 300_000
"""Objects that a process of our own allocates before it looks for cycles among them: there are
few, and what is loaded alone is half as many."""


def _status(args: list[str]) -> int:
    try:
        from loopxform.cli.dispatch import guarded, run_command

        if args[:1] == ["help"] and args[1:2] and args[1] in COMMANDS:
            args = [args[1], *(w for w in args[2:3] if w in WITHIN.get(args[1], ())), "--help"]
        if args and args[0] in COMMANDS:
            return run_command(args[0], args[1:])
        return guarded(lambda: _general(args), args or ["--help"])
    except KeyboardInterrupt:
        return 130


def _general(args: list[str]) -> int:
    """What there is without a command."""
    if not args or args in (["-h"], ["--help"], ["help"]):
        from loopxform.cli import overview  # loads what only this needs

        print(overview.text())
        return 0 if args else 2
    if args[0] in ("-V", "--version"):
        print(f"loopxform {__version__}")
        return 0
    if args[0] == "--cmakedir":
        print(_cmake_folder())
        return 0
    from loopxform.cli.place import put_at_word

    error = _no_command(args)
    put_at_word(error, args, min(len(args) - 1, int(args[0] == "help")))
    raise error


def _no_command(args: list[str]) -> UsageError:
    """What a first word means that is no command."""
    from loopxform.errors import UsageError  # loads what only this needs
    from loopxform.nearest import did_you_mean

    word = args[1] if args[0] == "help" else args[0]
    every = f"commands: {', '.join(COMMANDS)}"
    if word.endswith(".c") or os.path.exists(word):
        return UsageError("no command is named", help=f"loopxform tile {word}, or another; {every}")
    if word in TAKEN_ELSEWHERE:
        return UsageError("no command is named", help=f"loopxform COMMAND {word} ...; {every}")
    if args[0] == "help" and word.isalnum():
        every += f"; loopxform explain {word}, if that is a step or a code"
    known = (*COMMANDS, "help", "--help", "--version", "--cmakedir")
    return UsageError(f"'{word}' is not a command", help=did_you_mean(word, known) + every)


def _cmake_folder() -> str:
    """Where CMake finds the package: `cmake -DLoopxform_DIR=$(loopxform --cmakedir)`."""
    return os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "cmake")
