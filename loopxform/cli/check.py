"""`loopxform check FILE.c`: a verdict for every loop, and the dependence matrix of every nest."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any

from loopxform.analysis.verdict import LoopVerdict, judge, matrix, matrix_text
from loopxform.api import Routine
from loopxform.cli import openmp
from loopxform.cli.options import chosen, parser, read
from loopxform.cli.parser import Parser
from loopxform.ir.nodes import Function

if TYPE_CHECKING:
    from loopxform.analysis.openmp import Claim


def options() -> Parser:
    p = parser("check", "Judges every loop: yes, reduction, privatizable, no, or unknown.")
    p.add_argument("--format", choices=("text", "json"), default="text")
    return p


def main(argv: list[str]) -> int:
    args = options().parse_args(argv)
    file = read(args)
    routines = [chosen(file, args)] if args.function else list(file)
    claims = [r.audit() for r in routines]
    if args.format == "json":
        functions = [_function_json(r.function, found) for r, found in zip(routines, claims)]
        print(
            json.dumps({"schema_version": 1, "file": file.name, "functions": functions}, indent=2)
        )
    else:
        for r, found in zip(routines, claims):
            print("\n".join(_function_text(r, found)))
    if file.parsed.problems and not args.function:
        first, *others = file.parsed.problems
        first.notes += tuple(f"also: {e.loc}: {e.message}" for e in others)
        raise first
    return int(any(c.proven is False for found in claims for c in found))


def _function_json(fn: Function, claims: tuple[Claim, ...]) -> dict[str, Any]:
    audited = {c.path: {"openmp": c.json()} for c in claims}
    return {
        "name": fn.name,
        "line": fn.origin.loc.line if fn.origin.loc else 0,
        "loops": [v.json() | audited.get(v.path, {}) for v in judge(fn)],
        "dependences": [row.json() for m in matrix(fn) for row in m.rows],
    }


def _function_text(routine: Routine, claims: tuple[Claim, ...]) -> list[str]:
    out = [f"{routine.name}:"]
    sources = routine.file.parsed.sources
    verdicts = routine.check()
    shared = Counter(v.loc.line for v in verdicts if v.loc)
    audited = {c.path: c for c in claims}
    for v in verdicts:
        source = sources.line(v.loc) if v.loc else None
        number = f"{v.loc.line:>5}" if v.loc else "    ?"
        which = f"{v.var} at column {v.loc.column}: " if v.loc and shared[v.loc.line] > 1 else ""
        out.append(f"{number} | {(source or v.var).rstrip():<48}  {which}{_words(v)}")
        out += [f"        {r.message}" for r in v.reasons]
        claim = audited.get(v.path)
        out += [f"        {line}" for line in openmp.lines(claim)] if claim else []
    for m in matrix(routine.function):
        out += ["", *matrix_text(m).rstrip("\n").split("\n")]
    return [*out, ""]


def _words(v: LoopVerdict) -> str:
    extra = [f"private {', '.join(v.private)}"] if v.private else []
    extra += [f"{r.op} of {r.var}" for r in v.reductions]
    extra += [f"if {', '.join(v.assumes)}"] if v.assumes else []
    return v.parallel + (f" ({'; '.join(extra)})" if extra else "")
