"""Text put into a user's file: everything else stays byte for byte, and keeps its line numbers.

    for (i = 0; i < n; i++)          { if (!lx_try_f(n, x)) {
      x[i] = 0;               ->     #line 7 "f.c"
                                     for (i = 0; i < n; i++)
                                       x[i] = 0;
                                     }}
                                     #line 9 "f.c"

Where something stands beside the place on its line, the line is broken there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cached_property

from loopxform.codegen.render import c_literal
from loopxform.records import record

_LINE = re.compile(r'^ *# *(?:line\b)? *(\d+)(?: +"([^"\n]*)")?[^\n]*$', re.MULTILINE)


_DIRECTIVE = re.compile(r"^[ ]*#(?:[^\n\\]|\\[ ]*\n|\\.)*", re.MULTILINE)
MOST_BLANKS = 200
"""In front of a directive on its line."""


@record
class Insert:
    """Lines that go in front of the byte `at`. Those that close what others opened come first
    (`closes`), and of several the outermost last."""

    at: int
    lines: tuple[str, ...]
    closes: bool = False


class Text:
    """The bytes of a user's file. `plain` has a character for each, blanks for comments;
    `continued` are the beginnings of lines that belong to a comment or a line begun before."""

    def __init__(self, raw: bytes, plain: str, continued: frozenset[int], name: str) -> None:
        self.raw, self.plain, self.continued, self.name = raw, plain, continued, name
        self.newline = "\r\n" if b"\r\n" in raw else "\n"
        self.start = 3 if raw.startswith(b"\xef\xbb\xbf") else 0

    def before(self, at: int) -> int:
        """The beginning of the line of `at` where only blanks and comments are in between."""
        begin = self.plain.rfind("\n", 0, at) + 1
        return begin if self._is_free(begin, at) else at

    def after(self, at: int) -> int:
        """The beginning of the line after `at` where only blanks and comments are in between."""
        end = self.plain.find("\n", at) + 1
        free = end and end not in self.continued and not self.plain[at:end].strip()
        return end if free else at

    def above(self, at: int) -> int:
        """The beginning of the line after the last text in front of `at`: comments that stand
        there belong to what is at `at`."""
        last = len(self.plain[:at].rstrip())
        end = self.after(last) if last else self.start
        return end if end <= at and end != last else at

    def place(self, at: int) -> str:
        """The line and the file of `at`, as `#line` states them: that of the user's own first."""
        line, name, start = 1, self.name, 0
        for m in _LINE.finditer(self.plain, 0, at):
            line, start = int(m.group(1)), m.end() + 1
            name = m.group(2) or name
        return f"{line + self.plain.count(chr(10), start, at)} {c_literal(name)}"

    def spliced(self, inserts: Iterable[Insert]) -> bytes:
        """The whole text with the lines in it, each of them followed by its place in the file."""
        ordered = sorted(inserts, key=lambda x: (x.at, not x.closes))
        out, done = [], 0
        for n, x in enumerate(ordered):
            out.append(self.raw[done : x.at])
            done = x.at
            again = n + 1 < len(ordered) and ordered[n + 1].at == x.at
            broken = not (n and ordered[n - 1].at == x.at) and not self._begins_line(x.at)
            out.append(self._lines(x, broken=broken, again=again))
        return b"".join([*out, self.raw[done:]])

    def proof(self, inserts: Iterable[Insert]) -> bytes:
        """As `spliced`, on the lines of the file: only what opens and closes is put in, in front of
        directives behind the last text above."""
        out, done = [], 0
        placed = [(self._beside(x), x) for x in inserts]
        for at, x in sorted(placed, key=lambda p: (p[0], p[1].at, not p[1].closes)):
            out += [self.raw[done:at], "".join(x.lines).encode()]
            done = at
        return b"".join([*out, self.raw[done:]])

    def _beside(self, x: Insert) -> int:
        """A place for an insert where no line need be broken."""
        rest = self.plain[x.at : x.at + MOST_BLANKS].lstrip(" ")
        if not rest.startswith("#"):
            return x.at
        at = len(self.plain[: x.at].rstrip())
        for start, end in reversed(self._directives):
            if start < at <= end:
                at = len(self.plain[:start].rstrip())
        return at

    @cached_property
    def _directives(self) -> list[tuple[int, int]]:
        return [m.span() for m in _DIRECTIVE.finditer(self.plain)]

    def _lines(self, x: Insert, *, broken: bool, again: bool) -> bytes:
        place = [] if again else [f"#line {self.place(x.at)}"]
        text = self.newline.join([*x.lines, *place, ""])
        return ((self.newline if broken else "") + text).encode()

    def _begins_line(self, at: int) -> bool:
        return at == self.start or self.raw[at - 1 : at] == b"\n"

    def _is_free(self, start: int, end: int) -> bool:
        """Whether a line begins at `start`, with nothing up to `end`."""
        return start not in self.continued and not self.plain[start:end].strip()
