"""A process that measures, so that kernels that hang or end it do no harm to the search."""

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


@dataclass
class Worker:
    """`loopxform.cli.tune_worker` with the arguments of `tune`. `limit` is in seconds. What a
    worker that hangs or crashes was measuring is kept in `memo`. `waiting` is called where another
    process measures on the device."""

    argv: Sequence[str]
    limit: float
    memo: Memo | None = None
    waiting: Callable[[], None] = lambda: None
    module: str = "loopxform.cli.tune_worker"
    process: subprocess.Popen[bytes] | None = field(default=None, repr=False)
    _read: bytes = field(default=b"", repr=False)

    def ask(self, job: dict[str, Any]) -> Measurement:
        """The answer to a job: `status` ok, wrong, refused, timeout or crash, and `why`. The next
        one gets a new process where this one ended or hung."""
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
        self._read = b""
        self.process = subprocess.Popen(
            command,
            stdin=pipe,
            stdout=pipe,
            stderr=subprocess.DEVNULL,
            bufsize=0,
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
            return {"status": "crash", "why": "the process that measures has ended"}
        limit: float | None = STARTING
        began, left = None, self.limit
        while True:
            try:
                message = next(self._messages(limit), None)
            except TimeoutError:
                why = f"no answer within {self.limit if began else STARTING:g} s"
                return {**about, "status": "timeout", "why": why, "limit": self.limit}
            if message is None:
                code = self.process.wait()
                why = f"the process that measures ended with {code}"
                return {**about, "status": "crash", "why": why}
            now = time.monotonic()
            left -= 0.0 if began is None else now - began
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
        while True:
            line, newline, rest = self._read.partition(b"\n")
            if newline:
                self._read = rest
                yield json.loads(line)
                continue
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
            with suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
            for pipe in (self.process.stdin, self.process.stdout):
                if pipe is not None:
                    pipe.close()
        self.process = None
