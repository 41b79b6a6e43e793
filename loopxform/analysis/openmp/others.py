"""Directives that no claim about a loop accounts for: each is named, and nothing is known about it.

Accounted for are the directives inside a loop that is judged, barriers, and a region that holds
nothing but such loops, declarations, and what each thread does with variables of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set

from loopxform.analysis.openmp.claim import Claim, Doubt
from loopxform.analysis.openmp.construct import PRIVATE, is_loop, standing_in, target_name
from loopxform.analysis.region import visible
from loopxform.analysis.scope import scalar_types
from loopxform.analysis.verdict import is_inlined
from loopxform.ir.directives import Directive
from loopxform.ir.nodes import Assign, Decl, Expr, For, Function, If, Opaque, Stmt, Var
from loopxform.ir.visit import Path, at, names, stmt_exprs, walk

_REGIONS = frozenset(["parallel", "target", "teams", "data"])
_SAYS_NOTHING = frozenset(
    ["barrier", "taskwait", "taskyield", "threadprivate", "declare", "section"]
)
"""Those that are about other directives, which are named where they are not modelled."""


def others(
    fn: Function, directives: Sequence[Directive], judged: Sequence[Path]
) -> Iterator[Claim]:
    """A claim that is not proven for each; `judged` are the loops that have claims."""
    alone = [
        e
        for n, d in enumerate(directives)
        if is_loop(d) and d.paths[:1] and d.paths[0] in judged
        for e in standing_in(directives[n + 1 :], d.paths[0])
    ]
    for d in directives:
        if d in alone or _is_accounted(fn, d, directives, judged) or _is_elsewhere(fn, d):
            continue
        words = " ".join(d.words) or d.text.partition(" ")[0]
        text = f"'{words}' is not modelled"
        if _is_region(d):
            text = f"what '{words}' runs besides loops that it shares out is not modelled"
        yield Claim((), d.loc, d.text, doubts=(Doubt("LX314", text, d.loc),))


def _is_region(d: Directive) -> bool:
    return d.words != () and _REGIONS.issuperset(d.words) and d.paths != ()


def _is_accounted(
    fn: Function, d: Directive, directives: Sequence[Directive], judged: Sequence[Path]
) -> bool:
    if _SAYS_NOTHING.intersection(d.words[:1]):
        return True
    if is_loop(d):
        return d.paths != () and d.paths[0] in judged
    places = d.paths or ((d.after,) if d.after is not None else ())
    if places and all(any(p[: len(loop)] == loop and p != loop for loop in judged) for p in places):
        return True
    return _is_region(d) and _only_shares(fn, d, directives, judged)


def _only_shares(
    fn: Function, d: Directive, directives: Sequence[Directive], judged: Sequence[Path]
) -> bool:
    """Whether a region holds nothing but loops that are judged, and what threads do alone."""
    owned = frozenset(v for e in directives for v in e.variables("threadprivate"))
    outside = visible(fn, d.paths[0]).keys() - owned
    lost = _used(fn, d)
    shared_out = {x.loc for e in directives if is_loop(e) for x in e.sets}
    if any(x.loc not in shared_out and x.name not in d.pointers(*PRIVATE) for x in d.sets):
        return False
    for path, s in walk(fn.body):
        if not d.governs(path) or any(path[: len(loop)] == loop for loop in judged):
            continue
        around = (e for e in directives if e.governs(path))
        copied = frozenset(v for e in around for v in e.variables(*PRIVATE))
        if not _is_alone(s, outside - (copied - lost)):
            return False
    return True


def _is_alone(s: Stmt, shared: Set[str]) -> bool:
    """Whether a statement changes nothing but variables of its thread."""
    if isinstance(s, Assign):
        return target_name(s) not in shared
    return isinstance(s, Decl | If) or (isinstance(s, For) and s.var not in shared)


def _used(fn: Function, d: Directive) -> frozenset[str]:
    """What the function uses outside of a region: copies that threads have are lost there."""
    beside = [s for path, s in walk(fn.body) if not d.governs(path)]
    used = frozenset(n for s in beside for e in _values(s) for n in names(e))
    known = not any(isinstance(s, Opaque) for s in beside)
    shared = frozenset(p.name for p in fn.globals)
    return used | shared if known else used | shared | frozenset(scalar_types(fn))


def _values(s: Stmt) -> tuple[Expr, ...]:
    """The expressions of a statement, without a variable that it sets."""
    sets = isinstance(s, Assign) and isinstance(s.target, Var) and not s.op
    return stmt_exprs(s)[1:] if sets else stmt_exprs(s)


def _is_elsewhere(fn: Function, d: Directive) -> bool:
    """Whether it is of a function whose body stands in the place of a call."""
    places = d.paths or ((d.after,) if d.after is not None else ())
    return bool(places) and all(is_inlined(at(fn, p)) for p in places)
