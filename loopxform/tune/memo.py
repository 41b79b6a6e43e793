"""Measurements that are kept: a line of JSON each, in the order in which they were made.

A measurement has a key: the text of the kernels and how they are built, the sizes, the device and
its driver. One character changed in a kernel is another key. A process that is killed loses at most
the line that it was writing.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from loopxform.cache import digest, store

PROTOCOL = "1"
"""How it is measured; times of another protocol do not count."""


def key_of(*parts: object) -> str:
    """One name for what is measured."""
    return digest(PROTOCOL.encode(), *(json.dumps(p, sort_keys=True).encode() for p in parts))


@dataclass
class Memo:
    """The measurements of one file; without a file (LOOPXFORM_CACHE=off), those of this process."""

    path: Path | None
    known: dict[str, dict[str, Any]] = field(default_factory=dict)

    @staticmethod
    def of(name: str) -> Memo:
        """That of a program."""
        folder = store("tune")
        path = None if folder is None else folder.folder / f"{name}.jsonl"
        memo = Memo(path)
        if path is not None and path.is_file():
            for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
                memo._add(line)
        return memo

    def _add(self, line: str) -> None:
        """A line that was cut off says nothing."""
        try:
            row = json.loads(line)
        except ValueError:
            return
        if isinstance(row, dict) and isinstance(row.get("key"), str):
            self.known[row["key"]] = row

    def keep(self, key: str, result: dict[str, Any]) -> None:
        """Adds a measurement."""
        row = {"key": key, **result}
        self.known[key] = row
        if self.path is not None:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with self.path.open("a", encoding="utf-8") as file:
                file.write("\n" * self._torn() + json.dumps(row) + "\n")

    def _torn(self) -> bool:
        """Whether the last line was cut off."""
        if self.path is None or not self.path.is_file() or not self.path.stat().st_size:
            return False
        with self.path.open("rb") as file:
            file.seek(-1, 2)
            return file.read() != b"\n"
