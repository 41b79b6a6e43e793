"""Places in the user's files: where a construct was written, which steps touched it since."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Loc:
    """A place in a file the user can open: 1-based line and column."""

    file: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"

    def seen_from(self, file: str | None) -> str:
        """`line 5`, or `line 5 of body.h` for a reader of another file."""
        return f"line {self.line}" + (f" of {self.file}" if file not in (None, self.file) else "")


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a node came from, and the steps that rewrote it on the way (oldest first)."""

    loc: Loc | None = None
    steps: tuple[str, ...] = ()

    def then(self, step: str) -> Origin:
        """The same place, with one more step recorded."""
        return Origin(self.loc, (*self.steps, step))


NOWHERE = Origin()


class Sources:
    """The text of every file a diagnostic may quote.

    Files are registered as the front end reads them; a file that was never registered is quoted
    as an empty line, so that rendering a diagnostic cannot itself fail.
    """

    def __init__(self) -> None:
        self._lines: dict[str, list[str]] = {}

    def add(self, file: str, text: str) -> None:
        self._lines[file] = text.splitlines()

    def line(self, loc: Loc) -> str | None:
        """The raw source line at `loc`, or None where the file was not registered."""
        lines = self._lines.get(loc.file)
        if lines is None or not 1 <= loc.line <= len(lines):
            return None
        return lines[loc.line - 1]

    def text(self, file: str) -> str | None:
        lines = self._lines.get(file)
        return None if lines is None else "\n".join(lines) + "\n"

    @property
    def files(self) -> tuple[str, ...]:
        return tuple(self._lines)
