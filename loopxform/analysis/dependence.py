"""The record of a dependence: a row of the dependence matrix, and which row is the worst."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field
from functools import cached_property
from typing import Literal, TypeAlias

from loopxform.analysis.directions import Pattern
from loopxform.analysis.pairs import Witness
from loopxform.display import Shown
from loopxform.ir.visit import Path
from loopxform.records import record
from loopxform.source import Loc

Kind: TypeAlias = Literal["flow", "anti", "output"]
Distance: TypeAlias = tuple[int | None, ...]


@record
class Endpoint:
    """A statement at one end of a dependence."""

    label: str
    loc: Loc | None
    path: Path

    def __str__(self) -> str:
        return self.words(self.loc.file if self.loc else None)

    def words(self, file: str | None) -> str:
        """`S0 (line 5)`, for a reader of a file."""
        return f"{self.label} ({self.place(file)})" if self.loc else self.label

    def place(self, file: str | None) -> str:
        """`line 5`, for a reader of a `file`; the label where nobody knows."""
        return self.loc.seen_from(file) if self.loc else self.label

    def json(self) -> dict[str, object]:
        """The statement as the contract of `check --format json` has it."""
        file, line = (self.loc.file, self.loc.line) if self.loc else ("", 0)
        return {"statement": self.label, "file": file, "line": line}


@record
class Dependence(Shown):
    """One row of the dependence matrix. `loops` are the variables of the common loops, `loop_paths`
    where they are; `level` is the index of the loop that carries it (None: within an iteration).
    `distance` counts iterations, None where it is not constant; a reduction goes from each
    iteration to the next. While `exact`, the dependence exists at `point`; otherwise it could not
    be excluded, and `doubt` says why. While `tight`, every direction that the vector names
    occurs."""

    kind: Kind
    array: str
    source: Endpoint
    sink: Endpoint
    loops: tuple[str, ...]
    loop_paths: tuple[Path, ...]
    direction: Pattern
    distance: Distance
    exact: bool
    point: Witness | None = field(default=None, compare=False)
    reduction: str | None = None
    declared: Path | None = None
    tight: bool = True
    doubt: str | None = field(default=None, compare=False)

    def __repr__(self) -> str:
        return f"<Dependence {self.kind} {self.source}->{self.sink} on {self.array} {self.vector}>"

    @cached_property
    def level(self) -> int | None:
        """Which of `loops` carries it, from 0 on; None: it is within an iteration."""
        return next((n for n, d in enumerate(self.direction) if d != "="), None)

    @property
    def carrier(self) -> Path | None:
        """The loop that carries the dependence."""
        return None if self.level is None else self.loop_paths[self.level]

    @property
    def rank(self) -> int:
        """How bad the row is, the worst first: proven ones, then flow before anti before output."""
        return rank(self.kind, exact=self.exact)

    @property
    def witness(self) -> str | None:
        """Two iterations that it is between, in words: `i=1 and i=2 (n=3)`."""
        return None if self.point is None else str(self.point)

    @property
    def vector(self) -> str:
        """The direction vector: `(=, <)`."""
        return f"({', '.join(self.direction)})"

    def json(self) -> dict[str, object]:
        """The row as the contract of `check --format json` has it (DESIGN.md, section 7)."""
        return {
            "kind": self.kind,
            "array": self.array,
            "source": self.source.json(),
            "sink": self.sink.json(),
            "loops": list(self.loops),
            "direction": list(self.direction),
            "distance": list(self.distance),
            "reduction": self.reduction,
            "witness": self.witness,
        }


def rank(kind: Kind, *, exact: bool) -> int:
    """The `rank` of a row of some kind."""
    kinds: tuple[Kind, ...] = ("flow", "anti", "output")
    return kinds.index(kind) + len(kinds) * (not exact)


def worst(rows: Iterable[Dependence]) -> list[Dependence]:
    """One row per storage, that of the least `rank`."""
    best: dict[tuple[str, Path | None], Dependence] = {}
    for d in sorted(rows, key=lambda d: d.rank):
        best.setdefault((d.array, d.declared), d)
    return list(best.values())
