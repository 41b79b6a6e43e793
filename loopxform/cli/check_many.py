"""Judging the files of `check` side by side, in processes, here or on the machines of a cluster."""

from __future__ import annotations

import base64
import pickle
import warnings
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from loopxform.cache import digest
from loopxform.cli import inputs
from loopxform.cli.cluster import SHARE, Cluster, RemoteWorker, refuse
from loopxform.cli.judging import Judge, Judged
from loopxform.errors import InternalError
from loopxform.source import Loc
from loopxform.tune.workers import MOST_LOST, Gone, Worker

MODULE = "loopxform.cli.check_worker"


def workers(words: Sequence[str], count: int) -> list[Worker]:
    """So many processes for this command line."""
    return [Worker(words, None, module=MODULE) for _ in range(count)]


def of_cluster(cluster: Cluster, words: Sequence[str]) -> list[Worker]:
    """A process for each thread of its workers."""
    return [
        RemoteWorker(argv=words, limit=None, module=MODULE, cluster=cluster, address=address)
        for address, threads in cluster.workers.items()
        for _ in range(threads)
    ]


def side_by_side(judge: Judge, paths: Sequence[str], workers: Sequence[Worker]) -> Iterator[Judged]:
    """In the order of the paths, each judged by a worker that has nothing else to do; here what
    they cannot read or send, and where none is left. Raises UsageError where one on another machine
    has read other files than there are here."""
    idle = SimpleQueue[Worker | None]()
    for worker in workers:
        idle.put(worker)
    left = count(len(workers) - 1, -1)
    files = _Files()

    def asked(path: str) -> dict[str, Any] | None:
        lost = 0
        while path != "-" and (worker := idle.get()) is not None:
            try:
                answer = worker.ask({"path": path})
            except Gone:
                lost += 1
                if next(left) == 0:
                    idle.put(None)
                if lost < MOST_LOST:
                    continue
                return {"status": "crash", "why": "workers end while they judge it"}
            idle.put(worker)
            if isinstance(worker, RemoteWorker):
                files.require_same(worker.address, answer)
            return answer
        if path != "-":
            idle.put(None)
        return None

    pool = ThreadPoolExecutor(len(workers))
    try:
        answers = [pool.submit(asked, path) for path in paths]
        done = as_completed(answers)
        for _ in inputs.progress(paths, "judging"):
            next(done).result()
        for path, answer in zip(paths, answers):
            judged = _unpacked(path, answer.result())
            yield judge.file(path) if judged is None else judged
    finally:
        for worker in workers:
            worker.end()
        pool.shutdown(cancel_futures=True)
        for worker in workers:
            worker.stop()


@dataclass
class _Files:
    """What they hold here, as far as it was asked for."""

    known: dict[str, str | None] = field(default_factory=dict)

    def require_same(self, address: str, answer: Mapping[str, Any]) -> None:
        """Raises UsageError where a worker has read another text, or has not found a file."""
        for path, text in answer.get("read", {}).items():
            if self._digest(path) != text:
                refuse({address: f"sees another text of '{path}'"}, SHARE)
        for path in answer.get("absent", ()):
            if self._digest(path) is not None:
                refuse({address: f"does not see '{path}'"}, SHARE)

    def _digest(self, path: str) -> str | None:
        if path not in self.known:
            try:
                self.known[path] = digest(Path(path).read_bytes())
            except OSError:
                self.known[path] = None
        return self.known[path]


def packed(judged: Judged, warned: Sequence[warnings.WarningMessage]) -> str | None:
    """The text that stands for what was found, and what was warned of; None where there is none,
    as for programs that are nested very deeply."""
    texts = [(w.category, str(w.message)) for w in warned]
    try:
        return base64.b64encode(pickle.dumps((judged, texts))).decode()
    except RecursionError:
        return None


def _unpacked(path: str, answer: dict[str, Any] | None) -> Judged | None:
    """What a worker found of a file; None where it could not say it."""
    if answer is None:
        return None
    if answer["status"] != "ok":
        message = f"internal error in '{path}': {answer['why']}"
        help = "please report it with the file; the other files are judged"
        return InternalError(message, loc=Loc(path, 1, 1), help=help)
    if answer["judged"] is None:
        return None
    judged: Judged
    judged, texts = pickle.loads(base64.b64decode(answer["judged"]))
    for category, text in texts:
        warnings.warn(text, category, stacklevel=2)
    return judged
