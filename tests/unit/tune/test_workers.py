"""Processes that measure, and what becomes of those that do not answer."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from loopxform.tune import workers
from loopxform.tune.workers import Worker

STUB = """
import json, os, sys, time
for line in sys.stdin:
    job = json.loads(line)
    if job["do"] == "hang":
        time.sleep(60)
    if job["do"] == "crash":
        os.abort()
    if job["do"] == "exit":
        sys.exit(3)
    print(json.dumps({"status": "ok", "pid": os.getpid()}), flush=True)
"""


@pytest.fixture
def worker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Worker:
    (tmp_path / "stub_worker.py").write_text(STUB)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setattr(workers, "STARTING", 5.0)
    return Worker((), 0.5, "stub_worker")


def test_one_process_answers_many_jobs(worker: Worker) -> None:
    first, second = (worker.ask({"do": "answer"}) for _ in range(2))
    assert first["status"] == "ok"
    assert first == second
    worker.stop()


@pytest.mark.parametrize(
    ("do", "status", "why"),
    [("hang", "timeout", "no answer within"), ("crash", "crash", "-6"), ("exit", "crash", "3")],
)
def test_the_next_job_has_a_new_process(do: str, status: str, why: str, worker: Worker) -> None:
    before = worker.ask({"do": "answer"})
    began = time.monotonic()
    answer = worker.ask({"do": do})
    assert time.monotonic() - began < 2
    assert answer["status"] == status
    assert why in answer["why"]
    after = worker.ask({"do": "answer"})
    assert after["status"] == "ok"
    assert after["pid"] != before["pid"]
    worker.stop()


def test_a_worker_that_cannot_start() -> None:
    answer = Worker((), 1.0, "no_such_module").ask({"do": "answer"})
    assert answer["status"] == "crash"
