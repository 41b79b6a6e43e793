"""`loopxform tune`, killed at any moment, and several at once: nothing is lost or done twice."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import pytest
from tuning_folder import TWO, enter

from loopxform.runtime.profiles import limits_of
from loopxform.runtime.selection import choose
from loopxform.schedule.tuning_file import parsed, suffix_for
from loopxform.tune.locks import locked

WORDS = ["tune", "f.c", "--device", "c", "--repeat", "2", "--budget", "6"]
SCALED = ["--function", "scale", "--size", "n=32,m=64"]


def measured_alone(row: dict[str, Any]) -> bool:
    return row["status"] != "space" and not row["race"] and not row.get("same")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    enter(tmp_path, monkeypatch, TWO)


def start(*words: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "loopxform", *WORDS, *(words or SCALED)]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdout=pipe, stderr=subprocess.STDOUT, text=True)


def finish(process: subprocess.Popen[str]) -> str:
    said, _ = process.communicate(timeout=120)
    assert process.returncode in (0, 5), said  # the machine may be busy
    return said


def searched() -> Counter[str]:
    """How often each was measured, races left out."""
    rows: list[dict[str, Any]] = []
    memo = Path("cache/tune/f.jsonl")
    for line in memo.read_text().splitlines() if memo.exists() else []:
        if line.endswith("}"):
            rows.append(json.loads(line))
    return Counter(r["key"] for r in rows if measured_alone(r))


@pytest.mark.slow
@pytest.mark.parametrize("kills", [3, pytest.param(10, marks=pytest.mark.slow)])
def test_killed_at_random_moments(kills: int) -> None:
    seed = 511 + kills
    print("seed", seed)
    rng = Random(seed)
    for _ in range(kills):
        process = start()
        before, until = len(searched()), time.monotonic() + 20
        while len(searched()) == before < 6 and time.monotonic() < until:
            time.sleep(0.02)
        time.sleep(rng.uniform(0, 0.5))
        os.kill(process.pid, signal.SIGKILL)
        process.communicate()
    finished = searched()
    finish(start())
    everything = searched()
    assert finished
    assert max(everything.values()) == 1
    assert finished <= everything
    Path("f.c").write_text(TWO.replace("2 * a", "3 * a"))
    finish(start())
    assert len(searched()) == 2 * len(everything)


def test_two_at_once_share_what_they_measure() -> None:
    for said in map(finish, [start(), start()]):
        assert "error" not in said
    assert set(searched().values()) == {1}


@pytest.mark.slow
def test_two_functions_at_once_are_both_in_the_file() -> None:
    """Whatever else is written into it while they are measured."""
    device = limits_of(choose("c")).name
    Path("f.tuning").write_text(f"device={device}\n# mine\n")
    processes = [start(), start("--function", "other", "--size", "n=100")]
    for said in map(finish, processes):
        assert "wrote f.tuning" in said or "nothing is written" in said
    text = Path("f.tuning").read_text()
    assert "# mine\n" in text
    parsed("f.tuning", text, ["scale", "other"])


def test_one_says_that_it_waits_for_another() -> None:
    process = start()
    until = time.monotonic() + 60
    while not list(Path("cache").rglob("*.lock")) and time.monotonic() < until:
        time.sleep(0.01)
    (lock,) = Path("cache").rglob("*.lock")
    with locked(lock):
        time.sleep(1)
        assert process.poll() is None
    said = finish(process)
    assert said.count("another process measures on the CPU") == 1


@pytest.mark.slow
def test_the_file_of_another_device_stays_as_it_is() -> None:
    """What is found goes into one of its own."""
    text = "device=H100\nscale.recipe=naive\nscale.Ty=2\nscale.Tx=8\n"
    Path("f.tuning").write_text(text)
    said = finish(start())
    assert Path("f.tuning").read_text() == text
    own = Path("f.c").with_suffix(suffix_for(limits_of(choose("c")).name))
    assert own.exists() == (f"wrote {own}" in said)
