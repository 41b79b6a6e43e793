"""A mistake of ours in one function is a problem of that function: the others are judged, and
written."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import loopxform.api.check
import loopxform.api.offloaded_regions
import loopxform.cli.tile
import loopxform.frontend.lower.files as lower_file
from loopxform.cli import main

Capture = pytest.CaptureFixture[str]
Plant = Callable[..., None]

FILE = """\
void good(int n, int *a)
{
  for (int i = 0; i < n; i++) a[i] = 1;
}
void bad(int n, int *a)
{
  for (int i = 0; i < n; i++) a[i] = 2;
}
void last(int n, int *a)
{
  for (int i = 0; i < n; i++) a[i] = 3;
}
"""
SAID = "5:6: error: internal error in 'bad': IndexError: planted [LX099]"


@pytest.fixture
def file(tmp_path: Path) -> str:
    (tmp_path / "in.c").write_text(FILE)
    return str(tmp_path / "in.c")


@pytest.fixture
def plant(monkeypatch: pytest.MonkeyPatch) -> Plant:
    """Has a function of a module raise where the first argument is about `bad`."""

    def planted(module: Any, name: str, error: Exception | None = None) -> None:
        original = getattr(module, name)

        def failing(*args: Any, **options: Any) -> Any:
            about = getattr(args[0], "decl", args[0]).name
            if about.startswith("bad"):
                raise error or IndexError("planted")
            return original(*args, **options)

        monkeypatch.setattr(module, name, failing)

    return planted


PLACES = [
    (lower_file, "hoisted"),
    (lower_file, "prototyped"),
    (lower_file, "structure"),
    (lower_file, "callee"),
    (lower_file, "inline"),
    (lower_file, "lower_function"),
    (lower_file, "routine"),
    (loopxform.api.check, "matrix"),
]


@pytest.mark.parametrize(("module", "name"), PLACES, ids=[name for _, name in PLACES])
def test_check_judges_the_others(
    module: Any, name: str, file: str, plant: Plant, capsys: Capture
) -> None:
    plant(module, name)
    assert main(["check", file]) == 101
    out, err = capsys.readouterr()
    assert out.startswith("good:\n    3 |")
    assert "last:\n   11 |" in out
    assert err.count("error:") == err.count(SAID) == 1
    assert "Traceback" not in err
    assert "LOOPXFORM_TRACEBACK=1" in err


def test_the_traceback_is_shown_to_who_asks(
    file: str, plant: Plant, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    plant(lower_file, "lower_function")
    monkeypatch.setenv("LOOPXFORM_TRACEBACK", "1")
    assert main(["check", file]) == 101
    assert "Traceback (most recent call last)" in capsys.readouterr().err


def test_json_and_sarif_say_it(file: str, plant: Plant, capsys: Capture) -> None:
    plant(loopxform.api.check, "matrix")
    assert main(["check", file, "--format", "json"]) == 101
    report = json.loads(capsys.readouterr().out)
    assert [f["name"] for f in report["functions"]] == ["good", "last"]
    (problem,) = report["problems"]
    assert problem["message"] == "internal error in 'bad': IndexError: planted"
    assert (problem["code"], problem["line"], problem["column"]) == ("LX099", 5, 6)
    assert main(["check", file, "--format", "sarif"]) == 101
    (run,) = json.loads(capsys.readouterr().out)["runs"]
    (note,) = run["invocations"][0]["toolExecutionNotifications"]
    assert note["descriptor"]["id"] == "LX099"
    assert len(run["results"]) == 2


def test_a_question_about_the_function(file: str, capsys: Capture, plant: Plant) -> None:
    plant(lower_file, "lower_function")
    assert main(["check", file, "--function", "bad", "--can", "reverse i"]) == 101
    assert SAID in capsys.readouterr().err


def test_among_other_problems_it_gives_the_status(file: str, plant: Plant, capsys: Capture) -> None:
    plant(lower_file, "lower_function")
    other = Path(file).with_name("zz.c")
    other.write_text("void f(\n")
    assert main(["check", file, str(other)]) == 101
    err = capsys.readouterr().err
    assert "zz.c:1:7: error: the file ends" in err
    assert SAID in err


PARTS = [(loopxform.api.offloaded_regions, "offload_routine"), (lower_file, "lower_function")]


@pytest.mark.parametrize(("module", "name"), PARTS, ids=[name for _, name in PARTS])
def test_offload_leaves_the_function_as_it_is(
    module: Any, name: str, file: str, plant: Plant, tmp_path: Path, capsys: Capture
) -> None:
    plant(module, name)
    assert main(["offload", file, "-o", str(tmp_path)]) == 101
    out, err = capsys.readouterr()
    assert (
        ":5:6: left on the host, in 'bad': internal error in 'bad': IndexError: planted [LX099]"
        in out
    )
    assert err.count("error:") == err.count(SAID) == 1
    text = (tmp_path / "in_opencl.c").read_text()
    assert [x for x in ("good", "bad", "last") if f"lx_try_{x}(" in text] == ["good", "last"]


def test_offload_of_that_function_alone(file: str, plant: Plant, capsys: Capture) -> None:
    plant(lower_file, "lower_function")
    assert main(["offload", file, "--function", "bad", "--dry-run"]) == 101
    assert SAID in capsys.readouterr().err


def test_tile(file: str, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    def failing(*_args: Any) -> None:
        raise IndexError("planted")

    monkeypatch.setattr(loopxform.cli.tile, "lines", failing)
    assert main(["tile", file, "--function", "bad", "--dry-run"]) == 101
    assert SAID in capsys.readouterr().err


def test_one_function_that_is_nested_too_deeply(file: str, plant: Plant, capsys: Capture) -> None:
    """Wherever that shows, it is no reason to leave the others."""
    plant(loopxform.api.check, "matrix", RecursionError())
    assert main(["check", file]) == 2
    out, err = capsys.readouterr()
    assert "last:" in out
    assert "in.c:5:6: error: 'bad' is nested too deeply [LX010]" in err
