"""`loopxform tune --tree`, `--dot` and `--thresholds`, and what reads the thresholds."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from conftest import Golden

from loopxform.cli import main
from loopxform.tune import threshold_session

Capture = pytest.CaptureFixture[str]
PROGRAMS = Path(__file__).parents[2] / "corpus" / "programs"

TEXT = """\
void rows(int n, int m, const int a[n][m], int y[n])
{
  for (int i = 0; i < n; i++) {
    int s = 0;
    for (int j = 0; j < m; j++)
      s += a[i][j];
    y[i] = s;
  }
}
void both(int n, int m, const int a[n][m], const int b[m][n], int y[n], int z[n])
{
  for (int i = 0; i < n; i++) {
    int s = 0;
    for (int j = 0; j < m; j++)
      s += a[i][j];
    y[i] = s;
  }
  for (int k = 0; k < n; k++) {
    int t = 0;
    for (int j = 0; j < m; j++)
      t ^= b[j][k];
    z[k] = t;
  }
}
void scale(int n, float a[n])
{
  for (int i = 0; i < n; i++)
    a[i] *= 2;
}
void total(int n, int m, const float a[n][m], float y[n])
{
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      y[i] += a[i][j];
}
"""
ROWS = ["--function", "rows"]
SETS = ["--sizes", "n=1,300", "--sizes", "m=4,3000"]
TUNE = ["tune", "f.c", "--device", "c", "--profile", "generic", "--repeat", "2", "--thresholds"]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LOOPXFORM_CACHE", str(tmp_path / "cache"))
    # What is measured in these tests takes microseconds, and the machine may be busy.
    monkeypatch.setattr(threshold_session, "NOISY", 99.0)
    Path("f.c").write_text(TEXT)


def test_the_tree(capsys: Capture, golden: Golden) -> None:
    assert main(["tune", "f.c", *ROWS, "--tree", "--profile", "h100", *SETS]) == 0
    golden.check(capsys.readouterr().out)
    assert main(["tune", "f.c", *ROWS, "--dot", "--threshold", "suff_outer_par_0=7", *SETS]) == 0
    golden.check(capsys.readouterr().out, "dot")


def test_the_forest_of_a_whole_function(capsys: Capture, golden: Golden) -> None:
    assert main(["tune", "f.c", "--function", "both", "--tree", "--size", "n=9,m=8"]) == 0
    golden.check(capsys.readouterr().out)


def test_versions_inside_of_a_version(capsys: Capture, golden: Golden) -> None:
    """Where an outer loop is flattened, the nests inside have trees of their own, which all run:
    figure 8 of Rotendahl and Larsen."""
    sizes = ["--size", "rounds=10,n=256,m=4096", "--sizes", "outer=8,100000"]
    words = ["tune", str(PROGRAMS / "sinkhorn.c"), "--offload", *sizes, "--profile", "h100"]
    for option in ("--tree", "--dot"):
        assert main([*words, "--fp", "reassociate", option]) == 0
        golden.check(capsys.readouterr().out, option.lstrip("-"))


def test_the_plan_runs_nothing(capsys: Capture) -> None:
    assert main([*TUNE, *ROWS, *SETS, "--plan"]) == 0
    assert "3 versions, 5 paths, 12 measurements for 4 data sets\n" in capsys.readouterr().out
    assert not Path("f.tuning").exists()


@pytest.mark.parametrize("function", ["rows", "both"])
def test_what_is_found_is_read(function: str, capsys: Capture) -> None:
    """Groups for rows of four terms are slower by far, on a CPU: work-items or chunks do better."""
    bad = "suff_outer_par_0=2147483647,suff_intra_par_1=0"
    sizes = ["--size", "n=300,m=4"]
    assert main([*TUNE, "--function", function, *sizes, "--threshold", bad]) == 0
    shown = capsys.readouterr().out
    assert "wrote f.tuning" in shown
    written = Path("f.tuning").read_text()
    assert f"{function}.suff_outer_par_0=" in written
    values = re.findall(r"\.(suff_outer_par_0|suff_intra_par_1)=(\d+)", written)
    asked = dict(values)
    items = int(asked["suff_outer_par_0"]) <= 300 or int(asked["suff_intra_par_1"]) > 4
    chunks = re.search(rf"{function}\.suff_group_par_2=(\d+)", written)
    assert items or (chunks and int(chunks[1]) > 300)
    assert main(["offload", "f.c", "--function", function, "--dry-run"]) == 0
    shown = capsys.readouterr().out
    assert all(f"{name} = {value}" in shown for name, value in values)
    if function == "rows":
        tile = ["tile", "f.c", *ROWS, "--dry-run", "--show-plan"]
        assert main(tile) == 0
        shown = capsys.readouterr().out
        assert all(f"{name} = {value}" in shown for name, value in values)
        assert main([*tile, "--threshold", "suff_intra_par_1=3"]) == 0
        assert "suff_intra_par_1 = 3," in capsys.readouterr().out


REFUSED = {
    "no-versions": [*TUNE, "--function", "scale", "--size", "n=4"],
    "no-permission": ["tune", "f.c", "--function", "total", "--tree", "--size", "n=4,m=4"],
    "no-size": ["tune", "f.c", *ROWS, "--tree", "--size", "n=4"],
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case: str, capsys: Capture, golden: Golden) -> None:
    assert main(REFUSED[case]) == (2 if case == "no-size" else 3)
    golden.check(capsys.readouterr().err)


LINES = {
    "stale": "rows.suff_outer_par_7=5",
    "negative": "rows.suff_outer_par_0=-5",
    "large": "rows.suff_outer_par_0=2147483648",
    "misspelt": "rows.suff_outer_pra_0=5",
    "no-number": "rows.suff_outer_par=5",
}


@pytest.mark.parametrize("case", LINES)
def test_bad_lines(case: str, capsys: Capture, golden: Golden) -> None:
    Path("f.tuning").write_text(f"device=c\nrows.text=0\n{LINES[case]}\n")
    assert main(["tile", "f.c", *ROWS, "-o", "out"]) == 2
    assert not Path("out").exists()
    golden.check(capsys.readouterr().err)


def test_offload_goes_without_stale_ones(capsys: Capture) -> None:
    Path("f.tuning").write_text("rows.suff_outer_par_7=5\nrows.suff_outer_par_0=6\n")
    assert main(["offload", "f.c", *ROWS, "--dry-run"]) == 0
    shown = capsys.readouterr().out
    assert "text of the function, without suff_outer_par_7, which no guard compares with\n" in shown
    assert "suff_outer_par_0 = 6," in shown


def test_other_lines_of_the_file_stay() -> None:
    others = "# mine\ndevice=c\nscale.text=1\nscale.recipe=naive\nscale.Ty=2\n"
    Path("f.tuning").write_text(f"{others}rows.suff_intra_par_1=9\n")
    bad = "suff_outer_par_0=2147483647,suff_intra_par_1=0"
    assert main([*TUNE, *ROWS, "--size", "n=500,m=4", "--threshold", bad]) == 0
    after = Path("f.tuning").read_text()
    assert after.startswith(others)
    assert len(re.findall(r"rows\.suff_intra_par_1=", after)) == 1
