"""Measurements that are kept: a line of JSON each, in the order in which they were made.

A measurement has a key: the text of the kernels and how they are built, the sizes, the device and
its driver. One character changed in a kernel is another key. Several processes may add lines to a
file at once; one that is killed loses at most the line that it was writing.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from loopxform.cache import digest, store
from loopxform.tune.claims import HOST
from loopxform.tune.locks import hold

PROTOCOL = "2"
"""How it is measured; times of another protocol do not count."""

Measurement: TypeAlias = dict[str, Any]
"""What was measured: `key`, `status` (ok, wrong, refused, timeout, crash), `milliseconds` of each
run or `why` there are none, and what it was measured of."""


def key_of(*parts: object) -> str:
    """One name for what is measured."""
    return digest(PROTOCOL.encode(), *(json.dumps(p, sort_keys=True).encode() for p in parts))


@dataclass
class Memo:
    """The measurements of one file, or of a `folder` that processes share, each of which writes a
    file of its own there; without a file (LOOPXFORM_CACHE=off), those of this process.

    `every` are all of them in order; those of a race are for comparison with the others that ran in
    it, and not found by their key, nor those that are the `same` as of other sizes."""

    path: Path | None
    folder: Path | None = None
    every: list[Measurement] = field(default_factory=list)
    _found: dict[tuple[str, str | None], Measurement] = field(default_factory=dict)
    _seen: dict[Path, int] = field(default_factory=dict)

    @staticmethod
    def of(name: str, shared: str | None = None) -> Memo:
        """That of a program, or of a folder. Raises OSError."""
        if shared is not None:
            memo = Memo(Path(shared, f"{HOST}-{os.getpid()}.jsonl"), Path(shared))
        else:
            folder = store("tune")
            memo = Memo(None if folder is None else folder.folder / f"{name}.jsonl")
        memo.refresh()
        return memo

    def find(self, key: str, host: str | None = None) -> Measurement | None:
        """The last measurement of a key, on one machine or on any."""
        return self._found.get((key, host))

    def refresh(self) -> None:
        """Takes in the lines that were added since, by whatever process. Raises OSError."""
        own = () if self.path is None else (self.path,)
        for path in own if self.folder is None else sorted(self.folder.glob("*.jsonl")):
            if path.is_file():
                self._take(path)

    def _take(self, path: Path) -> None:
        with path.open("rb") as file:
            file.seek(self._seen.get(path, 0))
            lines, newline, _ = file.read().rpartition(b"\n")
        self._seen[path] = self._seen.get(path, 0) + len(lines + newline)
        for row in filter(None, map(measurement, lines.split(b"\n"))):
            self._add(row)

    def _add(self, row: Measurement) -> None:
        self.every.append(row)
        if not (row.get("race") or row.get("same")):
            self._found[row["key"], None] = self._found[row["key"], row.get("host")] = row

    def keep(self, row: Measurement) -> None:
        """Adds a measurement. Raises OSError."""
        if self.path is None:
            self._add(row)
            return
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        append(self.path, json.dumps(row))
        self.refresh()


def stored(row: Measurement) -> Measurement:
    """A measurement as it was kept, without what was asked of the process that answered with it."""
    return {n: v for n, v in row.items() if n not in ASKED}


ASKED = ("dataset", "runs", "fresh", "build", "stop", "kept", "seconds", "phases")


def measurement(line: bytes) -> Measurement | None:
    """What a line says; None where it was cut off, or is none of ours."""
    try:
        row = json.loads(line)
    except ValueError:
        return None
    named = isinstance(row, dict) and all(isinstance(row.get(n), str) for n in ("key", "status"))
    return row if named else None


def append(path: Path, line: str) -> None:
    """Adds a line to a file that others add to as well. Where the last line was cut off, it stays
    a line of its own. Raises OSError."""
    handle = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        hold(handle)
        size = os.fstat(handle).st_size
        torn = size and os.pread(handle, 1, size - 1) != b"\n"
        data = b"\n" * bool(torn) + line.encode() + b"\n"
        while data:
            data = data[os.write(handle, data) :]
    finally:
        os.close(handle)
