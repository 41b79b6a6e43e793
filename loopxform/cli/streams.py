"""The standard streams, whatever the caller made of them: closed, full, a pipe nobody reads."""

from __future__ import annotations

import contextlib
import io
import os
import sys
from collections.abc import Iterator

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TextIO

MODES = {"stdin": (os.O_WRONLY, "r"), "stdout": (os.O_RDONLY, "w"), "stderr": (os.O_RDONLY, "w")}
"""How /dev/null stands in for a stream that is closed: its use fails, and no file that is opened
later gets its number by accident."""


def prepare() -> None:
    """Opens closed streams, and has the others print what their encoding lacks as escapes."""
    for number, (name, (flags, mode)) in enumerate(MODES.items()):
        stream = getattr(sys, name)
        if stream is None:
            if not _is_open(number):
                os.open(os.devnull, flags)
            with contextlib.suppress(OSError):
                setattr(sys, name, open(number, mode, closefd=False))  # noqa: SIM115
        elif mode == "w" and isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _is_open(number: int) -> bool:
    try:
        os.fstat(number)
    except OSError:
        return False
    return True


class Printed:
    """Standard output that remembers why it failed, whoever wrote to it."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream
        self.failure: OSError | None = None

    def write(self, text: str) -> int:
        with self._remembered():
            return self.stream.write(text)

    def flush(self) -> None:
        with self._remembered():
            self.stream.flush()

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)

    @contextlib.contextmanager
    def _remembered(self) -> Iterator[None]:
        try:
            yield
        except OSError as e:
            self.failure = e
            raise


@contextlib.contextmanager
def remembered() -> Iterator[Printed]:
    """Prints through a `Printed` inside; at the end all of it is out, or given up."""
    out = Printed(sys.stdout)
    with contextlib.redirect_stdout(out):
        yield out
    with contextlib.suppress(OSError):
        out.flush()
    if out.failure is not None:
        discard(out.stream)


def discard(stream: TextIO) -> None:
    """Lets what is left in a broken stream go nowhere, so that Python can end in peace."""
    with contextlib.suppress(OSError, ValueError):
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, stream.fileno())
        os.close(null)
        stream.flush()


def complain(text: str) -> None:
    """Prints to standard error, as far as there is one."""
    try:
        print(text, file=sys.stderr, flush=True)
    except OSError:
        discard(sys.stderr)
