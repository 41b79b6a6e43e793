"""`loopxform completion SHELL`: what a shell needs to complete command lines.

The home of shtab, which makes it from the parsers. What it makes needs neither.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import shtab

from loopxform.cli.commands import COMMANDS, WITHIN
from loopxform.cli.examples import every
from loopxform.cli.manual import commands
from loopxform.cli.parser import Parser
from loopxform.codes import CODES
from loopxform.schedule.params import RECIPES
from loopxform.targets.profile import PROFILES
from loopxform.transforms import STEPS

Completion: TypeAlias = Mapping[str, Any]
"""What completes a word, by shell."""


def main(args: argparse.Namespace) -> int:
    print(text(args.shell), end="")
    return 0


def text(shell: str) -> str:
    """The completion for a shell of `arguments.completion.SHELLS`."""
    return str(shtab.complete(_program(), shell=shell)).rstrip() + "\n"


def _program() -> argparse.ArgumentParser:
    """A parser of all commands, which knows the words and files that complete their arguments."""
    top = argparse.ArgumentParser(prog="loopxform", description="Transforms loops of C.")
    top.add_argument("-V", "--version", action="store_true", help="print the version")
    top.add_argument("--cmakedir", action="store_true", help="print the folder for CMake")
    every = top.add_subparsers(dest="command")
    for c in commands():
        if " " not in c.name:
            c.parser.description = f"{c.about[:1].upper()}{c.about[1:]}."
            _complete(c.name, c.parser)
            _add(every, c.name, c.parser)
    help = argparse.ArgumentParser(description="Show the help of a command.")
    help.add_argument("topic", metavar="COMMAND", choices=[*COMMANDS], help="the command")
    _add(every, "help", help)
    return top


def _add(
    every: argparse._SubParsersAction[argparse.ArgumentParser],
    name: str,
    parser: argparse.ArgumentParser,
) -> None:
    """argparse makes the parsers of commands itself: here it is given one that there is."""
    every._parser_class = lambda **_: parser  # type: ignore[assignment]
    every.add_parser(name, help=parser.description)


def _complete(name: str, parser: Parser) -> None:
    """Tells what completes each argument: `choices`, or what shtab calls `complete`."""
    for action in parser._actions:
        option, shape = (action.option_strings or [""])[-1], str(action.metavar)
        if option in STEP:
            action.complete = _steps()  # type: ignore[attr-defined]
        elif words := WORDS.get(option or f"{name} {shape}"):
            action.choices = words
        elif not action.choices and action.nargs != 0:
            completion = _files(name, shape)
            if completion:
                action.complete = completion  # type: ignore[attr-defined]


STEP = ("--do", "--can")
"""Options whose value begins with the name of a step, most often in quotes."""

WORDS: Mapping[str, Sequence[str]] = {
    "--profile": tuple(PROFILES),
    "--recipes": RECIPES,
    "explain STEP|CODE": (*STEPS, *CODES),
    "demo NAME": tuple(every()),
}
"""Words for arguments that take others, too: options, and the others by command and name."""


def _steps() -> Completion:
    words = " ".join(STEPS)
    function = f"""\
# $1=COMP_WORDS[COMP_CWORD], with the quote that it begins with
_loopxform_steps() {{
  compgen -W "{words}" -- "${{1#[\\'\\"]}}"
}}
"""
    others = dict.fromkeys(("zsh", "tcsh"), f"({words})")
    return {"bash": "_loopxform_steps", "fish": words, **others, "preamble": {"bash": function}}


def _files(name: str, shape: str) -> Completion | None:
    """What completes a file or a folder, and the words that may stand in the place of a C file."""
    if shape != "FILE.c":
        kind = shtab.DIRECTORY if shape == "DIR" else shtab.FILE
        return kind if shape.startswith(("DIR", "FILE", "PICTURE")) else None
    # zsh completes nothing by the pattern (*.c) that shtab has for it.
    completion: dict[str, Any] = {**shtab.glob("*.c"), "zsh": "_files -g '*.c'"}
    words = " ".join(WITHIN.get(name, ()))
    if not words:
        return completion
    also = f"""\
_loopxform_{name}() {{
  compgen -W "{words}" -- "$1"
  {completion["bash"]} "$1"
}}
"""
    bash = completion["preamble"]["bash"] + also
    return {
        **completion,
        "bash": f"_loopxform_{name}",
        "zsh": f"{{{completion['zsh']}; compadd {words}}}",
        "fish": f"{completion['fish']} {words}",
        "preamble": {**completion["preamble"], "bash": bash},
    }
