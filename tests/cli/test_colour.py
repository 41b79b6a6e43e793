"""When diagnostics and verdicts are coloured."""

from __future__ import annotations

import io
import re
from pathlib import Path

import pytest

from loopxform.cli import main
from loopxform.cli.colour import wanted

Capture = pytest.CaptureFixture[str]
SCAN = "void scan(int n, float *a)\n{\n  for (int i = 1; i < n; i++)\n    a[i] += a[i - 1];\n}\n"
COLOURS = re.compile(r"\033\[[\d;]*m")


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("argv", "environment", "on_terminal", "elsewhere"),
    [
        ([], {}, True, False),
        ([], {"NO_COLOR": "1"}, False, False),
        ([], {"NO_COLOR": ""}, True, False),
        ([], {"TERM": "dumb"}, False, False),
        ([], {"CLICOLOR_FORCE": "1"}, True, True),
        ([], {"CLICOLOR_FORCE": "0"}, True, False),
        ([], {"FORCE_COLOR": "3"}, True, True),
        ([], {"FORCE_COLOR": "1", "NO_COLOR": "1"}, False, False),
        (["--color", "always"], {"NO_COLOR": "1"}, True, True),
        (["--color=never"], {"FORCE_COLOR": "1"}, False, False),
        (["--color=never", "--color", "auto"], {}, True, False),
        (["--cflags", "--color=never"], {}, True, False),
    ],
)
def test_who_decides(
    argv: list[str],
    environment: dict[str, str],
    on_terminal: bool,
    elsewhere: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("NO_COLOR", "CLICOLOR_FORCE", "FORCE_COLOR", "TERM"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert wanted(argv, Terminal()) == on_terminal
    assert wanted(argv, io.StringIO()) == elsewhere


@pytest.mark.parametrize(
    ("command", "status", "painted"),
    [
        (["check"], 0, "\033[1;31mno\033[0m"),
        (["check", "--require", "parallel:3"], 1, "parallel:3: \033[1;31mno\033[0m; "),
        (["apply", "--do", "reverse i"], 1, "\033[1;31merror:\033[0m cannot reverse i: "),
        (["apply", "--do", "reverse"], 2, "\033[1;36mhelp:\033[0m usage: "),
    ],
)
def test_colours_change_nothing_else(
    command: list[str],
    status: int,
    painted: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: Capture,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("f.c").write_text(SCAN)
    line = [command[0], "f.c", *command[1:]]
    assert main([*line, "--color", "always"]) == status
    coloured = "".join(capsys.readouterr())
    assert main([*line, "--color", "never"]) == status
    plain = "".join(capsys.readouterr())
    assert painted in coloured
    assert "\033" not in plain
    assert COLOURS.sub("", coloured) == plain
