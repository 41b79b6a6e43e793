"""Names as the user wrote them: `i` for the second loop over it in a function, which is `i_2`
inside, and the array for a scalar that holds an element of it for a while, `x_acc`."""

from __future__ import annotations

import re
from collections.abc import Collection

from loopxform.api.source import SourceFile
from loopxform.errors import LoopxformError
from loopxform.frontend.text.rawtext import without_comments

_WORD = re.compile(r"[A-Za-z_]\w*")
_MADE = re.compile(r"\b[A-Za-z_]\w*(?:#\d+)?")
_SUFFIX = re.compile(r"(?:_\d+|_[a-z]|_acc|_loc|_reg|_own|_part|_row|_start|_offset|#\d+)$")


class UsersNames:
    """Those in the files that were read."""

    def __init__(self, file: SourceFile) -> None:
        sources = file.parsed.sources
        texts = (without_comments(sources.text(f) or "") for f in file.parsed.dependencies)
        self.known = frozenset(word for text in texts for word in _WORD.findall(text))

    def in_text(self, text: str) -> str:
        """A text that names nothing else."""
        return _MADE.sub(lambda m: self.of(m.group()), text)

    def of(self, name: str) -> str:
        """What a name stands for; itself where that is no name of the user's."""
        return _base(name, self.known) or name

    def in_error(self, e: LoopxformError) -> LoopxformError:
        """The same error, in the user's names."""
        e.message = self.in_text(e.message)
        e.notes = tuple(map(self.in_text, e.notes))
        e.help = None if e.help is None else self.in_text(e.help)
        return e


def _base(name: str, known: Collection[str]) -> str:
    while name and name not in known:
        shorter = _SUFFIX.sub("", name)
        name = shorter if shorter != name else ""
    return name
