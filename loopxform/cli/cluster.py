"""`--dask ADDRESS`: processes that work for us on the machines of a Dask cluster."""

from __future__ import annotations

import os
from asyncio import CancelledError
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from threading import Lock
from typing import Any
from uuid import uuid4

from loopxform import __version__
from loopxform.cli import dask_worker
from loopxform.cli.dask_worker import Command
from loopxform.errors import UsageError
from loopxform.tune.memo import Measurement, Memo
from loopxform.tune.workers import Gone, Worker

TIMEOUT = 10.0
"""Seconds until a scheduler answers."""

LOOK = 0.5
"""Seconds between looks at whether a worker is still there."""

SHARE = "start the workers where they see the same files: in a folder that is shared"


@dataclass
class Cluster:
    """The scheduler at an address, by its client."""

    address: str
    client: Any
    lock: Lock = field(default_factory=Lock)

    @property
    def workers(self) -> dict[str, int]:
        """The threads of the workers that are there, by their addresses; none where the scheduler
        has gone."""
        try:
            info = self.client.scheduler_info(n_workers=-1)["workers"]
        except (Exception, CancelledError):  # what it raises then is not documented
            return {}
        if self.client.status != "running":  # it gives what it was told last
            return {}
        return {address: info[address]["nthreads"] for address in sorted(info)}

    def run(self, function: Callable[..., Any], *args: object) -> Mapping[str, Any]:
        """What the function gives on each worker: an exception where it fails."""
        answers: Mapping[str, Any] = self.client.run(function, *args, on_error="return")
        return answers

    def keep(self, memo: Memo, row: Measurement) -> None:
        """Keeps what a worker has measured, where it is not kept yet, as on its own machine."""
        with self.lock:
            memo.refresh()
            if row not in memo.every:
                memo.keep(row)

    def require_same(self, options: Sequence[str] | None = None) -> None:
        """Raises UsageError where workers have another version, do not see this folder, or, with
        the `options` of the C compiler, where that has other macros."""
        here = dask_worker.about(os.getcwd(), options or ())
        answers = self.run(dask_worker.about, os.getcwd(), tuple(options or ()))
        if not answers:
            help = f"start some: dask worker {self.address}"
            message = f"the scheduler at {self.address} has no workers"
            raise UsageError(message, help=help, subject="--dask")
        wrong = {a: _difference(here, x, options is not None) for a, x in sorted(answers.items())}
        refuse(wrong, "install the same loopxform everywhere, and share the folder of your files")


def refuse(wrong: Mapping[str, str], help: str) -> None:
    """Raises UsageError with all that is wrong, by the address of the worker."""
    lines = [f"the worker at {address} {why}" for address, why in wrong.items() if why]
    if lines:
        raise UsageError(lines[0], notes=lines[1:], help=help, subject="--dask")


def _difference(here: Mapping[str, Any], there: Any, by_macros: bool) -> str:
    if isinstance(there, BaseException):
        return f"does not run loopxform: {type(there).__name__}: {there}"
    if there["version"] != __version__:
        return f"has loopxform {there['version']}, and this is {__version__}"
    if not there["folder"]:
        return f"does not see the folder {os.getcwd()}"
    other = dict(here["macros"].items() ^ there["macros"].items())
    if by_macros and other:
        return f"has another C compiler: it defines {min(other)} in another way; CC names one"
    return ""


@contextmanager
def cluster(address: str) -> Iterator[Cluster]:
    """Inside, that at this address. Raises UsageError where there is none."""
    try:
        from distributed import Client  # loads what only this needs
    except ImportError as e:
        message = f"--dask needs the package distributed: {e}"
        help = "pip install 'loopxform[cluster]', or distributed"
        raise UsageError(message, help=help, subject="--dask") from e
    import logging

    for name in ("distributed", "distributed.client"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    try:
        client = Client(address, timeout=TIMEOUT, set_as_default=False)
    except (OSError, ValueError) as e:
        message = f"there is no Dask scheduler at '{address}'"
        help = "start one with dask scheduler, which prints its address: --dask tcp://HOST:8786"
        raise UsageError(message, help=help, subject="--dask") from e
    try:
        yield Cluster(address, client)
    finally:
        client.close(timeout=TIMEOUT)


@dataclass(kw_only=True)
class RemoteWorker(Worker):
    """A process beside a worker of the cluster. What it measures is kept in `memo` as well; it is
    told what is `known` before its first job."""

    cluster: Cluster
    address: str
    known: Sequence[Measurement] = ()

    def __post_init__(self) -> None:
        self.name = uuid4().hex

    def ask(self, job: dict[str, Any]) -> dict[str, Any]:
        """The answer to a job. Raises Gone."""
        if self.known:
            known, self.known = list(self.known), ()
            self._asked({"known": known})
        answer = self._asked(job)
        if self.memo is not None and "key" in answer:
            self.cluster.keep(self.memo, {n: v for n, v in answer.items() if n != "kept"})
        return answer

    def _asked(self, job: dict[str, Any]) -> dict[str, Any]:
        command = Command(self.module, tuple(self.argv), os.getcwd(), self.limit)
        here = {"workers": [self.address], "pure": False}
        answer: dict[str, Any]
        try:
            future = self.cluster.client.submit(dask_worker.ask, self.name, command, job, **here)
            while True:
                with suppress(TimeoutError):
                    answer = future.result(timeout=LOOK)
                    break
                if not self._is_there:
                    future.cancel()
                    raise Gone(self.address)
        except (Exception, CancelledError) as e:
            if self._is_there:
                raise
            raise Gone(self.address) from e
        return answer

    def end(self) -> None:
        self._ended = True
        self.stop()

    def stop(self) -> None:
        """Ends the process, where its worker is still there."""
        with suppress(OSError, CancelledError, TimeoutError):
            if self.address in self.cluster.workers:
                here = {"workers": [self.address], "on_error": "ignore"}
                self.cluster.client.run(dask_worker.stop, self.name, **here)

    @property
    def _is_there(self) -> bool:
        return not self._ended and self.address in self.cluster.workers
