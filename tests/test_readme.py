"""The README's commands, run in a folder with nothing but the corpus; `...` stands for any text."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from textwrap import dedent
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from deriving import assert_step, refusal

from loopxform.codegen import emit
from loopxform.frontend import parse_file
from loopxform.recipes import registry
from loopxform.recipes.tile import tile
from loopxform.schedule import params
from loopxform.transforms import STEPS
from loopxform.verify.check_run import arguments
from loopxform.verify.group.execute import Executor
from loopxform.verify.interp import Program

ROOT = Path(__file__).parents[1]
FLAGS = re.MULTILINE | re.DOTALL
README = (ROOT / "README.md").read_text()


def blocks(kind: str) -> list[str]:
    return re.findall(rf"^```{kind}\n(.*?)^```$", README, FLAGS)


def sessions() -> list[tuple[str, str]]:
    """Every command of the console blocks and the output that is shown."""
    out: list[tuple[str, str]] = []
    for block in blocks("console"):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, expected = part.partition("\n")
            out.append((command, expected))
    return out


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    where = tmp_path_factory.mktemp("readme")
    shutil.copytree(ROOT / "corpus", where / "corpus")
    return where


def environment() -> dict[str, str]:
    here = str(Path(sys.executable).parent)
    return {**os.environ, "PATH": f"{here}{os.pathsep}{os.environ['PATH']}"}


def matches(expected: str, found: str) -> bool:
    pattern = ".*".join(map(re.escape, expected.split("...")))
    return re.fullmatch(pattern, found, re.DOTALL) is not None


def test_matching() -> None:
    assert matches("a ... c\n", "a b c\n")
    assert not matches("a ... c\n", "a b d\n")
    assert not matches("a\n", "a\nb\n")


@pytest.mark.device
@pytest.mark.parametrize("number", range(len(sessions())))
def test_console(folder: Path, number: int) -> None:
    command, expected = sessions()[number]
    done = subprocess.run(
        command,
        shell=True,
        cwd=folder,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert matches(expected, done.stdout + done.stderr), done.stdout + done.stderr
    assert done.returncode == (1 if "error: cannot" in expected else 0)


@pytest.mark.device
def test_python(folder: Path) -> None:
    (code,) = blocks("python")
    subprocess.run([sys.executable, "-c", code], cwd=folder, env=environment(), check=True)


def test_the_two_commands_exist_and_the_links_lead_somewhere() -> None:
    first = blocks("sh")[0]
    for script in re.findall(r"^\./(\S+)", first, re.MULTILINE):
        assert os.access(ROOT / script, os.X_OK)
    for target in re.findall(r"\]\(([^)]+)\)", README):
        assert (ROOT / target).exists(), target


def test_there_are_sessions() -> None:
    assert len(sessions()) >= 6


def test_the_step_that_shows_how_to_add_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its listing, its refusal and its replay."""
    page = (ROOT / "CONTRIBUTING.md").read_text()
    module, tests, _ = (dedent(x) for x in re.findall(r"^ *```python\n(.*?)^ *```$", page, FLAGS))
    guard, cases = ModuleType("guard"), dict[str, Any]()
    monkeypatch.setitem(sys.modules, "guard", guard)
    exec(module, guard.__dict__)
    exec(tests, cases)
    monkeypatch.setitem(STEPS, "guard", guard.Guard)
    assert "if (0 < n)\n  for (" in assert_step(*cases["LISTINGS"]["copy"])
    assert "cannot guard i: the loop over 'i' counts downwards" in refusal(
        *cases["REFUSALS"]["downwards"]
    )


def test_the_recipe_that_shows_how_to_add_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """It tiles, and its kernel computes what the loops do."""
    page = (ROOT / "CONTRIBUTING.md").read_text()
    *_, module = (dedent(x) for x in re.findall(r"^ *```python\n(.*?)^ *```$", page, FLAGS))
    (row,) = re.findall(r"^ *```py\n(.*?)\n *```$", page, FLAGS)
    line = dict[str, Any]()
    exec(module, line)
    kind = eval(row.strip(), vars(params))
    monkeypatch.setitem(params.KINDS, "line", kind)  # type: ignore[arg-type]
    monkeypatch.setitem(registry.RECIPES, "line", line["Line"]())  # type: ignore[arg-type]
    (fn,) = parse_file(str(ROOT / "corpus/mm.c")).unit.functions
    done = tile(fn, {"Tx": 4}, "line", strict=True)  # type: ignore[arg-type]
    plan = emit.kernel(done.derivation)
    args = arguments(fn, {"M": 9, "U": 5, "N": 3}, 0)
    expected = {k: v.copy() if isinstance(v, np.ndarray) else v for k, v in args.items()}
    Program(fn).run(expected)
    Executor(plan).run(args)
    assert np.array_equal(args["C"], expected["C"])
