"""`tune --shard`, `tune --shared` and `tune merge`: several processes, one result."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import drawn_worker
import pytest
from drawn_worker import milliseconds
from tuning_folder import SCALE, enter

from loopxform.cli import main
from loopxform.schedule.tuning_file import Tuned, parsed

Capture = pytest.CaptureFixture[str]
WORDS = ["tune", "f.c", "--size", "n=8,m=16", "--device", "c", "--repeat", "2"]
BEST = {"Ty": 4, "Tx": 32}


def measured_alone(row: dict[str, Any]) -> bool:
    return row["status"] != "space" and not row["race"] and not row.get("same")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    enter(tmp_path, monkeypatch, SCALE)


def start(*words: str) -> subprocess.Popen[str]:
    command = [sys.executable, drawn_worker.__file__, *WORDS, *words]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdout=pipe, stderr=subprocess.STDOUT, text=True)


def finish(process: subprocess.Popen[str]) -> str:
    said, _ = process.communicate(timeout=120)
    assert process.returncode == 0, said
    return said


def tuned(path: str = "f.tuning") -> Tuned:
    return parsed(path, Path(path).read_text(), ["scale"]).functions["scale"]


@pytest.mark.slow
def test_two_shares_are_the_whole(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    finish(start("--budget", "100%"))
    whole = Path("f.tuning").read_text()
    assert tuned().sizes == BEST
    Path("f.tuning").unlink()
    points = []
    for share in ("1", "2"):
        monkeypatch.setenv("LOOPXFORM_CACHE", f"cache{share}")
        said = finish(start("--budget", "100%", "--shard", f"{share}/2"))
        assert f"36 legal, 36 to measure, share {share} of 2" in said
        assert f"wrote f.shard{share}of2.jsonl" in said
        rows = [json.loads(x) for x in Path(f"f.shard{share}of2.jsonl").read_text().splitlines()]
        points.append({json.dumps(r["sizes"]) for r in rows} - {"null"})
    assert not Path("f.tuning").exists()
    assert points[0].isdisjoint(points[1])
    assert min(map(len, points)) > 10
    assert len(points[0] | points[1]) == 36
    monkeypatch.setenv("LOOPXFORM_CACHE", "cache3")
    assert main(["tune", "merge", "f.shard1of2.jsonl", "f.shard2of2.jsonl"]) == 0
    shown = capsys.readouterr().out
    assert re.search(r"^scale on the CPU, by \w+: 36 measured$", shown, re.MULTILINE)
    assert "naive, Ty=4, Tx=32: 5.00 times the defaults' speed" in shown
    assert Path("f.tuning").read_text() == whole
    again = finish(start("--budget", "100%", "--json", "all.json"))
    assert "Ty=4, Tx=32" in again
    rows = json.loads(Path("all.json").read_text())
    assert all(r.get("kept") for r in rows if measured_alone(r))


@pytest.mark.slow
def test_a_share_has_the_defaults_where_there_is_nothing_else() -> None:
    said = [finish(start("--budget", "1", "--shard", f"{n}/2")) for n in (1, 2)]
    assert sorted(re.findall(r"(\d+) measured", "".join(said))) == ["0", "1"]


def measured(folder: str) -> Counter[str]:
    rows = [json.loads(x) for f in Path(folder).glob("*.jsonl") for x in f.read_text().splitlines()]
    return Counter(r["key"] for r in rows if measured_alone(r))


@pytest.mark.slow
def test_four_processes_on_one_folder_do_nothing_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DRAWN", "0.05")
    processes = [start("--budget", "24", "--shared", "all") for _ in range(4)]
    said = "".join(map(finish, processes))
    counts = measured("all")
    assert set(counts.values()) == {1}
    assert len(counts) >= 24
    assert len([f for f in Path("all").glob("*.jsonl") if f.stat().st_size]) >= 2
    assert said.count("wrote f.tuning") >= 1
    assert said.count("wrote f.tuning") + said.count("another process lets the best race") == 4
    assert tuned().sizes == BEST


def test_what_a_process_that_was_killed_had_claimed_is_measured(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("DRAWN", "0.2")
    victim = start("--budget", "12", "--shared", "all")
    until = time.monotonic() + 60
    while len(list(Path().glob("all/claims/*.0"))) < 3 and time.monotonic() < until:
        time.sleep(0.02)
    os.kill(victim.pid, signal.SIGKILL)
    victim.communicate()
    before = measured("all")
    monkeypatch.setenv("DRAWN", "0")
    finish(start("--budget", "12", "--shared", "all"))
    counts = measured("all")
    assert before <= counts
    assert set(counts.values()) == {1}
    assert tuned().sizes["Tx"] == min((8, 16, 32), key=lambda x: milliseconds({"Ty": 4, "Tx": x}))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--shard", "3/2"], "'3/2' is no share"),
        (["--shard", "0/2"], "'0/2' is no share"),
        (["--shard", "half"], "'half' is no share"),
        (["--shared", "f.c"], "cannot write"),
        (["--shared", "all", "--shard", "1/2"], "--shared and --shard exclude each other"),
        (["--shared", "all", "--fresh"], "--shared and --fresh exclude each other"),
        (["--shared", "all", "-j", "2"], "--shared and --jobs exclude each other"),
    ],
)
def test_bad_options(options: list[str], message: str, capsys: Capture) -> None:
    assert main([*WORDS, *options]) == 2
    said = capsys.readouterr().err
    assert message in said
    assert said.count("error:") == 1
    assert not Path("all").exists()


def test_files_that_cannot_be_merged(capsys: Capture) -> None:
    Path("empty.jsonl").write_text(
        '{"key": "a"}\n{"key": "a", "status": "ok"}\n[1]\n{"key": "b", "sta'
    )
    assert main(["tune", "merge", "empty.jsonl"]) == 2
    said = capsys.readouterr().err
    assert "there are no measurements in empty.jsonl [LX073]" in said
    assert "loopxform tune merge empty.jsonl\n" in said
    assert main(["tune", "merge", "none.jsonl"]) == 2
    assert "cannot read 'none.jsonl'" in capsys.readouterr().err
    assert main(["tune", "merge"]) == 2
    assert "loopxform tune merge needs" in capsys.readouterr().err
    finish(start("--budget", "2", "--shard", "1/1"))
    share = Path("f.shard1of1.jsonl").read_text()
    text = json.loads(share.splitlines()[0])["text"]
    Path("older.jsonl").write_text(share.replace(text, "0" * 16))
    assert main(["tune", "merge", "f.shard1of1.jsonl", "older.jsonl"]) == 2
    assert "with another text of the function in some of the files" in capsys.readouterr().err
    rows = [json.loads(line) for line in share.splitlines()]
    other = {"data": {"n": 9, "m": 16}, "sizes": {"Ty": 3, "Tx": 5}}
    Path("wider.jsonl").write_text(
        "".join(json.dumps(r | other) + "\n" for r in rows if r.get("sizes"))
    )
    assert main(["tune", "merge", "f.shard1of1.jsonl", "wider.jsonl"]) == 2
    said = capsys.readouterr().err
    assert "no candidate of scale was measured with n=8, m=16 and n=9, m=16 [LX073]" in said
    assert "merge files of the same command line" in said
    assert not Path("f.tuning").exists()


@pytest.mark.slow
def test_devices_have_a_file_each(capsys: Capture) -> None:
    finish(start("--budget", "42", "--shard", "1/1"))
    share = Path("f.shard1of1.jsonl").read_text()
    device = json.loads(share.splitlines()[0])["device"]
    Path("other.jsonl").write_text(share.replace(device, "H100"))
    assert main(["tune", "merge", "f.shard1of1.jsonl", "other.jsonl", "-o", "found"]) == 0
    assert {p.name for p in Path("found").iterdir()} == {"f.tuning", "f.H100.tuning"}
    assert "device=H100\n" in Path("found/f.H100.tuning").read_text()
    assert capsys.readouterr().out.count("wrote ") == 2


def test_a_file_called_merge_is_tuned(capsys: Capture) -> None:
    Path("merge").write_text(SCALE)
    assert main(["tune", "./merge", *WORDS[2:], "--plan"]) == 0
    assert "tuning scale" in capsys.readouterr().out
    for words in (["tune", "merge", "--help"], ["help", "tune", "merge"]):
        assert main(words) == 0
        assert "usage: loopxform tune merge" in capsys.readouterr().out
    assert main(["help", "tune", "f.c"]) == 0
    assert "usage: loopxform tune [OPTION" in capsys.readouterr().out
