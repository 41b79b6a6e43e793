"""Standard streams that are closed, full or no longer read, and interrupts: no traceback ever."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from loopxform.cli import check, main

MM = str(Path(__file__).parents[2] / "corpus" / "mm.c")
TOOL = f"{sys.executable} -m loopxform"


def shell(command: str, **environment: str) -> tuple[int, str, str]:
    """Status, output and errors of a shell command, where TOOL is ours."""
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", command.replace("TOOL", TOOL).replace("MM", MM)],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


def unread(command: str, **environment: str) -> tuple[int, str]:
    """Status and errors of a command whose reader left before it began."""
    reader, writer = os.pipe()
    os.close(reader)
    try:
        done = subprocess.run(
            [*TOOL.split(), *command.split()],
            env={**os.environ, **environment},
            stdout=writer,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    finally:
        os.close(writer)
    return done.returncode, done.stderr


BUFFERED = pytest.mark.parametrize("unbuffered", ["", "1"])


@BUFFERED
@pytest.mark.parametrize(
    "command",
    [
        "TOOL --help",
        "TOOL --version",
        "TOOL tile --help",
        "TOOL explain LX101",
        "TOOL check MM",
        "TOOL tile MM --dry-run --show-steps",
        "TOOL apply MM --do 'interchange i j'",
    ],
)
@pytest.mark.parametrize("where", ["/dev/full", "&-"])
def test_output_that_is_lost_is_an_error(command: str, where: str, unbuffered: str) -> None:
    status, _, err = shell(f"{command} >{where}", PYTHONUNBUFFERED=unbuffered)
    assert status == 2
    assert err.count("error: cannot write to standard output: ") == 1
    assert "Traceback" not in err
    assert "Exception ignored" not in err


@BUFFERED
@pytest.mark.parametrize("command", ["--help", "tile --help", "explain", "check MM"])
def test_a_reader_that_left_is_no_error_of_ours(command: str, unbuffered: str) -> None:
    """The status is that of a program that SIGPIPE ended."""
    assert unread(command.replace("MM", MM), PYTHONUNBUFFERED=unbuffered) == (141, "")


def test_a_diagnostic_comes_before_a_reader_that_left() -> None:
    status, err = unread("check nowhere.c")
    assert status == 2
    assert "no such file" in err


@pytest.mark.parametrize("command", ["TOOL tile MM --dry-run -q", "TOOL explain LX101 >/dev/null"])
def test_closed_streams_that_are_not_used_do_no_harm(command: str) -> None:
    closed = "<&- 2>&-" if ">" in command else "<&- >&- 2>&-"
    assert shell(f"{command} {closed}") == (0, "", "")


@pytest.mark.parametrize("errors", ["2>&-", "2>/dev/full"])
def test_the_status_is_there_without_standard_error(errors: str) -> None:
    assert shell(f"TOOL check nowhere.c {errors}")[0] == 2


def test_closed_standard_input() -> None:
    status, out, err = shell("TOOL check - <&-")
    assert (status, out) == (2, "")
    assert "<command line>:1:17: error: cannot read standard input: " in err


def test_standard_input_in_another_encoding() -> None:
    text = r"void f(int n, float a[n]) { for (int i = 0; i < n; i++) a[i] = 1; } /* \xfc */"
    status, out, _ = shell(f"printf '{text}' | TOOL check -")
    assert (status, out[:3]) == (0, "f:\n")


def test_a_terminal_that_lacks_letters(tmp_path: Path) -> None:
    (tmp_path / "größe.c").write_text("int x;\n")
    status, _, err = shell(f"TOOL tile {tmp_path}/größe.c", PYTHONIOENCODING="ascii")
    assert status == 2
    assert "gr\\xf6\\xdfe.c:1:1: error: no function" in err


def test_closed_streams_do_not_lend_their_numbers_to_files(tmp_path: Path) -> None:
    """The first file a process opens gets the number of a closed stream: 1, or 2."""
    command = "TOOL tile MM -q -o OUT >&- 2>&-".replace("OUT", str(tmp_path))
    assert shell(command) == (0, "", "")
    assert all(p.read_text().startswith(("/*", "\n/*")) for p in tmp_path.iterdir())


# ---------------------------------------------------------------- interrupts


@pytest.mark.parametrize("module", ["loopxform.cli.dispatch", "argparse", "islpy", "jinja2"])
def test_an_interrupt_while_modules_are_loaded(module: str) -> None:
    code = f"""
import sys
class Interrupted:
    def find_spec(self, name, path, target=None):
        if name == {module!r}:
            raise KeyboardInterrupt
sys.meta_path.insert(0, Interrupted())
from loopxform.cli import main
raise SystemExit(main(["tile", {MM!r}, "--dry-run"]))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


def test_an_interrupt_while_a_command_runs(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(_argv: list[str]) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(check, "main", interrupted)
    assert main(["check", MM]) == 130
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (MemoryError(), "there is not enough memory [LX054]"),
        (RecursionError(), "the program is nested too deeply [LX010]"),
    ],
)
def test_a_machine_that_is_too_small(
    error: Exception,
    words: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def failing(_argv: list[str]) -> int:
        raise error

    monkeypatch.setattr(check, "main", failing)
    assert main(["check", MM]) == 2
    assert words in capsys.readouterr().err


@pytest.mark.parametrize("error", [KeyError("x"), OSError(28, "No space left on device")])
def test_our_own_bugs_are_reported_as_such(
    error: Exception, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def failing(_argv: list[str]) -> int:
        raise error

    monkeypatch.setattr(check, "main", failing)
    assert main(["check", MM]) == 101
    assert "loopxform: internal error; please report it" in capsys.readouterr().err
