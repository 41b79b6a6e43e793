"""The README's commands, run in a folder with nothing but the corpus; `...` stands for any text."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()


def blocks(kind: str) -> list[str]:
    return re.findall(rf"^```{kind}\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)


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
