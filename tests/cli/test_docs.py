"""The examples of the docs are what the program prints."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any

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
    named = re.findall(r"^\| `(\w+)`", page.partition("## What a loop is")[0], re.MULTILINE)
    assert named == ["yes", "reduction", "privatizable", "no", "unknown"]


def test_the_counters_are_real(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = (DOCS / "verdicts.md").read_text().partition("Counters of inner loops")[2]
    monkeypatch.chdir(tmp_path)
    Path("counters.c").write_text(block(page, "c"))
    command, _, shown = block(page, "console").partition("\n")
    assert main(command.split()[2:]) == 0
    assert capsys.readouterr().out.startswith(shown)


def test_the_names_of_loops_are_real(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = (DOCS / "verdicts.md").read_text().partition("## What a loop is")[2]
    monkeypatch.chdir(tmp_path)
    Path("names.c").write_text(block(page, "c"))
    command, _, shown = block(page, "console").partition("\n")
    assert main(command.split()[2:]) == 0
    assert capsys.readouterr().out.startswith(shown)
    assert main([*command.split()[2:], "--format", "json"]) == 0
    idioms = [x for loop in _loops(capsys.readouterr().out) for x in loop["idioms"]]
    assert {k for x in idioms for k in x} <= set(re.findall(r"^\| `(\w+)`", page, re.MULTILINE))
    assert main([*command.split()[2:], "--format", "sarif"]) == 0
    assert "no; scan of s (+, inclusive)." in capsys.readouterr().out


def _loops(text: str) -> list[dict[str, Any]]:
    (function,) = json.loads(text)["functions"]
    return list(function["loops"])


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


def test_the_report_of_a_stencil_is_real(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = (DOCS / "offload.md").read_text().partition("## Stencils in time")[2]
    monkeypatch.chdir(DOCS.parent)
    command, _, shown = block(page, "console").partition("\n")
    assert main(command.split()[2:]) == 0
    printed = capsys.readouterr().out
    begin, end = shown.split("...\n")
    assert printed.startswith(begin)
    assert printed.endswith(end)


def test_the_plan_of_a_pipeline_is_real(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = (DOCS / "offload.md").read_text().partition("`--json FILE` saves it as data.")[2]
    monkeypatch.chdir(DOCS.parent)
    command, _, shown = block(page, "console").partition("\n")
    assert main(command.split()[2:]) == 0
    assert capsys.readouterr().out == shown


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


@pytest.mark.parametrize("section", ["Costs", "Transactions"])
def test_the_plans_are_real(
    section: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = (DOCS / "tiling.md").read_text().partition(f"## {section}\n")[2]
    monkeypatch.chdir(DOCS.parent)
    command, _, shown = block(page, "console").partition("\n")
    assert main(shlex.split(command)[2:]) == 0
    assert capsys.readouterr().out == shown


def test_the_part_of_a_plan_is_real(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = (DOCS / "tiling.md").read_text().partition("## Contractions\n")[2]
    monkeypatch.chdir(DOCS.parent)
    command, _, shown = block(page, "console").partition("\n")
    assert main(shlex.split(command)[2:]) == 0
    _, part, _ = shown.split("...\n")
    assert part in capsys.readouterr().out


def test_the_concepts_are_real(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = (DOCS / "concepts.md").read_text()
    monkeypatch.chdir(tmp_path)
    Path("sweep.c").write_text(block(page, "c"))
    blocks = re.findall(r"^```console\n\$ (.*?)\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    assert len(blocks) == 3
    for command, shown in blocks:
        main(shlex.split(command)[1:])
        said = capsys.readouterr()
        assert (said.out + said.err).rstrip() == shown.rstrip()


def timed(text: str) -> list[str]:
    """The lines with one word for each number of a table, and for the device."""
    text = re.sub(r"^(\w+ on ).*$", r"\1DEVICE", text, flags=re.MULTILINE)
    text = re.sub(r"^(  roof ).*$", r"\1", text, flags=re.MULTILINE)
    rows = re.sub(r" +\d+\.\d{4} .*?(?=  T\w=)", " NUMBERS", text)
    return rows.splitlines()


@pytest.mark.opencl
@pytest.mark.parametrize("number", range(4))
def test_the_tables_of_timing_are_real(
    number: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    page = (DOCS / "bench.md").read_text()
    blocks = re.findall(r"^```console\n\$ (.*?)\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    assert len(blocks) == 4
    command, shown = blocks[number]
    (tmp_path / "corpus").symlink_to(DOCS.parent / "corpus")
    monkeypatch.chdir(tmp_path)
    status = main([*shlex.split(command)[1:], "--repeat", "2"])
    found = capsys.readouterr()
    assert status == (0 if found.out else 2)
    assert timed(found.out + found.err) == timed(shown.replace("10 timed", "2 timed"))
