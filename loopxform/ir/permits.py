"""What the source says of floating point, and where.

    #pragma loopxform fp(fast)              of a function, or of a loop with all in it
    #pragma STDC FP_CONTRACT OFF            to the end of the block, or of the file

Statements are known by the lines that they stand on, so that steps may move and rewrite them.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import field

from loopxform.floating_point import Said
from loopxform.records import record
from loopxform.source import Loc


@record
class Permits:
    """What is said by lines: those of each file from which on it is another, in order. A line has
    all that is said of statements which begin there, and of the functions that these call."""

    lines: Mapping[str, tuple[tuple[int, frozenset[Said]], ...]] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.lines)

    def said(self, loc: Loc | None) -> frozenset[Said]:
        """What is said of a statement at a place."""
        marks = self.lines.get(loc.file, ()) if loc else ()
        n = bisect_right(marks, loc.line, key=lambda m: m[0]) if loc else 0
        return marks[n - 1][1] if n else frozenset()


NOTHING = Permits()
