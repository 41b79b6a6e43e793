"""What a page calls things: anchors, and places as a reader of one file sees them."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import count

from loopxform.records import record
from loopxform.source import Loc


@record
class Names:
    """What anchors on a page begin with, so that those of several files differ."""

    prefix: str
    file: str

    def of(self, *parts: object) -> str:
        return "-".join([self.prefix, *map(str, parts)])

    def line(self, loc: Loc | None) -> int:
        """The line, where it is in the file of the page; else 0."""
        return loc.line if loc is not None and loc.file == self.file else 0

    def place(self, loc: Loc | None) -> str:
        """`line 5`, or `line 5 of body.h`; nothing where nobody knows."""
        return "" if loc is None else loc.seen_from(self.file)


_pieces = count(1)


def prefix() -> str:
    """What anchors of a piece of a notebook begin with: those of one notebook differ."""
    return f"lx{next(_pieces)}"


def counted_loops(names: Iterable[str]) -> str:
    """`loop i`, `loops i, j`."""
    each = list(dict.fromkeys(names))
    return f"loop{'s' if len(each) != 1 else ''} {', '.join(each)}"
