"""The scripts that run public suites from a folder, on folders of two files."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

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
