"""Judging the files of `check` side by side, in processes."""

from __future__ import annotations

import base64
import pickle
import warnings
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from queue import SimpleQueue
from typing import Any

from loopxform.cli import inputs
from loopxform.cli.judging import Judge, Judged
from loopxform.errors import InternalError
from loopxform.source import Loc
from loopxform.tune.workers import Worker

MODULE = "loopxform.cli.check_worker"


def workers(words: Sequence[str], count: int) -> list[Worker]:
    """So many processes for this command line."""
    return [Worker(words, None, module=MODULE) for _ in range(count)]


def side_by_side(judge: Judge, paths: Sequence[str], workers: Sequence[Worker]) -> Iterator[Judged]:
    """In the order of the paths, each judged by a worker that has nothing else to do; here what
    they cannot read or send."""
    idle = SimpleQueue[Worker]()
    for worker in workers:
        idle.put(worker)

    def asked(path: str) -> dict[str, Any] | None:
        if path == "-":
            return None
        worker = idle.get()
        try:
            return worker.ask({"path": path})
        finally:
            idle.put(worker)

    pool = ThreadPoolExecutor(len(workers))
    try:
        answers = [pool.submit(asked, path) for path in paths]
        done = as_completed(answers)
        for _ in inputs.progress(paths, "judging"):
            next(done)
        for path, answer in zip(paths, answers):
            judged = _unpacked(path, answer.result())
            yield judge.file(path) if judged is None else judged
    finally:
        for worker in workers:
            worker.end()
        pool.shutdown(cancel_futures=True)
        for worker in workers:
            worker.stop()


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
