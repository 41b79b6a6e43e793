"""Results of commands, found again by what the commands read.

A command has a key: the tool, the options, the folder. Under the key are its footprints, each the
names of the files that one run read and the names where it found none. Under the key, those names
and what the files hold is the result. A footprint fits where none of the absent names is a file
now; a result is used where the files it was made from hold the same, byte for byte.

Every entry is a file that takes its name when it is complete, and opens with the digest of the
rest: several processes may use the folder at once, and what is damaged is not there.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

from loopxform.trace import Trace

LIMIT = 256 * 2**20
"""Bytes of all entries; beyond it the ones not used for longest go, until 3/4 are left."""

FOOTPRINTS = 8
"""Footprints kept of a key: runs with headers in other places."""


def digest(*parts: bytes) -> str:
    """One name for a sequence of texts."""
    h = blake2b(digest_size=20)
    for part in parts:
        h.update(b"%d:" % len(part))
        h.update(part)
    return h.hexdigest()


@dataclass(frozen=True)
class Store:
    """A folder of entries. Where it cannot be read or written, there are none."""

    folder: Path
    limit: int = LIMIT

    def find(self, key: str) -> Any:
        """What was kept under `key` when all files held what they hold now, or None."""
        for paths, absent in self._load(key) or ():
            if not any(map(os.path.isfile, absent)) and (name := _result(key, paths, absent)):
                found = self._load(name)
                if found is not None:
                    self._used(key, name)
                    return found
        return None

    def keep(self, key: str, trace: Trace[Any], value: Any) -> None:
        """Keeps a `value` of plain data that is made of what was read."""
        paths, absent = sorted(trace.read), sorted(trace.absent)
        held = [trace.read[p] for p in paths]
        old = [x for x in self._load(key) or () if x != [paths, absent]]
        with contextlib.suppress(OSError):
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._save(_name(key, paths, held, absent), value)
            self._save(key, [[paths, absent], *old][:FOOTPRINTS])
            self._trim()

    def _load(self, name: str) -> Any:
        try:
            first, _, rest = (self.folder / name).read_bytes().partition(b"\n")
        except OSError:
            return None
        return json.loads(rest) if first.decode("latin-1") == digest(name.encode(), rest) else None

    def _save(self, name: str, value: Any) -> None:
        rest = json.dumps(value).encode()
        temporary = self.folder / f"{name}.{os.getpid()}.{os.urandom(4).hex()}.tmp"
        try:
            with open(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as f:
                f.write(digest(name.encode(), rest).encode() + b"\n" + rest)
            temporary.replace(self.folder / name)
        finally:
            temporary.unlink(missing_ok=True)

    def _used(self, *names: str) -> None:
        for name in names:
            with contextlib.suppress(OSError):
                os.utime(self.folder / name)

    def _trim(self) -> None:
        """Removes the entries that were not used for longest, where all are beyond the limit."""
        entries = list[tuple[float, int, str]]()
        for entry in os.scandir(self.folder):
            with contextlib.suppress(OSError):
                if entry.is_file(follow_symlinks=False):
                    about = entry.stat(follow_symlinks=False)
                    entries.append((about.st_mtime, about.st_size, entry.path))
        left = sum(size for _, size, _ in entries)
        if left <= self.limit:
            return
        for _, size, path in sorted(entries):
            if left <= self.limit * 3 // 4:
                return
            with contextlib.suppress(OSError):
                os.unlink(path)
                left -= size


def store(name: str) -> Store | None:
    """The folder of a kind of entries: `LOOPXFORM_CACHE` names what it is in, or is `off`."""
    wanted = os.environ.get("LOOPXFORM_CACHE", "")
    if wanted.lower() in ("off", "0"):
        return None
    if wanted:
        return Store(Path(wanted, name))
    with contextlib.suppress(RuntimeError):
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
        return Store(base / "loopxform" / name)
    return None


def _result(key: str, paths: Sequence[str], absent: Iterable[str]) -> str | None:
    """The name of the result for what the files hold now; None where one cannot be read."""
    held = list[bytes]()
    for path in paths:
        try:
            with open(path, "rb") as f:
                held.append(f.read())
        except (OSError, ValueError):
            return None
    return _name(key, paths, held, absent)


def _name(key: str, paths: Sequence[str], held: Sequence[bytes], absent: Iterable[str]) -> str:
    return digest(key.encode(), json.dumps([paths, list(absent)]).encode(), *held)
