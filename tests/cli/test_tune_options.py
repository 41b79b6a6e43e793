"""`tune --tune`: options that vary beside sizes, and those of the command line, in tuning files."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import drawn_worker
import pytest
from tuning_folder import enter

from loopxform.cli import main
from loopxform.schedule.tiling_options import NAMED, TUNED, words
from loopxform.schedule.tuning_file import parsed

Capture = pytest.CaptureFixture[str]
MM = """
void mm(int M, int U, int N, const float A[M][U], const float B[U][N], float C[M][N])
{
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++) {
      float c = 0;
      for (int k = 0; k < U; k++)
        c += A[i][k] * B[k][j];
      C[i][j] = c;
    }
}
"""
SIZED = ["--size", "M=9,U=10,N=11", "--Tk", "8", "--Ry", "2", "--Rx", "2"]
WORDS = ["tune", "mm.c", "--device", "c", *SIZED, "--repeat", "2"]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    enter(tmp_path, monkeypatch, MM, "mm.c")


def tune(*options: str) -> str:
    command = [sys.executable, drawn_worker.__file__, *WORDS, *options]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.slow
def test_options_are_found_and_used(capsys: Capture) -> None:
    said = tune("--tune", "stages,vector", "--budget", "120")
    assert "  stages auto, 1, 2\n" in said
    assert "  42 candidates, 36 legal, 120 to measure" in said
    assert "Ty=4, Tx=32, Tk=8, Ry=2, Rx=2, stages=2, vector=4" in said
    found = parsed("mm.tuning", Path("mm.tuning").read_text(), ["mm"]).functions["mm"]
    assert found.sizes == {"Ty": 4, "Tx": 32, "Tk": 8, "Ry": 2, "Rx": 2}
    assert found.options == {"stages": "2", "vector": "4"}
    for command in ("tile", "offload"):
        assert main([command, "mm.c", "-o", command]) == 0
        shown = capsys.readouterr().out
        assert "Ty=4, Tx=32, Tk=8, Ry=2, Rx=2" in shown
    kernel = Path("tile/mm.cl").read_text()
    sizes = [f"--{n}={v}" for n, v in found.sizes.items()]
    own = ["--no-tuning", "--stages", "2", "--vector", "4", *sizes, "-o", "by"]
    assert main(["tile", "mm.c", *own]) == 0
    assert Path("by/mm.cl").read_text() == kernel


def test_options_of_the_command_line_are_kept() -> None:
    tune("--stages", "2", "--no-pad", "--budget", "20")
    found = parsed("mm.tuning", Path("mm.tuning").read_text(), ["mm"]).functions["mm"]
    assert found.options == {"stages": "2", "pad": "off"}


def test_tiled_c_leaves_out_what_only_devices_have() -> None:
    Path("mm.tuning").write_text("mm.recipe=register\nmm.Ty=4\nmm.Tx=8\nmm.stages=2\nmm.pad=off\n")
    assert main(["tile", "mm.c", "--target", "openmp", "-q", "-o", "tuned"]) == 0
    own = ["--no-tuning", "--recipe", "register", "--Ty", "4", "--Tx", "8", "--no-pad"]
    assert main(["tile", "mm.c", "--target", "openmp", "-q", "-o", "given", *own]) == 0
    tuned = Path("tuned/mm_openmp.c").read_text()
    assert tuned == Path("given/mm_openmp.c").read_text()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--tune", "stage"], "'stage' is no option that can be tuned"),
        (["--tune", "reassociate"], "'reassociate' is no option that can be tuned"),
        (["--tune", "stages", "--stages", "2"], "--stages is given, and cannot vary"),
    ],
)
def test_bad_options(options: list[str], message: str, capsys: Capture) -> None:
    assert main([*WORDS, *options]) == 2
    said = capsys.readouterr().err
    assert message in said
    assert said.count("error:") == 1


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("mm.stages=0", "stages"),
        ("mm.vector=3", "no vector has 3 elements"),
        ("mm.pad=maybe", "'maybe' is not on or off"),
        ("mm.async-copies=off", "'off' is not on"),
        ("mm.stage=2", "there is no parameter 'stage'"),
    ],
)
def test_lines_that_mean_nothing(line: str, message: str, capsys: Capture) -> None:
    Path("mm.tuning").write_text(f"mm.recipe=register\nmm.Ty=4\n{line}\n")
    assert main(["tile", "mm.c", "--dry-run"]) == 2
    said = capsys.readouterr().err
    assert said.startswith("mm.tuning:3:1: error: ")
    assert message in said


def test_every_value_that_is_tried_is_one_of_the_option() -> None:
    for name, values in TUNED.items():
        for value in values:
            ((written, text),) = words({name: value}).items()
            NAMED[written].kind.parse(written, text)
