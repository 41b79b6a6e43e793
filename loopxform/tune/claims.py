"""Who measures what in a folder that several processes share, also those of several machines.

A claim is a file `KEY.N` that is created by one process only. One whose owner is gone is taken over
by creating `KEY.(N+1)`: no file is ever removed, so that there is no moment at which two processes
could believe that they own the same.
"""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Event, Thread

HOST = platform.node()
BEAT = 5.0
"""Seconds after which the owner of a claim shows again that it is there."""

EXPIRED = 60.0
"""Seconds without that after which the owner of a claim, on another machine, is gone."""


@dataclass
class Claims:
    """Those of a folder."""

    folder: Path
    expired: float = EXPIRED

    @contextmanager
    def taken(self, key: str) -> Iterator[bool]:
        """Whether this process owns the key inside. Raises OSError."""
        path = self._taken(key)
        if path is None:
            yield False
            return
        done = Event()
        beating = Thread(target=_beat, args=(path, done), daemon=True)
        beating.start()
        try:
            yield True
        finally:
            done.set()
            beating.join()
            path.write_text("{}")

    def _taken(self, key: str) -> Path | None:
        self.folder.mkdir(parents=True, exist_ok=True)
        number = 0
        while True:
            path = self.folder / f"{key}.{number}"
            text = json.dumps({"host": HOST, "pid": os.getpid()})
            try:
                handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
            except FileExistsError:
                if (self.folder / f"{key}.{number + 1}").exists() or self._is_gone(path):
                    number += 1
                    continue
                return None
            with open(handle, "w") as file:
                file.write(text)
            return path

    def _is_gone(self, path: Path) -> bool:
        """Whether the owner of a claim has ended, or shows no more that it is there. The clock is
        that of the folder."""
        try:
            owner = json.loads(path.read_text())
        except ValueError:
            owner = None  # it is being written, or was cut off
        if owner == {}:
            return True
        if owner is not None and owner.get("host") == HOST and not _is_there(owner["pid"]):
            return True
        clock = self.folder / f".{HOST}.{os.getpid()}"
        clock.touch()
        return clock.stat().st_mtime - path.stat().st_mtime > self.expired


def _beat(path: Path, done: Event) -> None:
    while not done.wait(BEAT):
        os.utime(path)


def _is_there(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True
