"""Writing files so that a failure leaves nothing behind."""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Mapping
from pathlib import Path

from loopxform.errors import InputError


def write_all(directory: str, files: Mapping[str, str]) -> list[Path]:
    """Writes every file, or none: all texts go to temporary files first, then take their names.

    Raises InputError where the folder cannot be made or written.
    """
    folder = Path(directory)
    temporary: list[tuple[Path, Path]] = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            path = folder / name
            scratch = folder / f".{name}.{os.getpid()}.tmp"
            temporary.append((scratch, path))
            scratch.write_text(text, encoding="utf-8")
            if path.is_dir():
                raise IsADirectoryError(errno.EISDIR, f"{path} is a folder")
        for scratch, path in temporary:
            scratch.replace(path)
    except OSError as e:
        for scratch, _ in temporary:
            with contextlib.suppress(OSError):
                scratch.unlink(missing_ok=True)
        reason = e.strerror or str(e)
        raise InputError(
            f"cannot write to '{directory}': {reason}",
            code="LX055",
            help="choose a folder that can be written: -o DIR",
            subject="-o",
        ) from e
    return [path for _, path in temporary]


def depfile(target: Path, dependencies: tuple[str, ...]) -> str:
    """A Make rule: the target depends on every file read; a phony rule for each header."""

    def escaped(text: str) -> str:
        return text.replace("$", "$$").replace("#", "\\#").replace(" ", "\\ ")

    rule = f"{escaped(str(target))}: {' '.join(map(escaped, dependencies))}\n"
    return rule + "".join(f"\n{escaped(d)}:\n" for d in dependencies[1:])
