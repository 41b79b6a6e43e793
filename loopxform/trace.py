"""What a command reads and writes, told as it happens to whoever remembers commands (`cache`).

Nobody listens as a rule: then nothing is kept.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Generic, TypeVar

Written = TypeVar("Written")


@dataclass
class Trace(Generic[Written]):
    """`read` gives what each file held, `absent` the names that were looked for and were no files,
    `written` what was written together and the inputs that it must not be. Not `lasting` is what
    may differ the next time though all this is the same."""

    read: dict[str, bytes] = field(default_factory=dict)
    absent: set[str] = field(default_factory=set)
    written: list[tuple[Sequence[Written], tuple[str, ...]]] = field(default_factory=list)
    lasting: bool = True


_current: ContextVar[Trace[object] | None] = ContextVar("trace", default=None)


@contextmanager
def recorded() -> Iterator[Trace[object]]:
    """The trace of what is done inside."""
    trace = Trace[object]()
    token = _current.set(trace)
    try:
        yield trace
    finally:
        _current.reset(token)


def read(path: str, data: bytes) -> None:
    """The file at `path` held `data`; one that changes meanwhile leaves no lasting result."""
    if (trace := _current.get()) is not None and trace.read.setdefault(path, data) != data:
        trace.lasting = False


def absent(path: str) -> None:
    """There was no file at `path`; had there been one, it would have been read."""
    if (trace := _current.get()) is not None:
        trace.absent.add(path)


def wrote(outputs: Sequence[object], inputs: tuple[str, ...]) -> None:
    """These files were written together; none of them was one of `inputs`."""
    if (trace := _current.get()) is not None:
        trace.written.append((outputs, inputs))


def passing() -> None:
    """The result depends on something that is not told here: the time of day."""
    if (trace := _current.get()) is not None:
        trace.lasting = False
