"""compile_commands.json: with which options a build compiles each file.

The format is Clang's (https://clang.llvm.org/docs/JSONCompilationDatabase.html). Of several entries
of a file the first counts.
"""

from __future__ import annotations

import json
import os
import re
import shlex
from collections.abc import Iterator, Sequence
from typing import Any

from loopxform.errors import InputError, LoopxformError
from loopxform.records import record
from loopxform.settings.files import DATABASE, Read, contents
from loopxform.settings.flags import Flags, flags_of, reached, require_macros
from loopxform.source import Loc, Sources

LAUNCHERS = frozenset(["ccache", "sccache", "distcc", "icecc", "buildcache", "fastbuild", "env"])
"""Programs that run the compiler, which follows on the command line."""

WRITTEN = "_opencl"
"""`NAME_opencl.c` is compiled in the place of NAME.c: its options are those of NAME.c."""

AGAIN = "have your build write it again, or do without: --compile-commands none"

MOST_NESTED = 16
"""Response files inside each other."""

HELP = (
    "make one: cmake -DCMAKE_EXPORT_COMPILE_COMMANDS=ON, meson setup, bear -- make; "
    "or do without: --compile-commands none"
)


@record
class Entry:
    """How the build compiles `file`: by these words, in this folder. `offset` is where the text of
    the database says so."""

    file: str
    folder: str
    words: tuple[str, ...]
    offset: int


@record
class Chosen:
    """The entry that a file is read by: the first of `count` of its own, or, where it has none, the
    one that is `near`."""

    entry: Entry
    count: int = 1
    near: bool = False


class Database:
    """The entries of a file; `path` is what it is called. Raises InputError."""

    def __init__(self, path: str, data: bytes) -> None:
        self.path, self.folder = reached(path), os.path.dirname(os.path.abspath(path))
        self.text = data.decode(errors="replace")
        self.entries = tuple(self._read())
        self._by_name: dict[str, list[Entry]] = {}
        for e in self.entries:
            self._by_name.setdefault(os.path.basename(e.file), []).append(e)

    # ---------------------------------------------------------------- reading

    def _read(self) -> Iterator[Entry]:
        decoder, at = json.JSONDecoder(), self._next(0)
        if self.text[at : at + 1] != "[":
            raise self.error(at, "compile_commands.json must be a list of entries")
        at = self._next(at + 1)
        while self.text[at : at + 1] != "]":
            try:
                entry, end = decoder.raw_decode(self.text, at)
            except json.JSONDecodeError as e:
                raise self.error(e.pos, f"not JSON: {e.msg[:1].lower()}{e.msg[1:]}") from e
            except RecursionError as e:
                raise self.error(at, "nested too deeply") from e
            yield self._entry(entry, at)
            at = self._next(end)
            if self.text[at : at + 1] == ",":
                at = self._next(at + 1)
            elif self.text[at : at + 1] != "]":
                raise self.error(at, "not JSON: expecting ',' or ']' behind an entry")

    def _next(self, at: int) -> int:
        m = re.compile(r"\s*").match(self.text, at)
        return m.end() if m else at

    def _entry(self, given: Any, at: int) -> Entry:
        if not isinstance(given, dict):
            raise self.error(at, "an entry must be an object")
        for key in ("directory", "file"):
            if not isinstance(given.get(key), str):
                raise self.error(at, f'an entry must have a text "{key}"')
        folder = os.path.join(self.folder, given["directory"])
        file = os.path.normpath(os.path.join(folder, given["file"]))
        return Entry(file, folder, self._words(given, at), at)

    def _words(self, given: dict[str, Any], at: int) -> tuple[str, ...]:
        words, text = given.get("arguments"), given.get("command")
        if isinstance(words, list) and all(isinstance(w, str) for w in words):
            return tuple(words)
        if words is not None or not isinstance(text, str):
            what = 'an entry must have "arguments", a list of texts, or "command", a text'
            raise self.error(at, what)
        try:
            return tuple(shlex.split(text))
        except ValueError as e:
            raise self.error(at, f'"command" cannot be split: {str(e).lower()}') from e

    def error(self, at: int, message: str, help: str = AGAIN) -> InputError:
        """A diagnostic at a place of the file."""
        error = InputError(message, loc=self.loc(at), code="LX245", help=help)
        error.sources = Sources()
        error.sources.add(self.path, self.text)
        return error

    def loc(self, at: int) -> Loc:
        return Loc(
            self.path, self.text.count("\n", 0, at) + 1, at - (self.text.rfind("\n", 0, at) + 1) + 1
        )

    # ---------------------------------------------------------------- asking

    def own(self, path: str) -> Chosen | None:
        """The entry of a file: the first of those that name it, else that of what was written for
        it; None where there is none."""
        whole = os.path.abspath(path)
        alike = self._by_name.get(os.path.basename(whole), [])
        entries = [e for e in alike if e.file == whole]
        if not entries and alike:
            real = os.path.realpath(whole)
            entries = [e for e in alike if os.path.realpath(e.file) == real]
        if entries:
            return Chosen(entries[0], len(entries))
        stem, end = os.path.splitext(os.path.basename(whole))
        written = self._by_name.get(f"{stem}{WRITTEN}{end}", [])
        below = max(written, default=None, key=lambda e: _alike_at_end(e.file, whole))
        return None if below is None else Chosen(below, len(written))

    def nearest(self, path: str) -> Chosen | None:
        """The entry of a C file that a file without one is likely compiled like: of the same stem,
        else of the nearest folder, as clangd chooses; None where there is no C file."""
        whole = os.path.abspath(path)
        stem = os.path.splitext(os.path.basename(whole))[0]

        def likeness(e: Entry) -> tuple[bool, int]:
            same = os.path.splitext(os.path.basename(e.file))[0] == stem
            return same, len(_common(_parts(e.file), _parts(whole)))

        every = (e for e in self.entries if e.file.endswith(".c"))
        best = max(every, default=None, key=likeness)
        return None if best is None else Chosen(best, near=True)

    def flags(self, entry: Entry, seen: Read) -> Flags:
        """The options of an entry that change what is read. Raises InputError, at the entry."""
        try:
            words = list(self._expanded(_own(entry.words), entry, seen, MOST_NESTED))
            flags = flags_of(words, entry.folder)
            require_macros(flags.define, flags.undefine)
        except LoopxformError as e:
            if e.loc is None:
                help = f"{e.help}; --compile-commands none does without the entry"
                raise self.error(entry.offset, e.message, help) from e
            raise
        return flags

    def _expanded(self, words: Sequence[str], entry: Entry, seen: Read, left: int) -> Iterator[str]:
        """The words, with those of response files (`@FILE`) in their place."""
        for word in words:
            if word[:1] != "@":
                yield word
                continue
            data = contents(os.path.join(entry.folder, word[1:]), seen) if left else None
            if data is None:
                what = f"the response file '{word[1:]}' is not there" if left else "it is nested"
                raise self.error(entry.offset, what, "build once, so that it is written")
            try:
                inside = shlex.split(data.decode(errors="surrogateescape"))
            except ValueError as e:
                what = f"the response file '{word[1:]}' cannot be split: {str(e).lower()}"
                raise self.error(entry.offset, what) from e
            yield from self._expanded(inside, entry, seen, left - 1)


def _own(words: Sequence[str]) -> Sequence[str]:
    """The options of the compiler: without what runs it, and without its name."""
    if words and os.path.basename(words[0]) == "cmake" and "--" in words:
        words = words[words.index("--") + 1 :]  # cmake -E __run_co_compile ... -- cc ...
    n = 0
    while n < len(words) - 1 and (os.path.basename(words[n]) in LAUNCHERS or "=" in words[n]):
        n += 1
    return words[n + 1 :]


def _parts(path: str) -> list[str]:
    return os.path.dirname(path).split(os.sep)


def _common(one: Sequence[str], other: Sequence[str]) -> list[str]:
    """The parts that both begin with."""
    return [
        a for n, (a, b) in enumerate(zip(one, other)) if list(one[: n + 1]) == list(other[: n + 1])
    ]


def _alike_at_end(one: str, other: str) -> int:
    """How many folders in front of their names are the same."""
    return len(_common(_parts(one)[::-1], _parts(other)[::-1]))


def database_at(path: str, seen: Read) -> Database | None:
    """That of a file, or of the folder that has it; None where there is none. Raises InputError."""
    file = os.path.join(path, DATABASE) if os.path.isdir(path) else path
    data = contents(os.path.abspath(file), seen)
    return None if data is None else database_of(os.path.abspath(file), data)


def database_of(path: str, data: bytes) -> Database:
    """That of a file that holds `data`. Raises InputError."""
    known = _known.get(path)
    if known is None or known[0] is not data:
        known = _known[path] = (data, Database(path, data))
    return known[1]


_known: dict[str, tuple[bytes, Database]] = {}
