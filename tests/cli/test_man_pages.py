"""Man pages: every option of every command, without a warning, with nothing but Python."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from loopxform.cli.commands import WITHIN
from loopxform.cli.man_pages import pages
from loopxform.cli.manual import commands
from loopxform.cli.overview import grouped

ROOT = Path(__file__).parents[2]


def needs(program: str) -> None:
    if not shutil.which(program):
        (pytest.fail if os.environ.get("CI") else pytest.skip)(f"{program} is not installed")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Written as for a wheel: by a Python without any package."""
    where = tmp_path_factory.mktemp("man")
    script = ROOT / "scripts" / "man_pages.py"
    subprocess.run([sys.executable, "-S", "-I", script, where], check=True)
    return where


def test_there_is_a_page_for_each_command(folder: Path) -> None:
    names = {"loopxform", *(f"loopxform-{c.name.replace(' ', '-')}" for c in commands())}
    assert {p.stem for p in folder.iterdir()} == names
    assert {"loopxform-tile", "loopxform-tune-merge"} <= names
    assert {p.name: p.read_text() for p in folder.iterdir()} == pages()


def test_checkers_have_nothing_to_say(folder: Path) -> None:
    needs("mandoc")
    files = sorted(folder.iterdir())
    done = subprocess.run(
        ["mandoc", "-T", "lint", "-W", "warning", *files], capture_output=True, text=True
    )
    assert (done.stdout, done.returncode) == ("", 0)


def test_what_a_reader_sees(folder: Path) -> None:
    """Every option, its help in full, and the examples; `man` renders with groff."""
    needs("man")
    shown = _rendered(folder / "loopxform-tile.1")
    (tile,) = (c for c in commands() if c.name == "tile")
    for action in tile.parser._actions:
        if action.option_strings and action.help != "==SUPPRESS==":
            assert ", ".join(action.option_strings) in shown
    assert "NAME loopxform-tile - write a block- and register-tiled OpenCL kernel" in shown
    assert "loopxform tile [OPTION ...] FILE.c" in shown
    assert "--show-steps --dry-run --quiet What is done, and why it is legal." in shown
    program = _rendered(folder / "loopxform.1")
    for title, names in grouped():
        assert title in program
        for name in names:
            within = (f"{name}-{w}" for w in WITHIN.get(name, ()))
            assert all(f"loopxform-{n}(1)" in program for n in (name, *within))


def _rendered(page: Path) -> str:
    env = {**os.environ, "MANWIDTH": "100", "LC_ALL": "C.UTF-8"}
    done = subprocess.run(
        ["man", "-l", "--warnings", page], env=env, capture_output=True, text=True, check=True
    )
    assert not done.stderr
    return " ".join(done.stdout.split())
