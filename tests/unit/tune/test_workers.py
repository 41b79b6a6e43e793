"""Processes that measure, and what becomes of those that do not answer."""

from __future__ import annotations

import os
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from loopxform.tune import workers
from loopxform.tune.memo import Memo
from loopxform.tune.workers import Worker

STUB = """
import json, os, sys, time
for line in sys.stdin:
    job = json.loads(line)
    for message in job.get("before", ()):
        print(json.dumps(message), flush=True)
    time.sleep(job.get("busy", 0))
    if job["do"] == "hang":
        time.sleep(60)
    if job["do"] == "crash":
        os.abort()
    if job["do"] == "exit":
        sys.exit(3)
    print(json.dumps({"status": "ok", "pid": os.getpid()}), flush=True)
"""
STARTED = {"status": "started", "about": {"key": "k", "sizes": {"Ty": 4}}}


@pytest.fixture
def worker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Worker:
    (tmp_path / "stub_worker.py").write_text(STUB)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setattr(workers, "STARTING", 3.0)
    return Worker((), 0.5, module="stub_worker")


def test_one_process_answers_many_jobs(worker: Worker) -> None:
    first, second = (worker.ask({"do": "answer"}) for _ in range(2))
    assert first["status"] == "ok"
    assert first == second
    worker.stop()


@pytest.mark.parametrize(
    ("do", "status", "why"),
    [
        ("hang", "timeout", "no answer within"),
        ("crash", "crash", "by SIGABRT"),
        ("exit", "crash", "status 3"),
    ],
)
def test_the_next_job_has_a_new_process(do: str, status: str, why: str, worker: Worker) -> None:
    before = worker.ask({"do": "answer"})
    began = time.monotonic()
    answer = worker.ask({"do": do, "before": [STARTED]})
    assert time.monotonic() - began < 2
    assert answer["status"] == status
    assert why in answer["why"]
    after = worker.ask({"do": "answer"})
    assert after["status"] == "ok"
    assert after["pid"] != before["pid"]
    worker.stop()


def test_a_worker_that_cannot_start() -> None:
    answer = Worker((), 1.0, module="no_such_module").ask({"do": "answer"})
    assert answer["status"] == "crash"


@pytest.mark.parametrize("do", ["hang", "crash"])
def test_what_hung_or_crashed_is_kept(do: str, worker: Worker, tmp_path: Path) -> None:
    worker.memo = Memo(tmp_path / "memo.jsonl")
    answer = worker.ask({"do": do, "before": [STARTED]})
    assert answer["sizes"] == {"Ty": 4}
    assert worker.memo.find("k") == answer
    worker.ask({"do": do})
    assert len(worker.memo.every) == 1
    worker.stop()


def test_the_limit_is_for_what_is_measured(worker: Worker) -> None:
    """Not for the time until then, nor for that in which another process measures, or in which what
    comes next is derived."""
    said: list[str] = []
    worker.waiting = lambda: said.append("waiting")
    busy = {"do": "answer", "busy": 1.0}
    assert worker.ask(busy)["status"] == "ok"
    assert worker.ask({**busy, "before": [{"status": "waiting"}]})["status"] == "ok"
    assert said == ["waiting"]
    assert worker.ask({**busy, "before": [STARTED, {"status": "deriving"}]})["status"] == "ok"
    began = time.monotonic()
    assert worker.ask({**busy, "before": [STARTED]})["status"] == "timeout"
    assert time.monotonic() - began < 0.9
    worker.stop()


def test_a_hang_costs_the_limit_in_a_process_that_has_just_started(worker: Worker) -> None:
    for _ in range(2):
        began = time.monotonic()
        assert worker.ask({"do": "hang", "before": [STARTED]})["status"] == "timeout"
        assert time.monotonic() - began < 0.5 + 1


def test_another_thread_ends_it_for_good(worker: Worker) -> None:
    process = worker.ask({"do": "answer"})["pid"]
    with ThreadPoolExecutor(1) as pool:
        busy = pool.submit(worker.ask, {"do": "hang", "before": [STARTED]})
        time.sleep(0.1)
        worker.end()
        assert busy.result()["status"] == "crash"
    with pytest.raises(ProcessLookupError):
        os.kill(process, 0)
    assert worker.ask({"do": "answer"})["status"] == "crash"
    worker.stop()


def test_long_answers(worker: Worker) -> None:
    """Longer than what a pipe holds."""
    long = {"status": "waiting", "text": "x" * 1_000_000}
    assert worker.ask({"do": "answer", "before": [long, long]})["status"] == "ok"
    worker.stop()
