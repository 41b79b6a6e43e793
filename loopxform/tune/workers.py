"""A process that measures, so that kernels that hang or end it do no harm to the search."""

from __future__ import annotations

import json
import select
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

STARTING = 120.0
"""Seconds in which a worker is ready: it runs your C for the reference results."""


@dataclass
class Worker:
    """`loopxform.cli.tune_worker` with the arguments of `tune`. Each answer is a dictionary with a
    `status`: ok, wrong, refused, timeout or crash, and `why`."""

    argv: Sequence[str]
    limit: float
    module: str = "loopxform.cli.tune_worker"
    process: subprocess.Popen[str] | None = field(default=None, repr=False)

    def ask(self, job: dict[str, Any]) -> dict[str, Any]:
        """The answer to a job; the next one gets a new process where this one ended or hung."""
        started = self.process is None
        if started:
            command = [sys.executable, "-m", self.module, *self.argv]
            pipe = subprocess.PIPE
            self.process = subprocess.Popen(
                command,
                stdin=pipe,
                stdout=pipe,
                stderr=subprocess.DEVNULL,
                text=True,
                start_new_session=True,  # Ctrl-C is for this process
            )
        answer = self._exchange(job, self.limit + STARTING * started)
        if answer["status"] in ("timeout", "crash"):
            self.stop()
        return answer

    def _exchange(self, job: dict[str, Any], limit: float) -> dict[str, Any]:
        assert self.process is not None
        source, sink = self.process.stdout, self.process.stdin
        assert source is not None
        assert sink is not None
        try:
            sink.write(json.dumps(job) + "\n")
            sink.flush()
        except OSError:
            return {"status": "crash", "why": "the process that measures has ended"}
        if not select.select([source], [], [], limit)[0]:
            return {"status": "timeout", "why": f"no answer within {limit:g} s"}
        line = source.readline()
        if not line:
            code = self.process.wait()
            return {"status": "crash", "why": f"the process that measures ended with {code}"}
        answer: dict[str, Any] = json.loads(line)
        return answer

    def stop(self) -> None:
        """Ends the process."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            for pipe in (self.process.stdin, self.process.stdout):
                if pipe is not None:
                    pipe.close()
        self.process = None
