"""Processes beside the workers of a Dask cluster."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from loopxform.cli import dask_worker
from loopxform.cli.dask_worker import Command, ask, stop

STUB = """
import json, os, sys, time
for line in sys.stdin:
    time.sleep(json.loads(line)["busy"])
    about = {"pid": os.getpid(), "words": sys.argv[1:], "folder": os.getcwd()}
    print(json.dumps({"status": "ok", **about}), flush=True)
"""


@pytest.fixture
def command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Command]:
    (tmp_path / "stub_beside.py").write_text(STUB)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setattr(dask_worker, "_beside", dask_worker._Beside())
    yield Command("stub_beside", ("f.c", "-DN=4"), str(tmp_path), 5.0)
    for name in list(dask_worker._beside.workers):
        stop(name)


def is_there(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


def test_each_name_has_a_process_of_its_own(command: Command, tmp_path: Path) -> None:
    answers = [ask(name, command, {"busy": 0}) for name in ("a", "b", "a")]
    assert answers[0] == answers[2]
    assert answers[0]["pid"] != answers[1]["pid"]
    assert answers[0]["words"] == ["f.c", "-DN=4"]
    assert answers[0]["folder"] == str(tmp_path)
    stop("a")
    assert not is_there(answers[0]["pid"])
    assert is_there(answers[1]["pid"])
    stop("a")


def test_one_that_works_is_ended_as_well(command: Command) -> None:
    before = ask("a", command, {"busy": 0})
    with ThreadPoolExecutor(1) as pool:
        busy = pool.submit(ask, "a", command, {"busy": 60})
        time.sleep(0.2)
        stop("a")
        assert busy.result()["status"] == "crash"
    assert not is_there(before["pid"])


def test_one_that_nobody_asks_ends(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dask_worker, "IDLE", 0.3)
    monkeypatch.setattr(dask_worker, "LOOK", 0.1)
    answer = ask("a", command, {"busy": 0.6})
    until = time.monotonic() + 20
    while is_there(answer["pid"]):
        assert time.monotonic() < until
        time.sleep(0.05)
    assert dask_worker._beside.workers == {}
    assert ask("a", command, {"busy": 0})["pid"] != answer["pid"]
