"""The C files that a command line means: files, folders with everything below, standard input."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

from loopxform.errors import InputError
from loopxform.settings.lookup import Settings, settings_for

if TYPE_CHECKING:
    from tqdm import tqdm

Item = TypeVar("Item")


def c_files(names: Sequence[str], settings: Callable[[str], Settings] = settings_for) -> list[str]:
    """The files in the order given, each once; a folder stands for the `.c` files below it in the
    order of their names, without hidden folders and what projects exclude, unless they exclude the
    folder itself. `settings` are those of a folder. Raises InputError, also where those of a file
    cannot be read."""
    found: dict[str, str] = {}
    known = cache(settings)

    def of_folder(folder: str) -> Settings:
        return known(os.path.abspath(folder))

    for name in names:
        if not os.path.isdir(name):
            of_folder(os.path.dirname(name))
        for path in _below(name, of_folder) if os.path.isdir(name) else [name]:
            found.setdefault(path if path == "-" else os.path.realpath(path), path)
    return list(found.values())


def _below(folder: str, settings: Callable[[str], Settings]) -> list[str]:
    def refuse(e: OSError) -> None:
        message = f"cannot read the folder '{e.filename}': {e.strerror}"
        raise InputError(message, help="name a folder that you may read", subject=folder) from e

    own = settings(folder).project
    is_asked_for = own is not None and own.excluded(folder) is not None
    out: list[str] = []
    left = 0
    for where, inner, files in os.walk(folder, onerror=refuse):
        project = settings(where).project
        inner[:] = sorted(d for d in inner if not d.startswith("."))
        paths = [os.path.normpath(os.path.join(where, f)) for f in sorted(files)]
        paths = [p for p in paths if p.endswith(".c") and not _is_pipe(p)]
        if project is not None and not is_asked_for:
            inner[:] = [d for d in inner if not project.excluded(os.path.join(where, d))]
            every = len(paths)
            paths = [p for p in paths if not project.excluded(p)]
            left += every - len(paths)
        out += paths
    if not out:
        message = f"there is no C file in the folder '{folder}'"
        message += " but those that its project excludes" if left else ""
        raise InputError(message, help="name a C file, or a folder that has some", subject=folder)
    return out


def _is_pipe(path: str) -> bool:
    """Whether reading would wait for somebody to write."""
    try:
        return stat.S_ISFIFO(os.stat(path).st_mode)
    except OSError:
        return False


def progress(items: Sequence[Item], verb: str, unit: str = "file") -> Iterator[Item]:
    """The items one by one; where a person waits for several, with a line that says how far."""
    if len(items) < 2 or not sys.stderr.isatty():
        yield from items
        return
    from tqdm import tqdm  # loads what only a person at a terminal needs

    bar: Iterable[Item] = tqdm(items, desc=verb, unit=unit, leave=False, file=sys.stderr)
    yield from bar


def counter(total: int, unit: str, form: str | None = None) -> tqdm[Any]:
    """A line that says how far it is of so many, where a person waits; `form` as tqdm has it."""
    from tqdm import tqdm  # loads what only long work needs

    hidden = not sys.stderr.isatty()
    return tqdm(
        total=total, unit=unit, leave=False, file=sys.stderr, disable=hidden, bar_format=form
    )
