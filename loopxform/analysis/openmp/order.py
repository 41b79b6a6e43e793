"""Accesses that may not happen at the same time, though in different iterations.

critical   both statements in critical sections of one name, and of one team: teams do not
               wait for each other (OpenMP 5.2, 15.2)
atomic     both statements atomic, and the dependence is of the object that they update
ordered    both statements in the ordered region of a loop that is `ordered`
"""

from __future__ import annotations

from loopxform.analysis.deps import Dependence
from loopxform.analysis.openmp.construct import Construct, target_name
from loopxform.ir.directives import Directive
from loopxform.ir.nodes import Assign, Expr, Load, Var
from loopxform.ir.visit import Path, at, walk_expr


def is_ordered(c: Construct, d: Dependence) -> bool:
    """Whether the two ends of a dependence cannot meet, nor run in another order where that
    matters to the memory model."""
    ends = (d.source.path, d.sink.path)
    if _one_lock(c, ends) or all(_is_atomic(c, p, d.array) for p in ends):
        return True
    return _in_ordered_region(c, ends)


def waits_by_hand(c: Construct) -> bool:
    """`ordered depend(...)` in the body: an order that is not modelled."""
    return c.directive.clause("ordered") is not None and any(
        d.words[:1] == ("ordered",) for d in c.alone
    )


def _one_lock(c: Construct, ends: tuple[Path, ...]) -> bool:
    if c.has_several_teams:
        return False
    held = [frozenset(_lock(d) for d in _governing(c, p, "critical")) for p in ends]
    return bool(held[0] & held[1])


def _lock(d: Directive) -> str:
    named = d.clause("critical")
    return named.text if named else ""


def _in_ordered_region(c: Construct, ends: tuple[Path, ...]) -> bool:
    clause = c.directive.clause("ordered")
    if clause is None or clause.text not in ("", "1") or len(c.nest) > 1:
        return False
    return all(_governing(c, p, "ordered") for p in ends)


def _governing(c: Construct, path: Path, word: str) -> tuple[Directive, ...]:
    return tuple(d for d in c.inside if d.words[:1] == (word,) and d.governs(path))


def _is_atomic(c: Construct, path: Path, name: str) -> bool:
    """Whether the statement at `path` is atomic, and `name` the object it is atomic on."""
    found = _governing(c, path, "atomic")
    s = at(c.fn, path)
    if not found or not isinstance(s, Assign):
        return False
    if found[0].clause("read") is not None:
        return target_name(s) != name and _name(s.value) == name
    if found[0].clause("capture") is not None or found[0].clause("compare") is not None:
        return False
    others = (x for x in walk_expr(s.value) if _name(x) == name and x != s.target)
    index = s.target.index if isinstance(s.target, Load) else ()
    inside = (x for e in index for x in walk_expr(e) if _name(x) == name)
    return target_name(s) == name and not any(True for _ in (*others, *inside))


def _name(e: Expr) -> str | None:
    return e.name if isinstance(e, Var) else e.array if isinstance(e, Load) else None
