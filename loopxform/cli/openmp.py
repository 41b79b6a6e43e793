"""The audit of OpenMP loops as `check` shows it under a loop."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from loopxform.source import Loc

if TYPE_CHECKING:
    from loopxform.analysis.openmp import Claim


def lines(claim: Claim) -> Iterator[str]:
    """The claim, what is wrong with it, and what would cure that."""
    at = f" (line {claim.loc.line})" if claim.loc else ""
    yield f"omp {claim.text}{at}: {_answer(claim)}"
    for f in claim.findings:
        witness = f", at {f.witness}" if f.witness else ""
        yield f"  {f.message}{witness}{_line(f.loc, f.message)} [{f.code}]"
        yield f"    cure: {f.cure or 'none; remove the pragma'}"
    for d in claim.doubts:
        yield f"  {d.message}{_line(d.loc, d.message)} [{d.code}]"


def _answer(claim: Claim) -> str:
    if claim.proven:
        return "proven" + (f", if {', '.join(claim.assumes)}" if claim.assumes else "")
    return "not proven" if claim.proven is None else "wrong"


def _line(loc: Loc | None, message: str) -> str:
    """The line of a message that names none."""
    return f" (line {loc.line})" if loc and "line " not in message else ""
