"""What runs in the workers of a Dask cluster: each asks processes of ours beside it, so that what
crashes or hangs there does the cluster no harm."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from threading import Lock, Thread
from typing import Any

from loopxform import __version__, compiler
from loopxform.errors import LoopxformError
from loopxform.records import record
from loopxform.tune.workers import Worker

IDLE = 600.0
"""Seconds after which a process that nobody asks is ended: who has asked it has gone."""

LOOK = 5.0
"""Seconds between looks at who is idle."""


@record
class Command:
    """What a process is started with: see `Worker`."""

    module: str
    words: tuple[str, ...]
    folder: str
    limit: float | None


@dataclass
class _Beside:
    """The processes of this worker, by the names that those who ask have given them."""

    workers: dict[str, Worker] = field(default_factory=dict)
    asked: dict[str, float] = field(default_factory=dict)
    lock: Lock = field(default_factory=Lock)
    watch: Thread | None = None

    def worker(self, name: str, command: Command) -> Worker:
        with self.lock:
            if name not in self.workers:
                c = command
                worker = Worker(c.words, c.limit, module=c.module, folder=c.folder)
                self.workers[name] = worker
            if self.watch is None:
                self.watch = Thread(target=self._watch, daemon=True)
                self.watch.start()
            self.asked.pop(name, None)
            return self.workers[name]

    def done(self, name: str) -> None:
        with self.lock:
            self.asked[name] = time.monotonic()

    def stop(self, name: str) -> None:
        """Ends one, also while it works."""
        with self.lock:
            worker = self.workers.pop(name, None)
            idle = self.asked.pop(name, None) is not None
        if worker is not None:
            worker.end()
            if idle:
                worker.stop()

    def _watch(self) -> None:
        while True:
            time.sleep(LOOK)
            with self.lock:
                now = time.monotonic()
                late = [name for name, then in self.asked.items() if now - then > IDLE]
            for name in late:
                self.stop(name)


_beside = _Beside()


def ask(name: str, command: Command, job: dict[str, Any]) -> dict[str, Any]:
    """The answer of the process of that name, which is started where there is none."""
    worker = _beside.worker(name, command)
    try:
        return worker.ask(job)
    finally:
        _beside.done(name)


def stop(name: str) -> None:
    """Ends the process of that name."""
    _beside.stop(name)


def about(folder: str, options: Sequence[str]) -> dict[str, Any]:
    """What has to be the same as where the command is given: the version, whether the folder is
    there, and the macros of the C compiler with these options."""
    try:
        macros = compiler.macros(options) or {}
    except LoopxformError:
        macros = {}
    return {"version": __version__, "folder": os.path.isdir(folder), "macros": macros}
