"""`check --stats`: how many loops are decided, and why the others are not."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from loopxform.cli import main

A = """void step(double *p);
int work(int i);
void a(int n, double *restrict x, double *restrict y)
{
  for (int i = 0; i < n; i++)
    x[i] = y[i];
  double s = 0;
  for (int i = 0; i < n; i++)
    step(x);
  for (int i = 0; i < n; i++)
    x[i] = work(i);
}
"""
B = """double b(int n, double *restrict x, const int *k)
{
  double s = 0;
  for (int i = 0; i < n; i++)
    s += x[i];
  for (int i = 0; i < n; i++) x[k[i]] = s;
  return s;
}
"""
PAGE = Path(__file__).parents[2] / "docs" / "check.md"
Capture = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def _sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "a.c").write_text(A)
    (tmp_path / "src" / "b.c").write_text(B)
    monkeypatch.chdir(tmp_path)


def test_the_page_shows_what_is_printed(capsys: Capture) -> None:
    assert main(["check", "src", "--stats"]) == 0
    (shown,) = re.findall(r"\$ loopxform check src --stats\n(.*?)```", PAGE.read_text(), re.S)
    assert capsys.readouterr().out == shown


def test_json(capsys: Capture) -> None:
    assert main(["check", "src", "--stats", "--format", "json", "-j", "2"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["loops"] == 5
    assert found["decided"] == 0.4
    assert found["verdicts"]["unknown"] == 3
    first, second = found["unknown_for"]
    assert first["code"] == "LX012"
    assert (first["loops"], first["alone"]) == (2, 2)
    assert first["callees"] == {"step": 1, "work": 1}
    assert second["example"] == {"file": "src/b.c", "line": 6}


@pytest.mark.parametrize("words", [["--line", "3"], ["--format", "sarif"], ["--can", "unroll i"]])
def test_what_asks_for_something_else(words: list[str], capsys: Capture) -> None:
    assert main(["check", "src/a.c", "--stats", *words]) == 2
    assert "--stats and --" in capsys.readouterr().err


def test_no_loops(tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / "none.c").write_text("int x;\n")
    assert main(["check", "none.c", "--stats"]) == 0
    assert "decided: 100.0 %" in capsys.readouterr().out
