"""What a C file and its functions are, before anything is asked of them.

`facade.File` and `facade.Routine` are these with the questions and answers that users call; what
answers them (`verdicts`, `tile`, `offload`, `splice`) takes these.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from loopxform.errors import contained, quoting
from loopxform.files import safe_name
from loopxform.frontend import Parsed
from loopxform.ir.annotations import Annotation
from loopxform.ir.decisions import Event
from loopxform.ir.nodes import Function
from loopxform.source import Loc


@dataclass(frozen=True, repr=False)
class SourceFile:
    """A C file that was read."""

    parsed: Parsed

    @property
    def name(self) -> str:
        """The path of the file, as it was given."""
        return self.parsed.unit.file

    @property
    def stem(self) -> str:
        """What written files are called after: `mm` for `src/mm.c`."""
        return safe_name(Path(self.name.strip("<>")).stem)

    @property
    def extracted_loops(self) -> dict[tuple[Loc, str], Function]:
        """By their places, and what they count where a macro has several, loops that are not
        understood where they stand, each as a function."""
        from loopxform.frontend.outline.extraction import extracted_loops  # reads the file again

        return extracted_loops(self.parsed)

    def routines(self) -> Iterator[SourceRoutine]:
        """Its functions, in text order."""
        return (SourceRoutine(self, fn) for fn in self.parsed.unit.functions)


@dataclass(frozen=True, repr=False)
class SourceRoutine:
    """One function of a C file."""

    file: SourceFile
    function: Function

    @property
    def name(self) -> str:
        """The name of the function."""
        return self.function.name

    @contextmanager
    def contained(self) -> Iterator[None]:
        """Errors raised inside quote the file; see `errors.contained`."""
        with quoting(self.file.parsed.sources), contained(self.name, self.function.origin.loc):
            yield

    @property
    def annotations(self) -> tuple[Annotation, ...]:
        """Those in the function and in front of it, in text order."""
        return self.file.parsed.annotations.get(self.name, ())

    @property
    def decisions(self) -> tuple[Event, ...]:
        """What macros that no file defines decided of the text of the function."""
        return self.file.parsed.decisions(self.name)
