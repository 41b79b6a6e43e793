"""The files that are read for one translation unit, and those that are not there."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from loopxform import trace
from loopxform.errors import InputError
from loopxform.frontend.text import rawtext
from loopxform.source import Loc, Sources

_LINE_MARK = re.compile(r"^[ \t]*#[ \t]*(?:line\b|\d).*$", re.MULTILINE)


@dataclass
class Reader:
    """The files read so far: raw text for diagnostics, names for dependencies."""

    sources: Sources = field(default_factory=Sources)
    files: list[str] = field(default_factory=lambda: ["<prelude>"])
    renumbered: bool = False
    """Whether a file had line marks."""

    def add(self, file: str, text: str) -> str:
        """Registers a file; returns its text without comments and line marks."""
        if file not in self.files:
            self.files.append(file)
            self.sources.add(file, text)
        text = rawtext.strip_comments(text, file)
        plain, marks = _LINE_MARK.subn(lambda m: rawtext.blank(m.group()), text)
        self.renumbered = self.renumbered or marks > 0
        return plain


def is_file(path: str) -> bool:
    """Whether a header is there. Where it is not, that is part of what the result depends on."""
    found = os.path.isfile(path)
    if not found:
        trace.absent(path)
    return found


def in_front(name: str, folders: Iterable[str]) -> str:
    """The path of a file of -include: it is looked for where the compiler runs, then as "x.h" is.
    Raises InputError."""
    for folder in folders:
        if is_file(path := os.path.join(folder, name)):
            return path
    message = f"include file '{name}' not found"
    help = "-include FILE, in this folder or in one of -I"
    raise InputError(message, help=help, subject="-include")


def missing_include(name: str, loc: Loc, *, quoted: bool) -> InputError:
    """The diagnostic for an `#include "x.h"` that is nowhere."""
    return InputError(
        f"include file '{name}' not found",
        loc=loc,
        help="name its folder: -I DIR",
        width=len(name) + 2 * quoted,
    )
