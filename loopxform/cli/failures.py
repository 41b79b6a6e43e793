"""What a command that fails prints, and its exit status."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Sequence

from loopxform.cli import streams
from loopxform.cli.colour import painter
from loopxform.cli.place import put_on_command_line
from loopxform.errors import InputError, InternalError, LoopxformError
from loopxform.quotation import Paint
from loopxform.source import Sources

NOBODY_READS = 141
"""What a shell makes of SIGPIPE."""


def tell(failed: Exception | None, lost: OSError | None, argv: list[str]) -> int:
    """Prints the diagnostic of an error, or of output that was lost, and returns the status."""
    if isinstance(lost, BrokenPipeError) and not isinstance(failed, LoopxformError):
        return NOBODY_READS
    error = _deliberate(failed, lost)
    if error is None:
        assert failed is not None
        streams.complain("".join(traceback.format_exception(failed)).rstrip())
        streams.complain("loopxform: internal error; please report it with the input file")
        return 101
    if error.loc is None:
        put_on_command_line(error, argv)
    streams.complain(error.render(paint=painter(argv, sys.stderr)))
    return error.status


def told(broken: Sequence[InternalError], sources: Sources, paint: Paint) -> int:
    """The exit status after what functions met by our own fault, which is printed."""
    for e in broken:
        streams.complain(e.render(sources, paint))
    return InternalError.status if broken else 0


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
