"""Colours of diagnostics and verdicts: for a terminal, unless the command line or the environment
says otherwise."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TextIO

from loopxform.quotation import Paint, plain

WHEN = ("auto", "always", "never")
FORCING = ("CLICOLOR_FORCE", "FORCE_COLOR")

BOLD, RED, GREEN, YELLOW, BLUE, CYAN = ("1", "1;31", "1;32", "1;33", "1;34", "1;36")

ROLES = {
    "place": BOLD,
    "error": RED,
    "caret": RED,
    "gutter": BLUE,
    "help": CYAN,
    "yes": GREEN,
    "privatizable": GREEN,
    "reduction": CYAN,
    "no": RED,
    "unknown": YELLOW,
    "proven": GREEN,
    "race-free": CYAN,
    "holds": GREEN,
    "wrong": RED,
    "does not hold": RED,
    "not proven": YELLOW,
    "verified": GREEN,
    "DIFFERENT": RED,
}
"""What is coloured, and how a terminal is told."""


def painter(argv: Sequence[str], stream: TextIO | None) -> Paint:
    """How texts are painted that go to a stream, for a command line."""
    return _painted if wanted(argv, stream) else plain


def wanted(argv: Sequence[str], stream: TextIO | None) -> bool:
    """Whether a stream gets colours: --color says so, else NO_COLOR, CLICOLOR_FORCE or FORCE_COLOR,
    else whether it is a terminal."""
    match _when(argv):
        case "always":
            return True
        case "never":
            return False
    if os.environ.get("NO_COLOR"):
        return False
    if any(os.environ.get(name, "0") not in ("", "0") for name in FORCING):
        return True
    return os.environ.get("TERM") != "dumb" and stream is not None and stream.isatty()


def _when(argv: Sequence[str]) -> str:
    """What the last --color of a command line says."""
    words = list(argv[: argv.index("--cflags")] if "--cflags" in argv else argv)
    found = "auto"
    for word, after in zip(words, [*words[1:], ""]):
        name, equals, value = word.partition("=")
        if name == "--color":
            found = value if equals else after
    return found


def _painted(role: str, text: str) -> str:
    return f"\033[{ROLES[role]}m{text}\033[0m" if text and role in ROLES else text
