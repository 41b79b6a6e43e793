"""Diagnostics about the command line itself, quoted as if it were a source file."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from loopxform.errors import IgnoredOption, LoopxformError
from loopxform.source import Loc, Sources

COMMAND_LINE = "<command line>"


def put_on_command_line(error: LoopxformError, argv: Sequence[str]) -> None:
    """Gives an error that has no place in a file one in `loopxform argv...`: under its subject,
    else under the name of the command."""
    by_name = isinstance(error, IgnoredOption)
    put_at_word(error, argv, *_find(argv, error.subject, by_name=by_name))


def put_at_word(error: LoopxformError, argv: Sequence[str], n: int, skip: int = 0) -> None:
    """Gives an error a place under a word of `loopxform argv...`, `skip` letters of it left out."""
    words = [shlex.quote(a) for a in argv]
    column = len("loopxform ") + sum(len(w) + 1 for w in words[:n]) + skip + 1
    error.loc = Loc(COMMAND_LINE, 1, column)
    error.width = len(words[n]) - skip
    error.sources = Sources()
    error.sources.add(COMMAND_LINE, " ".join(["loopxform", *words]))


def _find(argv: Sequence[str], subject: str | None, *, by_name: bool) -> tuple[int, int]:
    """The argument that the subject means, and how much of it comes before: an option where that
    is what is wrong (`by_name`), else its value (`-o DIR`, `--Ty=0`, `-DX`); a word."""
    if subject is None:
        return 0, 0
    for n, word in enumerate(argv):
        if by_name and word.partition("=")[0] == subject:
            return n, 0
        if word == subject:
            valued = _is_option(word) and n + 1 < len(argv) and not _is_option(argv[n + 1])
            return (n + 1, 0) if valued else (n, 0)
        if subject and word.startswith(f"{subject}="):
            return n, len(f"{subject}=")
        if subject and word.startswith("-") and word[2:] == subject:
            return n, 2
        if subject and word.endswith(f"={subject}"):
            return n, len(word) - len(subject)
    return 0, 0


def _is_option(word: str) -> bool:
    return word.startswith("-") and word != "-" and not word[1].isdigit()
