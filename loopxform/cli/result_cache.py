"""Commands that are not run again while nothing has changed that they depend on.

What `offload` and `tile` print and write follows from the tool, the options, the folder they run in
and the files they read; of a run that ends well it is kept (`cache`). `LOOPXFORM_CACHE` names the
folder, or is `off`. This module is loaded before the command's own, which a hit never needs.
"""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TextIO

from loopxform import __version__, compiler, trace
from loopxform.cache import Store, digest, store
from loopxform.cli.colour import wanted
from loopxform.files import Output, write_all

_LIBRARIES = ("pycparser", "pcpp", "islpy", "jinja2")


def run(name: str, args: list[str], job: Callable[[], int]) -> int:
    """The exit status of `job`, the command with these arguments, or what it did the last time."""
    kept, key = _store(args), _key(name, args)
    if kept is None or key is None:
        return job()
    found = kept.find(key)
    if found is not None:
        return _again(found)
    with trace.recorded() as seen, _copied() as (out, err):
        status = job()
    if status == 0 and seen.read and seen.lasting:
        written = [([_plain(o) for o in outputs], inputs) for outputs, inputs in seen.written]
        kept.keep(key, seen, [written, "".join(out.text), "".join(err.text)])
    return status


def _again(found: Any) -> int:
    """Writes and prints what the command did. Raises InputError as it would."""
    written, out, err = found
    for outputs, inputs in written:
        write_all([Output(Path(p), text, option) for p, text, option in outputs], inputs)
    print(out, end="")
    print(err, end="", file=sys.stderr)
    return 0


def _plain(output: Any) -> tuple[str, str, str]:
    assert isinstance(output, Output)
    return str(output.path), output.text, output.option


def _store(args: list[str]) -> Store | None:
    """Where results are kept; None where they are not, as those of a device, or of what comes by
    standard input."""
    never = any(a in ("--no-cache", "-") or a.startswith("--device") for a in args)
    return None if never else store("results")


def _key(name: str, args: list[str]) -> str | None:
    """The tool, the command with its options, and where it runs; None where that is nowhere."""
    try:
        here = os.getcwd()
        tool = _tool()
    except OSError:
        return None
    ours = sorted(x for x in os.environ.items() if x[0].startswith("LOOPXFORM_"))
    coloured = wanted(args, sys.stdout)
    tools = [tool, compiler.stamp()]
    return digest(json.dumps([*tools, name, args, here, ours, coloured]).encode())


def _tool() -> list[Any]:
    """What may change what the tool does: its code and templates and the libraries it uses, by
    their size and time, as an installation writes files anew."""
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    inside = os.path.join(package, "templates")
    templates = [] if os.path.isdir(inside) else [os.path.join(package, "..", "templates")]
    files = [x for folder in (package, *templates) for x in _files(folder)]
    specs = (importlib.util.find_spec(x) for x in _LIBRARIES)
    libraries = (x for s in specs if s for x in s.submodule_search_locations or ())
    files += [x for folder in libraries for x in _files(folder)]
    return [__version__, sys.version, sorted(map(_stamp, files))]


def _files(folder: str) -> Iterator[str]:
    for entry in os.scandir(folder):
        if entry.is_dir():
            if entry.name != "__pycache__":
                yield from _files(entry.path)
        else:
            yield entry.path


def _stamp(path: str) -> tuple[str, int, int]:
    about = os.stat(path)
    return path, about.st_size, about.st_mtime_ns


class _Copied:
    """A stream, and all that was written to it."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream
        self.text = list[str]()

    def write(self, text: str) -> int:
        self.text.append(text)
        return self.stream.write(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


@contextlib.contextmanager
def _copied() -> Iterator[tuple[_Copied, _Copied]]:
    """What is printed inside, on standard output and standard error."""
    out, err = _Copied(sys.stdout), _Copied(sys.stderr)
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        yield out, err
