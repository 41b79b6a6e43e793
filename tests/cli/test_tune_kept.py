"""`tune explain` and `tune export`: what is kept, told without measuring."""

from __future__ import annotations

import csv
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import drawn_worker
import pytest
from tuning_folder import SCALE, enter

from loopxform.cli import main

Capture = pytest.CaptureFixture[str]
WORDS = ["tune", "f.c", "--device", "c", "--repeat", "3"]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    enter(tmp_path, monkeypatch, SCALE)


def tune(*words: str, faults: dict[str, str] | None = None) -> int:
    environment = {**os.environ, "FAULTS": json.dumps(faults or {})}
    command = [sys.executable, drawn_worker.__file__, *WORDS, *words]
    return subprocess.run(command, env=environment, capture_output=True, timeout=120).returncode


def test_explain(capsys: Capture) -> None:
    faults = {"Ty=2,Tx=64": "wrong", "Ty=1": "build"}
    assert tune("--size", "n=8,m=16", "--budget", "100%", faults=faults) == 4
    assert main(["tune", "explain", "f.c"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("scale on the CPU, by ")
    assert lines[1] == "  n=8, m=16: the defaults 5 ms"
    assert lines[2] == "  28 candidates of the recipe naive have times"
    assert lines[3].split() == ["ms", "95", "%", "speed", "model", "sizes"]
    assert lines[4].split() == ["1", "1", "1-1", "5.00x", "-", "Ty=4,", "Tx=32"]
    assert len(lines[4:14]) == 10
    assert not any("not raced" in line for line in lines[4:14])
    assert lines[14:] == [
        "  6 not legal: group size",
        "  0 of 36 legal ones not measured",
        "  7 refused: the compiler says no",
        "  1 wrong: b[0][0] is 1, not 2",
    ]
    assert main(["tune", "explain", "f.c", "--function", "scale", "--device", "CPU"]) == 0
    assert capsys.readouterr().out.splitlines() == lines
    assert main(["tune", "explain", "f.c", "--device", "H100"]) == 2
    said = capsys.readouterr().err
    assert "there are no measurements in f.c on a device with 'H100' in its name [LX073]" in said
    assert "   = help: there are those of: the CPU, by " in said


def test_sets_of_sizes_stand_side_by_side(capsys: Capture) -> None:
    assert tune("--size", "n=8", "--sizes", "m=16,32", "--budget", "5") == 0
    assert main(["tune", "explain", "f.c"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[1:3] == [f"  n=8, m={m}: the defaults 5 ms" for m in (16, 32)]
    assert lines[4].split() == ["ms", "95", "%", "ms", "95", "%", "speed", "model", "sizes"]
    assert lines[-2] == "  6 not legal: group size"
    assert lines[-1] == "  31 of 36 legal ones not measured"


def test_csv(capsys: Capture) -> None:
    assert tune("--size", "n=8,m=16", "--budget", "5", faults={"Tx=8": "wrong"}) in (0, 4)
    assert main(["tune", "export", "f.c", "--format", "csv"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert len(rows) == 6
    assert {r["function"] for r in rows} == {"scale"}
    ok = [r for r in rows if r["status"] == "ok" and r["Ty"]]
    for r in ok:
        sizes = {"Ty": int(r["Ty"]), "Tx": int(r["Tx"])}
        assert float(r["milliseconds"]) == drawn_worker.milliseconds(sizes)
        assert float(r["ratio"]) == drawn_worker.milliseconds(sizes) / 5
        assert len(r["runs"].split()) == 3


REQUIRED = {
    "time": (int, float, str),
    "compile_time": (int, float),
    "verification_time": (int, float),
    "benchmark_time": (int, float),
    "strategy_time": (int, float),
    "framework_time": (int, float),
    "timestamp": str,
}
"""Of schema 1.1.0 of Kernel Tuner's cache files."""


def test_kernel_tuner(capsys: Capture) -> None:
    tune("--size", "n=8,m=16", "--budget", "9", faults={"Tx=8": "wrong", "Tx=32": "build"})
    words = ["tune", "export", "f.c", "--format", "kerneltuner"]
    assert main([*words, "-o", "f.json"]) == 0
    assert capsys.readouterr().out == "wrote f.json\n"
    about = json.loads(Path("f.json").read_text())
    assert about["schema_version"] == "1.1.0"
    assert about["kernel_name"] == "scale"
    assert about["problem_size"] == [8, 16]
    assert about["tune_params_keys"] == ["Ty", "Tx"]
    assert about["objective"] == "time"
    assert len(about["cache"]) >= 8
    for key, entry in about["cache"].items():
        assert key == f"{entry['Ty']},{entry['Tx']}"
        assert entry["Tx"] in about["tune_params"]["Tx"]
        assert all(isinstance(entry[n], kind) for n, kind in REQUIRED.items())
        if isinstance(entry["time"], str):
            assert entry["time"] in ("CompilationFailedConfig", "RuntimeFailedConfig")
        else:
            assert len(entry["times"]) == 3


@pytest.mark.slow
def test_several_must_be_told_apart(capsys: Capture) -> None:
    tune("--size", "n=8", "--sizes", "m=16,32", "--budget", "2")
    words = ["tune", "export", "f.c", "--format", "kerneltuner"]
    assert main(words) == 2
    assert "choose one with --size: n=8, m=16; n=8, m=32" in capsys.readouterr().err
    assert main([*words, "--size", "m=32"]) == 0
    assert json.loads(capsys.readouterr().out)["problem_size"] == [8, 32]
    assert main([*words, "--device", "H100"]) == 2
    assert "on a device with 'H100' in its name [LX073]" in capsys.readouterr().err


@pytest.mark.parametrize("verb", ["explain", "export"])
def test_nothing_to_tell(verb: str, capsys: Capture) -> None:
    assert main(["tune", verb, "f.c"]) == 2
    said = capsys.readouterr().err
    assert "there are no measurements in f.c [LX073]" in said
    assert f"loopxform tune {verb} f.c\n" in said
    assert main(["tune", verb, "none.jsonl"]) == 2
    assert "cannot read 'none.jsonl'" in capsys.readouterr().err
