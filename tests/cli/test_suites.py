"""The scripts that run public suites from a folder, on folders of two files."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from c_project import require_opencl

SCRIPTS = Path(__file__).parents[2] / "scripts"
CORPUS = Path(__file__).parents[2] / "corpus"

RACE = """int main(void) {
  double a[100];
#pragma omp parallel for
  for (int i = 1; i < 100; i++) a[i] = STEP;
}
"""


def script(name: str, *args: object) -> tuple[int, str]:
    command = [sys.executable, str(SCRIPTS / name), *map(str, args)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    return done.returncode, done.stdout + done.stderr


def test_the_audit_of_a_suite(tmp_path: Path) -> None:
    (tmp_path / "one-yes.c").write_text(RACE.replace("STEP", "a[i - 1]"))
    (tmp_path / "two-no.c").write_text(RACE.replace("STEP", "i"))
    status, text = script("audit_suite.py", tmp_path)
    assert status == 0, text
    table = [line.split()[-3:] for line in text.splitlines()[1:3]]
    assert table == [["1", "0", "0"], ["0", "1", "0"]]
    assert text.endswith("none is wrong\n")
    (tmp_path / "two-no.c").rename(tmp_path / "two-yes.c")
    status, text = script("audit_suite.py", tmp_path)
    assert (status, "two-yes.c: race-free" in text) == (1, True)


def test_the_verdicts_of_a_suite(tmp_path: Path) -> None:
    for name in ("diagonals", "timing"):
        (tmp_path / f"{name}.c").write_text((CORPUS / "vectorisation" / f"{name}.c").read_text())
    status, text = script("check_suite.py", tmp_path, "--not-over", "round")
    assert status == 0, text
    assert "2 files" in text
    assert "unknown  timing.c" not in text


IN_ORDER = """void f(int n, float *x, float *y) {
  for (int i = 0; i < n; i++) y[i] = x[i];
  for (int i = 2; i < n; i++) x[i] = x[i - 1] * 0.5f + x[i - 2];
  for (int i = 0; i < n; i++) y[i] += x[i];
  for (int i = 2; i < 900; i++) y[i] = y[i - 1] - y[i - 2];
}
"""


def test_loops_of_one_work_item(tmp_path: Path) -> None:
    (tmp_path / "f.c").write_text(IN_ORDER)
    status, text = script("audit_sequential.py", tmp_path)
    first, last = text.splitlines()
    assert status == 0, text
    assert first.startswith("f: line 3: i: weighed, one work-item: i: flow dependence of x")
    assert last == "1 loops of 1 programs, of 1"
    assert script("audit_sequential.py", tmp_path, "--iterations", 800)[1].endswith(
        "2 loops of 1 programs, of 1\n"
    )


IN_GROUPS = """void g(int n, int steps, float *restrict x, float *restrict y) {
  for (int t = 0; t < steps; t++) {
    float s = 0;
    for (int i = 0; i < n; i++) s += x[i];
    for (int i = t; i < t + 1; i++) y[i] = s;
    for (int i = 0; i < n; i++) x[i] -= s / n;
  }
}
"""


def test_loops_of_one_work_item_of_a_group_have_a_reason(tmp_path: Path) -> None:
    (tmp_path / "g.c").write_text(IN_GROUPS)
    row, last = script("audit_sequential.py", tmp_path)[1].splitlines()
    assert row.startswith("g: line 4: i: weighed, one work-item: i: a reduction of s (+); floating")
    assert row.endswith("(allow it: --fp reassociate)")
    assert last == "1 loops of 1 programs, of 1"


PROGRAM = """#include <stdio.h>
int main(int argc, char **argv) {
  double a[100];
  int i;
  (void)argv;
  for (i = 0; i < 100; i++) a[i] = i * STEP;
  for (i = 0; i < 3; i++) printf("%g %s\\n", a[i * argc], argv[0]);
}
"""

TABLE = """define = ["STEP=2"]
unlike = "time"
[programs.first]
file = "src/one.c"
arguments = ["", "x"]
"""


def test_programs_of_others(tmp_path: Path) -> None:
    require_opencl()
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "one.c").write_text(PROGRAM)
    (tmp_path / "table.toml").write_text(TABLE)
    asked = ("--programs", tmp_path / "table.toml", tmp_path, "--run")
    status, text = script("offload_programs.py", *asked)
    assert status == 0, text
    assert text.splitlines()[1].split()[:6] == ["first", "8", "2", "1", "0", "1"]
    assert text.splitlines()[1].endswith("equal, 2 of 2 calls on the device")
    status, text = script("offload_programs.py", tmp_path / "src", "-D", "STEP=3", "--reasons", 5)
    assert status == 0, text
    assert "1 of 1 programs, 1 of 2 loops on the device, 1 left" in text
    assert "     1  the call to 'printf': the order of output would change [LX012]" in text
    status, text = script("offload_programs.py", tmp_path / "src")
    assert "'STEP' is not declared" in text
