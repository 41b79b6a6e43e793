"""Names and places in what `check` says: those of the user's text, included files as well."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from loopxform.cli import main

Capture = pytest.CaptureFixture[str]

MAIN = """
void f(int n, double *restrict a)
{
#include "nest.h"
}
void g(int n, double *restrict a)
{
  for (int i = 1; i < n; i++) {
#include "body.h"
  }
}
"""


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("nest.h").write_text('for (int i = 1; i < n; i++)\n#include "body.h"\n')
    Path("body.h").write_text("a[i] = a[i - 1];\n")
    Path("main.c").write_text(MAIN)


@pytest.mark.usefixtures("files")
def test_lines_of_included_files_are_named_so(capsys: Capture) -> None:
    assert main(["check", "main.c"]) == 0
    first, second, third, _ = capsys.readouterr().out.split("\n\n", 3)
    assert "nest.h:1 | for (int i = 1; i < n; i++)" in first
    assert "line 1 of body.h writes it at i=1 and reads it at i=2" in first
    assert "S0 (line 1 of body.h) -> S0 (line 1 of body.h)" in second
    assert "    8 |   for (int i = 1; i < n; i++) {" in third


@pytest.mark.usefixtures("files")
def test_places_in_json_have_a_file(capsys: Capture) -> None:
    assert main(["check", "main.c", "--format", "json"]) == 0
    f, g = json.loads(capsys.readouterr().out)["functions"]
    assert [(x["file"], x["line"]) for x in (*f["loops"], *g["loops"])] == [
        ("nest.h", 1), ("main.c", 8)
    ]  # fmt: skip
    assert g["loops"][0]["reasons"][0]["file"] == "body.h"
    assert g["dependences"][0]["source"] == {"statement": "S0", "file": "body.h", "line": 1}


@pytest.mark.usefixtures("files")
def test_lines_asked_for_are_those_of_the_file(capsys: Capture) -> None:
    assert main(["check", "main.c", "--require", "parallel:8"]) == 1
    assert main(["check", "main.c", "--require", "parallel:1"]) == 2
    assert "loops begin on line 8" in capsys.readouterr().err


NAMES = [
    ("g = 1; { double g; for (int i = 0; i < n; i++) { g = a[i]; a[i] = g; } }", "private g"),
    ("for (int i = 0; i < n; i++) { double s = 0; for (int i = 0; i < n; i++) s += b[i];"
     " a[i] = s; }", "+ of s"),
    ("double s = 0; { double s = 1; for (int i = 0; i < n; i++) s *= b[i]; a[0] = s; } a[1] = s;",
     "* of s"),
    ("double t; for (int i = 0; i < n; i++) { t = half(b[i]); a[i] = half(t); }", "private t"),
]  # fmt: skip


@pytest.mark.parametrize(("body", "said"), NAMES)
def test_variables_are_called_as_in_the_text(
    body: str, said: str, tmp_path: Path, capsys: Capture
) -> None:
    file = tmp_path / "t.c"
    half = "static double half(double x) { double t = x / 2; return t; }"
    params = "int n, double *restrict a, double *restrict b"
    file.write_text(f"double g; {half}\nvoid f({params}) {{ {body} }}")
    assert main(["check", str(file), "--function", "f"]) == 0
    shown = capsys.readouterr().out
    assert said in shown
    assert not {"g_2", "i_2", "s_2", "t_2", "x_2"} & set(shown.replace(",", " ").split())
    assert main(["check", str(file), "--format", "json", "--function", "f"]) == 0
    assert '_2"' not in capsys.readouterr().out
