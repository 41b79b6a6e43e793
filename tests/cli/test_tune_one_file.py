"""Sizes and thresholds in one tuning file: each is tuned anew without the other, and both are
read."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import drawn_worker
import pytest
from tuning_folder import enter

from loopxform import load
from loopxform.cli import main
from loopxform.cli.measuring import turn_of
from loopxform.cli.tuned import digest_of
from loopxform.runtime.profiles import limits_of
from loopxform.runtime.selection import choose
from loopxform.schedule.tuning_file import parsed, suffix_for
from loopxform.tune import threshold_session
from loopxform.tune.locks import locked

Capture = pytest.CaptureFixture[str]

TEXT = """\
void rows(int n, int m, const TYPE a[n][m], const TYPE x[m], TYPE y[n])
{
  for (int i = 0; i < n; i++) {
    TYPE most = 0;
    int place = 0;
    for (int j = 0; j < m; j++)
      if (a[i][j] + x[j] > most) {
        most = a[i][j] + x[j];
        place = j;
      }
    y[i] = place;
  }
}
"""
WORDS = ["tune", "f.c", "--device", "c", "--repeat", "7", "--size", "n=300,m=4"]
BAD = "suff_outer_par_0=2147483647,suff_intra_par_1=0"
"""Groups for rows of four terms are slower by far, on a CPU."""

SIZES = "rows.recipe=1-d\nrows.Tx=8\nrows.Tk=4\n"
THRESHOLDS = "# rows thresholds, n=9: 1 ms, defaults 2 ms\nrows.suff_outer_par_0=77\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    enter(tmp_path, monkeypatch, "")
    # What is measured in these tests takes microseconds, and the machine may be busy.
    monkeypatch.setattr(threshold_session, "NOISY", 99.0)
    program("int")


def program(kind: str) -> None:
    Path("f.c").write_text(TEXT.replace("TYPE", kind))


def device() -> str:
    return limits_of(choose("c")).name


def tune_sizes() -> None:
    """By the times of `drawn_worker`: Tx=32 is the quickest."""
    command = [sys.executable, drawn_worker.__file__, *WORDS, "--Tk", "4"]
    subprocess.run(command, check=True, capture_output=True, timeout=120)


def tune_thresholds(*words: str) -> int:
    return main([*WORDS, "--thresholds", "--threshold", BAD, *words])


def values(pattern: str, name: str = "f.tuning") -> dict[str, str]:
    return dict(re.findall(rf"^rows\.({pattern})=(.*)$", Path(name).read_text(), re.MULTILINE))


def test_sizes_are_tuned_anew_and_thresholds_stay(capsys: Capture) -> None:
    Path("f.tuning").write_text(f"device={device()}\n{SIZES}{THRESHOLDS}")
    tune_sizes()
    text = Path("f.tuning").read_text()
    assert THRESHOLDS in text
    assert values("Tx") == {"Tx": "32"}
    assert values("text|fp") == {"text": digest_of(load("f.c")["rows"]), "fp": "contract"}
    found = parsed("f.tuning", text, ["rows"]).functions["rows"]
    assert found.sizes["Tx"] == 32
    assert found.thresholds == {"suff_outer_par_0": 77}
    assert main(["tile", "f.c", "--dry-run", "--show-plan"]) == 0
    shown = capsys.readouterr().out
    assert "Tx = 32 of" in shown
    assert "suff_outer_par_0 = 77" in shown
    assert "sizes of f.tuning; thresholds of f.tuning, found for another text" in shown


def test_thresholds_are_tuned_anew_and_sizes_stay(capsys: Capture) -> None:
    about = "# rows, n=9: 1 ms, defaults 2 ms\nrows.text=77\nrows.fp=strict\n"
    Path("f.tuning").write_text(f"device={device()}\n{THRESHOLDS}{about}{SIZES}")
    assert tune_thresholds() == 0
    text = Path("f.tuning").read_text()
    assert f"{about}{SIZES}" in text
    assert THRESHOLDS not in text
    now = values("suff_.*")
    assert int(now["suff_outer_par_0"]) <= 300 or int(now["suff_intra_par_1"]) > 4
    assert values("threshold_text") == {"threshold_text": digest_of(load("f.c")["rows"])}
    capsys.readouterr()
    for command in ("tile", "offload"):
        assert main([command, "f.c", "--dry-run"]) == 0
        shown = capsys.readouterr().out
        assert "thresholds of f.tuning" in shown
        assert "Tx=8, Tk=4" in shown


def test_thresholds_are_measured_with_the_sizes_of_the_file(capsys: Capture) -> None:
    """The default of the outermost depends on how many work-items the tiles make of a nest."""
    tree = ["tune", "f.c", "--tree", "--profile", "h100", "--size", "n=300,m=4"]
    assert main([*tree, "--Tx", "256", "--Tk", "4"]) == 0
    asked = capsys.readouterr().out
    assert main(tree) == 0
    assert capsys.readouterr().out != asked
    Path("f.tuning").write_text(f"device=h100\n{SIZES.replace('Tx=8', 'Tx=256')}")
    assert main(tree) == 0
    assert capsys.readouterr().out == asked


def test_the_file_of_a_second_device_has_thresholds_too(capsys: Capture) -> None:
    other = f"device=another\n{SIZES}{THRESHOLDS}"
    Path("f.tuning").write_text(other)
    own = f"f{suffix_for(device())}"
    assert tune_thresholds() == 0
    assert f"wrote {own}\n" in capsys.readouterr().out
    tune_sizes()
    assert Path("f.tuning").read_text() == other
    now = values("suff_.*", own)
    assert values("Tx", own) == {"Tx": "32"}
    assert main(["tile", "f.c", "--dry-run", "--show-plan", "--device", "c"]) == 0
    shown = capsys.readouterr().out
    assert f"(sizes and thresholds of {own})" in shown
    assert all(f"{name} = {value}" in shown for name, value in now.items())
    assert main(["tile", "f.c", "--dry-run", "--show-plan"]) == 0
    assert "suff_outer_par_0 = 77" in capsys.readouterr().out


def test_each_counts_for_what_it_was_found_with(capsys: Capture) -> None:
    """Sums of floats have versions only where their order is free; sizes of theirs stay in use."""
    program("float")
    level = "rows.threshold_fp=reassociate\n"
    Path("f.tuning").write_text(f"device=c\n{SIZES}{level}{THRESHOLDS}")
    assert main(["tile", "f.c", "--dry-run"]) == 0
    shown = capsys.readouterr().out
    assert "thresholds of f.tuning were found with --fp reassociate, and are not used" in shown
    assert "Tx=8, Tk=4" in shown
    assert main(["tile", "f.c", "--dry-run", "--show-plan", "--fp", "reassociate"]) == 0
    assert "suff_outer_par_0 = 77" in capsys.readouterr().out


def test_what_has_no_versions_leaves_thresholds_alone(capsys: Capture) -> None:
    Path("f.tuning").write_text(f"device=c\nrows.recipe=naive\nrows.Tx=8\n{THRESHOLDS}")
    assert main(["tile", "f.c", "--dry-run"]) == 0
    shown = capsys.readouterr().out
    assert "its thresholds are not used: naive by name has no versions" in shown
    Path("f.tuning").write_text(f"device=c\n{SIZES}{THRESHOLDS}")
    assert main(["tile", "f.c", "--dry-run", "--target", "openmp"]) == 0
    shown = capsys.readouterr().out
    assert "; sizes of f.tuning" in shown
    assert "thresholds" not in shown


def test_a_threshold_of_the_command_line_is_no_fault_of_the_file(capsys: Capture) -> None:
    Path("f.tuning").write_text(f"device=c\n{SIZES}{THRESHOLDS}")
    assert main(["tile", "f.c", "--dry-run", "--threshold", "suff=3"]) == 2
    said = capsys.readouterr().err
    assert "there is no threshold 'suff' [LX020]" in said
    assert "f.tuning" not in said


EXCLUDED = ("--tune all", "--budget 9", "--jobs 2", "--shard 1/2", "--shared d", "--json f")


@pytest.mark.parametrize("words", EXCLUDED)
def test_options_of_the_search_for_sizes(words: str, capsys: Capture) -> None:
    assert tune_thresholds(*words.split()) == 2
    option = words.split()[0]
    assert f"--thresholds and {option} exclude each other" in capsys.readouterr().err


def test_they_take_turns() -> None:
    """Nothing is measured while another process measures."""
    command = [sys.executable, "-u", "-m", "loopxform", *WORDS, "--thresholds"]
    with locked(turn_of(choose("c"))):
        pipe = subprocess.PIPE
        process = subprocess.Popen([*command, "--threshold", BAD], stdout=pipe, text=True)
        assert process.stdout is not None
        said = [next(process.stdout) for _ in range(3)]
        assert said[-1].endswith(": taking turns\n")
    rest, _ = process.communicate(timeout=120)
    assert process.returncode in (0, 5)
    assert "taking turns" not in rest
