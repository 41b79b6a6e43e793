"""Thresholds on the command line, in annotations and in scripts."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from conftest import Golden

import loopxform as lx
from loopxform.cli import main
from loopxform.cli.script import Script, Text
from loopxform.errors import ArgumentError

Capture = pytest.CaptureFixture[str]

ROWS = """\
void rows(int n, int m, const int a[n][m], const int x[m], int y[n])
{
#pragma loopxform NOTE
  for (int i = 0; i < n; i++) {
    int s = 0;
    for (int j = 0; j < m; j++)
      s += a[i][j] * x[j];
    y[i] = s;
  }
}
"""


@pytest.fixture(autouse=True)
def rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("rows.c").write_text(ROWS.replace("#pragma loopxform NOTE\n", ""))


def host(command: str) -> str:
    """The conditions of the host in the file that a command writes, with what it is built with."""
    assert main([*command.split(), "-o", "out"]) == 0
    written = Path("out", "rows_opencl.c").read_text()
    conditions = " ".join(re.findall(r"if \((\(long long\)n <.*)\) \{", written))
    numbers = re.findall(r'\{ "suff_\w+", (\d+), -1 \}', written)
    variable = r"lx_thresholds_rows\[(\d)\]\.used_number"
    return re.sub(variable, lambda m: numbers[int(m[1])], conditions)


@pytest.mark.parametrize("command", ["tile rows.c", "offload rows.c"])
def test_a_value_on_the_command_line(command: str) -> None:
    both = "suff_group_par_2=5,suff_inner_par_3=0"
    asked = f"{command} --threshold {both} --threshold suff_intra_par_1=9"
    assert "(long long)n < 5 && (long long)m >= 0" in host(asked)
    assert re.search(r"\(long long\)n < \d+ && \(long long\)m >= 9", host(asked))


def test_a_value_in_an_annotation() -> None:
    note = "tile(threshold(suff_outer_par_0=123))"
    Path("rows.c").write_text(ROWS.replace("NOTE", note))
    assert "(long long)n < 123 && " in host("tile rows.c")
    assert "(long long)n < 123 && " in host("offload rows.c")


def test_a_value_for_the_steps_of_a_script(capsys: Capture, golden: Golden) -> None:
    assert main(["tile", "rows.c", "--json", "plan.json", "-q", "-o", "out"]) == 0
    replayed = "apply rows.c --script plan.json --emit opencl"
    assert "(long long)n < 77 && " in host(f"{replayed} --set suff_outer_par_0=77")
    assert host(replayed) == host("tile rows.c")
    capsys.readouterr()
    assert main([*replayed.split(), "--set", "suff_outer_par_0=2147483648"]) == 2
    golden.check(capsys.readouterr().err)


def test_a_plan_shows_variant_guard_and_cost(capsys: Capture, golden: Golden) -> None:
    assert main(["tile", "rows.c", "--profile", "h100", "--show-plan", "--dry-run", "-q"]) == 0
    shown = capsys.readouterr().out
    golden.check(shown[shown.index("  variants") : shown.index("  steps left out")])


REFUSED = {
    "unknown": ("tile rows.c --threshold suff_outer_pra_0=3", ""),
    "unknown-offload": ("offload rows.c --threshold suff_outer_par_9=3", ""),
    "none": ("tile rows.c --recipe 1-d --threshold suff_outer_par_0=3", ""),
    "negative": ("tile rows.c --threshold suff_outer_par_0=-1", ""),
    "nameless": ("tile rows.c --threshold 5", ""),
    "c": ("tile rows.c --target openmp --threshold suff_outer_par_0=3", ""),
    "annotated": ("tile rows.c", "tile(threshold(suff=3))"),
    "annotated-offload": ("offload rows.c", "tile(threshold(suff=3))"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case: str, capsys: Capture, golden: Golden) -> None:
    command, note = REFUSED[case]
    if note:
        Path("rows.c").write_text(ROWS.replace("NOTE", note))
    assert main([*command.split(), "-o", "out"]) == (1 if note else 2)
    assert not Path("out").exists()
    golden.check(capsys.readouterr().err)


def test_in_python() -> None:
    (routine,) = lx.loads(ROWS.replace("#pragma loopxform NOTE\n", ""))
    for call in (routine.tile, routine.offload):
        done = call(threshold={"suff_outer_par_0": 5})
        assert done.derivation.records[-1].step.to_json()["thresholds"]["suff_outer_par_0"] == 5
        with pytest.raises(ArgumentError):
            call(threshold={"suff_outer_par_0": -5})
    with pytest.raises(ArgumentError, match="there is no threshold 'suff'"):
        routine.tile(threshold={"suff": 5})


def test_thresholds_of_variants_inside_variants() -> None:
    text = Text("plan.json", "", 0, 0)
    inner = {"step": "dispatch", "loop": "j", "thresholds": {"a_0": 1}, "variants": []}
    rows = [{"label": "", "steps": [{"step": "sequentialise", "loop": "k"}, inner]}]
    outer = {"step": "dispatch", "loop": "i", "thresholds": {"b_1": 2}, "variants": rows}
    script = Script(steps=((outer, text),))
    assert script.thresholds == {"a_0": 1, "b_1": 2}
    assert script.with_thresholds({"a_0": 7}).thresholds == {"a_0": 7, "b_1": 2}
    assert script.with_thresholds({"a_0": 1}).steps == script.steps
