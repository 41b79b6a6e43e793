"""Command lines as people mistype them: one diagnostic, under the word it is about, with what to
write instead; nothing is written."""

from __future__ import annotations

import json
import re
import shlex
from importlib import import_module
from pathlib import Path

import pytest

from loopxform.cli import main
from loopxform.cli.arguments import understood
from loopxform.cli.commands import COMMANDS
from loopxform.cli.commands import split as resolved
from loopxform.cli.help_text import split
from loopxform.cli.manual import commands

Capture = pytest.CaptureFixture[str]
PRODUCT = Path(__file__).parents[2] / "corpus" / "mm.c"
NEST = """void rows(int n, int m, float a[n][m], float b[n])
{
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      a[i][j] = 2 * b[i];
}
"""

WRONG = [
    # the line, the word under the caret, the message, the help
    ("tile f.c --Ti 16", "--Ti", "has no option '--Ti'", "lists the options"),
    ("tile f.c --ty 16", "--ty", "has no option '--ty'", "did you mean '--Ty'?"),
    ("tile --ty=16 f.c", "--ty=16", "has no option '--ty'", "did you mean '--Ty'?"),
    ("tile f.c -Ty 16", "-Ty", "has no option '-Ty'", "did you mean '--Ty'?"),
    ("tile f.c Ty=16", "Ty=16", "one word too many", "did you mean '--Ty 16'?"),
    ("tile f.c --Ty", "--Ty", "--Ty needs a value", "--Ty N"),
    ("tile f.c --Ty --Tx 4", "--Ty", "--Ty needs a value", "--Ty N"),
    ("tile f.c -o", "-o", "-o needs a value", "-o DIR"),
    ("tile f.c --output out", "--output", "has no option", "-o DIR"),
    ("tile f.c --verbos", "--verbos", "has no option", "lists the options"),
    ("tile f.c -O3", "-O3", "has no option", "after --cflags"),
    ("tile f.c -std=c99", "-std=c99", "has no option", "after --cflags"),
    ("tile f.c --version", "--version", "has no option", "loopxform --version"),
    ("tile f.c g.c", "g.c", "one word too many", "takes one FILE.c"),
    ("tile -- f.c --Ty", "--Ty", "one word too many", "options stand in front of --"),
    ("tile", "tile", "needs a C file", "loopxform tile FILE.c"),
    ("tile --Ty 16", "tile", "needs a C file", "loopxform tile FILE.c"),
    ("tile f.c --target openpm", "openpm", "cannot be 'openpm'", "did you mean 'openmp'?"),
    ("tile f.c --recipe Register", "Register", "cannot be", "did you mean 'register'?"),
    ("tile f.c --recipe=blok", "blok", "cannot be", "did you mean 'block'?"),
    ("tile f.c --profile H10", "H10", "no device profile", "did you mean 'h100'?"),
    ("tile f.c --function row", "row", "no function 'row'", "did you mean 'rows'?"),
    ("tile f.c --color sometimes", "sometimes", "cannot be", "auto, always, never"),
    ("tile f.c --report", "--report", "has no option", "an option of loopxform offload"),
    ("tile f.c --recipe naive --Ry 4", "--Ry", "recipe naive has no use for", "leave out --Ry"),
    ("tile f.c --Ry=4 --recipe=naive", "--Ry=4", "recipe naive has no use for", "one-sided"),
    ("run f.c --recipe naive --stages 2", "--stages", "has no use for --stages", "register"),
    (
        "tile f.c --recipe 1-d --serpentine 2",
        "--serpentine",
        "has no use for",
        "takes it: register",
    ),
    ("tile f.c --target openmp --stages 3", "--stages", "C for the CPU has no use", "leave out"),
    ("tile f.c --relayout none --relayout a:0", "none", "say the opposite", "leave out one"),
    ("tile f.c --target openmp --pack 4", "--pack", "no use for", "leave out"),
    ("run f.c", "run", "needs a number for n, m", "--size n=64,m=64"),
    ("run f.c --size n=3", "n=3", "needs a number for m", "--size n=3,m=64"),
    ("bench f.c --sizes n=3,4", "n=3,4", "needs a number for m", "--size n=3,m=64"),
    ("run f.c --size n=3,M=4", "n=3,M=4", "'M' is not a scalar", "did you mean 'm'?"),
    ("run f.c --n 3 --m 4", "--n", "has no option '--n'", "--size n=3"),
    ("run f.c --size n=3 m=4", "m=4", "one word too many", "--size M=512,N=512"),
    ("run f.c --size 512", "512", "is not NAME=NUMBER", "--size M=513,U=129"),
    ("tile f.c --size n=3", "--size", "has no option", "an option of loopxform run, bench"),
    ("offload f.c --vector 4", "--vector", "has no option", "of loopxform tile, run, bench"),
    ("tile f.c --define X", "--define", "has no option", "-D NAME=VALUE"),
    ("tile f.c --pad yes", "yes", "one word too many", "--pad takes no value"),
    ("tile f.c --pad=yes", "--pad=yes", "--pad takes no value", "--pad alone"),
    ("check f.c --can reverse i", "i", "one word too many", "--can 'reverse i ...'"),
    ("apply f.c --do interchange i j", "i", "one word too many", "--do 'interchange i ...'"),
    ("check f.c --can ''", "''", "is not a step", "steps: "),
    ("explain ''", "''", "neither a step nor a code", "loopxform explain"),
    ("tile f.c -MT x", "-MT", "is about a rule for make", "-MD or -MF"),
    ("offload f.c --no-phony", "--no-phony", "is about a rule for make", "-MD or -MF"),
    ("offload f.c --function rows --function=row", "row", "no function", "did you mean 'rows'?"),
    ("run f.c --size n=3,m=4 --input B=0:4", "B=0:4", "not an array of", "did you mean 'b'?"),
    ("bench f.c --size n=3,m=4 --input b=4:0", "b=4:0", "has no values from", "LOW:HIGH"),
    ("-o out tile f.c", "-o", "no command is named", "loopxform COMMAND -o"),
    ("version", "version", "is not a command", "did you mean '--version'?"),
    ("-help", "-help", "is not a command", "did you mean '--help'?"),
    ("help LX101", "LX101", "is not a command", "loopxform explain LX101"),
    ("bench f.c --size n=3,m=4 --variants naive --Rx 2", "--Rx", "no use for", "takes it: reg"),
    (
        "bench f.c --size n=3,m=4 --variants naive,block --vary Ry=2,4",
        "Ry=2,4",
        "have no use",
        "Ry",
    ),
    ("til f.c", "til", "is not a command", "did you mean 'tile'?"),
    ("TILE f.c", "TILE", "is not a command", "did you mean 'tile'?"),
    ("f.c", "f.c", "no command is named", "loopxform tile f.c"),
    ("completion", "completion", "completion needs SHELL", "loopxform completion SHELL"),
    ("completion bsh", "bsh", "SHELL cannot be 'bsh'", "did you mean 'bash'?"),
    ("help til", "til", "is not a command", "did you mean 'tile'?"),
    ("check f.c --line abc", "abc", "must be a whole number", "--line 12"),
    ("check f.c --line 99", "99", "no loop begins on line 99", "loops begin on line 3, 4"),
    ("check f.c --time-limit -3", "-3", "a number of seconds", "--time-limit 20"),
    ("check f.c --time-limit nan", "nan", "a number of seconds", "--time-limit 20"),
    ("check f.c --memory-limit 0", "0", "a number of MiB", "--memory-limit 800"),
    ("check f.c --can", "--can", "--can needs a value", "--can STEP"),
    ("check f.c --can 'interchnage i j'", "'interchnage i j'", "not a step", "'interchange'?"),
    ("check f.c --require paralel:3", "paralel:3", "not a requirement", "'parallel'?"),
    ("check f.c --json", "--json", "has no option", "did you mean '--format json'?"),
    ("apply f.c --step 'reverse i'", "--step", "has no option", "lists the options"),
    ("explain interchnage", "interchnage", "neither a step", "did you mean 'interchange'?"),
    ("explain Split-loop", "Split-loop", "neither a step", "loopxform explain lists"),
    ("explain stripmine split", "split", "one word too many", "takes one STEP|CODE"),
    ("devices h100", "h100", "one word too many", "takes no file"),
    ("offload f.c --recipe naive", "--recipe", "has no option", "of loopxform tile, run"),
]


@pytest.mark.parametrize(("line", "word", "message", "help"), WRONG, ids=[w[0] for w in WRONG])
def test_what_is_wrong_and_what_to_write(
    line: str,
    word: str,
    message: str,
    help: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: Capture,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("f.c").write_text(NEST)
    assert main(shlex.split(line)) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert [p.name for p in tmp_path.iterdir()] == ["f.c"]
    first, _, quoted, carets, *rest = err.splitlines()
    assert first.count("error: ") == 1
    assert message in first
    start = carets.index("^")
    assert quoted[start : start + carets.count("^")] == word
    assert rest[-1].startswith("   = help: ")
    assert help in rest[-1]


NAMES = [
    ("tile f.c --specialise N=4", "'N' is not a size of rows", "did you mean 'n'?"),
    ("tile f.c --specialise a=4", "'a' is not a size of rows", "the sizes are: n, m"),
    ("tile f.c --relayout B:1,0", "'B' is not an array that rows is given", "did you mean 'b'?"),
    ("apply f.c --do 'reverse I'", "there is no loop over 'I'", "did you mean 'i'?"),
]


@pytest.mark.parametrize(("line", "message", "help"), NAMES, ids=[n[0] for n in NAMES])
def test_names_that_the_function_does_not_have(
    line: str,
    message: str,
    help: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: Capture,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("f.c").write_text(NEST)
    assert main(shlex.split(line)) == 2
    err = capsys.readouterr().err
    assert message in err
    assert help in err.splitlines()[-1]
    assert [p.name for p in tmp_path.iterdir()] == ["f.c"]


def test_options_stand_anywhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("f.c", "g.c", "-h.c"):
        Path(name).write_text(NEST)
    assert main(["check", "f.c", "--format", "json", "g.c", "--cflags", "-O2"]) == 0
    assert [f["file"] for f in json.loads(capsys.readouterr().out)["files"]] == ["f.c", "g.c"]
    assert main(["check", "--format=json", "--", "-h.c"]) == 0
    assert json.loads(capsys.readouterr().out)["file"] == "-h.c"


def test_a_program_that_is_not_there_is_told_first(tmp_path: Path, capsys: Capture) -> None:
    pytest.importorskip("numpy")
    (tmp_path / "f.c").write_text(NEST)
    line = ["bench", str(tmp_path / "f.c"), "--size", "n=3,m=4", "--command", "./nowhere {n}"]
    assert main(line) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert "'./nowhere' cannot be run: there is no such program [LX069]" in err


RECURRENCE = """void scan(int n, float *a)
{
  for (int i = 1; i < n; i++)
    a[i] += a[i - 1];
}
"""
UNKNOWN = RECURRENCE.replace("a[i - 1]", "a[(int)a[i]]")


@pytest.mark.parametrize(
    ("line", "proven", "unknown"),
    [
        ("tile f.c", 1, 2),
        ("tile f.c --target openmp --recipe naive", 1, 2),
        ("offload f.c", 1, 2),
        ("apply f.c --do 'parallelise i'", 1, 1),
        ("check f.c --can 'parallelise i'", 1, 1),
        ("check f.c --require parallel:3", 1, 1),
        ("check f.c", 0, 0),
    ],
)
def test_what_is_proven_to_be_illegal_is_no_bad_input(
    line: str,
    proven: int,
    unknown: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: Capture,
) -> None:
    monkeypatch.chdir(tmp_path)
    for text, status in ((RECURRENCE, proven), (UNKNOWN, unknown)):
        Path("f.c").write_text(text)
        assert main(shlex.split(line)) == status
        assert [p.name for p in tmp_path.iterdir()] == ["f.c"]
        assert ("i=2 (n=3)" in "".join(capsys.readouterr())) == (text is RECURRENCE)


@pytest.mark.parametrize("command", ["run", "bench"])
def test_a_device_is_not_told_of_a_recurrence(
    command: str, tmp_path: Path, capsys: Capture
) -> None:
    pytest.importorskip("pyopencl")
    (tmp_path / "f.c").write_text(RECURRENCE)
    assert main([command, str(tmp_path / "f.c"), "--size", "n=5"]) == 1
    assert "(i: no) [LX062]" in capsys.readouterr().err


def test_sizes_that_the_chosen_recipe_does_not_have(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    """Where the recipe is asked for they are refused, else the summary says so."""
    monkeypatch.chdir(tmp_path)
    Path("f.c").write_text(NEST)
    assert main(["tile", "f.c", "--dry-run", "--Tz", "4"]) == 0
    assert "\n  note: no use for --Tz\n" in capsys.readouterr().out
    assert main(["tile", str(PRODUCT), "--dry-run", "--recipe", "stencil", "--Tz", "4"]) == 2
    assert "no use for --Tz in this nest" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["check", "tile", "offload", "apply", "run", "bench", "tune"])
def test_help_begins_with_the_options_that_matter(command: str, capsys: Capture) -> None:
    """On a screen, each in a line; -h is that screen."""
    assert main(["help", command]) == 0
    text = capsys.readouterr().out
    before, _, after = text.partition("options that matter most:\n")
    assert before.startswith(f"usage: loopxform {command} [OPTION ...] FILE.c\n")
    first = after.partition("\n\n")[0].splitlines()
    assert len(first) == 10
    assert all(re.match(r"  -\S.*  \S", line) and len(line) <= 80 for line in first)
    assert len(before.splitlines()) + len(first) < 24
    assert main([command, "--help"]) == 0
    assert capsys.readouterr().out == text
    assert main([command, "-h"]) == 0
    screen = capsys.readouterr().out
    assert len(screen.splitlines()) <= 24
    assert max(map(len, screen.splitlines())) <= 80
    assert "\n".join([before + "options that matter most:", *first]) in screen
    assert f"examples:\n  loopxform {command} " in screen
    shown, groups = _actions(command), text.partition("\narguments:\n")[2]
    for option in shown:
        assert re.search(rf"^  (\S.*, )?{re.escape(option)}\b", groups, re.MULTILINE), option
    assert f"--help shows all {len(shown)} options" in screen


def _actions(command: str) -> list[str]:
    """The options that help shows, each by its last name."""
    parser = import_module(f"loopxform.cli.arguments.{command}").options()
    shown = (a for a in parser._actions if a.help != "==SUPPRESS==")
    return [a.option_strings[-1] for a in shown if a.option_strings]


@pytest.mark.parametrize("command", [c.name for c in commands()])
def test_the_examples_of_help_are_command_lines(command: str) -> None:
    (c,) = (c for c in commands() if c.name == command)
    for example in c.parser.examples:
        words = shlex.split(split(example)[0].partition(" > ")[0])
        name, given = resolved(words)
        assert " ".join(words).startswith(command)
        understood(name, given)


def test_help_of_a_small_command_is_the_same(capsys: Capture) -> None:
    for option in ("-h", "--help"):
        assert main(["explain", option]) == 0
    text = capsys.readouterr().out
    assert text[: len(text) // 2] == text[len(text) // 2 :]


def test_help_of_the_program(capsys: Capture) -> None:
    assert main(["help"]) == 0
    text = capsys.readouterr().out
    assert main(["--help"]) == 0
    assert capsys.readouterr().out == text
    assert "examples:\n  loopxform check " in text
    listed = re.findall(r"^  (\w+) +\w", text.partition("\nexamples:")[0], re.MULTILINE)
    assert sorted(listed) == sorted(COMMANDS)
    titles = ["analyse", "transform", "run and tune"]
    assert re.findall(r"^(.*):$", text, re.MULTILINE)[:3] == titles
