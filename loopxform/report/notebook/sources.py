"""C files and their functions, before anything is asked of them."""

from __future__ import annotations

import re
from collections import defaultdict

from loopxform.api.facade import File, Routine
from loopxform.ir.nodes import For
from loopxform.ir.visit import walk
from loopxform.report.collect import refusal
from loopxform.report.facts import LoopFact
from loopxform.report.names import Names, prefix
from loopxform.report.notebook.piece import piece

MOST_FUNCTIONS = 100
"""Rows of a table of functions."""

MOST_LINES = 300
"""Lines of a text that are shown."""


def html(x: File | Routine) -> str:
    return _file(x) if isinstance(x, File) else _routine(x)


def _file(file: File) -> str:
    """Its functions, and what could not be read."""
    names = Names(prefix(), file.name)
    sources = file.parsed.sources
    rows = [
        (r.name, names.line(r.function.origin.loc), declaration(r), len(_loops(r))) for r in file
    ]
    return piece(
        f"The C file {file.name}",
        "file.html.j2",
        name=file.name,
        rows=rows[:MOST_FUNCTIONS],
        more=max(0, len(rows) - MOST_FUNCTIONS),
        problems=[refusal(e, names, sources, "not read") for e in file.parsed.problems],
    )


def _routine(r: Routine) -> str:
    """Its text."""
    lines = text_of(r)
    return piece(
        f"The C function {r.name}",
        "routine.html.j2",
        name=r.name,
        file=r.file.name,
        lines=lines[:MOST_LINES],
        more=max(0, len(lines) - MOST_LINES),
        loops=len(_loops(r)),
        no_loops=defaultdict[int, list[LoopFact]](list),
    )


def _loops(r: Routine) -> list[For]:
    return [s for _, s in walk(r.function.body) if isinstance(s, For)]


def declaration(r: Routine) -> str:
    """The line that its name stands on."""
    loc = r.function.origin.loc
    line = r.file.parsed.sources.line(loc) if loc else None
    return " ".join((line or r.name).partition("{")[0].split())


def text_of(r: Routine) -> list[tuple[int, str]]:
    """The lines of the file that it stands on, with their numbers."""
    loc = r.function.origin.loc
    every = (r.file.parsed.sources.text(loc.file) or "").splitlines() if loc else []
    if loc is None:
        return []
    last = max(
        (o.line for _, s in walk(r.function.body) if (o := s.origin.loc) and o.file == loc.file),
        default=loc.line,
    )
    while last < len(every) and re.fullmatch(r"[\s{}]*\}[\s{};]*", every[last]):
        last += 1
    return [(n, every[n - 1]) for n in range(loc.line, min(last, len(every)) + 1)]
