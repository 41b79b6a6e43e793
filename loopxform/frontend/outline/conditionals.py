"""The conditional text of a C file: which of it is read, and lines that ask the same again.

Two directives have a stretch of text between them that is read or not. What is put into the file
must stand in the same branches where it begins and where it ends: then the text between is complete
whatever the macros are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from loopxform.errors import InputError
from loopxform.frontend.parsed import CppOptions
from loopxform.frontend.text.outside import COMPUTED
from loopxform.frontend.text.preprocess import preprocess
from loopxform.frontend.text.rawtext import blank, decode
from loopxform.frontend.text.reader import Reader
from loopxform.records import record

_DIRECTIVE = re.compile(
    r"^[ ]*(?:\#|%:)[ ]*(?P<kind>if|ifdef|ifndef|elif|else|endif|define|undef|include)\b"
    r"(?:[^\n\\]|\\[ ]*\n|\\.)*",
    re.MULTILINE,
)
_PRAGMAS = re.compile(r"^[ ]*#[ ]*pragma\b(?:[^\n\\]|\\[ ]*\n|\\.)*", re.MULTILINE)
_CONTINUED = re.compile(r"\\[ ]*\n")
_WORD = re.compile(r"\w+")
_OPENING = frozenset(["if", "ifdef", "ifndef"])
_BRANCHES = _OPENING | {"elif", "else", "endif"}
_PROBE = "lx_probe_{}_"
_PROBED = re.compile(r"\blx_probe_(\d+)_")


@record
class Directive:
    """A directive: text[start:end]. What follows it, up to the next conditional, `is_read`."""

    kind: str
    start: int
    end: int
    is_read: bool


@dataclass
class _Chain:
    """An `#if` with its branches so far: whether the one at hand and any of them are read, and
    whether there is an `#else`."""

    is_read: bool = False
    any_read: bool = False
    has_else: bool = False

    def enter(self, d: Directive) -> None:
        self.is_read = d.is_read
        self.any_read |= d.is_read
        self.has_else |= d.kind == "else"


class Conditionals:
    """Those of the file at `path`; `text` has a character for each byte, and no comments;
    `continued` are the beginnings of lines that belong to one begun before."""

    def __init__(
        self, path: str, text: str, continued: frozenset[int], options: CppOptions
    ) -> None:
        self.path, self.text, self.options = path, text, options
        found = [m for m in _DIRECTIVE.finditer(text) if m.start() not in continued]
        ends = [m.end() for m in found if m["kind"] in _BRANCHES]
        read = dict(zip(ends, self._read(ends)))
        self._directives = []
        now = True
        for m in found:
            now = read.get(m.end(), now)
            self._directives.append(Directive(m["kind"], m.start(), m.end(), now))

    def _read(self, ends: Sequence[int]) -> list[bool]:
        """Whether text at these places is read: what is left of a word that is put there."""
        if not ends:
            return []
        out, done = [], 0
        for n, end in enumerate(ends):
            out += [self.text[done:end], f"\n{_PROBE.format(n)}"]
            done = end
        marked = "".join([*out, self.text[done:]]).encode("latin-1")
        try:
            left = preprocess(self.path, decode(marked, self.path), self.options, Reader()).text
        except InputError:  # a conditional among the arguments of a macro: nothing is known
            left = ""
        kept = {int(n) for n in _PROBED.findall(left)}
        return [n in kept for n in range(len(ends))]

    @cached_property
    def branches(self) -> tuple[Directive, ...]:
        """The directives that begin, divide and end conditionals."""
        return tuple(d for d in self._directives if d.kind in _BRANCHES)

    @cached_property
    def read(self) -> str:
        """The text that is read, blanks for the rest, in the same places."""
        out, done, was_read = [], 0, True
        for d in self.branches:
            between = self.text[done : d.start]
            out += [between if was_read else blank(between), blank(self.text[d.start : d.end])]
            done, was_read = d.end, d.is_read
        return "".join([*out, self.text[done:] if was_read else blank(self.text[done:])])

    def around(self, at: int) -> tuple[int, ...]:
        """The branches that a place is in, the outermost first, by the places of the directives
        that begin them."""
        return tuple(branch for _, branch in self._around(at))

    def above(self, places: Sequence[int]) -> int:
        """The first of some places, or the beginning of the largest conditional around it that is
        not around all of them."""
        first = self._around(min(places))
        others = [self._around(at) for at in places]
        for n, (opening, branch) in enumerate(first):
            if any(len(x) <= n or x[n][1] != branch for x in others):
                return opening
        return min(places)

    def _around(self, at: int) -> list[tuple[int, int]]:
        """The conditionals around a place, and their branches that it is in."""
        inside: list[tuple[int, int]] = []
        for d in self.branches:
            if d.start >= at:
                break
            opening = inside.pop()[0] if d.kind not in _OPENING and inside else d.start
            if d.kind != "endif":
                inside.append((opening, d.start))
        return inside

    def widened(self, start: int, end: int) -> int:
        """The beginning of text[start:end] with conditionals that end in it and of which nothing
        else is read: those around pragmas in front of a statement."""
        inside = {at for at, _ in self._around(end)}
        for opening, _ in self._around(start):
            if opening not in inside and not self.read[opening:start].strip():
                return opening
        return start

    def straddling(self, start: int, end: int) -> Directive | None:
        """A directive of text[start:end] whose conditional is not all there, unless it ends behind
        pragmas at the beginning: what is put in asks for the same branches at both ends."""
        inside: list[Directive] = []
        for d in self._branches_in(start, end):
            if d.kind in _OPENING:
                inside.append(d)
            elif not inside:
                if d.kind != "endif" or _PRAGMAS.sub("", self.text[start : d.start]).strip():
                    return d
            elif d.kind == "endif":
                inside.pop()
        return inside[0] if inside else None

    def unrepeatable(self, start: int, end: int) -> Directive | None:
        """A directive of text[start:end] that may be answered otherwise in front of it."""
        changing = False
        for d in (d for d in self._directives if start <= d.start < end):
            if d.kind not in _BRANCHES:
                changing |= d.is_read
            elif d.kind in _OPENING or d.kind == "elif":
                line = self.text[d.start : d.end]
                if changing or not line.isascii() or COMPUTED & set(_WORD.findall(line)):
                    return d
        return None

    def questions(self, macro: str, start: int, end: int) -> Iterator[str]:
        """Lines in front of text[start:end] that define `macro` where another branch of it would be
        read."""
        chains: list[_Chain] = []
        for d in self._branches_in(start, end):
            if d.kind in _OPENING:
                chains.append(_Chain())
            chain, is_shown = chains[-1], all(c.is_read for c in chains[:-1])
            if d.kind == "endif":
                chains.pop()
                if is_shown and chain.any_read and not chain.has_else:
                    yield from ("#else", f"#define {macro} 1")
            else:
                chain.enter(d)
            if is_shown:
                yield _CONTINUED.sub(" ", self.text[d.start : d.end]).strip()
                if d.kind != "endif" and not d.is_read:
                    yield f"#define {macro} 1"

    def _branches_in(self, start: int, end: int) -> Iterator[Directive]:
        return (d for d in self.branches if start <= d.start < end)
