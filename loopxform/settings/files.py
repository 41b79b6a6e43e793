"""Reading the files of settings: what they hold is remembered as long as they are the same, and
told to whoever remembers commands (`trace`)."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from loopxform import trace
from loopxform.errors import InputError


@dataclass
class Read:
    """The files that were read for some settings."""

    paths: list[str] = field(default_factory=list)


PROJECT, SHARED = "loopxform.toml", "pyproject.toml"
"""Where the settings of a project are: in a file of their own, or in a table of another one."""

DATABASE = "compile_commands.json"
BUILD = "build"
"""The folder beside a source folder that is looked into, as clangd does."""


def around(folder: str, names: Sequence[str], seen: Read) -> Iterator[tuple[str, bytes]]:
    """The files of these names in the folder and in those around it, the nearest first, with what
    they hold. Raises InputError for one that cannot be read."""
    folder = os.path.abspath(folder)
    while True:
        for name in names:
            path = os.path.join(folder, name)
            if (data := contents(path, seen)) is not None:
                yield path, data
        folder, inner = os.path.dirname(folder), folder
        if folder == inner:
            return


_held: dict[str, tuple[tuple[int, int, int], bytes]] = {}


def contents(path: str, seen: Read) -> bytes | None:
    """What a file holds; None where there is none. Raises InputError where it cannot be read."""
    try:
        about = os.stat(path)
    except (OSError, ValueError):
        trace.absent(path)
        return None
    if not stat.S_ISREG(about.st_mode):
        return None
    stamp = (about.st_mtime_ns, about.st_size, about.st_ino)
    known = _held.get(path)
    if known is None or known[0] != stamp:
        try:
            with open(path, "rb") as f:
                known = _held[path] = (stamp, f.read())
        except OSError as e:
            message = f"cannot read '{path}': {e.strerror or e}"
            help = "make it readable, or leave it alone: --no-config"
            raise InputError(message, code="LX243", help=help) from e
    trace.read(path, known[1])
    seen.paths.append(path)
    return known[1]
