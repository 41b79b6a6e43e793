"""What is written where: never over a file that was read, all or nothing, and named in the rule."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from loopxform import load
from loopxform.cli import main
from loopxform.errors import InputError

LOOP = "void f(int n, float a[n]) { for (int i = 0; i < n; i++) a[i] = 1; }\n"

Capture = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("k.c").write_text(LOOP)


def state() -> dict[str, str]:
    return {str(p): p.read_text() for p in Path().rglob("*") if p.is_file()}


@pytest.mark.parametrize(
    "command",
    [
        "tile k.cl",
        "tile ./k.cl -o ../HERE",
        "tile k.cl -o link",
        "tile k.c --json k.c",
        "tile k.c --json hard.c -o out",
        "tile k.c --json soft.c -o out",
        "tile k.c --json sizes.h -o out",
        "tile k.d -MD",
        "tile k.c --json k.cl",
        "tile k.c --json ./link/k_opencl.h",
        "tile k.c -MD --json k.d",
        "tile k.c --json folder -o out",
        "tile k.c --json k.c/steps.json -o out",
        "apply k.json --emit json -o .",
        "apply k.c --script k.json --emit json -o .",
        "apply k.txt -o .",
    ],
)
def test_no_file_that_was_read_is_overwritten(
    command: str, tmp_path: Path, capsys: Capture
) -> None:
    for name in ("k.cl", "k.d", "k.txt"):
        Path(name).write_text(LOOP)
    Path("k.json").write_text(LOOP if "apply k.json" in command else '{"steps": []}')
    Path("sizes.h").write_text("")
    Path("k.c").write_text('#include "sizes.h"\n' + LOOP)
    Path("folder").mkdir()
    Path("link").symlink_to(".")
    Path("soft.c").symlink_to("k.c")
    os.link("k.c", "hard.c")
    before = state()
    assert main(command.replace("HERE", tmp_path.name).split()) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("error: ") == 1
    assert "[LX055]" in err
    assert "^" in err
    assert "\n   = help: " in err
    assert state() == before


def test_from_python_too() -> None:
    Path("k.cl").write_text(LOOP)
    with pytest.raises(InputError, match="would be overwritten"):
        load("k.cl")["f"].tile().write(".")
    assert Path("k.cl").read_text() == LOOP


def test_older_outputs_are_replaced() -> None:
    Path("k.cl").write_text("old")
    assert main(["tile", "k.c", "-q", "--json", "k.json", "-MD"]) == 0
    first = state()
    assert first["k.cl"] != "old"
    assert main(["tile", "k.c", "-q", "--json", "k.json", "-MD"]) == 0
    assert state() == first


def test_the_rule_for_make_names_every_output() -> None:
    assert main(["tile", "k.c", "-q", "-o", "out", "-MD", "--json", "k.json"]) == 0
    assert Path("out/k.d").read_text() == ("out/k.cl out/k_opencl.c out/k_opencl.h k.json: k.c\n")


def test_a_script_on_standard_output_is_alone_there(capsys: Capture) -> None:
    assert main(["tile", "k.c", "--json", "-", "--show-steps", "-o", "out"]) == 0
    out, err = capsys.readouterr()
    assert set(json.loads(out)) >= {"tiles", "steps"}
    assert "wrote out/k.cl" in err
    assert not Path("-").exists()


def test_a_dry_run_writes_nothing_at_all(capsys: Capture) -> None:
    before = state()
    assert main(["tile", "k.c", "--json", "k.json", "-MD", "--dry-run", "-o", "out"]) == 0
    assert "wrote" not in capsys.readouterr().out
    assert state() == before


def test_a_device_is_written_to_not_replaced() -> None:
    assert main(["tile", "k.c", "-q", "-o", "out", "--json", os.devnull]) == 0
    assert not Path(os.devnull).is_file()
