"""Runs one command and turns its errors into diagnostics and exit statuses."""

from __future__ import annotations

import importlib
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from loopxform.cli import streams
from loopxform.cli.commands import split

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

REMEMBERED = frozenset(["offload", "tile"])
"""Commands whose results are kept."""

INTERRUPTED = 130
"""What a shell makes of SIGINT."""


def run_command(name: str, args: list[str]) -> int:
    """Runs `loopxform NAME ARGS...`."""
    command, own = split([name, *args])
    return guarded(lambda: _command(command, own), [name, *args])


def _command(name: str, args: list[str]) -> int:
    if name not in REMEMBERED or not {"-h", "--help"}.isdisjoint(args):
        return _main(name, args)
    from loopxform.cli import result_cache

    return result_cache.run(name, args, lambda: _main(name, args))


def _main(name: str, args: list[str]) -> int:
    from loopxform.cli.arguments import understood  # loads what a remembered result does not need

    try:
        read = understood(name, args)
    except SystemExit as e:  # argparse has printed the help
        return int(e.code or 0)
    main: Callable[[argparse.Namespace], int]
    main = importlib.import_module(f"loopxform.cli.{name}").main
    if not getattr(read, "origins", None):
        return main(read)
    from loopxform.cli.settings import placed  # only where a project says something

    with placed(read):
        return main(read)


@contextmanager
def _plain_warnings() -> Iterator[None]:
    """Warnings are lines for people, without the place in our own code that they come from."""
    shown = warnings.showwarning
    warnings.showwarning = lambda message, *_: streams.complain(f"warning: {message}")
    try:
        yield
    finally:
        warnings.showwarning = shown


def guarded(job: Callable[[], int], argv: list[str]) -> int:
    """The exit status of a job that prints. Deliberate errors are one diagnostic; anything else is
    our bug: a traceback and 101."""
    streams.prepare()
    failed: Exception | None = None
    try:
        with streams.remembered() as out, _plain_warnings():
            try:
                status = job()
            except Exception as e:
                failed = e
    except KeyboardInterrupt:
        streams.discard(sys.stdout)
        return INTERRUPTED
    if failed is None and out.failure is None:
        return status
    from loopxform.cli.failures import tell  # loads what is not needed where all goes well

    return tell(failed, out.failure, argv)
