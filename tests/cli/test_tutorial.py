"""docs/tutorial.md, followed word for word in an empty folder."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from test_docs import matches

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "tutorial.md").read_text()
BLOCK = re.compile(r"^```(\w+)(?: title=\"([^\"\n]*)\")?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
MARK = "--- command"


@dataclass(frozen=True)
class Command:
    """A command of the page, and what is shown of its output."""

    text: str
    shown: str


def commands(page: str) -> Iterator[Command]:
    for kind, _, text in BLOCK.findall(page):
        if kind == "sh":
            yield from (Command(line, "...") for line in text.splitlines())
        elif kind == "console":
            for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
                yield Command(*part.split("\n", 1))


def follow(page: str, folder: Path, env: dict[str, str]) -> None:
    """Saves each file of the page and runs its commands in one shell. Fails where one prints
    something else than is shown, or ends with another status than it is to."""
    for _, name, text in BLOCK.findall(page):
        if name:
            (folder / name).write_text(text)
    every = [*commands(page)]
    lines = (f"{_tried(c.text)}; cat .output; echo; echo '{MARK}' $status" for c in every)
    done = subprocess.run(
        ["bash", "-c", "\n".join(lines)], cwd=folder, env=env, capture_output=True, text=True
    )
    printed = re.findall(rf"(.*?)\n?^{MARK} (\d+)\n", done.stdout, re.MULTILINE | re.DOTALL)
    assert len(printed) == len(every), done.stdout + done.stderr
    for c, (output, status) in zip(every, printed):
        assert matches(c.shown, output), f"{c.text}\n{output}"
        assert status == ("1" if ": error: " in c.shown else "0"), f"{c.text}\n{output}"


def _tried(command: str) -> str:
    """A command; again where its times were too noisy to tell which is the quickest."""
    once = f"{command} > .output 2>&1; status=$?"
    return (
        f"for n in 1 2 3 4; do {once}; [ $status = 2 ] || break; done"
        if "tune" in command
        else once
    )


def environment() -> dict[str, str]:
    """The reader's, with the loopxform of these tests first."""
    kept = {k: v for k, v in os.environ.items() if k != "LOOPXFORM_HOST"}
    return {**kept, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{kept['PATH']}"}


@pytest.mark.device
def test_to_a_verified_kernel(tmp_path: Path) -> None:
    """Sections 2 to 4, with what is installed here."""
    page = "## 2." + PAGE.partition("\n## 2.")[2].partition("\n## 5.")[0]
    follow(page, tmp_path, environment() | {"PYTHONPATH": str(ROOT)})


@pytest.mark.slow
@pytest.mark.opencl
@pytest.mark.opencl_sdk
@pytest.mark.optimised
def test_all_of_it(tmp_path: Path) -> None:
    """From `pip install` to the tuned build; other packages are those of this environment."""
    wheel = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", tmp_path]
    subprocess.run([*wheel, ROOT], capture_output=True, check=True)
    packages = [p for p in sys.path if p.endswith("site-packages")]
    pip = {"PIP_NO_INDEX": "1", "PIP_NO_DEPS": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    here = {"LOOPXFORM": str(next(tmp_path.glob("*.whl"))), "PYTHONPATH": os.pathsep.join(packages)}
    folder = tmp_path / "noise"
    folder.mkdir()
    follow(PAGE, folder, environment() | pip | here)
    assert (folder / "env" / "bin" / "loopxform").exists()
    assert "noise.recipe=1-d" in (folder / "noise.tuning").read_text()


def test_every_block_is_a_file_or_commands() -> None:
    kinds = {kind for kind, name, _ in BLOCK.findall(PAGE) if not name}
    assert kinds == {"sh", "console"}
    assert PAGE.count("\n```") == 2 * len(BLOCK.findall(PAGE))
    assert {"noise.c", "Makefile", "CMakeLists.txt"} <= {name for _, name, _ in BLOCK.findall(PAGE)}
