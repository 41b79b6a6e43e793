"""The text of a document as its editor has it: lines end as the protocol says, columns count in the
units that were agreed on (LSP 3.17, Text Documents)."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property

from loopxform.source import Loc

_LINE_END = re.compile(r"\r\n|\n|\r")
_BLANK = str.maketrans(dict.fromkeys("\r\v\f\x1c\x1d\x1e\x85\u2028\u2029\ufeff", " "))

UNITS = {"utf-8": "utf-8", "utf-16": "utf-16-le", "utf-32": "utf-32-le"}
BYTES = {"utf-8": 1, "utf-16": 2, "utf-32": 4}


@dataclass(frozen=True)
class Text:
    """A text, and the units of its columns: `utf-8`, `utf-16` or `utf-32`. Places are pairs of a
    line and a column, from 0."""

    text: str
    units: str = "utf-16"

    @cached_property
    def starts(self) -> list[int]:
        """Where the lines begin."""
        return [0, *(m.end() for m in _LINE_END.finditer(self.text))]

    @cached_property
    def _lines_of_c(self) -> list[int]:
        return [0, *(m.end() for m in re.finditer("\n", self.text))]

    @property
    def plain(self) -> str:
        """The same characters, but for those that are no line ends in C or mean nothing there."""
        return self.text.translate(_BLANK)

    @property
    def line_end(self) -> str:
        return "\r\n" if "\r\n" in self.text else "\n"

    def line(self, number: int) -> str:
        """A line without its end."""
        if number >= len(self.starts):
            return ""
        end = self.starts[number + 1] if number + 1 < len(self.starts) else len(self.text)
        return self.text[self.starts[number] : end].rstrip("\r\n")

    def offset(self, line: int, column: int) -> int:
        """Of a place; one behind the end of its line is that end."""
        if line >= len(self.starts):
            return len(self.text)
        text = self.line(line)
        if not text.isascii():
            data = text.encode(UNITS[self.units], "surrogatepass")
            part = data[: column * BYTES[self.units]]
            return self.starts[line] + len(part.decode(UNITS[self.units], "ignore"))
        return self.starts[line] + min(column, len(text))

    def place(self, offset: int) -> tuple[int, int]:
        """Line and column of an offset."""
        line = bisect_right(self.starts, offset) - 1
        before = self.text[self.starts[line] : offset]
        if before.isascii():
            return line, len(before)
        data = before.encode(UNITS[self.units], "surrogatepass")
        return line, len(data) // BYTES[self.units]

    def place_of(self, loc: Loc, further: int = 0) -> tuple[int, int]:
        """The place that analysis has counted, so many characters further on its line."""
        starts = self._lines_of_c
        if loc.line > len(starts):
            return self.place(len(self.text))
        start = starts[loc.line - 1]
        end = starts[loc.line] - 1 if loc.line < len(starts) else len(self.text)
        return self.place(min(start + loc.column - 1 + further, max(start, end)))

    def replaced(self, start: tuple[int, int], end: tuple[int, int], new: str) -> Text:
        """With another text between two places."""
        a, b = self.offset(*start), self.offset(*end)
        return Text(f"{self.text[:a]}{new}{self.text[max(a, b) :]}", self.units)
