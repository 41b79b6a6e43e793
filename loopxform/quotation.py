"""Lines of the user's files as diagnostics quote them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from loopxform.source import Loc, Sources

Paint: TypeAlias = Callable[[str, str], str]
"""How the parts of a text look, by their role."""


def plain(_role: str, text: str) -> str:
    """As it is."""
    return text


LONGEST = 160
"""Characters of a source line that are shown; of a longer line, those around the caret."""


def quote(
    loc: Loc | None, sources: Sources | None, width: int = 1, paint: Paint = plain
) -> list[str]:
    """The source line at `loc` with a caret under its column, rustc-style; empty if unknown."""
    line = sources.line(loc) if loc and sources else None
    if line is None or loc is None:
        return []
    number = str(loc.line)
    pad = " " * len(number)
    column = max(1, min(loc.column, len(line) + 1))
    line, column = _around(line, column)
    lead = "".join("\t" if c == "\t" else " " for c in line[: column - 1])
    carets = paint("caret", "^" * max(1, min(width, len(line) - column + 1)))
    blank, filled = paint("gutter", f" {pad} |"), paint("gutter", f" {number} |")
    return [blank, f"{filled} {line}", f"{blank} {lead}{carets}"]


def _around(line: str, column: int) -> tuple[str, int]:
    """The part of a long line that holds the column, and where it is there."""
    if len(line) <= LONGEST:
        return line, column
    start = max(0, min(column - 1 - LONGEST // 2, len(line) - LONGEST))
    end = start + LONGEST
    before, after = "..." if start else "", "..." if end < len(line) else ""
    return before + line[start:end] + after, column - start + len(before)
