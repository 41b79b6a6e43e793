"""Locks between processes: each ends with the process that holds it, however that ends."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def locked(path: Path | None, waiting: Callable[[], None] = lambda: None) -> Iterator[None]:
    """Holds the lock that a file, or a folder, stands for; `waiting` is called where another
    process holds it. A file is made where there is none. Without a path, there is nothing to hold.
    Raises OSError."""
    if path is None:
        yield
        return
    flags = os.O_RDONLY if path.is_dir() else os.O_RDWR | os.O_CREAT
    handle = os.open(path, flags, 0o600)
    try:
        hold(handle, waiting)
        yield
    finally:
        os.close(handle)


def hold(handle: int, waiting: Callable[[], None] = lambda: None) -> None:
    """Takes the lock of a file that is open, until it is closed. Raises OSError."""
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        waiting()
        fcntl.flock(handle, fcntl.LOCK_EX)
