"""`loopxform tune`: what it measures, writes and says, and how others read what it wrote."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tuning_folder import TWO

from loopxform.cli import main
from loopxform.cli.tuned import path_of
from loopxform.runtime.profiles import limits_of
from loopxform.runtime.selection import choose
from loopxform.schedule.tuning_file import parsed, suffix_for

CORPUS = Path(__file__).parents[2] / "corpus"
Capture = pytest.CaptureFixture[str]

TUNE = "tune f.c --function scale --size n=32,m=64 --device c --repeat 2"
FOUND = "device=c\nscale.text=0\nscale.recipe=naive\nscale.Ty=2\nscale.Tx=8\n"
DONE = (0, 5)
"""What is measured in these tests takes microseconds: on a machine that is busy too few to tell."""

TILE = ["tile", "f.c", "--function", "scale", "--dry-run"]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LOOPXFORM_CACHE", str(tmp_path / "cache"))
    Path("f.c").write_text(TWO)


def test_the_plan_runs_nothing(capsys: Capture) -> None:
    assert main([*TUNE.split(), "--plan", "--budget", "10%"]) == 0
    shown = capsys.readouterr().out
    assert re.search(r"^tuning scale on the CPU", shown)
    assert re.search(r"^  Ty   1, 2, 4, 8, 16, 32$", shown, re.MULTILINE)
    counts = re.search(r"(\d+) candidates, (\d+) legal, (\d+) to measure$", shown, re.MULTILINE)
    assert counts is not None
    candidates, legal, budget = map(int, counts.groups())
    assert candidates >= legal >= budget == 20
    assert not Path("f.tuning").exists()
    assert not Path("cache/tune").exists()


def test_a_session_on_a_real_device(capsys: Capture) -> None:
    """Which is the quickest, nobody can say here; that all is told and kept, is."""
    words = [*TUNE.split(), "--budget", "3", "--json", "all.json"]
    assert main(words) in DONE
    shown = capsys.readouterr().out
    rows = json.loads(Path("all.json").read_text())
    assert all(r["status"] == "ok" and r["milliseconds"] for r in rows)
    assert len({json.dumps(r["sizes"]) for r in rows}) == 4
    assert "  3 measured\n" in shown
    assert Path("f.tuning").exists() == ("wrote f.tuning" in shown)
    ends = ("the defaults are the quickest", "times\n", "too noisy to tell")
    assert sum(end in shown for end in ends) == 1
    assert len(Path("cache/tune/f.jsonl").read_text().splitlines()) >= 4
    capsys.readouterr()
    assert main(words) in DONE
    again = json.loads(Path("all.json").read_text())
    assert [r.get("kept", False) for r in again if not r["race"]] == [True] * 4
    Path("f.c").write_text(TWO.replace("2 * a", "3 * a"))
    assert main(words) in DONE
    changed = json.loads(Path("all.json").read_text())
    assert "kept" not in changed[0]


def test_a_time_that_the_defaults_take(capsys: Capture) -> None:
    assert main([*TUNE.split(), "--budget", "0.001s"]) == 3
    shown = capsys.readouterr().out
    assert shown.endswith(
        "  0 measured\n  the time was over when the defaults had been measured: "
        "give --budget more than 0.001s, or smaller sizes\n"
    )
    assert not Path("f.tuning").exists()


OF_ANOTHER = "f.tuning is for c (--device names yours); "
"""Told where no device is named."""


def test_what_was_found_is_used_and_told(capsys: Capture) -> None:
    Path("f.tuning").write_text(FOUND)
    assert main(TILE) == 0
    head, note, *_ = capsys.readouterr().out.splitlines()
    assert head == "scale: one work-item per iteration, Ty=2, Tx=8"
    assert note.endswith(f"; {OF_ANOTHER}sizes of f.tuning, found for another text of the function")
    for options in (["--recipe", "naive"], ["--Ty", "4"], ["--no-tuning"]):
        assert main([*TILE, *options]) == 0
        assert "f.tuning" not in capsys.readouterr().out
    assert main(["tile", "f.c", "--function", "other", "--dry-run"]) == 0
    assert "f.tuning" not in capsys.readouterr().out
    assert main([*TILE, "--profile", "h100"]) == 0
    assert "f.tuning is for c, and not used\n" in capsys.readouterr().out
    Path("f.tuning").write_text("scale.recipe=naive\nscale.Ty=2\nscale.Tx=8\n")
    assert main([*TILE, "--profile", "h100"]) == 0
    said = "note: f.tuning names no device (its line: device=h100), and not used\n"
    assert said in capsys.readouterr().out


def test_the_file_of_the_device_comes_first(capsys: Capture) -> None:
    """Function by function, where a device is named; the other file is for those that it leaves."""
    device = limits_of(choose("c")).name
    own = Path("f.c").with_suffix(suffix_for(device))
    common = FOUND.replace("=c\n", f"={device}\n") + "other.recipe=naive\nother.Tx=16\n"
    Path("f.tuning").write_text(common)
    own.write_text(FOUND.replace("=c\n", f"={device}\n").replace("Tx=8", "Tx=32"))
    scale = ["f.c", "--function", "scale"]
    on_c = ["--device", "c", "--dry-run"]
    assert main(["tile", *scale, *on_c]) == 0
    shown = capsys.readouterr().out
    assert "Ty=2, Tx=32" in shown
    assert f"sizes of {own}, found" in shown
    assert main(["offload", *scale, *on_c]) == 0
    assert "Ty=2, Tx=32" in capsys.readouterr().out
    assert main(["run", *scale, "--device", "c", "--size", "n=4,m=4"]) == 0
    assert "Ty=2, Tx=32" in capsys.readouterr().out
    assert main(["tile", "f.c", "--function", "other", *on_c]) == 0
    assert "sizes of f.tuning" in capsys.readouterr().out
    assert main(TILE) == 0
    assert "Ty=2, Tx=8" in capsys.readouterr().out
    own.write_text(own.read_text().replace(device, "H100"))
    assert main(["tile", *scale, *on_c]) == 0
    shown = capsys.readouterr().out
    assert f"{own} is for H100, and not used; sizes of f.tuning" in shown


@pytest.mark.parametrize("command", ["tile", "offload"])
def test_which_calls_are_the_hosts(command: str, capsys: Capture) -> None:
    """Whatever sizes are asked for, but of the device that is named, whose own file comes first."""
    words = [command, "f.c", "--function", "scale", "-q"]
    Path("f.tuning").write_text(f"{FOUND}scale.host=1234567\nother.host=always\n")
    written = Path("f_opencl.c")
    for options, limit in (
        ([], "1234567.0"),
        (["--Tx", "4"], "1234567.0"),
        (["--profile", "h100"], "LX_WEIGHED"),
        (["--no-tuning"], "LX_WEIGHED"),
    ):
        assert main([*words, *options]) == 0
        assert f".most_on_host = {limit}," in written.read_text()
    Path("f.h100.tuning").write_text("device=h100\nscale.host=never\n")
    assert main([*words, "--profile", "h100"]) == 0
    assert ".most_on_host = 0.0," in written.read_text()
    Path("f.tuning").write_text("scale.host=-1\n")
    assert main(words) == 2
    error = capsys.readouterr().err
    assert error.startswith("f.tuning:1:1: error: '-1' is not a number of operations from 0 on")


def test_another_version_and_values_that_are_no_sizes(capsys: Capture) -> None:
    for text, message in (
        (f"version=2\n{FOUND}", "f.tuning:1:1: error: this is version '2' of tuning files"),
        (FOUND.replace("Tx=8", "Tx=-8"), "f.tuning:5:1: error: '-8' is not a number from 1"),
        (FOUND.replace("Tx=8", "Tx=8k"), "f.tuning:5:1: error: '8k' is not a number from 1"),
    ):
        Path("f.tuning").write_text(text)
        assert main(TILE) == 2
        said = capsys.readouterr().err
        assert said.startswith(message)
        assert said.count("error:") == 1


def test_what_needs_permission_is_not_used_without(capsys: Capture) -> None:
    text = "void scale(int n, int m, const float a[n][m], float *restrict s)\n{\n"
    text += "  for (int i = 0; i < n; i++) {\n    float t = 0;\n"
    text += "    for (int j = 0; j < m; j++)\n      t += a[i][j];\n    s[i] = t;\n  }\n}\n"
    Path("f.c").write_text(text)
    found = "scale.fp=reassociate\nscale.recipe=reduce\nscale.Tx=64\n"
    Path("f.tuning").write_text(f"device=c\n{found}")
    for command in ("tile", "offload"):
        assert main([command, "f.c", "--dry-run"]) == 0
        shown = capsys.readouterr().out
        assert "sizes of f.tuning were found with --fp reassociate, and are not used" in shown
    assert main(["tile", "f.c", "--dry-run", "--fp", "reassociate"]) == 0
    assert f"Tx=64\n  note: {OF_ANOTHER}sizes of f.tuning" in capsys.readouterr().out


def test_a_file_that_is_no_text(capsys: Capture) -> None:
    Path("f.tuning").write_bytes(b"\0\xff")
    assert main(TILE) == 2
    said = capsys.readouterr().err
    assert "cannot read f.tuning" in said
    assert "--no-tuning leaves it alone" in said
    assert main([*TILE, "--no-tuning"]) == 0


def test_annotations_come_before_it(capsys: Capture) -> None:
    Path("f.tuning").write_text(FOUND)
    Path("f.c").write_text(
        TWO.replace("  for (int i", "#pragma loopxform tile(Ty=4)\n  for (int i", 1)
    )
    assert main(TILE) == 0
    assert "Ty=4" in capsys.readouterr().out.splitlines()[0]


def test_kept_results_notice_the_file(capsys: Capture) -> None:
    """`tile` keeps its results: a tuning file that appears, changes or goes counts."""
    heads = []
    for text in ("", FOUND, FOUND.replace("Ty=2", "Ty=4"), ""):
        if text:
            Path("f.tuning").write_text(text)
        else:
            Path("f.tuning").unlink(missing_ok=True)
        assert main(TILE) == 0
        heads.append(capsys.readouterr().out.splitlines()[0])
    assert heads[0] == heads[3]
    assert len(set(heads)) == 3


def test_rules_for_make_name_it() -> None:
    Path("f.tuning").write_text(FOUND)
    assert main(["tile", "f.c", "--function", "scale", "-q", "-MD"]) == 0
    assert "f.tuning" in Path("f.d").read_text()


@pytest.mark.parametrize("command", [TILE, ["run", *TILE[1:4], "--size", "n=4,m=4"]])
def test_a_file_that_says_nothing_meaningful(command: list[str], capsys: Capture) -> None:
    Path("f.tuning").write_text(FOUND + "stale.Ty=4\n")
    assert main(command) == 2
    said = capsys.readouterr().err
    assert said.startswith("f.tuning:6:1: error: there is no function 'stale' [LX072]\n")
    assert " 6 | stale.Ty=4\n" in said


def test_sizes_that_do_not_fit(capsys: Capture) -> None:
    Path("f.tuning").write_text(FOUND.replace("Tx=8", "Tx=2048"))
    assert main(TILE) == 2
    said = capsys.readouterr().err
    assert "the tile does not fit generic" in said
    assert f"   = {OF_ANOTHER}sizes of f.tuning" in said
    assert "tune again, or remove its lines" in said


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--budget", "0"], "'0' is no budget"),
        (["--budget", "110%"], "'110%' is no budget"),
        (["--budget", "-3"], "'-3' is no budget"),
        (["--budget", "some"], "'some' is no budget"),
        (["--limit", "0"], "'0' is not a number of seconds"),
        (["--limit", "nan"], "'nan' is not a number of seconds"),
        (["--size", "n=4"], "m"),
        (["--size", "k=4"], "'k'"),
    ],
)
def test_bad_input(options: list[str], message: str, capsys: Capture) -> None:
    words = ["tune", "f.c", "--function", "scale", "--device", "c"]
    size = [] if "--size" in options else ["--size", "n=4,m=4"]
    assert main([*words, *size, *options]) == 2
    said = capsys.readouterr().err
    assert message in said
    assert said.count("error:") == 1
    assert not Path("f.tuning").exists()


def test_others_in_the_file_stay(capsys: Capture) -> None:
    """Of the same device: what was found for another function."""
    device = limits_of(choose("c")).name
    others = "other.recipe=naive\nother.Tx=8\nother.Ty=1\n"
    Path("f.tuning").write_text(FOUND.replace("=c\n", f"={device}\n") + others)
    assert main([*TUNE.split(), "--budget", "2"]) in DONE
    tuning = parsed("f.tuning", Path("f.tuning").read_text(), ["scale", "other"])
    assert tuning.functions["other"].sizes == {"Ty": 1, "Tx": 8}
    capsys.readouterr()


def test_an_interrupt_leaves_no_process(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "loopxform", *TUNE.split(), "--budget", "40"]
    process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    memo = Path("cache/tune/f.jsonl")
    until = time.monotonic() + 60
    while time.monotonic() < until and not (memo.is_file() and "milliseconds" in memo.read_text()):
        time.sleep(0.05)
    os.kill(process.pid, signal.SIGINT)
    said, _ = process.communicate(timeout=30)
    assert process.returncode in DONE
    assert "interrupted: the best so far, without a race" in said
    children = subprocess.run(["pgrep", "-f", "loopxform.cli.tune_worker"], capture_output=True)
    assert str(tmp_path) not in children.stdout.decode()


def test_where_the_file_is() -> None:
    assert path_of("a/b.c.c") == Path("a/b.c.tuning")


@pytest.mark.parametrize(
    ("tuning", "note", "sizes"),
    [
        (FOUND, "sizes of f.tuning, found for another text of the function", "Ty=2, Tx=8"),
        (FOUND.replace("Tx=8", "Tx=2048"), "not used: they do not fit", "Ty=16, Tx=16"),
        ("", "", "Ty=16, Tx=16"),
    ],
)
def test_offload_uses_it(tuning: str, note: str, sizes: str, capsys: Capture) -> None:
    if tuning:
        Path("f.tuning").write_text(tuning)
    assert main(["offload", "f.c", "--dry-run"]) == 0
    shown = capsys.readouterr().out
    assert f"one work-item per iteration, {sizes} (lx_scale" in shown
    assert (f"note: scale: {OF_ANOTHER}sizes of f.tuning" in shown) == bool(tuning)
    assert note in shown
    assert main(["offload", "f.c", "--dry-run", "--no-tuning"]) == 0
    assert "f.tuning" not in capsys.readouterr().out
    assert main(["offload", "f.c", "--dry-run", "--Ty", "4"]) == 0
    assert "f.tuning" not in capsys.readouterr().out


def test_offload_leaves_other_functions_alone(capsys: Capture) -> None:
    two = TWO.replace("void other", "void scale2").replace("a[i] += 1;", "a[i] += 1;\n")
    Path("f.c").write_text(two)
    Path("f.tuning").write_text(FOUND)
    assert main(["offload", "f.c", "--dry-run"]) == 0
    shown = capsys.readouterr().out
    assert "scale2: 1 kernel" in shown
    assert shown.count("Ty=2, Tx=8") == 1


def test_what_cannot_be_written_is_said_before_anything_is_measured(capsys: Capture) -> None:
    words = [*TUNE.split(), "--budget", "2"]
    Path("f.tuning").mkdir()
    assert main(words) == 2
    assert "'f.tuning' is no file" in capsys.readouterr().err
    assert main(TILE) == 2
    capsys.readouterr()
    Path("f.tuning").rmdir()
    Path("f.tuning").write_text("scale.bogus=1\n")
    assert main(words) == 2
    assert "there is no parameter 'bogus'" in capsys.readouterr().err
    Path("f.tuning").unlink()
    assert main([*words, "-o", "f.c"]) == 2
    captured = capsys.readouterr()
    assert "cannot write 'f.c/f.tuning'" in captured.err
    assert "measured" not in captured.out


def test_offload_takes_the_recipe_that_was_found(capsys: Capture) -> None:
    """Here another one than it would choose."""
    Path("f.c").write_text((CORPUS / "nests" / "row_sum.c").read_text())
    assert main(["offload", "f.c", "--dry-run"]) == 0
    assert "tiling along one loop" in capsys.readouterr().out
    Path("f.tuning").write_text(FOUND.replace("scale", "row_sum"))
    for command in ("tile", "offload"):
        assert main([command, "f.c", "--dry-run"]) == 0
        assert "one work-item per iteration, Ty=2, Tx=8" in capsys.readouterr().out
