"""The examples of the docs are what the program prints."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from loopxform.cli import main

DOCS = Path(__file__).parents[2] / "docs"


def block(text: str, kind: str) -> str:
    found = re.search(rf"^```{kind}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    assert found
    return found[1]


def test_the_questions_are_real(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = (DOCS / "check.md").read_text().partition("## Questions")[2].partition("## OpenMP")[0]
    monkeypatch.chdir(DOCS.parent / "corpus")
    command, _, shown = block(page, "console").partition("\n")
    assert main(shlex.split(command)[2:]) == 1
    assert capsys.readouterr().out == shown


def test_the_verdicts_are_real(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = (DOCS / "verdicts.md").read_text()
    monkeypatch.chdir(tmp_path)
    Path("verdicts.c").write_text(block(page, "c"))
    command, _, shown = block(page, "console").partition("\n")
    assert main(command.split()[2:]) == 0
    assert capsys.readouterr().out == shown
    exec(block(page, "python"), {})
    printed = page.split("```\n\n```\n")[1].split("```")[0]
    assert capsys.readouterr().out == printed
    named = re.findall(r"^\| `(\w+)`", page, re.MULTILINE)
    assert named == ["yes", "reduction", "privatizable", "no", "unknown"]


def test_the_report_of_a_whole_function_is_real(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = (DOCS / "offload.md").read_text()
    monkeypatch.chdir(DOCS.parent)
    command, _, shown = block(page, "console").partition("\n")
    assert main(command.split()[2:]) == 0
    printed = capsys.readouterr().out
    begin, end = shown.split("...\n")
    assert printed.startswith(begin)
    assert printed.endswith(end)


def test_the_openmp_example_is_real(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = (DOCS / "check.md").read_text().partition("## OpenMP")[2]
    monkeypatch.chdir(tmp_path)
    Path("smooth.c").write_text(block(page, "c"))
    command, _, shown = block(page, "console").partition("\n")
    assert main(command.split()[2:]) == 1
    assert capsys.readouterr().out.startswith(f"{shown}\n")
    excerpt = page.split("--format json smooth.c\n...\n")[1].split("```")[0]
    assert main(["check", "--format", "json", "smooth.c"]) == 1
    assert excerpt in capsys.readouterr().out


def test_the_transactions_are_real(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = (DOCS / "tiling.md").read_text().partition("## Transactions")[2]
    monkeypatch.chdir(DOCS.parent)
    command, _, shown = block(page, "console").partition("\n")
    assert main(shlex.split(command)[2:]) == 0
    assert capsys.readouterr().out == shown
