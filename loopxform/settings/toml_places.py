"""Where the keys and values of a TOML text stand, which `tomllib` does not tell."""

from __future__ import annotations

import json
import re
from typing import TypeAlias

Path: TypeAlias = tuple[str | int, ...]
"""The keys that lead to a value; the elements of a list are numbered from 0."""

Span: TypeAlias = tuple[int, int]
"""Where a part of the text begins and ends."""

_BETWEEN = re.compile(r"(?:\s|#[^\n]*)*")
_BLANKS = re.compile(r"[ \t]*")
_STRING = re.compile(
    r'"""(?:\\.|[^\\])*?"""(?!")|\'\'\'.*?\'\'\'(?!\')|"(?:\\.|[^"\\\n])*"|\'[^\'\n]*\'', re.DOTALL
)
_BARE_KEY = re.compile(r"[\w-]+")
_BARE_VALUE = re.compile(r"[^,\]}\n#]*[^,\]}\n#\s]")


class Places:
    """Of a text that `tomllib` has read."""

    def __init__(self, text: str) -> None:
        self.keys: dict[Path, Span] = {}
        self.values: dict[Path, Span] = {}
        self._text, self._at = text, 0
        self._tables: dict[Path, int] = {}
        prefix: Path = ()
        while self._skip(_BETWEEN) < len(text):
            if text[self._at] == "[":
                prefix = self._header()
            else:
                self._member(prefix)

    def _skip(self, pattern: re.Pattern[str]) -> int:
        m = pattern.match(self._text, self._at)
        self._at = m.end() if m else self._at
        return self._at

    def _header(self) -> Path:
        """`[a.b]`, or `[[a.b]]`, which begins one more table of a list."""
        listed = self._text.startswith("[[", self._at)
        self._at += 1 + listed
        path = self._key(())
        self._at += 1 + listed
        if listed:
            self._tables[path] = self._tables.get(path, -1) + 1
            path = (*path, self._tables[path])
        return path

    def _member(self, prefix: Path) -> None:
        path = self._key(prefix)
        self._skip(_BLANKS)
        self._at += 1  # =
        self._value(path)

    def _key(self, path: Path) -> Path:
        """A key, dotted perhaps, and what it leads to: of a list, the last table so far."""
        while True:
            start = self._skip(_BLANKS)
            quoted = self._text[start] in "\"'"
            end = self._skip(_STRING if quoted else _BARE_KEY)
            name = self._text[start:end]
            if quoted:
                name = json.loads(name) if name[0] == '"' else name[1:-1]
            path = (*path, name)
            self.keys.setdefault(path, (start, end))
            self._skip(_BLANKS)
            if self._text[self._at : self._at + 1] != ".":
                return path
            self._at += 1
            if path in self._tables:
                path = (*path, self._tables[path])

    def _value(self, path: Path) -> None:
        start = self._skip(_BLANKS)
        match self._text[start]:
            case "[":
                self._list(path)
            case "{":
                self._table(path)
            case '"' | "'":
                self._skip(_STRING)
            case _:
                self._skip(_BARE_VALUE)
        self.values[path] = (start, self._at)

    def _list(self, path: Path) -> None:
        self._at += 1
        n = 0
        while self._text[self._skip(_BETWEEN)] != "]":
            if self._text[self._at] == ",":
                self._at += 1
                continue
            self._value((*path, n))
            n += 1
        self._at += 1

    def _table(self, path: Path) -> None:
        self._at += 1
        while self._text[self._skip(_BETWEEN)] != "}":
            if self._text[self._at] == ",":
                self._at += 1
                continue
            self._member(path)
        self._at += 1
