"""Measurements that are kept, through crashes and changes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from loopxform.tune.memo import Measurement, Memo, key_of

WRITER = """
from loopxform.tune.memo import Memo
memo = Memo.of("mm")
n = len(memo.every)
while True:
    memo.keep({"key": f"k{n}", "status": "ok", "milliseconds": [n] * 50})
    print(n, flush=True)
    n += 1
"""


def known(memo: Memo) -> dict[str, Measurement]:
    return {r["key"]: r for r in memo.every if memo.find(r["key"]) is r}


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOOPXFORM_CACHE", str(tmp_path))


def test_what_is_kept_is_there_the_next_time() -> None:
    Memo.of("mm").keep({"key": "a", "status": "ok", "milliseconds": [1.5]})
    Memo.of("mm").keep({"key": "b", "status": "wrong", "why": "C[0]"})
    assert known(Memo.of("mm"))["a"]["milliseconds"] == [1.5]
    assert known(Memo.of("mm"))["b"]["why"] == "C[0]"
    assert known(Memo.of("other")) == {}


def test_without_a_cache_nothing_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOOPXFORM_CACHE", "off")
    Memo.of("mm").keep({"key": "a"})
    assert known(Memo.of("mm")) == {}


def test_a_line_that_was_cut_off_is_none(tmp_path: Path) -> None:
    Memo.of("mm").keep({"key": "a", "status": "ok"})
    file = tmp_path / "tune" / "mm.jsonl"
    file.write_bytes(file.read_bytes() + b'{"key": "b", "sta')
    memo = Memo.of("mm")
    assert list(known(memo)) == ["a"]
    memo.keep({"key": "c", "status": "ok"})
    assert list(known(Memo.of("mm"))) == ["a", "c"]
    file.write_bytes(b"\xff\xfe[]\n3\n" + file.read_bytes())
    assert list(known(Memo.of("mm"))) == ["a", "c"]


def test_keys_tell_what_is_measured_apart() -> None:
    parts = ("__kernel void f() {}", {"M": 3}, ("device", "driver"), 1, "contract")
    others = [
        ("__kernel void f() { }", *parts[1:]),
        (parts[0], {"M": 4}, *parts[2:]),
        (*parts[:2], ("device", "other driver"), *parts[3:]),
        (*parts[:4], "fast"),
    ]
    assert len({key_of(*p) for p in (parts, *others)}) == 5
    assert key_of(*parts) == key_of(*parts)


def test_a_process_that_is_killed_loses_nothing_it_finished() -> None:
    for _ in range(5):
        before = len(known(Memo.of("mm")))
        command = [sys.executable, "-c", WRITER]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        told = -1
        until = time.monotonic() + 0.2
        while told < before + 3 or time.monotonic() < until:
            told = int(process.stdout.readline())
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        process.stdout.close()
        rows = known(Memo.of("mm"))
        assert all(f"k{n}" in rows for n in range(told + 1))


SEVERAL = """
import sys
from loopxform.tune.memo import Memo
memo = Memo.of("mm")
for n in range(40):
    memo.keep({"key": sys.argv[1] + str(n), "status": "ok", "milliseconds": [n] * 4000})
"""


def test_processes_add_lines_side_by_side(tmp_path: Path) -> None:
    """Each line is longer than what a pipe or a page holds."""
    processes = [subprocess.Popen([sys.executable, "-c", SEVERAL, x]) for x in "abcd"]
    assert [p.wait(timeout=60) for p in processes] == [0] * 4
    lines = (tmp_path / "tune" / "mm.jsonl").read_text().splitlines()
    assert sorted(json.loads(x)["key"] for x in lines) == sorted(
        f"{x}{n}" for x in "abcd" for n in range(40)
    )


def test_what_others_add_is_taken_in() -> None:
    one, other = Memo.of("mm"), Memo.of("mm")
    one.keep({"key": "a", "status": "ok"})
    assert "a" not in known(other)
    other.refresh()
    assert "a" in known(other)
    other.keep({"key": "b", "status": "ok"})
    one.keep({"key": "c", "status": "ok"})
    assert [r["key"] for r in one.every] == ["a", "b", "c"]


def test_times_of_a_race_are_no_times_of_a_search() -> None:
    memo = Memo.of("mm")
    memo.keep({"key": "a", "status": "ok", "milliseconds": [1.0]})
    memo.keep({"key": "a", "status": "ok", "milliseconds": [2.0], "race": True})
    again = Memo.of("mm")
    assert known(again)["a"]["milliseconds"] == [1.0]
    assert len(again.every) == 2
