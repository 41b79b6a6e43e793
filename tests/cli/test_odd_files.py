"""Files that are no C, or hold nothing to judge; reports of loops with very many dependences."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from loopxform.api.check import MOST_ROWS
from loopxform.cli import main

Capture = pytest.CaptureFixture[str]


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b"\x7fELF\x02\0", "an object file or a program (ELF)"),
        (b"!<arch>\n/ \0", "a library of object files"),
        (b"\xff\xfei\0n\0t\0", "text in UTF-16"),
        (b"int a;\0", "binary"),
    ],
)
@pytest.mark.parametrize("command", ["check", "tile"])
def test_binary_files(
    command: str, data: bytes, kind: str, tmp_path: Path, capsys: Capture
) -> None:
    file = tmp_path / "f.c"
    file.write_bytes(data)
    assert main([command, str(file)]) == 2
    assert capsys.readouterr().err.startswith(f"{file}:1:1: error: {file} is {kind}, not C [LX001]")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "f.c: the file is empty\n"),
        (" \n\n", "f.c: the file is empty\n"),
        ("/* nothing */\nint x;\n", "f.c: no functions are defined\n"),
        ("int g(int x) { return x + 1; }\n", "f.c: no loops in 1 function\n"),
    ],
)
def test_nothing_to_judge(
    text: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("f.c").write_text(text)
    assert main(["check", "f.c"]) == 0
    assert capsys.readouterr().out == said
    assert main(["check", "f.c", "--format", "json"]) == 0
    assert not any(f["loops"] for f in json.loads(capsys.readouterr().out)["functions"])


def test_a_file_that_is_nearly_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("solver.c").write_text("int x;\n")
    assert main(["check", "Solver.c"]) == 2
    assert "help: did you mean 'solver.c'? " in capsys.readouterr().err
    assert main(["tile", "."]) == 2
    assert "error: . is a directory [LX001]" in capsys.readouterr().err


def test_lists_in_json_are_capped_and_counted(tmp_path: Path, capsys: Capture) -> None:
    """Subscripts that nothing is known of: each pair of the statements may collide."""
    lines = "".join(f"    s[q[i] + {k}] = i;\n" for k in range(14))
    text = "void f(int n, float *s, int *q)\n{\n  for (int i = 0; i < n; i++) {\n%s  }\n}\n"
    (tmp_path / "f.c").write_text(text % lines)
    assert main(["check", str(tmp_path / "f.c"), "--format", "json"]) == 0
    (fn,) = json.loads(capsys.readouterr().out)["functions"]
    assert len(fn["dependences"]) == MOST_ROWS
    assert fn["dependences_left_out"] > 0
    assert "reasons_left_out" not in fn["loops"][0]


def test_answers_for_tools_quote_no_source(tmp_path: Path, capsys: Capture) -> None:
    file = tmp_path / "f.c"
    file.write_text("void f(int n, int *a) {\nfor (int i = 1; i < n; i++)\na[i] = a[i - 1];\n}\n")
    command = ["check", str(file), "--can", "reverse i", "--format"]
    assert main([*command, "json"]) == 1
    (answer,) = json.loads(capsys.readouterr().out)["answers"]
    refusal, witness = answer["reasons"]
    assert refusal.startswith(f"{file}:3:1: cannot reverse i: the flow dependence of a")
    assert witness == "witness: i=1 and i=2 (n=3)"
    assert main([*command, "sarif"]) == 1
    assert "^" not in capsys.readouterr().out
