"""`loopxform check FILE.c`: a verdict for every loop, and the dependence matrix of every nest."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from loopxform.analysis.verdict import LoopVerdict, matrix, matrix_text
from loopxform.api import Routine
from loopxform.cli import openmp, questions
from loopxform.cli.options import chosen, parser, read
from loopxform.cli.parser import Parser

if TYPE_CHECKING:
    from loopxform.analysis.openmp import Claim


def options() -> Parser:
    p = parser("check", "Judges every loop: yes, reduction, privatizable, no, or unknown.")
    p.add_argument("--format", choices=("text", "json"), default="text")
    p.add_argument("--line", type=int, metavar="N", help="only the loops that begin on this line")
    p.add_argument(
        "--can",
        action="append",
        default=[],
        metavar="STEP",
        help="whether a step is legal: 'interchange i j' (exit status 1 where it is not)",
    )
    p.add_argument(
        "--require",
        action="append",
        default=[],
        metavar="VERDICT:LINE",
        help="exit status 1 unless the loop is parallel:LINE, privatizable:LINE or reduction:LINE",
    )
    p.add_argument(
        "--time-limit", type=float, metavar="SECONDS", help="for a nest; beyond it: unknown"
    )
    return p


def main(argv: list[str]) -> int:
    args = options().parse_args(argv)
    file = read(args)
    routines = [chosen(file, args)] if args.function or args.can else list(file)
    judged = [_Judged(r, r.check(args.time_limit), r.audit()) for r in routines]
    every = [v for j in judged for v in j.verdicts]
    if args.line is not None:
        shown = {id(v) for v in questions.at_line(every, args.line, str(args.line))}
        judged = [j.only(shown) for j in judged if any(id(v) in shown for v in j.verdicts)]
    answers = [questions.can(routines[0], text) for text in args.can]
    answers += [questions.require(text, every) for text in args.require]
    if args.format == "json":
        functions = [_function_json(j, args.time_limit) for j in judged]
        data: dict[str, Any] = {"schema_version": 1, "file": file.name, "functions": functions}
        if answers:
            data["answers"] = [a.json() for a in answers]
        print(json.dumps(data, indent=2))
    elif answers:
        print("\n".join(line for a in answers for line in _answer(a)))
    else:
        for j in judged:
            print("\n".join(_function_text(j, args.time_limit)))
    if file.parsed.problems and not args.function:
        first, *others = file.parsed.problems
        first.notes += tuple(f"also: {e.loc}: {e.message}" for e in others)
        raise first
    refuted = any(c.proven is False for j in judged for c in j.claims)
    return int(refuted or any(not a.holds for a in answers))


@dataclass(frozen=True)
class _Judged:
    """A function, the verdicts on its loops, and what is true of its OpenMP claims."""

    routine: Routine
    verdicts: tuple[LoopVerdict, ...]
    claims: tuple[Claim, ...]

    def only(self, shown: set[int]) -> _Judged:
        return replace(self, verdicts=tuple(v for v in self.verdicts if id(v) in shown))


def _answer(a: questions.Answer) -> list[str]:
    first, *rest = a.lines or ("",)
    return [f"{a.question}: {'yes' if a.holds else 'no'}; {first}", *rest]


def _function_json(j: _Judged, seconds: float | None) -> dict[str, Any]:
    audited = {c.path: {"openmp": c.json()} for c in j.claims}
    fn = j.routine.function
    return {
        "name": fn.name,
        "line": fn.origin.loc.line if fn.origin.loc else 0,
        "loops": [v.json() | audited.get(v.path, {}) for v in j.verdicts],
        "dependences": [row.json() for m in matrix(fn, seconds) for row in m.rows],
    }


def _function_text(j: _Judged, seconds: float | None) -> list[str]:
    routine = j.routine
    out = [f"{routine.name}:"]
    sources = routine.file.parsed.sources
    shared = Counter(v.loc.line for v in j.verdicts if v.loc)
    audited = {c.path: c for c in j.claims}
    for v in j.verdicts:
        source = sources.line(v.loc) if v.loc else None
        number = f"{v.loc.line:>5}" if v.loc else "    ?"
        which = f"{v.var} at column {v.loc.column}: " if v.loc and shared[v.loc.line] > 1 else ""
        out.append(f"{number} | {(source or v.var).rstrip():<48}  {which}{_words(v)}")
        out += [f"        {r.message}" for r in v.reasons]
        claim = audited.get(v.path)
        out += [f"        {line}" for line in openmp.lines(claim)] if claim else []
    for m in matrix(routine.function, seconds):
        out += ["", *matrix_text(m).rstrip("\n").split("\n")]
    return [*out, ""]


def _words(v: LoopVerdict) -> str:
    extra = [f"private {', '.join(v.private)}"] if v.private else []
    extra += [f"{r.op} of {r.var}" for r in v.reductions]
    extra += [f"if {', '.join(v.assumes)}"] if v.assumes else []
    return v.parallel + (f" ({'; '.join(extra)})" if extra else "")
