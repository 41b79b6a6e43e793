"""`loopxform check --stats`: how many loops are decided, and why the others are not."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, get_args

from loopxform.analysis.verdict import Answer, LoopVerdict, Reason
from loopxform.api.check import CheckedFile
from loopxform.source import Loc

SHOWN = 25
"""Reasons that text lists; JSON has them all."""
_CALLEES = 3
_QUOTED = re.compile(r"'([^']*)'")
_DEPENDENCE = re.compile(r"\w+ dependence of .*?, could not be excluded(?:: )?([^;]*).*", re.DOTALL)
_PLACE = re.compile(r" \(lines? [\d, ]+\)|\bline \d+")
_NAMED = re.compile(r"\b(subscript of|elements of|which values) .*?(?= is\b| are\b| may\b)")


@dataclass
class Obstacle:
    """A reason, whatever the names in it: the loops that are unknown for it, those for which it is
    the only one, what is called, and where it is met first."""

    code: str
    text: str
    example: Loc | None
    loops: int = 0
    alone: int = 0
    callees: Counter[str] = field(default_factory=Counter)

    def json(self) -> dict[str, Any]:
        where = {"file": self.example.file, "line": self.example.line} if self.example else None
        return {
            "code": self.code,
            "reason": self.text,
            "loops": self.loops,
            "alone": self.alone,
            "callees": dict(self.callees.most_common()),
            "example": where,
        }


class Statistics:
    """Of the loops of some files."""

    def __init__(self, reports: Sequence[CheckedFile]) -> None:
        self.files = len(reports)
        self.functions = sum(len(r.functions) for r in reports)
        self.lines = sum(map(_lines, reports))
        loops = [v for r in reports for v in r.loops]
        self.verdicts = Counter(v.parallel for v in loops)
        self.obstacles: dict[tuple[str, str], Obstacle] = {}
        for v in loops:
            if v.parallel == "unknown":
                self._unknown(v)

    def _unknown(self, v: LoopVerdict) -> None:
        found: dict[tuple[str, str], list[Reason]] = {}
        for r in v.reasons:
            found.setdefault((r.code, _general(r)), []).append(r)
        for key, reasons in found.items():
            o = self.obstacles.setdefault(key, Obstacle(*key, reasons[0].loc or v.loc))
            o.loops += 1
            o.alone += len(found) == 1
            if key[0] == "LX012":
                names = (_QUOTED.search(r.message) for r in reasons)
                o.callees.update({m[1] for m in names if m})

    @property
    def loops(self) -> int:
        return self.verdicts.total()

    @property
    def decided(self) -> float:
        """The share of the loops that have a verdict; 1 where there are none."""
        return 1 - self.verdicts["unknown"] / self.loops if self.loops else 1.0

    @property
    def ranked(self) -> list[Obstacle]:
        """The reasons, those in the way of most loops first."""
        return sorted(self.obstacles.values(), key=lambda o: (-o.loops, -o.alone, o.code, o.text))

    def json(self) -> dict[str, Any]:
        return {
            "schema_version": 1,
            "files": self.files,
            "lines": self.lines,
            "functions": self.functions,
            "loops": self.loops,
            "decided": round(self.decided, 4),
            "verdicts": {a: self.verdicts[a] for a in get_args(Answer)},
            "unknown_for": [o.json() for o in self.ranked],
        }

    def text(self) -> Iterator[str]:
        each = ", ".join(f"{self.verdicts[a]:,} {a}" for a in get_args(Answer) if self.verdicts[a])
        yield (
            f"files: {self.files:,}, lines: {self.lines:,}, functions: {self.functions:,}, "
            f"loops: {self.loops:,}" + (f" ({each})" if each else "")
        )
        yield f"decided: {100 * self.decided:.1f} %"
        if not self.obstacles:
            return
        yield ""
        yield "loops  alone  code   unknown because"
        for o in self.ranked[:SHOWN]:
            where = f" ({o.example.file}:{o.example.line})" if o.example else ""
            called = ", ".join(f"{n} {k}" for n, k in o.callees.most_common(_CALLEES))
            text = f"{o.text}: {called}" if called else o.text
            yield f"{o.loops:>5}  {o.alone:>5}  {o.code}  {text}{where}"
        if (more := len(self.obstacles) - SHOWN) > 0:
            yield f"{more} more reasons: --format json lists them"
        yield "alone: the loops for which it is the only reason"


def _lines(report: CheckedFile) -> int:
    text = report.file.parsed.sources.text(report.name) or ""
    return len(text.splitlines())


def _general(r: Reason) -> str:
    """The message without what is of one loop only: names, lines, directions."""
    text = r.message
    if (m := _DEPENDENCE.fullmatch(text)) is not None:
        text = f"a dependence could not be excluded: {m[1]}" if m[1] else "a dependence"
        text = _NAMED.sub(r"\1 ...", text)
    return _QUOTED.sub("'...'", _PLACE.sub(lambda m: "" if m[0][0] == " " else "a line", text))
