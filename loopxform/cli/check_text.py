"""What `check` prints for people: the user's lines with the verdicts, then the matrices."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from loopxform.analysis.matrix import matrix_text
from loopxform.analysis.verdict import Answer, LoopVerdict
from loopxform.api.annotated import Asserted
from loopxform.api.check import CheckedFile, CheckedFunction
from loopxform.quotation import Paint, plain
from loopxform.source import Loc

if TYPE_CHECKING:
    from loopxform.analysis.openmp import Claim


LEGEND = "(= in one iteration, < to a later one, > to an earlier one; a number counts iterations)"
"""The signs of the matrices, for who sees one for the first time."""


def function(f: CheckedFunction, file: str | None = None, paint: Paint = plain) -> list[str]:
    """Lines on one function; `file` is named where there are several."""
    out = [f"{file}: {f.name}:" if file else f"{f.name}:"]
    home = f.loc.file if f.loc else None
    sources = f.routine.file.parsed.sources
    shared = Counter(v.line for v in f.loops)
    for v in f.loops:
        source = sources.line(v.loc) if v.loc else None
        number = f"{_numbered(v.loc, home):>5}"
        which = f"{v.var} at column {v.column}: " if v.loc and shared[v.line] > 1 else ""
        out.append(
            f"{number} | {(source or v.var).rstrip():<48}  {which}{words(v, paint)}{named(v)}"
        )
        out += [f"        {line}" for line in _reasons(v, home)]
        claim = f.claim(v)
        out += [f"        {line}" for line in _claim(claim, paint)] if claim else []
        out += [f"        {_assertion(a, v, paint)}" for a in f.asserted if v in a.loops]
    out += [f"    {line}" for c in f.others for line in _claim(c, paint)]
    out += [f"{a.annotation.loc}: {a.annotation.text}: {a.why}" for a in f.asserted if not a.loops]
    out += [f"    line {m.loc.line if m.loc else '?'}: {m.message}; {m.help}" for m in f.missing]
    out += [*_listed("for builds with", f.macros), *_listed("with", f.rests)] if f.loops else []
    lines = {v.path: v.line for v in f.loops}
    for m in f.matrices:
        title = (
            [f"nest of line {lines[m.path]}:"] if len(f.matrices) > 1 and m.path in lines else []
        )
        out += ["", *title, *matrix_text(m, home).rstrip("\n").split("\n")]
    return [*out, ""]


def without_loops(report: CheckedFile) -> str:
    """One line on a file in which nothing is judged."""
    if not (report.file.parsed.sources.text(report.name) or "").strip():
        return f"{report.name}: the file is empty"
    if not report.functions:
        return f"{report.name}: no functions are defined"
    return f"{report.name}: no loops in {_count(len(report.functions), 'function')}"


NAMED = 6
"""Macros and functions that text names; JSON has them all."""


def _listed(what: str, names: Sequence[str]) -> list[str]:
    """What the verdicts hold for, or rest on."""
    more = len(names) - NAMED
    named = [*names[:NAMED], *([f"{more} more (--format json)"] if more > 0 else [])]
    return [f"        {what} {', '.join(named)}"] if names else []


def words(v: LoopVerdict, paint: Paint = plain) -> str:
    """A verdict with what it takes: `privatizable (private t)`."""
    answer = paint(v.parallel, v.parallel)
    if v.parallel in ("no", "unknown"):
        return answer
    extra = [f"private {', '.join(v.private)}"] if v.private else []
    extra += [f"last value of {', '.join(v.copies)}"] if v.copies else []
    extra += [f"last value of {', '.join(v.conditional)}, if set"] if v.conditional else []
    extra += [f"{r.op} of {r.var}" for r in v.reductions]
    extra += [f"if {', '.join(together(v.assumes))}"] if v.assumes else []
    return answer + (f" ({'; '.join(extra)})" if extra else "")


def named(v: LoopVerdict) -> str:
    """What the loop is, where the verdict does not say so: `; scan of s (+, inclusive)`; or the
    steps that make it parallel."""
    told = {"reduction", "arg-min", "arg-max"} if v.parallel == "reduction" else set()
    names = "".join(f"; {x}" for x in v.idioms if x.kind not in told)
    steps = ", ".join(f"'{x}'" for x in v.after)
    asked = f" (if {', '.join(together(v.assumes))})" if v.assumes else ""
    return names + (f"; parallel after {steps}{asked}" if steps else "")


PAIR = re.compile(r"(\S+) and (\S+) do not overlap")


def together(assumes: Sequence[str]) -> list[str]:
    """Many pairs of arrays that do not overlap, in few words where they are all pairs of some
    arrays, or all pairs of those written with the others."""
    matches = [PAIR.fullmatch(a) for a in assumes]
    pairs = {frozenset(m.groups()) for m in matches if m}
    if len(pairs) < 3:
        return list(assumes)
    rest = [a for a, m in zip(assumes, matches) if not m]
    names = list(dict.fromkeys(n for m in matches if m for n in m.groups()))
    cover = _cover(pairs, names)
    if pairs != {frozenset((w, n)) for w in cover for n in names if w != n}:
        return list(assumes)
    others = [n for n in names if n not in cover]
    if len(others) < 2:
        return [f"no two of {', '.join(names)} overlap", *rest]
    if len(cover) == 1:
        return [f"{cover[0]} overlaps none of {', '.join(others)}", *rest]
    both = f"{', '.join(cover)} overlap neither each other nor {', '.join(others)}"
    return [both, *rest]


def _cover(pairs: Iterable[frozenset[str]], names: Sequence[str]) -> list[str]:
    """Names so that each pair has one, those in most pairs first."""
    left, out = set(pairs), []
    while left:
        counts = Counter(n for pair in left for n in pair)
        best = max(names, key=lambda n: counts[n])
        out.append(best)
        left = {pair for pair in left if best not in pair}
    return [n for n in names if n in out]


def _numbered(loc: Loc | None, home: str | None) -> str:
    """The number of a line, with its file where that is another."""
    if loc is None:
        return "?"
    return str(loc.line) if loc.file == home else f"{loc.file}:{loc.line}"


def _reasons(v: LoopVerdict, home: str | None) -> Iterator[str]:
    """What is said of several lines is said once."""
    lines: dict[str, list[Loc]] = {}
    for r in v.reasons:
        found = lines.setdefault(r.message, [])
        found += [r.loc] if r.loc and (r.loc.file, r.loc.line) != (home, v.line) else []
    for message, at in lines.items():
        known = {(x.file != home, x.file, x.line): _numbered(x, home) for x in at}
        numbers = [text for _, text in sorted(known.items())]
        said = "line " in message or "lines " in message or not numbers
        word = "line" if len(numbers) == 1 else "lines"
        yield message if said else f"{message} ({word} {', '.join(numbers)})"


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


def _claim(claim: Claim, paint: Paint) -> Iterator[str]:
    """An OpenMP claim, what is wrong with it, and what would cure that."""
    at = f" (line {claim.loc.line})" if claim.loc else ""
    yield f"omp {claim.text}{at}: {_answer(claim, paint)}"
    for f in claim.findings:
        witness = f", at {f.witness}" if f.witness else ""
        yield f"  {f.message}{witness}{_line(f.loc, f.message)} [{f.code}]"
        yield f"    cure: {f.cure or 'none; remove the pragma'}"
    for d in claim.doubts:
        yield f"  {d.message}{_line(d.loc, d.message)} [{d.code}]"


def _assertion(a: Asserted, v: LoopVerdict, paint: Paint) -> str:
    at = f" (line {a.annotation.loc.line})" if a.annotation.loc else ""
    answer = "does not hold" if v in a.wrong else "holds"
    return f"{a.annotation.text}{at}: {paint(answer, answer)}"


def _answer(claim: Claim, paint: Paint) -> str:
    if claim.proven is False:
        return paint("wrong", "wrong")
    known = "proven" if claim.proven else "race-free" if claim.race_free else ""
    if not known:
        return paint("not proven", "not proven")
    condition = f", if {', '.join(claim.assumes)}" if claim.assumes else ""
    return paint(known, known) + condition


def _line(loc: Loc | None, message: str) -> str:
    """The line of a message that names none."""
    return f" (line {loc.line})" if loc and "line " not in message else ""
