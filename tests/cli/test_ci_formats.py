"""check --format concise, github and gitlab: what editors and services make of them."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from loopxform.cli import main

ROOT = Path(__file__).parents[2]
MATCHER = ROOT / ".github" / "loopxform-matcher.json"
RACE = """\
#pragma omp parallel for
  for (int i = 1; i < n; i++) a[i] = a[i - 1];
"""
SOURCE = f"""\
void f(int n, float *restrict a, int *restrict p)
{{
{RACE}#pragma omp parallel for
  for (int i = 0; i < n; i++) a[p[i]] = 1;
}}
"""
BROKEN = "void h(int n) { int x = ; }\n"
ODD = "src dir/a,b:7:1%2Cé.c"
Capture = pytest.CaptureFixture[str]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("GITHUB_WORKSPACE", "CI_PROJECT_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    Path("src dir").mkdir()
    Path(ODD).write_text(SOURCE)
    return tmp_path


def check(capsys: Capture, *args: str, status: int) -> str:
    assert main(["check", *args]) == status
    return capsys.readouterr().out


def command(line: str) -> dict[str, str]:
    """What GitHub's runner reads in a line (actions/runner, ActionCommand.cs)."""
    m = re.fullmatch(r"::(\w+) (.*?)::(.*)", line)
    assert m, line
    pairs = dict(pair.split("=", 1) for pair in m[2].split(","))
    unescaped = {name: plain(value, ("%3A", ":"), ("%2C", ",")) for name, value in pairs.items()}
    return {"command": m[1], "message": plain(m[3]), **unescaped}


def plain(text: str, *more: tuple[str, str]) -> str:
    for code, character in (("%0D", "\r"), ("%0A", "\n"), *more, ("%25", "%")):
        text = text.replace(code, character)
    return text


def test_github_reads_places_and_messages(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    Path("src dir/new\nline.c").write_text(SOURCE)
    out = check(capsys, ".", "--format", "github", status=1)
    found = [command(line) for line in out.splitlines()]
    assert [x["file"] for x in found] == [ODD, ODD, "src dir/new\nline.c", "src dir/new\nline.c"]
    assert [(x["command"], x["line"], x["col"]) for x in found[:2]] == [
        ("error", "4", "31"),
        ("warning", "6", "31"),
    ]
    assert [x["title"] for x in found[:2]] == ["loopxform (LX300)", "loopxform (LX310)"]
    assert found[0]["message"].startswith("race on 'a': line 4 writes it in one iteration")
    monkeypatch.chdir("src dir")
    name = ODD.partition("/")[2]
    for workspace, file in ((folder, ODD), ("/elsewhere", str(folder / ODD))):
        monkeypatch.setenv("GITHUB_WORKSPACE", str(workspace))
        first = check(capsys, name, "--format", "github", status=1).splitlines()[0]
        assert command(first)["file"] == file


@pytest.mark.usefixtures("folder")
def test_github_reads_questions_and_what_cannot_be_read(capsys: Capture) -> None:
    Path("b.c").write_text(BROKEN)
    out = check(capsys, "b.c", "none.c", "--format", "github", status=2)
    unread, missing = map(command, out.splitlines())
    assert (unread["file"], unread["title"], unread["line"]) == ("b.c", "loopxform (LX001)", "1")
    assert "file" not in missing
    assert missing["message"] == "no such file: none.c"
    out = check(capsys, ODD, "--require", "parallel:4", "--format", "github", status=1)
    asked = [command(line) for line in out.splitlines()][-1]
    assert (asked["line"], asked["message"][:14]) == ("4", "parallel:4: no")


def test_gitlab_tells_findings_apart_wherever_they_move(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    twice = SOURCE.replace(RACE, RACE * 2)
    Path(ODD).write_text(twice)
    reports: list[list[dict[str, Any]]] = [
        json.loads(check(capsys, ODD, "--format", "gitlab", status=1))
    ]
    Path(ODD).write_text("\n\n" + twice)
    monkeypatch.setenv("CI_PROJECT_DIR", str(folder.parent))
    reports.append(json.loads(check(capsys, ODD, "--format", "gitlab", status=1)))
    assert [x["severity"] for x in reports[0]] == ["major", "major", "minor"]
    assert {x["location"]["path"] for x in reports[0]} == {ODD}
    assert {x["location"]["path"] for x in reports[1]} == {f"{folder.name}/{ODD}"}
    lines = [[x["location"]["lines"]["begin"] for x in r] for r in reports]
    assert lines == [[4, 6, 8], [6, 8, 10]]
    monkeypatch.setenv("CI_PROJECT_DIR", str(folder))
    moved = json.loads(check(capsys, ODD, "--format", "gitlab", status=1))
    marks = [[x["fingerprint"] for x in r] for r in (reports[0], moved)]
    assert marks[0] == marks[1]
    assert len(set(marks[0])) == 3
    Path("clean.c").write_text("")
    assert check(capsys, "clean.c", "--format", "gitlab", status=0) == "[]\n"


def regexps() -> list[str]:
    """Those of the problem matchers: GitHub's, and Visual Studio Code's in the docs."""
    (pattern,) = json.loads(MATCHER.read_text())["problemMatcher"][0]["pattern"]
    page = (ROOT / "docs" / "ci.md").read_text()
    (block,) = re.findall(r"^```json\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    (task,) = json.loads(block)["tasks"]
    code = task["problemMatcher"]["pattern"]
    names = ("file", "line", "column", "severity", "message", "code")
    assert [pattern[n] for n in names] == [code[n] for n in names] == [1, 2, 3, 4, 5, 6]
    return [pattern["regexp"], code["regexp"]]


@pytest.mark.usefixtures("folder")
def test_problem_matchers_read_real_output() -> None:
    Path("b.c").write_text(BROKEN)
    words = [ODD, "b.c", "--format", "concise"]
    done = subprocess.run(
        [sys.executable, "-m", "loopxform", "check", *words],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    for regexp in regexps():
        found = [re.search(regexp, x) for x in (done.stdout + done.stderr).splitlines()]
        places = [(*m.group(1, 2, 3, 4), m[6]) for m in found if m]
        assert places == [
            (ODD, "4", "31", "error", "LX300"),
            (ODD, "6", "31", "warning", "LX310"),
            ("b.c", "1", "25", "error", "LX001"),
        ]
        assert found[0]
        assert found[0][5].startswith("race on 'a': line 4 writes it")
