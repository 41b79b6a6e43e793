"""check: several files, folders, standard input; what is told about those that cannot be read."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import loopxform as lx
from loopxform.api.check import CheckedFile
from loopxform.cli import main
from loopxform.cli.check import file_diagnostics
from loopxform.cli.inputs import c_files
from loopxform.errors import LoopxformError
from loopxform.source import Loc

COPY = "void copy(int n, float *restrict a, float *restrict b)\n{\n"
COPY += "  for (int i = 0; i < n; i++)\n    a[i] = b[i];\n}\n"
SUM = "float sum(int n, float *a)\n{\n  float s = 0;\n"
SUM += "  for (int i = 0; i < n; i++) s += a[i];\n  return s;\n}\n"
Capture = pytest.CaptureFixture[str]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "src" / "deep").mkdir(parents=True)
    (tmp_path / "src" / ".git").mkdir()
    (tmp_path / "src" / "sum.c").write_text(SUM)
    (tmp_path / "src" / "deep" / "copy.c").write_text(COPY)
    (tmp_path / "src" / "deep" / "notes.txt").write_text("not C")
    (tmp_path / "src" / ".git" / "old.c").write_text("not C either")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.usefixtures("project")
def test_a_folder_stands_for_the_files_below(capsys: Capture) -> None:
    assert main(["check", "src"]) == 0
    out = capsys.readouterr().out
    heads = [x for x in out.splitlines() if x.endswith(":") and not x.startswith("nest")]
    assert heads == ["src/sum.c: sum:", "src/deep/copy.c: copy:"]
    assert out.splitlines()[-1] == "2 files, 2 functions, 2 loops: 1 yes, 1 reduction"


@pytest.mark.usefixtures("project")
def test_each_file_once_in_the_order_given() -> None:
    given = ["src/deep/copy.c", "src", "./src/sum.c", "-", "-"]
    assert c_files(given) == ["src/deep/copy.c", "src/sum.c", "-"]
    assert c_files(["."]) == ["src/sum.c", "src/deep/copy.c"]


@pytest.mark.usefixtures("project")
def test_pipes_in_a_folder_are_no_files(tmp_path: Path) -> None:
    folder = tmp_path / "piped"
    folder.mkdir()
    (folder / "f.c").write_text("int x;\n")
    os.mkfifo(folder / "pipe.c")
    (folder / "nowhere.c").symlink_to("missing.c")
    assert c_files([str(folder)]) == [str(folder / n) for n in ("f.c", "nowhere.c")]


@pytest.mark.usefixtures("project")
def test_a_folder_without_c_is_an_error(capsys: Capture) -> None:
    Path("empty").mkdir()
    assert main(["check", "src/sum.c", "empty"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert "there is no C file in the folder 'empty'" in err
    assert err.count("error:") == 1


@pytest.mark.usefixtures("project")
def test_a_folder_that_may_not_be_read(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    scandir = os.scandir

    def locked(path: str) -> object:
        if str(path).endswith("deep"):
            raise PermissionError(13, "Permission denied", str(path))
        return scandir(path)

    monkeypatch.setattr(os, "scandir", locked)
    assert main(["check", "src"]) == 2
    assert "cannot read the folder 'src/deep': Permission denied" in capsys.readouterr().err


@pytest.mark.usefixtures("project")
def test_one_bad_file_does_not_hide_the_others(capsys: Capture) -> None:
    Path("src/bad.c").write_text("void f(int n) { int x = ; }\n")
    assert main(["check", "src", "missing.c"]) == 2
    out, err = capsys.readouterr()
    assert out.splitlines()[-1].startswith("2 files, 2 functions")
    assert err.count("[LX001]") == 2
    assert "src/bad.c:1:25: error: syntax error" in err
    assert "missing.c" in err
    assert " 1 | loopxform check src missing.c\n   |                     ^^^^^^^^^\n" in err


@pytest.mark.usefixtures("project")
def test_files_as_json(capsys: Capture) -> None:
    assert main(["check", "src", "--format", "json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert [f["file"] for f in data["files"]] == ["src/sum.c", "src/deep/copy.c"]
    assert main(["check", "src/sum.c", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out) == data["files"][0]


@pytest.mark.usefixtures("project")
def test_a_function_of_one_of_the_files(capsys: Capture) -> None:
    assert main(["check", "src", "--function", "copy"]) == 0
    out = capsys.readouterr().out
    assert "src/deep/copy.c: copy:" in out
    assert "sum:" not in out
    assert main(["check", "src", "--function", "dot"]) == 2
    assert "there is no function 'dot'" in capsys.readouterr().err


@pytest.mark.parametrize("option", ["--line=3", "--can=unroll i", "--require=parallel:3"])
@pytest.mark.usefixtures("project")
def test_questions_are_asked_of_one_file(option: str, capsys: Capture) -> None:
    assert main(["check", "src", option]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert f"{option.split('=')[0]} is asked of one file, and there are 2" in err


@pytest.mark.usefixtures("project")
def test_standard_input_beside_a_file(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(COPY.encode())))
    assert main(["check", "-", "src/sum.c"]) == 0
    assert "<stdin>: copy:" in capsys.readouterr().out


@pytest.mark.usefixtures("project")
def test_a_person_who_waits_sees_how_far_it_is() -> None:
    """On a terminal; nothing of it reaches a pipe."""
    code = "import sys; from loopxform.cli import main; sys.stderr.isatty = lambda: True; "
    code += "sys.exit(main(['check', 'src']))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "judging" in done.stderr
    assert "file" in done.stderr
    assert done.stdout.endswith("1 yes, 1 reduction\n")
    quiet = subprocess.run(
        [sys.executable, "-m", "loopxform", "check", "src"], capture_output=True, check=True
    )
    assert quiet.stderr == b""


# ---------------------------------------------------------------- from Python


def test_the_same_facts_as_objects(project: Path, capsys: Capture) -> None:
    report = lx.check(project / "src" / "sum.c")
    (loop,) = report.loops
    assert (loop.line, loop.column, loop.var, loop.parallel) == (4, 3, "i", "reduction")
    assert report.at_line(4) == (loop,)
    assert report["sum"].loops == (loop,)
    assert {d.kind for d in report["sum"].dependences} == {"flow", "anti", "output"}
    with pytest.raises(KeyError):
        report["dot"]
    assert main(["check", str(project / "src" / "sum.c"), "--format", "json"]) == 0
    assert report.json() == json.loads(capsys.readouterr().out)


def test_options_from_python(tmp_path: Path) -> None:
    (tmp_path / "f.c").write_text(
        "void f(void) { for (int i = 0; i < N; i++) ; }\nvoid g(int n) { int x = ; }\n"
    )
    report = lx.check(tmp_path / "f.c", define=["N=4"])
    assert [v.parallel for v in report.loops] == ["yes"]
    assert [e.code for e in report.problems] == ["LX001"]
    only = lx.check(tmp_path / "f.c", function="f", define=["N=4"])
    assert [f.name for f in only] == ["f"]
    assert only.problems == ()
    with pytest.raises(lx.LoopxformError, match="there is no function 'h'"):
        lx.check(tmp_path / "f.c", function="h", define=["N=4"])


def test_a_long_list_of_problems_is_counted() -> None:
    """Of a file of 900 functions that took too long, 300 may be left."""
    problems = tuple(LoopxformError("not judged", loc=Loc("many.c", k, 1)) for k in range(1, 31))
    (first,) = file_diagnostics(CheckedFile(lx.load("corpus/mm.c"), (), problems))
    assert len(first.notes) == 21
    assert first.notes[0] == "also: many.c:2:1: not judged"
    assert first.notes[-1] == "also: 9 more; --format json lists them all"
