"""Writing files so that a failure leaves nothing behind, and nothing that was read is lost."""

from __future__ import annotations

import contextlib
import errno
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from loopxform import trace
from loopxform.errors import InputError
from loopxform.records import record


@record
class Output:
    """A text and where it goes; `option` of the command line says so."""

    path: Path
    text: str
    option: str = "-o"

    @property
    def data(self) -> bytes:
        """In UTF-8; what a user's file holds that is none stands as surrogates in the text."""
        return self.text.encode(errors="surrogateescape")


@record
class Picture(Output):
    """What is no text: its bytes stand for it."""

    pixels: bytes = b""

    @property
    def data(self) -> bytes:
        return self.pixels


def safe_name(name: str) -> str:
    """A file name that `#include "..."` can hold, wherever the compiler runs: letters of any
    language, digits and ordinary punctuation stay, the rest becomes `_`."""
    return "".join(c if c.isalnum() or c in " !#$%&'()+,-.;=@[]^_`{}~" else "_" for c in name)


def in_folder(directory: str, files: Mapping[str, str]) -> list[Output]:
    """Files by name, in one folder."""
    return [Output(Path(directory) / name, text) for name, text in files.items()]


def write_all(outputs: Sequence[Output], inputs: Iterable[str] = ()) -> list[Path]:
    """Writes every file, or none: all texts go to temporary files first, then take their names.
    Devices (`/dev/null`) are written to as they are.

    Raises InputError where a folder cannot be made or a file not written, where a file is one of
    `inputs`, and where two would have one name.
    """
    inputs = tuple(inputs)
    _apart(outputs, inputs)
    scratch: dict[Path, Path] = {}
    try:
        for o in outputs:
            with _diagnosed(o):
                _prepare(o, scratch)
        for o in outputs:
            with _diagnosed(o):
                if o.path in scratch:
                    scratch[o.path].replace(o.path)
    finally:
        for temporary in scratch.values():
            with contextlib.suppress(OSError):
                temporary.unlink(missing_ok=True)
    trace.wrote(outputs, inputs)
    return [o.path for o in outputs]


def require_writable(o: Output) -> None:
    """Raises InputError where the output cannot be a file, before the work for it is done."""
    around = next(p for p in o.path.absolute().parents if p.exists())
    if o.path.is_dir():
        raise _refusal(o, f"'{o.path}' is a folder")
    if not around.is_dir():
        raise _refusal(o, _no_folder(o))
    if not os.access(o.path if o.path.exists() else around, os.W_OK):
        raise _refusal(o, f"cannot write '{o.path}'")


def _prepare(o: Output, scratch: dict[Path, Path]) -> None:
    """Everything that can fail: only renaming is left to do."""
    if o.path.is_dir():
        raise IsADirectoryError(errno.EISDIR, f"'{o.path}' is a folder")
    if o.path.exists() and not o.path.is_file():
        o.path.write_bytes(o.data)
        return
    o.path.parent.mkdir(parents=True, exist_ok=True)
    scratch[o.path] = o.path.with_name(f".{o.path.name}.{os.getpid()}.tmp")
    scratch[o.path].write_bytes(o.data)


def _apart(outputs: Sequence[Output], inputs: tuple[str, ...]) -> None:
    """No output may be an input, or another output. Raises InputError."""
    seen: set[str] = set()
    for o in outputs:
        if any(_same(o.path, i) for i in inputs):
            raise _refusal(o, f"'{o.path}' would be overwritten, but it is read as input")
        place = os.path.realpath(o.path)
        if place in seen:
            raise _refusal(o, f"two files would be written to '{o.path}'")
        seen.add(place)


def _same(output: Path, file: str) -> bool:
    """Whether both are one file, by whatever names."""
    try:
        return output.samefile(file)
    except (OSError, ValueError):
        return False


@contextlib.contextmanager
def _diagnosed(o: Output) -> Iterator[None]:
    try:
        yield
    except (FileExistsError, NotADirectoryError) as e:
        raise _refusal(o, _no_folder(o)) from e
    except OSError as e:
        raise _refusal(o, f"cannot write '{o.path}': {e.strerror or e}") from e


def _no_folder(o: Output) -> str:
    file = next((p for p in o.path.parents if p.exists()), o.path)
    return f"cannot write '{o.path}': '{file}' is a file, not a folder"


def _refusal(o: Output, message: str) -> InputError:
    what = "folder, which can be written: -o DIR"
    if o.option != "-o":
        what = f"file, which can be written: {o.option} FILE"
    return InputError(message, code="LX055", help=f"choose another {what}", subject=o.option)


def depfile(targets: Iterable[str], dependencies: Sequence[str], *, phony: bool = True) -> str:
    """A Make rule: the targets, escaped already, depend on every file read; a phony rule for each
    header, so that Make does not mind when one is gone."""
    rule = f"{' '.join(targets)}: {' '.join(map(escaped, dependencies))}\n"
    return rule + "".join(f"\n{escaped(d)}:\n" for d in dependencies[1:] if phony)


def escaped(name: str | Path) -> str:
    """The name of a file as Make reads it. Raises InputError where Make cannot name it."""
    text = str(name)
    if "\n" in text:
        raise InputError(
            f"a Makefile cannot name the file {text!r}",
            code="LX055",
            help="rename the file, or leave out -MD",
            subject="-MD",
        )
    return re.sub(r"([\\#% :])", r"\\\1", text).replace("$", "$$")
