"""What `check` fails for or warns of, one object each, whatever the format.

wrong     an OpenMP claim or an annotation that does not hold            exit status 1
doubt     an OpenMP claim that is not proven, an update that is missing   exit status 0
unread    C that cannot be read, so that nothing is known of it          exit status 2
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import field
from typing import Literal, TypeAlias

from loopxform.analysis.missing_updates import CODE, Missing
from loopxform.analysis.openmp.claim import Doubt
from loopxform.analysis.openmp.claim import Finding as Defect
from loopxform.api.annotated import Asserted
from loopxform.api.check import CheckedFunction
from loopxform.cli.judging import Judged
from loopxform.errors import InternalError, LoopxformError
from loopxform.ir.visit import Path
from loopxform.records import record
from loopxform.source import Loc

Kind: TypeAlias = Literal["wrong", "doubt", "unread"]
Level: TypeAlias = Literal["error", "warning"]

_QUOTED = re.compile(r"'([^']*)'")
LONGEST = 80
"""Letters of a source line that are kept."""


@record
class Finding:
    """`file` is the C file that was judged, `loop` the counters of the loops around, outermost
    first and joined by /, `about` the variable or the word that it is about, `text` its line.
    `source` is what it was made from, in a report."""

    kind: Kind
    code: str
    message: str
    loc: Loc | None
    file: str
    function: str = ""
    loop: str = ""
    about: str = ""
    text: str = ""
    source: object = field(default=None, compare=False, repr=False)

    @property
    def level(self) -> Level:
        return "warning" if self.kind == "doubt" else "error"

    @property
    def place(self) -> Loc:
        """Where it is; the beginning of the file, where that is not known."""
        return self.loc or Loc(self.file, 1, 1)

    def line(self) -> str:
        """`smooth.c:8:5: error: race on 'j' [LX301]`, as compilers write it."""
        return f"{self.place}: {self.level}: {self.message} [{self.code}]"

    def json(self) -> dict[str, object]:
        return {
            "file": self.place.file,
            "line": self.place.line,
            "column": self.place.column,
            "level": self.level,
            "code": self.code,
            "message": self.message,
            "function": self.function,
            "loop": self.loop,
        }


def findings(path: str, judged: Judged) -> list[Finding]:
    """Those of one file, in text order; what is no matter of its text, as a file that is not there,
    is none."""
    if isinstance(judged, LoopxformError):
        return [*_unread((judged,), "<stdin>" if path == "-" else path)]
    found = [x for f in judged.functions for x in _of_function(judged.name, f)]
    found += _unread(judged.problems, judged.name)
    return sorted(found, key=lambda x: (x.place.file != x.file, *_numbers(x.place)))


def _numbers(loc: Loc) -> tuple[str, int, int]:
    return loc.file, loc.line, loc.column


def _of_function(file: str, f: CheckedFunction) -> Iterator[Finding]:
    sources = f.routine.file.parsed.sources

    def made(
        kind: Kind, x: Defect | Doubt | Asserted | Missing, loc: Loc | None, **named: str
    ) -> Finding:
        text = shortened(sources.line(loc) if loc else None)
        return Finding(kind, loc=loc, file=file, function=f.name, text=text, source=x, **named)

    for c in f.claims:
        loop = loop_path(f, c.path)
        for x in c.findings:
            named = {"code": x.code, "message": defect(x), "loop": loop, "about": _about(x)}
            yield made("wrong", x, x.loc or c.loc, **named)
        for d in c.doubts:
            text = f"omp {c.text} is not proven: {d.message}"
            named = {"code": d.code, "message": text, "loop": loop, "about": _about(d)}
            yield made("doubt", d, d.loc or c.loc, **named)
    for m in f.missing:
        yield made("doubt", m, m.loc, code=CODE, message=m.message, about=m.array)
    for a in f.asserted:
        if not a.holds:
            error, loop = a.error(), _annotated(f, a)
            named = {"code": error.code, "message": error.message, "loop": loop}
            yield made("wrong", a, a.annotation.loc, about=a.annotation.text, **named)


def _annotated(f: CheckedFunction, a: Asserted) -> str:
    """The loop that an annotation is about."""
    if a.annotation.whole:
        return ""
    return loop_path(f, a.loops[0].path if a.loops else next(iter(a.annotation.paths), ()))


def _unread(problems: Sequence[LoopxformError], file: str) -> Iterator[Finding]:
    for e in problems:
        if e.loc is not None and not isinstance(e, InternalError):
            text = shortened(e.sources.line(e.loc) if e.sources else None)
            about = text or e.message
            yield Finding(
                "unread", e.code, e.message, e.loc, file, about=about, text=text, source=e
            )


def shortened(line: str | None) -> str:
    """As much of a source line as tells it from others, however it is indented."""
    return " ".join((line or "").split())[:LONGEST]


def loop_path(f: CheckedFunction, path: Path) -> str:
    """`i/j`: the loops around a statement, and the one that it is."""
    around = (v for v in f.loops if v.path == path[: len(v.path)])
    return "/".join(v.var or "?" for v in sorted(around, key=lambda v: len(v.path)))


def defect(x: Defect) -> str:
    """What is wrong, where it shows, and what would cure it."""
    at = f", at {x.witness}" if x.witness else ""
    return f"{x.message}{at}; {f'cure: {x.cure}' if x.cure else 'no clause cures it'}"


def _about(x: Defect | Doubt) -> str:
    """The variable; the first word that the message quotes, where it names none."""
    named = x.variable if isinstance(x, Defect) else ""
    quoted = _QUOTED.search(x.message)
    return named or (quoted[1] if quoted else "")
