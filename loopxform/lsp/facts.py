"""What an editor shows of a function, as records that outlive its analysis, and how they move when
text in front of them grows or shrinks."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Literal, TypeAlias

from loopxform.records import record
from loopxform.source import Loc

Severity: TypeAlias = Literal["error", "warning", "information", "hint"]

Line: TypeAlias = Callable[[int], int]
"""Gives the line to which a line of the file has moved."""


@record
class Related:
    """A place that a finding is about as well, and what happens there."""

    loc: Loc
    message: str


@record
class Finding:
    """A diagnostic; `width` are the characters that it is about. Of the pragma at `pragma`, `cure`
    is what would make it right ("" where nothing but removing it would)."""

    loc: Loc
    width: int
    severity: Severity
    code: str
    message: str
    related: tuple[Related, ...] = ()
    pragma: Loc | None = None
    cure: str = ""


@record
class LoopFact:
    """A loop: what stands beside it, and what is told where somebody asks (Markdown). `apart` are
    the parameters that its verdict assumes to be apart and that may be `restrict`, `matrix` is
    that of its nest: rows of texts, and `notes` are what is said below them."""

    loc: Loc
    var: str
    answer: str
    label: str
    about: str
    matrix: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...]
    apart: tuple[str, ...] = ()
    has_pragma: bool = False


@record
class FunctionFacts:
    """A function, or what is known of the file beside its functions: then `name` is ""."""

    name: str
    loops: tuple[LoopFact, ...] = ()
    findings: tuple[Finding, ...] = ()
    is_read: bool = True
    """Whether the function could be read."""

    def is_within(self, file: str) -> bool:
        """Whether all that is said is about one file; of others, nobody knows which lines texts
        name."""
        found = [x.loc for x in self.loops]
        for f in self.findings:
            found += [f.loc, *(r.loc for r in f.related)]
        return all(loc.file == file for loc in found)


NOTHING = FunctionFacts("")

_LINES = re.compile(r"\blines? \d+(?:(?:,| and) \d+)*\b(?! of )")
_NUMBER = re.compile(r"\d+")


def moved(facts: FunctionFacts, file: str, line: Line) -> FunctionFacts:
    """The same facts where lines of their file have moved; texts that name lines are about it,
    unless they name another file."""

    def text(said: str) -> str:
        return _LINES.sub(lambda m: _NUMBER.sub(lambda n: str(line(int(n[0]))), m[0]), said)

    def at(loc: Loc) -> Loc:
        return Loc(loc.file, line(loc.line), loc.column) if loc.file == file else loc

    return replace(
        facts,
        loops=tuple(
            replace(
                x,
                loc=at(x.loc),
                label=text(x.label),
                about=text(x.about),
                matrix=tuple(tuple(map(text, row)) for row in x.matrix),
                notes=tuple(map(text, x.notes)),
            )
            for x in facts.loops
        ),
        findings=tuple(
            replace(
                f,
                loc=at(f.loc),
                message=text(f.message),
                related=tuple(Related(at(r.loc), text(r.message)) for r in f.related),
                pragma=f.pragma and at(f.pragma),
            )
            for f in facts.findings
        ),
    )
