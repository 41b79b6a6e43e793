"""`loopxform tune` with candidates that are wrong, do not build, crash or hang."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import drawn_worker
import pytest
from tuning_folder import SCALE, enter

from loopxform.cli import main

LIMIT = 1.5
WORDS = ["tune", "f.c", "--device", "c", "--size", "n=8,m=16", "--repeat", "2"]
WORDS += ["--limit", str(LIMIT), "--json", "all.json"]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    enter(tmp_path, monkeypatch, SCALE)


def tune(faults: dict[str, str], *words: str) -> tuple[int, str, list[dict[str, Any]]]:
    """The exit status, what was said, and the measurements without the race."""
    Path("all.json").unlink(missing_ok=True)
    environment = {**os.environ, "FAULTS": json.dumps(faults)}
    command = [sys.executable, drawn_worker.__file__, *WORDS, *words]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)
    rows = json.loads(Path("all.json").read_text()) if Path("all.json").exists() else []
    return done.returncode, done.stdout + done.stderr, [r for r in rows if not r["race"]]


FAULTS = {"Ty=1,Tx=4": "hang", "Ty=1,Tx=8": "abort", "Ty=1,Tx=16": "build", "Ty=1,Tx=32": "wrong"}


def test_all_others_are_measured() -> None:
    status, said, rows = tune(FAULTS, "--budget", "36")
    assert status == 4, said
    expected = {"ok": 33, "timeout": 1, "crash": 1, "refused": 1, "wrong": 1}
    assert Counter(r["status"] for r in rows) == expected
    start = rows[0]["seconds"]  # of a process, and what runs the C once
    for row in rows:
        if row["status"] != "ok":
            assert row["seconds"] <= start + LIMIT + 1
            name = ",".join(f"{n}={v}" for n, v in row["sizes"].items())
            statuses = {"hang": "timeout", "abort": "crash", "build": "refused", "wrong": "wrong"}
            assert statuses[FAULTS[name]] == row["status"]
    assert re.search(r"32 measured; 1 crash, 1 refused, 1 timeout, 1 wrong$", said, re.MULTILINE)
    assert "Ty=4, Tx=32" in said
    status, _, again = tune({}, "--budget", "36")
    assert status == 4
    assert all(r.get("kept") for r in again)


@pytest.mark.slow
def test_faults_that_are_not_wrong_are_no_failure() -> None:
    faults = {n: f for n, f in FAULTS.items() if f in ("abort", "build")}
    status, said, _ = tune(faults, "--budget", "36")
    assert status == 0, said


@pytest.mark.slow
def test_a_longer_limit_tries_again(capsys: pytest.CaptureFixture[str]) -> None:
    tune({"Ty=1,Tx=4": "hang"}, "--budget", "36")
    status, said, _ = tune({}, "--budget", "36", "--limit", "30")
    assert status == 0
    assert "36 measured\n" in said
    assert main([*WORDS[:-2], "--plan"]) == 0
    assert "  at most " in capsys.readouterr().out


@pytest.mark.parametrize("fault", ["build", "wrong"])
def test_nothing_but_faults(fault: str) -> None:
    """The kernel of the defaults included."""
    status, said, _ = tune({"": fault}, "--budget", "3")
    assert status == {"build": 3, "wrong": 4}[fault]
    assert "the kernel with default sizes cannot be measured" in said


@pytest.mark.slow
def test_builders_side_by_side() -> None:
    status, said, rows = tune(FAULTS, "--budget", "36", "-j", "2")
    assert status == 4, said
    counts = Counter(r["status"] for r in rows)
    assert counts["ok"] == 33
    assert sum(counts.values()) == 37
