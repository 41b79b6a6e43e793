"""What the server says after edits, compared with what a `check` of the whole text says."""

from __future__ import annotations

import random
from collections.abc import Iterator

from loopxform.api.check import checked
from loopxform.api.reading import loads
from loopxform.errors import LoopxformError
from loopxform.lsp.analysis import Analysis, Ask
from loopxform.lsp.collect import function_facts
from loopxform.lsp.facts import Finding, LoopFact
from loopxform.lsp.flags import Flags, Settings

Facts = tuple[frozenset[LoopFact], frozenset[Finding]]


def whole(path: str, text: str) -> Facts | None:
    """What `check` says of a file; None where something of it cannot be read."""
    try:
        file = loads(text, path)
        report = checked(file)
    except LoopxformError:
        return None
    if report.problems:
        return None
    found = [function_facts(f) for f in report.functions]
    return _together((x for f in found for x in f.loops), (x for f in found for x in f.findings))


def incremental(analysis: Analysis, path: str, text: str) -> Facts:
    found = analysis.judge(Ask(path, text, Flags(), Settings()))
    every = [*found.every]
    findings = [*found.findings, *(x for f in every for x in f.findings)]
    return _together((x for f in every for x in f.loops), findings)


def _together(loops: Iterator[LoopFact], findings: object) -> Facts:
    return frozenset(loops), frozenset(findings)  # type: ignore[call-overload]


def edits(text: str, count: int, rng: random.Random) -> Iterator[str]:
    """Texts, each a small edit of the one before; what can be read comes back after it."""
    good = text
    for _ in range(count):
        lines = good.split("\n")
        at = rng.randrange(len(lines))
        match rng.randrange(7):
            case 0:
                lines.insert(at, "")
            case 1:
                lines.insert(at, "/* a remark */")
            case 2:
                del lines[at]
            case 3:
                lines[at] = lines[at].replace("+", "-", 1)
            case 4:
                lines[at] = lines[at].replace(" 0", " 1", 1)
            case 5:
                lines[at] = lines[at].replace("i]", "i + 1]", 1)
            case 6:
                other = rng.randrange(len(lines))
                lines[at] = lines[other]
        yield "\n".join(lines)
        if rng.random() < 0.5:
            good = "\n".join(lines)
        if whole("x.c", good) is None:
            good = text
