"""Words of a command line, and what to write in the place of one that means nothing."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from typing import Protocol

from loopxform.errors import UsageError
from loopxform.nearest import did_you_mean, nearest

NUMBER = re.compile(r"-\d+|-\d*\.\d+")
"""A value, though it begins with a dash."""

ELSEWHERE = {
    "--output": "-o DIR says where files are written",
    "--out": "-o DIR says where files are written",
    "--define": "-D NAME=VALUE",
    "--undefine": "-U NAME",
    "--include": "-I DIR",
    "--version": "loopxform --version",
    "-v": "loopxform --version",
    "-V": "loopxform --version",
    "--jobs": "one process does the work: make -j runs several",
    "-j": "one process does the work: make -j runs several",
}
"""Options that other programs have, and what there is in their place."""

STEPS = ("--can", "--do")
"""Options whose value is a step, in several words."""

COMPILER = re.compile(r"-(O.*|W.*|f.+|m.+|g.*|l.+|L.*|std=.*|isystem.*|idirafter.*|pthread|c|S|E)")
"""Options of C compilers."""


class Known(Protocol):
    """What a command takes."""

    @property
    def prog(self) -> str: ...
    @property
    def options(self) -> tuple[str, ...]: ...
    @property
    def flags(self) -> tuple[str, ...]: ...
    @property
    def choices(self) -> dict[str, str]: ...
    @property
    def positional(self) -> str: ...
    @property
    def takers(self) -> Callable[[str], list[str]]:
        """The commands that have an option."""
        ...


def is_option(word: str) -> bool:
    """As argparse sees it."""
    name = word.partition("=")[0]
    return name.startswith("-") and name != "-" and not NUMBER.fullmatch(word) and " " not in name


def short(word: str) -> str:
    """`-D` of `-DX`."""
    return word[:2] if word[:1] == "-" and word[1:2] not in ("", "-") else ""


def without(known: Known, words: Sequence[str], n: int) -> UsageError:
    """The error for a word that a command does not take, and what to write instead."""
    word = words[n]
    name, _, value = word.partition("=")
    if is_option(word) and "--" not in words[:n]:
        value = value or (words[n + 1] if n + 1 < len(words) else "")
        return UsageError(f"{known.prog} has no option '{name}'", help=_option(known, word, value))
    return UsageError(f"'{word}' is one word too many", help=_plain(known, words, n))


def _option(known: Known, word: str, value: str) -> str:
    name = word.partition("=")[0]
    if name in ELSEWHERE and (name[:5] != "--out" or "-o" in known.options):
        return ELSEWHERE[name]
    if f"-{name}" in known.options:
        return f"did you mean '-{name}'?"
    if COMPILER.fullmatch(word) and "--cflags" in known.options:
        return "options of the C compiler stand at the end, after --cflags"
    long = [text for text in known.options if text.startswith("--")]
    if "--size" in known.options and value.isdigit() and nearest(name, long) is None:
        return f"a size: --size {name.lstrip('-')}={value}"
    if name[2:] in known.choices:
        return f"did you mean '{known.choices[name[2:]]} {name[2:]}'?"
    commands = ", ".join(known.takers(name))
    if commands:
        return f"{name} is an option of loopxform {commands}"
    return f"{did_you_mean(name, long)}{known.prog} --help lists the options"


def torn(words: Sequence[str], n: int) -> bool:
    """Whether a word belongs to the step in front of it, which has no quotes."""
    step = words[n - 1] if n > 1 and words[n - 2] in STEPS else " "
    return " " not in step and words[n] != "-" and not os.path.exists(words[n])


def _plain(known: Known, words: Sequence[str], n: int) -> str:
    name, _, value = words[n].partition("=")
    before = words[n - 1] if n else ""
    if torn(words, n):
        return f"quotes keep a step together: {words[n - 2]} '{before} {words[n]} ...'"
    if is_option(words[n]):
        return "options stand in front of --"
    if before in known.flags:
        return f"{before} takes no value"
    if value and f"--{name}" in known.options:
        return f"did you mean '--{name} {value}'?"
    if value and "--size" in known.options:
        return "sizes stand in one word: --size M=512,N=512"
    if known.positional:
        return f"{known.prog} takes one {known.positional}"
    return f"{known.prog} takes no file: {known.prog} --help"
