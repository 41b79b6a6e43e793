"""Runs one command and turns its errors into diagnostics and exit statuses."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable

from loopxform.cli import streams
from loopxform.cli.colour import painter
from loopxform.cli.place import put_on_command_line
from loopxform.errors import InputError, LoopxformError

REMEMBERED = frozenset(["offload", "tile"])
"""Commands whose results are kept."""

INTERRUPTED = 130
NOBODY_READS = 141
"""What a shell makes of SIGINT and SIGPIPE."""


def run_command(name: str, args: list[str]) -> int:
    """Runs `loopxform NAME ARGS...`."""
    return guarded(lambda: _command(name, args), [name, *args])


def _command(name: str, args: list[str]) -> int:
    if name not in REMEMBERED:
        return _main(name, args)
    from loopxform.cli import remembered

    return remembered.run(name, args, lambda: _main(name, args))


def _main(name: str, args: list[str]) -> int:
    command = importlib.import_module(f"loopxform.cli.{name}")
    try:
        status: int = command.main(args)
    except SystemExit as e:  # argparse has printed the help
        return int(e.code or 0)
    return status


def guarded(job: Callable[[], int], argv: list[str]) -> int:
    """The exit status of a job that prints. Deliberate errors are one diagnostic; anything else is
    our bug: a traceback and 101."""
    streams.prepare()
    failed: Exception | None = None
    try:
        with streams.remembered() as out:
            try:
                status = job()
            except Exception as e:
                failed = e
    except KeyboardInterrupt:
        streams.discard(sys.stdout)
        return INTERRUPTED
    if failed is None and out.failure is None:
        return status
    if isinstance(out.failure, BrokenPipeError) and not isinstance(failed, LoopxformError):
        return NOBODY_READS
    return _tell(failed, out.failure, argv)


def _tell(failed: Exception | None, lost: OSError | None, argv: list[str]) -> int:
    """Prints the diagnostic of an error, or of output that was lost, and returns the status."""
    error = _deliberate(failed, lost)
    if error is None:
        import traceback

        assert failed is not None
        streams.complain("".join(traceback.format_exception(failed)).rstrip())
        streams.complain("loopxform: internal error; please report it with the input file")
        return 101
    if error.loc is None:
        put_on_command_line(error, argv)
    streams.complain(error.render(paint=painter(argv, sys.stderr)))
    return error.status


def _deliberate(failed: Exception | None, lost: OSError | None) -> LoopxformError | None:
    """The error with its remedy, where it is one of ours, or the machine is full."""
    if isinstance(failed, LoopxformError):
        return failed
    if lost is not None:
        message = f"cannot write to standard output: {lost.strerror or lost}"
        return InputError(message, code="LX055", help="make room, or print to another place")
    if isinstance(failed, MemoryError):
        return InputError("there is not enough memory", code="LX054", help="use smaller sizes")
    if isinstance(failed, RecursionError):
        help = "split its longest expressions, or its deepest blocks"
        return InputError("the program is nested too deeply", code="LX010", help=help)
    return None
