"""What `check` finds out: verdicts, dependence matrices, OpenMP claims."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace

from loopxform.analysis.dependence import Dependence
from loopxform.analysis.matrix import Matrix
from loopxform.analysis.openmp import Claim
from loopxform.analysis.verdict import LoopVerdict
from loopxform.api.check import CheckedFile, CheckedFunction
from loopxform.api.results import Claims, Matrices, Verdicts
from loopxform.report import collect
from loopxform.report.facts import FileFact, FunctionFact, LoopFact
from loopxform.report.names import Names, prefix
from loopxform.report.notebook.piece import piece
from loopxform.report.notebook.sources import MOST_LINES, text_of
from loopxform.source import Loc

MOST_SHOWN = 3
"""Functions of a file that are shown with all that is known of them."""


def html(
    x: CheckedFile
    | CheckedFunction
    | Verdicts
    | Matrices
    | Claims
    | LoopVerdict
    | Matrix
    | Dependence
    | Claim,
) -> str:
    match x:
        case CheckedFile():
            return _file(x)
        case CheckedFunction():
            return _function(x)
        case Verdicts() | LoopVerdict():
            return _loops(x if isinstance(x, Verdicts) else Verdicts([x]))
        case Matrices() | Matrix():
            return _matrices(x if isinstance(x, Matrices) else Matrices([x]))
        case Dependence():
            return _dependence(x)
        case Claims() | Claim():
            return _claims(x if isinstance(x, Claims) else Claims([x]))


def _file(x: CheckedFile) -> str:
    """A small file as the report shows it; of a large one what there is to look at."""
    facts = collect.file_facts(x, prefix())
    with_loops = [f for f in facts.functions if f.loops or f.claims]
    brief = len(with_loops) > MOST_SHOWN or len(facts.source) > MOST_LINES
    if brief:
        facts = replace(facts, anchor="", source=())
    return piece(f"Verdicts on {x.name}", "checked_file.html.j2", file=facts, brief=brief)


def _function(x: CheckedFunction) -> str:
    """Its text with a verdict beside each loop, the reasons, the matrices."""
    names = Names(prefix(), x.routine.file.name)
    f = collect.function_facts(x, names, 1)
    at = defaultdict[int, list[LoopFact]](list)
    for loop in f.loops:
        at[loop.line].append(loop)
    lines = text_of(x.routine)[:MOST_LINES]
    whole = FileFact(names.prefix, names.file, "", (), (f,), (), ())
    whole = _linked(whole, [n for n, _ in lines])
    title = f"Verdicts on the function {x.name}"
    return piece(title, "checked_function.html.j2", f=f, file=whole, lines=lines, at=at)


def _linked(file: FileFact, lines: list[int]) -> FileFact:
    """Without links where not all lines are there that facts may name."""
    named = {x.line for f in file.functions for x in f.loops}
    found = [p for f in file.functions for x in f.loops for p in x.findings]
    claims = [c for f in file.functions for c in (*f.claims, *(x.claim for x in f.loops)) if c]
    named |= {p.line for p in [*found, *(p for c in claims for p in c.findings)]}
    return file if named - {0} <= {*lines} else replace(file, anchor="")


def _loops(verdicts: Verdicts) -> str:
    """A table of loops, and the reasons."""
    first = next((v.loc for v in verdicts if v.loc), Loc("", 1, 1))
    names = Names(prefix(), first.file)
    sources = verdicts.sources
    loops = [
        replace(x, anchor=names.of(x.anchor))
        for n, v in enumerate(verdicts, 1)
        for x in [collect.loop_fact(v, names, n, sources)]
    ]
    f = FunctionFact(names.prefix, names.file or "the loops", 0, (*loops,), (), (), (), (), ())
    file = FileFact("", names.file, "", (), (f,), (), ())
    return piece("Verdicts on loops", "loops.html.j2", f=f, file=file)


def _matrices(matrices: Matrices) -> str:
    name = next((d.source.loc.file for m in matrices for d in m.rows if d.source.loc), "")
    names = Names(prefix(), name)
    tables = [
        collect.matrix_fact(m, f"Nest over {', '.join(m.loops)}" if m.loops else "Nest", names)
        for m in matrices
    ]
    return piece("Dependence matrices", "matrices.html.j2", tables=tables)


def _dependence(d: Dependence) -> str:
    """Its row, and two iterations that it is between."""
    names = Names(prefix(), d.source.loc.file if d.source.loc else "")
    title = f"A dependence of {d.array}"
    table = collect.matrix_fact(Matrix((), d.loops, d.loop_paths, (d,)), title, names)
    if d.witness:
        table = replace(table, notes=(*table.notes, f"For example: {d.witness}."))
    return piece(title, "matrices.html.j2", tables=[table])


def _claims(claims: Claims) -> str:
    names = Names(prefix(), next((c.loc.file for c in claims if c.loc), ""))
    facts = [collect.claim_fact(c, names) for c in claims]
    return piece("What is true of OpenMP pragmas", "claims.html.j2", claims=facts)
