"""Completion of command lines, in the shells themselves."""

from __future__ import annotations

import os
import pty
import re
import select
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from time import monotonic

import pytest

from loopxform.cli import main
from loopxform.cli.arguments.check import FORMATS
from loopxform.cli.arguments.completion import SHELLS
from loopxform.cli.commands import COMMANDS
from loopxform.codes import CODES
from loopxform.schedule.params import RECIPES
from loopxform.targets.profile import PROFILES
from loopxform.transforms import STEPS

ANSWERS: dict[str, set[str]] = {
    "loopxform ": {*COMMANDS, "help"},
    "loopxform ti": {"tile"},
    "loopxform help dev": {"devices"},
    "loopxform tile --reg": {"--register-pipeline"},
    "loopxform tile mm.c --recipe ": {"auto", *RECIPES},
    "loopxform tile mm.c --profile ": {*PROFILES},
    "loopxform check mm.c --format ": {*FORMATS},
    "loopxform tile ": {"mm.c", "my heat.c", "src"},
    "loopxform tile mm.c --target openmp -o ": {"src"},
    "loopxform apply mm.c --script m": {"mm.c", "mm.json", "my heat.c"},
    "loopxform apply mm.c --do interch": {"interchange"},
    "loopxform check mm.c --can st": {s for s in STEPS if s.startswith("st")},
    "loopxform tune m": {"merge", "mm.c", "my heat.c"},
    "loopxform explain LX10": {c for c in CODES if c.startswith("LX10")},
    "loopxform demo har": {"harris"},
    "loopxform completion ": {*SHELLS},
}
"""What completes the last word of each line."""

ASK = """
ask() {
  COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
  $(complete -p loopxform | sed 's/.* -F \\([^ ]*\\) .*/\\1/') loopxform "${!#}" "${@: -2:1}"
  printf '%s\\n' "${COMPREPLY[@]}" ""
}
"""


@pytest.fixture
def folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    """With a few files; the completion of each shell is in a folder beside it."""
    here, shells = tmp_path / "here", tmp_path / "shells"
    (here / "src").mkdir(parents=True)
    for name in ("mm.c", "my heat.c", "mm.json", "notes.txt"):
        (here / name).touch()
    shells.mkdir()
    for shell in SHELLS:
        assert main(["completion", shell]) == 0
        (shells / f"_{shell}").write_text(capsys.readouterr().out)
    return here


def needs(program: str) -> None:
    if not shutil.which(program):
        (pytest.fail if os.environ.get("CI") else pytest.skip)(f"{program} is not installed")


def test_bash(folder: Path) -> None:
    quoted = {'loopxform apply mm.c --do "\'interch"': {"interchange"}}
    lines = {**ANSWERS, **quoted}
    asked = (" ".join(["ask", line, *(['""'] * line.endswith(" "))]) for line in lines)
    script = "\n".join(["source ../shells/_bash", ASK, *asked])
    done = subprocess.run(
        ["bash", "--norc", "-c", script], cwd=folder, capture_output=True, text=True, check=True
    )
    assert not done.stderr
    answers = [set(block.split("\n")) for block in done.stdout.strip("\n").split("\n\n")]
    assert dict(zip(lines, answers)) == lines


def test_fish(folder: Path) -> None:
    needs("fish")
    # fish offers what fits anywhere in a word, too
    lines = {k: v for k, v in ANSWERS.items() if k.endswith(" ") or "--reg" in k}
    asked = (f"complete -C {shlex.quote(line)}; echo" for line in lines)
    script = "; ".join(["source ../shells/_fish", *asked])
    done = subprocess.run(
        ["fish", "--no-config", "-c", script],
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    )
    blocks = done.stdout.strip("\n").split("\n\n")
    answers = [{x.partition("\t")[0].rstrip("/") for x in block.split("\n")} for block in blocks]
    assert dict(zip(lines, answers)) == lines


class Terminal:
    """A shell in a terminal."""

    def __init__(self, folder: Path, kind: str, *command: str) -> None:
        pid, self.fd = pty.fork()
        if not pid:
            os.chdir(folder)
            os.environ |= {"TERM": kind, "COLUMNS": "120", "PS1": "$ ", "LC_ALL": "C.UTF-8"}
            os.execvp(command[0], command)

    def type(self, keys: str, line: str) -> None:
        """Keys, after which the terminal is to end with a line, a pattern, within some seconds."""
        os.write(self.fd, keys.encode())
        seen, end = "", monotonic() + 20
        while not re.search(rf"{line}\s*\Z", re.sub(r"\x1b\[[\d;?]*[A-Za-z]|\a", "", seen)):
            assert monotonic() < end, seen
            if select.select([self.fd], [], [], 0.1)[0]:
                seen += os.read(self.fd, 65536).decode(errors="replace")


@pytest.fixture
def terminals() -> Iterator[list[Terminal]]:
    opened: list[Terminal] = []
    yield opened
    for t in opened:
        os.close(t.fd)


KEYS = {
    "loopxform ti": "loopxform tile",
    "loopxform tile --reg": "loopxform tile --register-pipeline",
    "loopxform tile mm": "loopxform tile mm.c",
    "loopxform tile mm.c --recipe transp": "loopxform tile mm.c --recipe transposition",
    "loopxform tile mm.c --profile h": "loopxform tile mm.c --profile h100",
    "loopxform tile mm.c --target openm": "loopxform tile mm.c --target openmp",
}
"""What is typed before the tabulator, and the line after it."""

PROMPT = r"ready\s+([#%]\s+)?\$"
"""What the shells begin a line with; zsh says before whether it is a new one."""

ZSH = "fpath=(../shells $fpath); autoload -Uz compinit; compinit -u -D; PS1='$ '"


@pytest.mark.parametrize(
    ("shell", "terminal", "setup"),
    [("zsh", "dumb", ZSH), ("tcsh", "vt100", "source ../shells/_tcsh; set prompt='$ '")],
    ids=["zsh", "tcsh"],
)
def test_in_a_terminal(
    shell: str, terminal: str, setup: str, folder: Path, terminals: list[Terminal]
) -> None:
    needs(shell)
    shells = folder.parent / "shells"
    (shells / "_zsh").rename(shells / "_loopxform")
    t = Terminal(folder, terminal, shell, "-f")
    terminals.append(t)
    for keys, line in KEYS.items():
        t.type(f"\x15{setup}; echo 'rea'dy\n", PROMPT)
        t.type(f"{keys}\t", re.escape(line))
