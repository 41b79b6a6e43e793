"""`loopxform check FILE.c`: a verdict for every loop, and the dependence matrix of every nest."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

from loopxform.analysis.verdict import LoopVerdict, judge, matrix, matrix_text
from loopxform.api import Routine
from loopxform.cli.options import chosen, parser, read
from loopxform.cli.parser import Parser
from loopxform.ir.nodes import Function


def options() -> Parser:
    p = parser("check", "Judges every loop: yes, reduction, privatizable, no, or unknown.")
    p.add_argument("--format", choices=("text", "json"), default="text")
    return p


def main(argv: list[str]) -> int:
    args = options().parse_args(argv)
    file = read(args)
    routines = [chosen(file, args)] if args.function else list(file)
    if args.format == "json":
        functions = [_function_json(r.function) for r in routines]
        print(
            json.dumps({"schema_version": 1, "file": file.name, "functions": functions}, indent=2)
        )
    else:
        for r in routines:
            print("\n".join(_function_text(r)))
    if file.parsed.problems and not args.function:
        first, *others = file.parsed.problems
        first.notes += tuple(f"also: {e.loc}: {e.message}" for e in others)
        raise first
    return 0


def _function_json(fn: Function) -> dict[str, Any]:
    return {
        "name": fn.name,
        "line": fn.origin.loc.line if fn.origin.loc else 0,
        "loops": [v.json() for v in judge(fn)],
        "dependences": [row.json() for m in matrix(fn) for row in m.rows],
    }


def _function_text(routine: Routine) -> list[str]:
    out = [f"{routine.name}:"]
    sources = routine.file.parsed.sources
    verdicts = routine.check()
    shared = Counter(v.loc.line for v in verdicts if v.loc)
    for v in verdicts:
        source = sources.line(v.loc) if v.loc else None
        number = f"{v.loc.line:>5}" if v.loc else "    ?"
        which = f"{v.var} at column {v.loc.column}: " if v.loc and shared[v.loc.line] > 1 else ""
        out.append(f"{number} | {(source or v.var).rstrip():<48}  {which}{_words(v)}")
        out += [f"        {r.message}" for r in v.reasons]
    for m in matrix(routine.function):
        out += ["", *matrix_text(m).rstrip("\n").split("\n")]
    return [*out, ""]


def _words(v: LoopVerdict) -> str:
    extra = [f"private {', '.join(v.private)}"] if v.private else []
    extra += [f"{r.op} of {r.var}" for r in v.reductions]
    extra += [f"if {', '.join(v.assumes)}"] if v.assumes else []
    return v.parallel + (f" ({'; '.join(extra)})" if extra else "")
