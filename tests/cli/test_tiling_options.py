"""Options of `tile` and `run` beside sizes: the plan, layouts, chunks of reductions, edges."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import Golden

from loopxform.cli import main

Capture = pytest.CaptureFixture[str]
CORPUS = Path(__file__).parents[2] / "corpus"
MM, ROWS = str(CORPUS / "mm.c"), str(CORPUS / "nests" / "row_sum.c")
SHIFT = str(CORPUS / "nests" / "best_shift.c")
FEW = ("--Ty", "4", "--Tx", "4", "--Tk", "8", "--Ry", "2", "--Rx", "4")
"""Sizes of tiles whose kernels compile quickly."""
SUMS = """\
void sums(int n, int m, const int a[restrict n][m], int s[restrict n])
{
  for (int i = 0; i < n; i++) {
    int t = 3;
    for (int k = 0; k < m; k++)
      t += a[i][k];
    s[i] = t;
  }
}
"""


@pytest.mark.parametrize(
    "name",
    ["mm", "nests/lava_boxes", "nests/heat_2d", "nests/filter_7x7", "nests/smoothing_grid"],
)
def test_the_plan_says_what_is_invariant(
    name: str, golden: Golden, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(CORPUS)  # the plan has places in the file, by the name that is given
    assert main(["tile", f"{name}.c", "--show-plan", "--dry-run", "-q"]) == 0
    golden.check(capsys.readouterr().out)


@pytest.mark.parametrize("profile", ["h100", "mi250", "intel-xe", "mali", "pocl"])
def test_the_plan_says_what_fits_a_device(profile: str, golden: Golden, capsys: Capture) -> None:
    """And why sizes are no larger."""
    command = ["tile", MM, "--Ty", "32", "--profile", profile, "--show-plan", "--dry-run", "-q"]
    assert main(command) == 0
    golden.check(capsys.readouterr().out)


@pytest.mark.parametrize(
    "option",
    [
        pytest.param((), id="versions"),
        pytest.param(("--pack", "0"), id="no-copies", marks=pytest.mark.slow),
        pytest.param(("--specialise", "M=64,N=64,U=64"), id="numbers"),
    ],
)
def test_the_plan_says_what_the_host_chooses(
    option: tuple[str, ...], golden: Golden, capsys: Capture
) -> None:
    command = ["tile", MM, *option, "--profile", "h100", "--show-plan", "--dry-run", "-q"]
    assert main(command) == 0
    golden.check(capsys.readouterr().out)


@pytest.mark.parametrize(
    "name", ["csr", "masked_mean", "triangular_product", "filter_7x7", "batch_scale"]
)
def test_the_summary_counts_accesses(name: str, golden: Golden, capsys: Capture) -> None:
    assert main(["tile", str(CORPUS / "nests" / f"{name}.c"), "--dry-run"]) == 0
    golden.check(capsys.readouterr().out)


def test_transactions_of_a_group_for_each_result(tmp_path: Path, capsys: Capture) -> None:
    """Its work-items read a row in steps of 8 floats of a transaction; the first writes s."""
    file = tmp_path / "sums.c"
    file.write_text(SUMS)
    assert main(["tile", str(file), "--recipe", "reduce", "--Tx", "64", "--dry-run"]) == 0
    out = capsys.readouterr().out
    assert "    a     1.049 M -> 131.1 k\n    s     128 -> 1.024 k\n" in out


@pytest.mark.device
@pytest.mark.parametrize(
    "options",
    [
        [MM, *FEW, "--relayout", "A:1,0", "--size", "M=37,U=21,N=40"],
        [MM, *FEW, "--relayout", "A:1,0", "--relayout", "B:1,0", "--size", "M=7,U=1,N=40"],
        [MM, *FEW, "--pad", "--size", "M=37,U=21,N=40"],
        [MM, *FEW, "--pad", "--separate-full-tiles", "--size", "M=19,U=21,N=50"],
        [MM, *FEW, "--vector", "4", "--index", "32", "--size", "M=37,U=24,N=40"],
        [MM, *FEW, "--stages", "2", "--register-pipeline", "--size", "M=37,U=21,N=40"],
        [MM, *FEW, "--stages", "3", "--async-copies", "--size", "M=37,U=21,N=40"],
        [MM, *FEW, "--no-pad", "--no-register-pipeline", "--size", "M=37,U=21,N=40"],
        [
            MM,
            "--profile",
            "h100",
            "--Ty",
            "4",
            "--Tx",
            "8",
            "--warp-tile",
            "4x8",
            "--size",
            "M=37,U=21,N=40",
        ],
        [ROWS, "--relayout", "A:1,0", "--size", "M=70,N=55"],
        [SHIFT, "--profile", "generic", "--size", "n=70,shifts=5,len=33"],
        [SHIFT, "--profile", "generic", "--relayout", "none", "--size", "n=70,shifts=5,len=33"],
        [SHIFT, "--profile", "generic", "--size", "n=1,shifts=1,len=1"],
        [ROWS, "--Rk", "2", "--Tk", "8", "--reassociate", "--size", "M=70,N=555"],
        [ROWS, "--Rk", "1", "--Tk", "8", "--reassociate", "--size", "M=1,N=3"],
    ],
    ids=str,
)
def test_runs_like_the_c_program(options: list[str], capsys: Capture) -> None:
    assert main(["run", *options]) == 0
    assert "verified" in capsys.readouterr().out


@pytest.mark.device
def test_integers_need_no_leave_to_be_added_in_another_order(
    tmp_path: Path, capsys: Capture
) -> None:
    (tmp_path / "f.c").write_text(SUMS)
    command = ["run", str(tmp_path / "f.c"), "--Rk", "2", "--Tk", "4"]
    for size in ("n=33,m=100", "n=1,m=0", "n=3,m=1"):
        assert main([*command, "--size", size]) == 0
        assert "are identical to your C's" in capsys.readouterr().out


def test_sums_of_floats_in_chunks_are_refused(golden: Golden, capsys: Capture) -> None:
    assert main(["tile", ROWS, "--Rk", "2", "--dry-run"]) == 1
    golden.check(capsys.readouterr().err.replace(str(CORPUS), "corpus"))


@pytest.mark.parametrize("text", ["A", "A:", ":1,0", "A:x", "A:1,1", "A:0,1", "X:1,0", "NONE"])
def test_layouts_that_are_none(text: str, capsys: Capture) -> None:
    assert main(["tile", MM, "--relayout", text, "--dry-run"]) in (1, 2)
    assert "error: " in capsys.readouterr().err


@pytest.mark.parametrize(
    ("option", "text"),
    [("--vector", "3"), ("--vector", "0"), ("--warp-tile", "4"), ("--warp-tile", "x8")],
)
def test_steps_that_cannot_be_asked_for(option: str, text: str, capsys: Capture) -> None:
    assert main(["tile", MM, option, text, "--dry-run"]) == 2
    assert "error: " in capsys.readouterr().err


def summary(capsys: Capture, *options: str) -> str:
    assert main(["tile", SHIFT, "--dry-run", *options]) == 0
    return capsys.readouterr().out


def test_a_copy_is_told_of_and_can_be_declined(capsys: Capture) -> None:
    copied, plain = summary(capsys), summary(capsys, "--relayout", "none")
    note = "  note: x is read from x_t, a copy in another layout (--relayout none: not so)\n"
    assert note in copied
    assert "    x     1.074 G -> 131.1 k\n" in copied
    assert "x_t" not in plain
    assert "transactions" not in plain  # nothing changes them
    assert "transactions" not in summary(capsys, "--profile", "pocl")
    assert "x_t" not in summary(capsys, "--recipe", "naive")


def test_a_plan_and_a_summary_tell_transactions_once(capsys: Capture) -> None:
    assert summary(capsys, "--show-plan").count("transactions") == 1
    assert summary(capsys, "--show-plan", "-q").count("transactions") == 1
    assert "transactions" not in summary(capsys, "-q")
