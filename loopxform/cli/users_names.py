"""Names as the user wrote them: `i` for the second loop over it in a function, which is `i_2`
inside, or for the blocks of it, `ii`; the array for a scalar that holds an element of it for a
while, `x_acc`, `x_last`; what is passed to a function that stands for some statements, `x` for
`x_out`."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from copy import copy

from loopxform.api.source import SourceFile
from loopxform.errors import LoopxformError
from loopxform.frontend.text.rawtext import without_comments
from loopxform.source import Loc

_WORD = re.compile(r"[A-Za-z_]\w*")
_COPYING = re.compile(r"\b\w*mem(?:set|cpy|move)\w*")
_LOOP = re.compile(r"\b(?:for|while|do)\b")
_MADE = re.compile(r"\b[A-Za-z_]\w*(?:#\d+)?")
_SUFFIX = re.compile(
    r"(?:_\d+|_[a-z]|_acc|_loc|_reg|_own|_part|_row|_start|_offset|_at|_out|_last|#\d+)$"
)


class UsersNames:
    """Those in the files that were read."""

    def __init__(self, file: SourceFile) -> None:
        sources = file.parsed.sources
        texts = (without_comments(sources.text(f) or "") for f in file.parsed.dependencies)
        self.sources = sources
        self.passed: Mapping[str, str] = {}
        self.known = frozenset(word for text in texts for word in _WORD.findall(text))

    def passing(self, passed: Mapping[str, str]) -> UsersNames:
        """The same, where a function's parameters stand for what is `passed`."""
        out = copy(self)
        out.passed = passed
        return out

    def of_arguments(self, text: str) -> str:
        """A text with what is passed in the place of parameters."""
        return _WORD.sub(lambda m: self.passed.get(m.group(), m.group()), text)

    def in_text(self, text: str) -> str:
        """A text that names nothing else."""
        return _MADE.sub(lambda m: self.of(m.group()), text)

    def of(self, name: str) -> str:
        """What a name stands for; itself where that is no name of the user's."""
        return _base(name, self.known) or name

    def copying_at(self, place: Loc | None) -> str | None:
        """The function of C's library that a line of the user's calls to set or copy memory, where
        no loop stands there."""
        line = self.sources.line(place) if place is not None else None
        if line is None or _LOOP.search(line):
            return None
        found = set(_COPYING.findall(line))
        return found.pop() if len(found) == 1 else None

    def in_error(self, e: LoopxformError) -> LoopxformError:
        """The same error, in the user's names."""
        e.message = self.in_text(e.message)
        e.notes = tuple(map(self.in_text, e.notes))
        e.help = None if e.help is None else self.in_text(e.help)
        return e


def _base(name: str, known: Collection[str]) -> str:
    while name and name not in known:
        if (member := _member(name, known)) is not None:
            return member
        shorter = _SUFFIX.sub("", name)
        half = name[: len(name) // 2]
        if shorter == name and half * 2 == name:  # of blocks
            shorter = half
        name = shorter if shorter != name else ""
    return name


def _member(name: str, known: Collection[str]) -> str | None:
    """`s.sum` for `s_sum`, as scalars are called that hold members for a while."""
    cuts = (n for n, c in enumerate(name) if c == "_" and not _SUFFIX.fullmatch(name[n:]))
    pairs = ((name[:n], name[n + 1 :]) for n in cuts)
    return next((f"{of}.{x}" for of, x in pairs if of in known and x in known), None)
