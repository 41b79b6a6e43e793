"""What is known of a C file, collected as facts: verdicts, matrices, claims, what became of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TypeAlias

from loopxform.analysis.dependence import Dependence
from loopxform.analysis.matrix import MOST_LINES, Matrix
from loopxform.analysis.openmp import Claim
from loopxform.analysis.verdict import VERBS, LoopVerdict, Reason
from loopxform.api.check import CheckedFile, CheckedFunction
from loopxform.cli import check_text
from loopxform.codes import CODES
from loopxform.errors import InternalError, LoopxformError
from loopxform.ir.nodes import For
from loopxform.ir.visit import Path, at
from loopxform.quotation import quote
from loopxform.report.facts import (
    ClaimFact,
    FileFact,
    Finding,
    FunctionFact,
    LoopFact,
    MatrixFact,
)
from loopxform.report.iteration_space import Space, drawn
from loopxform.report.names import Names
from loopxform.source import Sources

Drawn: TypeAlias = Callable[[str], str]
"""Gives the picture of a variable, or nothing."""

MOST_REASONS = 20
"""Reasons of a loop that are told; JSON has them all."""


def file_facts(report: CheckedFile, prefix: str) -> FileFact:
    """A file that was judged, before anything is made of it."""
    names = Names(prefix, report.name)
    sources = report.file.parsed.sources
    return FileFact(
        anchor=prefix,
        name=report.name,
        command="",
        source=tuple((sources.text(report.name) or "").splitlines()),
        functions=tuple(function_facts(f, names, n) for n, f in enumerate(report.functions, 1)),
        problems=tuple(refusal(e, names, sources, "not read") for e in report.problems),
        todo=(),
        internal=any(isinstance(e, InternalError) for e in report.problems),
    )


def unread(name: str, text: str, error: LoopxformError, prefix: str) -> FileFact:
    """A file of which nothing can be read, with the reason."""
    problem = refusal(error, Names(prefix, name), error.sources, "not read")
    internal = isinstance(error, InternalError)
    lines = tuple(text.splitlines())
    return FileFact(prefix, name, "", lines, (), (problem,), (), internal)


def refusal(e: LoopxformError, names: Names, sources: Sources | None, kind: str) -> Finding:
    """A diagnostic as a finding."""
    return Finding(
        kind=kind,
        code=e.code,
        message=e.message,
        place=names.place(e.loc),
        line=names.line(e.loc),
        remedy=e.help or "",
        notes=e.notes,
        meaning=CODES.get(e.code, ""),
        quote="\n".join(quote(e.loc, sources or e.sources, e.width)),
    )


# ---------------------------------------------------------------- functions


def function_facts(f: CheckedFunction, names: Names, number: int) -> FunctionFact:
    """A function that was judged, before anything is made of it."""
    anchor = names.of("f", number)
    sources = f.routine.file.parsed.sources
    drawing = _Drawing(f, names)
    lines = {v.path: v.line for v in f.loops}
    titles = {
        m.path: f"Nest of line {lines[m.path]}" if m.path in lines else "Nest" for m in f.matrices
    }
    loops = tuple(_loop(f, v, names, sources, drawing, n) for n, v in enumerate(f.loops, 1))
    return FunctionFact(
        anchor=anchor,
        name=f.name,
        line=names.line(f.loc),
        loops=tuple(replace(x, anchor=f"{anchor}-{x.anchor}") for x in loops),
        matrices=tuple(matrix_fact(m, titles[m.path], names) for m in f.matrices if _says(m)),
        independent=tuple(lines[m.path] for m in f.matrices if not _says(m) and m.path in lines),
        claims=tuple(claim_fact(c, names) for c in f.others),
        annotations=tuple(_annotations(f)),
        macros=f.macros,
    )


def _annotations(f: CheckedFunction) -> Iterator[str]:
    for a in f.asserted:
        answer = a.why if not a.loops else "does not hold" if a.wrong else "holds"
        yield f"{a.annotation.loc}: {a.annotation.text}: {answer}"


def _loop(
    f: CheckedFunction,
    v: LoopVerdict,
    names: Names,
    sources: Sources,
    drawing: _Drawing,
    number: int,
) -> LoopFact:
    claim = f.claim(v)
    fact = loop_fact(v, names, number, sources, lambda r: drawing.of_reason(v, r))
    if claim is None:
        return fact
    return replace(fact, claim=claim_fact(claim, names, drawing.of_variable(v)))


def loop_fact(
    v: LoopVerdict,
    names: Names,
    number: int,
    sources: Sources | None,
    picture: Callable[[Reason], str] = lambda _: "",
) -> LoopFact:
    """A loop that was judged, with the text of its line where there are sources."""
    source = sources.line(v.loc) if v.loc and sources else None
    return LoopFact(
        anchor=f"loop-{number}",
        var=v.var,
        line=names.line(v.loc),
        place=names.place(v.loc),
        source=(source or "").strip(),
        depth=v.depth,
        verdict=v.parallel,
        words=check_text.words(v),
        named=check_text.named(v).removeprefix("; "),
        kinds=tuple(dict.fromkeys(x.kind for x in v.idioms)),
        findings=_most([_reason(v, r, names, picture(r)) for r in v.reasons]),
        claim=None,
    )


def _reason(v: LoopVerdict, r: Reason, names: Names, picture: str) -> Finding:
    """Why a loop has its verdict; what stands behind a semicolon says what to do."""
    message, _, remedy = r.message.partition("; ")
    kind = "forbids it" if v.parallel == "no" else "not decided"
    return Finding(
        kind=kind,
        code=r.code,
        message=message,
        place=names.place(r.loc),
        line=names.line(r.loc),
        witness=r.witness or "",
        remedy=remedy or REMEDIES.get(r.code, ""),
        meaning=CODES.get(r.code, ""),
        picture=picture,
    )


REMEDIES = {
    "LX101": "the loop has to run in order, unless the algorithm changes: loops around it or in it "
    "may still be parallel",
    "LX102": "a simpler subscript, or a variable that is declared in the loop, often decides it",
    "LX012": "define the function in the file, or include its text, so that it can be looked into",
    "LX104": "allow more with the option that the message names",
}
"""What to do where the reason itself does not say."""


def claim_fact(c: Claim, names: Names, picture: Drawn = lambda _: "") -> ClaimFact:
    """An OpenMP claim, with a picture for each race."""
    wrong = [
        Finding(
            kind="wrong",
            code=f.code,
            message=f.message,
            place=names.place(f.loc),
            line=names.line(f.loc),
            witness=f.witness or "",
            remedy=f.cure or "remove the pragma: nothing short of that makes it right",
            meaning=CODES.get(f.code, ""),
            picture=picture(f.variable),
        )
        for f in c.findings
    ]
    doubts = [
        Finding(
            kind="not proven",
            code=d.code,
            message=d.message,
            place=names.place(d.loc),
            line=names.line(d.loc),
            meaning=CODES.get(d.code, ""),
        )
        for d in c.doubts
    ]
    answers = {True: "proven", False: "wrong", None: "race-free" if c.race_free else "not proven"}
    assumes = ", ".join(c.assumes) if c.proven or c.race_free else ""
    findings = (*wrong, *_most(doubts))
    return ClaimFact(c.text, names.place(c.loc), answers[c.proven], assumes, findings)


def _most(findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """The first of them, and how many there are besides."""
    more = len(findings) - MOST_REASONS
    if more <= 0:
        return tuple(findings)
    last = Finding("and", "", f"{more} more reasons: check --format json lists them", "")
    return (*findings[:MOST_REASONS], last)


# ---------------------------------------------------------------- dependences


def _says(m: Matrix) -> bool:
    """Whether there is anything to tell of a nest."""
    return bool(m.rows or m.unmodelled or m.note)


def matrix_fact(m: Matrix, title: str, names: Names) -> MatrixFact:
    """The rows that `check` prints; those that keep iterations in order first where there are too
    many."""
    rows = sorted(m.rows, key=lambda d: d.level is None) if len(m.rows) > MOST_LINES else m.rows
    notes = [m.note] if m.note else []
    if len(m.rows) > MOST_LINES:
        left = len(m.rows) - MOST_LINES
        notes.append(f"{left} more rows: check --format json has up to 250")
    ends = [d.source for d in m.unmodelled if d.source.path != m.path]
    places = dict.fromkeys(names.place(end.loc) for end in ends if end.loc)
    notes += [f"{p} is not modelled: it may depend on everything" for p in places]
    return MatrixFact(
        title, m.loops, tuple(_row(m, d, names) for d in rows[:MOST_LINES]), (*notes,)
    )


def _row(m: Matrix, d: Dependence, names: Names) -> tuple[str, str, str, tuple[str, ...], str]:
    storage = f"{d.array} ({d.reduction})" if d.reduction else d.array
    kind = d.kind if d.exact else f"{d.kind}, not excluded"
    ends = f"{d.source.words(names.file)} to {d.sink.words(names.file)}"
    entries = tuple(m.entry(d, n) for n in range(len(m.loops)))
    carrier = "" if d.level is None else d.loops[d.level]
    return kind, storage, ends, entries, carrier


class _Drawing:
    """Pictures of the dependences of a function; each has a name of its own."""

    def __init__(self, f: CheckedFunction, names: Names) -> None:
        self.f, self.names = f, names
        self.known = set[tuple[Path, str]]()
        self.rows = [d for d in f.dependences if d.exact and d.point and not d.reduction]

    def of_reason(self, v: LoopVerdict, r: Reason) -> str:
        """The dependence that a reason is about."""
        if r.witness is None:
            return ""
        carried = (d for d in self.rows if d.carrier == v.path and d.witness == r.witness)
        named = next(
            (d for d in carried if r.message.startswith(f"{d.kind} dependence of {d.array},")), None
        )
        return self._of(named, v) if named else ""

    def of_variable(self, v: LoopVerdict) -> Drawn:
        """Gives a picture for a variable that iterations of a loop race on."""

        def one(variable: str) -> str:
            found = (d for d in self.rows if d.carrier == v.path and d.array == variable)
            worst = min(found, key=lambda d: d.rank, default=None)
            return self._of(worst, v) if worst else ""

        return one

    def _of(self, d: Dependence, v: LoopVerdict) -> str:
        """Once for each loop and storage."""
        point = d.point
        if point is None or (v.path, d.array) in self.known:
            return ""
        self.known.add((v.path, d.array))
        fn = self.f.routine.function
        found = (at(fn, path) for path in d.loop_paths)
        space = Space(d.loops, tuple(s if isinstance(s, For) else None for s in found))
        ends = zip((d.source, d.sink), VERBS[d.kind], point.ends)
        first, second = (
            f"{end.place(self.names.file)} {verb}s {d.array} at {where}"
            for end, verb, where in ends
        )
        title = f"Two iterations that collide on {d.array}{point.sizes}"
        anchor = self.names.of("space", self.f.name, len(self.known))
        return drawn(anchor, title, point, space, v.var, (first, second))
