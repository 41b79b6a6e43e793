"""`check --format sarif`: SARIF 2.1.0 (OASIS, 2020), what code-scanning services read.

a loop's verdict            kind pass (it can run in parallel), informational (it cannot) or
                            open (not known); none of them is a defect: level none
parallel, check             pass where the annotation holds, else an error
an OpenMP claim             pass where it is proven; an error for each finding, a warning for
                            each reason why it is not proven
--can, --require            pass, or an error
what cannot be read         a notification of the invocation
in a baseline               what fails is unchanged, else new; what is gone is absent
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Literal, TypeAlias
from urllib.parse import quote

from loopxform import __version__
from loopxform.analysis.missing_updates import CODE, Missing
from loopxform.analysis.openmp.claim import Claim
from loopxform.analysis.verdict import LoopVerdict
from loopxform.api.annotated import Asserted
from loopxform.api.check import CheckedFile, CheckedFunction
from loopxform.cli.baseline import Compared, Entry
from loopxform.cli.check_text import named, words
from loopxform.cli.finding_text import GONE
from loopxform.cli.questions import Answer
from loopxform.codes import CODES
from loopxform.errors import LoopxformError
from loopxform.source import Loc

SCHEMA = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)

FINGERPRINT = "primaryLocationLineHash"

Json: TypeAlias = dict[str, Any]
Kind: TypeAlias = Literal["pass", "informational", "open", "fail"]
Level: TypeAlias = Literal["none", "warning", "error"]

RULES: dict[str, tuple[str, str]] = {
    "loop-yes": ("ParallelLoop", "The iterations of the loop can run in parallel."),
    "loop-reduction": ("ReductionLoop", "The loop is parallel but for recognised reductions."),
    "loop-privatizable": (
        "PrivatizableLoop",
        "The loop is parallel once the variables named are private to an iteration.",
    ),
    "loop-no": ("SequentialLoop", "An iteration of the loop needs what an earlier one computes."),
    "loop-unknown": ("UnknownLoop", "Whether the iterations can run in parallel is not known."),
    "openmp-claim": ("OpenMPClaim", "What an OpenMP pragma claims of its loop is proven."),
    "annotation": ("Annotation", "What an annotation asserts of its loop is proven."),
    "question": ("Question", "What was asked with --can or --require holds."),
}
"""Name and description of the rules besides the codes of `loopxform explain`."""

KINDS: dict[str, Kind] = {"no": "informational", "unknown": "open"}


def log(
    reports: Sequence[CheckedFile],
    answers: Sequence[Answer] = (),
    failed: Sequence[LoopxformError] = (),
    compared: Compared | None = None,
    *,
    only_wrong: bool = False,
) -> Json:
    """The log file with one run. `only_wrong` leaves out what is no defect, which services for code
    scanning show as if it were one: verdicts, what is proven, and what is gone."""
    run = _Run(compared or Compared()).run(reports, answers, failed)
    if only_wrong:
        run["results"] = [r for r in run["results"] if _is_wrong(r)]
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def _is_wrong(result: Json) -> bool:
    return result["kind"] == "fail" and result.get("baselineState") != "absent"


class _Run:
    """The tables of one run: rules and files are numbered as results name them."""

    def __init__(self, compared: Compared) -> None:
        self.compared = compared
        self.rules: dict[str, int] = {}
        self.files: dict[str, int] = {}
        self.seen: Counter[tuple[str, str, str]] = Counter()
        self.report: CheckedFile | None = None

    def run(
        self,
        reports: Sequence[CheckedFile],
        answers: Sequence[Answer],
        failed: Sequence[LoopxformError],
    ) -> Json:
        results: list[Json] = []
        errors = list(failed)
        for report in reports:
            self.report = report
            self.file(report.name)
            errors += report.problems
            for f in report.functions:
                results += [self.loop(f, v) for v in f.loops]
                results += [r for c in f.claims for r in self.claim(f, c)]
                results += [self.assertion(f, a) for a in f.asserted]
                results += [self.update(f, m) for m in f.missing]
            results += [self.answer(a) for a in answers]
        results += [self.gone(e) for e in self.compared.gone]
        notes = [self.notification(e) for e in errors]
        successful = all(map(self.compared.knows, errors))
        invocation: Json = {"executionSuccessful": successful}
        if notes:
            invocation["toolExecutionNotifications"] = notes
        driver = {
            "name": "loopxform",
            "version": __version__,
            "rules": [_rule(name) for name in self.rules],
        }
        return {
            "tool": {"driver": driver},
            "columnKind": "unicodeCodePoints",
            "invocations": [invocation],
            "artifacts": [_artifact(uri) for uri in self.files],
            "results": results,
        }

    def loop(self, f: CheckedFunction, v: LoopVerdict) -> Json:
        text = f"The loop over '{v.var}': {words(v)}{named(v)}."
        related = [(r.loc, r.message) for r in v.reasons]
        return self.result(
            f"loop-{v.parallel}",
            KINDS.get(v.parallel, "pass"),
            " ".join([text, *(f"{r.message}." for r in v.reasons)]),
            v.loc,
            function=f.name,
            related=related,
            properties={"loop": v.json()},
        )

    def claim(self, f: CheckedFunction, c: Claim) -> Iterator[Json]:
        pragma = [(c.loc, f"omp {c.text}")]
        if c.proven:
            text = f"omp {c.text}: proven" + (f", if {', '.join(c.assumes)}" if c.assumes else "")
            yield self.result("openmp-claim", "pass", f"{text}.", c.loc, function=f.name)
        for x in c.findings:
            at = f", at {x.witness}" if x.witness else ""
            cure = f"Cure: {x.cure}." if x.cure else "No clause cures it: remove the pragma."
            text = f"{x.message}{at}. {cure}"
            place = x.loc or c.loc
            yield self.result(
                x.code, "fail", text, place, function=f.name, related=pragma, source=x
            )
        for d in c.doubts:
            text, place = f"omp {c.text} is not proven: {d.message}.", d.loc or c.loc
            yield self.result(
                d.code,
                "fail",
                text,
                place,
                level="warning",
                function=f.name,
                related=pragma,
                source=d,
            )

    def assertion(self, f: CheckedFunction, a: Asserted) -> Json:
        place = a.annotation.loc
        if a.holds:
            text = f"{a.annotation.text} holds."
            return self.result("annotation", "pass", text, place, function=f.name)
        error = a.error()
        related = [(r.loc, r.message) for v in a.wrong for r in v.reasons]
        text = f"{error.message}."
        return self.result(
            error.code, "fail", text, place, function=f.name, related=related, source=a
        )

    def update(self, f: CheckedFunction, m: Missing) -> Json:
        """An update that is missing between data directives."""
        text, related = f"{m.message}; {m.help}.", [(m.other, "the other side")]
        return self.result(
            CODE,
            "fail",
            text,
            m.loc,
            level="warning",
            function=f.name,
            related=related if m.other else [],
            source=m,
        )

    def answer(self, a: Answer) -> Json:
        text = f"{a.question}: {a.word}; {'; '.join(a.reasons)}"
        kind: Kind = "open" if a.unknown else "pass" if a.holds else "fail"
        return self.result("question", kind, text, a.loc)

    def gone(self, e: Entry) -> Json:
        """A finding of the baseline that is there no more."""
        rule = e.key[3] if e.key[3] in CODES else GONE
        uri = _uri(self.compared.file(e))
        artifact = {"uri": uri, "index": self.files.setdefault(uri, len(self.files))}
        place: Json = {"physicalLocation": {"artifactLocation": artifact}}
        if e.key[1]:
            place["logicalLocations"] = [{"name": e.key[1], "kind": "function"}]
        mark = "\0".join(e.key).encode(errors="replace")
        return {
            "ruleId": rule,
            "ruleIndex": self.rules.setdefault(rule, len(self.rules)),
            "kind": "fail",
            "level": e.level,
            "message": {"text": e.message or str(e)},
            "locations": [place],
            "partialFingerprints": {FINGERPRINT: f"{hashlib.sha256(mark).hexdigest()[:16]}:gone"},
            "occurrenceCount": e.count,
            "baselineState": "absent",
        }

    def result(
        self,
        rule: str,
        kind: Kind,
        text: str,
        loc: Loc | None,
        *,
        level: Level | None = None,
        function: str | None = None,
        related: Sequence[tuple[Loc | None, str]] = (),
        properties: Json | None = None,
        source: object = None,
    ) -> Json:
        place = self.location(loc)
        if function:
            place["logicalLocations"] = [{"name": function, "kind": "function"}]
        out: Json = {
            "ruleId": rule,
            "ruleIndex": self.rules.setdefault(rule, len(self.rules)),
            "kind": kind,
            "level": level or ("error" if kind == "fail" else "none"),
            "message": {"text": text},
            "locations": [place],
            "partialFingerprints": {FINGERPRINT: self.fingerprint(rule, loc)},
        }
        if source is not None and self.compared.path:
            out["baselineState"] = "unchanged" if self.compared.knows(source) else "new"
        others: list[Json] = []
        for where, message in related:
            other = {**self.location(where), "message": {"text": message}}
            if where and other not in others:
                others.append(other)
        if others:
            out["relatedLocations"] = others
        if properties:
            out["properties"] = properties
        return out

    def location(self, loc: Loc | None) -> Json:
        """A place in a file; without one, the file that is being reported."""
        assert self.report
        name = loc.file if loc else self.report.name
        physical: Json = {"artifactLocation": {"uri": _uri(name), "index": self.file(name)}}
        if loc and loc.line > 0:
            physical["region"] = {"startLine": loc.line, "startColumn": max(1, loc.column)}
            line = self.line(loc)
            if line is not None:
                physical["region"]["snippet"] = {"text": line}
        return {"physicalLocation": physical}

    def line(self, loc: Loc) -> str | None:
        return self.report.file.parsed.sources.line(loc) if self.report else None

    def file(self, name: str) -> int:
        return self.files.setdefault(_uri(name), len(self.files))

    def fingerprint(self, rule: str, loc: Loc | None) -> str:
        """Stays the same while other lines of the file change."""
        words = " ".join((self.line(loc) or "").split()) if loc else ""
        key = (rule, loc.file if loc else "", words)
        self.seen[key] += 1
        digest = hashlib.sha256(f"{rule}\0{words}".encode(errors="replace")).hexdigest()
        return f"{digest[:16]}:{self.seen[key]}"

    def notification(self, e: LoopxformError) -> Json:
        out: Json = {
            "level": "warning" if self.compared.knows(e) else "error",
            "message": {"text": e.message + (f"; {e.help}" if e.help else "")},
            "descriptor": {"id": e.code},
        }
        if e.loc:
            region = {"startLine": e.loc.line, "startColumn": max(1, e.loc.column)}
            place = {"uri": _uri(e.loc.file), "index": self.file(e.loc.file)}
            out["locations"] = [{"physicalLocation": {"artifactLocation": place, "region": region}}]
        return out


def _rule(name: str) -> Json:
    if name in RULES:
        title, text = RULES[name]
    else:
        title, text = name, CODES[name]
    first = text.partition(". ")[0].rstrip(".") + "."
    return {
        "id": name,
        "name": title,
        "shortDescription": {"text": first},
        "fullDescription": {"text": text},
        "help": {"text": f"{text} See docs/check.md."},
        "properties": {"tags": ["parallelism", "correctness" if name > "LX" else "loops"]},
    }


def _artifact(uri: str) -> Json:
    return {"location": {"uri": uri}, "sourceLanguage": "c", "roles": ["analysisTarget"]}


def _uri(name: str) -> str:
    """A file below the working folder by its way from there, so that a service finds it in the
    repository; any other by its whole name."""
    if name.startswith("<"):
        return quote(name)
    path = Path(name).absolute()
    try:
        return quote(path.relative_to(Path.cwd()).as_posix())
    except ValueError:
        return path.as_uri()
