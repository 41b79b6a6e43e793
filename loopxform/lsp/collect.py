"""What `check` has found out about a function, as facts for an editor."""

from __future__ import annotations

from collections.abc import Iterator

from loopxform.analysis.dependence import Dependence, worst
from loopxform.analysis.matrix import Matrix, matrix_notes, matrix_table
from loopxform.analysis.openmp import Claim
from loopxform.analysis.verdict import VERBS, LoopVerdict, Reason
from loopxform.api.check import CheckedFunction
from loopxform.cli import check_text
from loopxform.errors import InputError, InternalError, LoopxformError, UnsupportedC
from loopxform.lsp.facts import Finding, FunctionFacts, LoopFact, Related, Severity
from loopxform.report.restrict import restrictable
from loopxform.source import Loc

MOST_REASONS = 8
"""Reasons of a loop that are told in an editor; `check --format json` has them all."""

LABEL = 72
"""Characters of what stands beside a loop."""


def function_facts(f: CheckedFunction) -> FunctionFacts:
    """All that an editor shows of a function."""
    matrices = {m.path: m for m in f.matrices}
    apart = restrictable(f)
    loops, findings = list[LoopFact](), list[Finding]()
    for v in f.loops:
        if v.loc is None:
            continue
        nest = next((m for path, m in matrices.items() if v.path[: len(path)] == path), None)
        claim = f.claim(v)
        loops.append(
            LoopFact(
                loc=v.loc,
                var=v.var,
                answer=v.parallel,
                label=_label(v),
                about=_about(v, claim),
                matrix=_rows(nest, v.loc.file) if nest else (),
                notes=tuple(matrix_notes(nest, v.loc.file)) if nest else (),
                apart=tuple(n for n in apart if any(n in a.split() for a in v.assumes)),
                has_pragma=claim is not None,
            )
        )
        findings += _of_loop(f, v)
    for c in f.claims:
        findings += _of_claim(f, c)
    for a in f.asserted:
        if not a.holds and a.annotation.loc is not None:
            found = refusal(a.error(), a.annotation.loc)
            findings.append(found)
    return FunctionFacts(f.name, tuple(loops), tuple(findings))


def refusal(e: LoopxformError, top: Loc) -> Finding:
    """A diagnostic of `check`; without a place of its own it is about `top`. C that is not modelled
    is no mistake of the user's."""
    severity: Severity = "error"
    if isinstance(e, UnsupportedC | InternalError) or not isinstance(e, InputError):
        severity = "error" if e.status == 1 else "warning"
    text = "\n".join([e.message, *(f"= {n}" for n in e.notes), *_help(e.help)])
    return Finding(e.loc or top, max(1, e.width), severity, e.code, text)


def _help(help: str | None) -> list[str]:
    return [f"help: {help}"] if help else []


# ---------------------------------------------------------------- beside the loop


def _label(v: LoopVerdict) -> str:
    """`yes`, `reduction(+: s)`, `no: flow dependence of t, direction (<)`."""
    if v.parallel in ("no", "unknown"):
        message = v.reasons[0].message if v.reasons else ""
        text = f"{v.parallel}: {message.partition(': line ')[0].partition('; ')[0]}"
        return text if len(text) <= LABEL else f"{text[: LABEL - 3]}..."
    private = f"private({', '.join(v.private)})" if v.private else ""
    sums = [f"reduction({r.op}: {r.var})" for r in v.reductions]
    head = v.parallel if v.parallel == "yes" or not (sums or private) else ""
    said = ", ".join(x for x in (head, *sums, private) if x)
    if not v.assumes:
        return said
    together = ", ".join(check_text.together(v.assumes))
    text = f"{said}, if {together}"
    return text if len(text) <= LABEL else f"{said}, if {len(v.assumes)} assumptions hold"


def _about(v: LoopVerdict, claim: Claim | None) -> str:
    """The verdict with its reasons, and what is true of the pragma."""
    said = _code(f"{check_text.words(v)}{check_text.named(v)}")
    out = [f"**Loop over `{v.var}`: {said}**"]
    out += [f"- {_code(r.message)} `[{r.code}]`" for r in v.reasons[:MOST_REASONS]]
    more = len(v.reasons) - MOST_REASONS
    out += [f"- {more} more reasons"] if more > 0 else []
    if claim is not None:
        answers = {True: "proven", False: "wrong", None: "not proven"}
        answer = "race-free" if claim.proven is None and claim.race_free else answers[claim.proven]
        out.append(f"\n`omp {claim.text}`: {answer}")
    return "\n".join(out)


def _code(message: str) -> str:
    """A message in Markdown, which stars and underscores mean something in."""
    return "".join(f"\\{c}" if c in "*_`<[" else c for c in message)


def _rows(m: Matrix, file: str) -> tuple[tuple[str, ...], ...]:
    return tuple(map(tuple, matrix_table(m, file)))


# ---------------------------------------------------------------- findings


def _of_loop(f: CheckedFunction, v: LoopVerdict) -> Iterator[Finding]:
    """Why a loop is not parallel: those reasons first that are proven."""
    if v.loc is None or v.parallel not in ("no", "unknown"):
        return
    severity: Severity = "information" if v.parallel == "no" else "hint"
    for r in v.reasons[:MOST_REASONS]:
        related = tuple(_ends(_behind(f, v, r), r.loc))
        head = "not parallel" if v.parallel == "no" else "not decided"
        message = f"loop over '{v.var}' {head}: {r.message}"
        yield Finding(v.loc, len("for"), severity, r.code, message, related)


def _behind(f: CheckedFunction, v: LoopVerdict, r: Reason) -> Dependence | None:
    """The dependence that a reason is about."""
    if r.witness is None:
        return None
    rows = (d for d in f.dependences if d.carrier == v.path and d.witness == r.witness)
    return next(
        (d for d in rows if r.message.startswith(f"{d.kind} dependence of {d.array},")), None
    )


def _ends(d: Dependence | None, otherwise: Loc | None) -> Iterator[Related]:
    """The two iterations that collide."""
    if d is None or d.point is None:
        if otherwise is not None:
            yield Related(otherwise, "here")
        return
    for end, verb, where in zip((d.source, d.sink), VERBS[d.kind], d.point.ends):
        if end.loc is not None:
            at = f"iteration {where}{d.point.sizes}: " if where else ""
            yield Related(end.loc, f"{at}{verb}s {d.array}")


def _of_claim(f: CheckedFunction, c: Claim) -> Iterator[Finding]:
    """What is wrong with a pragma, and why one is not proven."""
    for x in c.findings:
        loc = c.loc or x.loc
        if loc is None:
            continue
        at = f", at {x.witness}" if x.witness else ""
        cure = f"cure: {x.cure}" if x.cure else "no clause cures it: remove the pragma"
        rows = (d for d in f.dependences if d.carrier == c.path and d.array == x.variable)
        worst_first = worst(d for d in rows if d.exact and d.point and not d.reduction)
        related = tuple(_ends(next(iter(worst_first), None), x.loc))
        text = f"omp {c.text}: {x.message}{at}\n{cure}"
        width = len("#pragma omp ") + len(c.text)
        yield Finding(loc, width, "error", x.code, text, related, c.loc, x.cure or "")
    for d in c.doubts[:MOST_REASONS]:
        loc = c.loc or d.loc
        if loc is not None:
            related = (Related(d.loc, d.message),) if d.loc and d.loc != loc else ()
            said = "race-free, but not proven" if c.race_free else "not proven"
            text = f"omp {c.text} is {said}: {d.message}"
            yield Finding(loc, len("#pragma omp ") + len(c.text), "warning", d.code, text, related)
