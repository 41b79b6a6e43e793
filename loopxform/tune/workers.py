"""A process that works for this one, so that what hangs or ends it does no harm: it measures, or
judges files (`cli/serving.py` is the other end)."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from loopxform.tune.memo import Measurement, Memo

STARTING = 120.0
"""Seconds until a worker begins to measure: it runs your C for the reference results."""

MOST_LOST = 2
"""Workers on other machines that may go with one job."""


class Gone(Exception):
    """A worker on another machine is not there any more."""


@dataclass
class Worker:
    """`module` with the words of a command line, in `folder`, or where this process is. `limit` is
    in seconds, None for as long as it takes. What a worker that hangs or crashes was measuring is
    kept in `memo`. `waiting` is called where another process measures on the device."""

    argv: Sequence[str]
    limit: float | None
    memo: Memo | None = None
    waiting: Callable[[], None] = lambda: None
    module: str = "loopxform.cli.tune_worker"
    folder: str | None = None
    process: subprocess.Popen[bytes] | None = field(default=None, repr=False)
    _read: bytearray = field(default_factory=bytearray, repr=False)
    _ended: bool = field(default=False, repr=False)

    def ask(self, job: dict[str, Any]) -> Measurement:
        """The answer to a job: `status` ok, wrong, refused, timeout or crash, and `why`. The next
        one gets a new process where this one ended or hung."""
        if self._ended:
            return {"status": "crash", "why": "the process was ended"}
        if self.process is None:
            self.start()
        answer = self._exchange(job)
        if answer["status"] in ("timeout", "crash"):
            self.stop()
            if self.memo is not None and "key" in answer:
                self.memo.keep(answer)
        return answer

    def start(self) -> None:
        """Starts the process."""
        command = [sys.executable, "-m", self.module, *self.argv]
        pipe = subprocess.PIPE
        self._read = bytearray()
        self.process = subprocess.Popen(
            command,
            stdin=pipe,
            stdout=pipe,
            stderr=subprocess.DEVNULL,
            bufsize=0,
            cwd=self.folder,
            start_new_session=True,  # Ctrl-C is for this process
        )

    def _exchange(self, job: dict[str, Any]) -> Measurement:
        """Sends a job, and reads messages until one is the answer."""
        assert self.process is not None
        assert self.process.stdin is not None
        about: Measurement = {}
        try:
            self.process.stdin.write(json.dumps(job).encode() + b"\n")
        except OSError:
            return {"status": "crash", "why": _why(self.process.wait())}
        limit: float | None = STARTING
        began, left = None, self.limit
        while True:
            try:
                message = next(self._messages(limit), None)
            except TimeoutError:
                allowed = self.limit if began and self.limit is not None else STARTING
                why = f"no answer within {allowed:g} s"
                return {**about, "status": "timeout", "why": why, "limit": self.limit}
            if message is None:
                return {**about, "status": "crash", "why": _why(self.process.wait())}
            now = time.monotonic()
            if left is not None and began is not None:
                left -= now - began
            if message["status"] == "waiting":
                limit, began = None, None
                self.waiting()
            elif message["status"] == "deriving":
                limit, began, about = STARTING, None, {}
            elif message["status"] == "started":
                limit, began, about = left, now, message["about"]
            else:
                return message

    def _messages(self, limit: float | None) -> Iterator[Measurement]:
        """The lines that the process writes, until it ends. Raises TimeoutError."""
        assert self.process is not None
        assert self.process.stdout is not None
        source = self.process.stdout.fileno()
        until = None if limit is None else time.monotonic() + limit
        seen = 0
        while True:
            end = self._read.find(b"\n", seen)
            if end >= 0:
                line = bytes(self._read[:end])
                del self._read[: end + 1]
                seen = 0
                yield json.loads(line)
                continue
            seen = len(self._read)
            left = None if until is None else max(0.0, until - time.monotonic())
            if not select.select([source], [], [], left)[0]:
                raise TimeoutError
            data = os.read(source, 1 << 16)
            if not data:
                return
            self._read += data

    def stop(self) -> None:
        """Ends the process, and the compilers that it runs."""
        if self.process is not None:
            self._kill()
            self.process.wait()
            for pipe in (self.process.stdin, self.process.stdout):
                if pipe is not None:
                    pipe.close()
        self.process = None

    def end(self) -> None:
        """Ends the process for good, while another thread waits for its answer."""
        self._ended = True
        self._kill()

    def _kill(self) -> None:
        process = self.process
        if process is not None:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)


def _why(status: int) -> str:
    """Why there is no answer, by the status of the process."""
    if status >= 0:
        return f"the process ended with status {status}"
    return f"the process was ended by {signal.Signals(-status).name}"
