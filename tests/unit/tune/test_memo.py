"""Measurements that are kept, through crashes and changes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from loopxform.tune.memo import Memo, key_of

WRITER = """
from loopxform.tune.memo import Memo
memo = Memo.of("mm")
n = len(memo.known)
while True:
    memo.keep(f"k{n}", {"status": "ok", "milliseconds": [n] * 50})
    print(n, flush=True)
    n += 1
"""


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOOPXFORM_CACHE", str(tmp_path))


def test_what_is_kept_is_there_the_next_time() -> None:
    Memo.of("mm").keep("a", {"status": "ok", "milliseconds": [1.5]})
    Memo.of("mm").keep("b", {"status": "wrong", "why": "C[0]"})
    assert Memo.of("mm").known["a"]["milliseconds"] == [1.5]
    assert Memo.of("mm").known["b"]["why"] == "C[0]"
    assert Memo.of("other").known == {}


def test_without_a_cache_nothing_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOOPXFORM_CACHE", "off")
    Memo.of("mm").keep("a", {})
    assert Memo.of("mm").known == {}


def test_a_line_that_was_cut_off_is_none(tmp_path: Path) -> None:
    Memo.of("mm").keep("a", {"status": "ok"})
    file = tmp_path / "tune" / "mm.jsonl"
    file.write_bytes(file.read_bytes() + b'{"key": "b", "sta')
    memo = Memo.of("mm")
    assert list(memo.known) == ["a"]
    memo.keep("c", {"status": "ok"})
    assert list(Memo.of("mm").known) == ["a", "c"]
    file.write_bytes(b"\xff\xfe[]\n3\n" + file.read_bytes())
    assert list(Memo.of("mm").known) == ["a", "c"]


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
        before = len(Memo.of("mm").known)
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
        known = Memo.of("mm").known
        assert all(f"k{n}" in known for n in range(told + 1))
