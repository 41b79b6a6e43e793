"""What `check` prints for people: the user's lines with the verdicts, then the matrices."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from loopxform.analysis.verdict import Answer, LoopVerdict, matrix_text
from loopxform.checked import CheckedFile, CheckedFunction
from loopxform.source import Loc

if TYPE_CHECKING:
    from loopxform.analysis.openmp import Claim


def function(f: CheckedFunction, file: str | None = None) -> list[str]:
    """Lines on one function; `file` is named where there are several."""
    out = [f"{file}: {f.name}:" if file else f"{f.name}:"]
    sources = f.routine.file.parsed.sources
    shared = Counter(v.line for v in f.loops)
    for v in f.loops:
        source = sources.line(v.loc) if v.loc else None
        number = f"{v.line:>5}" if v.loc else "    ?"
        which = f"{v.var} at column {v.column}: " if v.loc and shared[v.line] > 1 else ""
        out.append(f"{number} | {(source or v.var).rstrip():<48}  {which}{words(v)}")
        out += [f"        {r.message}" for r in v.reasons]
        claim = f.claim(v)
        out += [f"        {line}" for line in _claim(claim)] if claim else []
    lines = {v.path: v.line for v in f.loops}
    for m in f.matrices:
        title = (
            [f"nest of line {lines[m.path]}:"] if len(f.matrices) > 1 and m.path in lines else []
        )
        out += ["", *title, *matrix_text(m).rstrip("\n").split("\n")]
    return [*out, ""]


def words(v: LoopVerdict) -> str:
    """A verdict with what it takes: `privatizable (private t)`."""
    extra = [f"private {', '.join(v.private)}"] if v.private else []
    extra += [f"{r.op} of {r.var}" for r in v.reductions]
    extra += [f"if {', '.join(v.assumes)}"] if v.assumes else []
    return v.parallel + (f" ({'; '.join(extra)})" if extra else "")


def total(reports: Sequence[CheckedFile]) -> str:
    """One line on several files: `3 files, 5 functions, 12 loops: 7 yes, 5 reduction`."""
    functions = [f for r in reports for f in r.functions]
    verdicts = Counter(v.parallel for f in functions for v in f.loops)
    loops = sum(verdicts.values())
    numbers = (
        _count(len(reports), "file"),
        _count(len(functions), "function"),
        _count(loops, "loop"),
    )
    order: tuple[Answer, ...] = ("yes", "reduction", "privatizable", "no", "unknown")
    each = ", ".join(f"{verdicts[a]} {a}" for a in order if verdicts[a])
    return ", ".join(numbers) + (f": {each}" if each else "")


def _count(n: int, what: str) -> str:
    return f"{n} {what}" if n == 1 else f"{n} {what}s"


def _claim(claim: Claim) -> Iterator[str]:
    """An OpenMP claim, what is wrong with it, and what would cure that."""
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
