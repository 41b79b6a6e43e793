"""Accesses that may not happen at the same time, though in different iterations.

critical   both statements in critical sections of one name, and of one team: teams do not
               wait for each other (OpenMP 5.2, 15.2)
atomic     both statements atomic, and the dependence is of the object that they update: what else
           they read is not protected
ordered    the first in or before the ordered region of its iteration, the other in or behind that
           of a later one, in a loop that is `ordered`

Only the last are in the order of the iterations. The others run in any order, and the result is
that of the loop in order where they commute.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import replace

from loopxform.analysis.accesses import Access
from loopxform.analysis.dependence import Dependence
from loopxform.analysis.deps import carried_among
from loopxform.analysis.openmp.construct import Construct, target_name, touched_by
from loopxform.analysis.reductions import reductions, updates
from loopxform.analysis.region import Region, region
from loopxform.analysis.scope import order
from loopxform.ir.directives import Directive
from loopxform.ir.nodes import Assign, Const, Expr, For, Load, Stmt, Var
from loopxform.ir.visit import Path, at, names, walk_expr


def is_in_order(c: Construct, d: Dependence) -> bool:
    """Whether the two ends of a dependence run in the order of their iterations."""
    ends = (d.source.path, d.sink.path)
    if c.is_simd_only:
        return all(any(x.has("simd") for x in _governing(c, p, "ordered")) for p in ends)
    if c.directive.clause("ordered") is None:
        return False
    region = _passed_once(c)
    if region is not None:
        first, last = min(region.paths, key=order), max(region.paths, key=order)
        return order(ends[0][: len(last)]) <= order(last) and order(ends[1]) >= order(first)
    return all(_governing(c, p, "ordered") for p in ends)


def _passed_once(c: Construct) -> Directive | None:
    """The ordered region through which every iteration comes, once."""
    found = [d for d in c.inside if d.words == ("ordered",)]
    depth = len(c.nest_paths[-1]) + 1
    if len(found) != 1 or c.directive.has("simd") or len(c.nest) != (c.depth or 0):
        return None
    return found[0] if all(len(p) == depth for p in found[0].paths) else None


def carried(c: Construct) -> tuple[list[Dependence], frozenset[Dependence]]:
    """The dependences that the associated loops carry, of what iterations may share, and those of
    them that are of what an atomic statement reads beside the object that it is atomic on."""
    where = region(c.fn, c.path)
    bare = {id(a) for i in where.instances for a in i.accesses if _is_beside(c, i.path, a)}

    def rows(where: Region) -> Iterator[Dependence]:
        found = carried_among(where, c.may_share, lambda path: _apart(c, path))
        return (d for d in found if d.carrier in c.nest_paths)

    def kept(*, beside: bool) -> Region:
        instances = (
            replace(
                i, accesses=tuple(a for a in i.accesses if a.write or (id(a) in bare) == beside)
            )
            for i in where.instances
        )
        return replace(where, instances=tuple(instances))

    if not bare:
        return list(rows(where)), frozenset()
    unprotected = [d for d in rows(kept(beside=True)) if d.kind != "output"]
    return [*rows(kept(beside=False)), *unprotected], frozenset(unprotected)


def _apart(c: Construct, path: Path) -> Hashable:
    """The same for statements that nothing in the construct keeps apart from others in another way,
    nor gives variables of their own: those in the same directives, unless these have an order or
    protect one statement."""
    around = tuple(n for n, d in enumerate(c.inside) if d.governs(path))
    ordered = c.directive.has("simd") or c.directive.clause("ordered") is not None
    alone = ordered or any(c.inside[n].words[:1] == ("atomic",) for n in around)
    return around, path if alone else None


def _is_beside(c: Construct, path: Path, a: Access) -> bool:
    """Whether an atomic statement reads other elements of the array of which it updates one."""
    s = at(c.fn, path)
    if a.write or not isinstance(s, Assign) or not _governing(c, path, "atomic"):
        return False
    own = s.target if target_name(s) == a.storage.name else s.value
    return isinstance(a.expr, Load) and _name(own) == a.storage.name and a.expr != own


def is_exclusive(c: Construct, d: Dependence, *, atomic: bool = True) -> bool:
    """Whether the two ends of a dependence never meet, though they run in any order; `atomic`: they
    are of the objects that atomic statements are atomic on."""
    ends = (d.source.path, d.sink.path)
    return _one_lock(c, ends) or (atomic and all(_is_atomic(c, p, d.array) for p in ends))


def commutes(c: Construct, name: str) -> bool:
    """Whether what the loop does with an object comes to the same in any order: it updates it with
    one operator, or sets it to one number, and does nothing else with it."""
    known = updates(c.fn, c.path, name)
    if known is not None and len(known.ops) == 1 and not known.rounds:
        return True
    written = {p for p, s in c.statements if name in touched_by(s)[1]}
    apart = (r for r in reductions(c.fn, c.path) if r.array == name and r.op[:3] != "arg")
    if any(written <= set(r.paths) for r in apart):
        return True
    found = [s for _, s in c.statements if name in touched_by(s)[0]]
    values = {s.value if _is_set(s, name) else None for s in found if isinstance(s, Assign)}
    return all(_is_set(s, name) for s in found) and len(values) == 1


def _is_set(s: Stmt, name: str) -> bool:
    """Whether a statement does no more than set the object to a number."""
    if not isinstance(s, Assign) or s.op or not isinstance(s.value, Const):
        return False
    index = s.target.index if isinstance(s.target, Load) else ()
    return target_name(s) == name and not any(name in names(e) for e in index)


def runs_twice(c: Construct) -> Directive | None:
    """An ordered region of which an iteration may run several, or after another: it may run one."""
    if c.is_simd_only:
        return None
    found = [d for d in c.inside if d.words[:1] == ("ordered",)]
    repeated = (d for d in found for p in d.paths if _is_in_a_loop(c, p))
    return next(repeated, found[1] if len(found) > 1 else None)


def _is_in_a_loop(c: Construct, path: Path) -> bool:
    inner = c.nest_paths[-1]
    return any(isinstance(at(c.fn, path[:n]), For) for n in range(len(inner) + 1, len(path)))


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


def _governing(c: Construct, path: Path, word: str) -> tuple[Directive, ...]:
    return tuple(d for d in c.inside if d.words[:1] == (word,) and d.governs(path))


def _is_atomic(c: Construct, path: Path, name: str) -> bool:
    """Whether the statement at `path` is atomic, and `name` the object it is atomic on."""
    found = _governing(c, path, "atomic")
    s = at(c.fn, path)
    if not found or not isinstance(s, Assign):
        return False
    if found[0].clause("compare") is not None:
        return True
    reads = target_name(s) != name and _name(s.value) == name
    if found[0].clause("read") is not None or (found[0].clause("capture") is not None and reads):
        return reads
    index = s.target.index if isinstance(s.target, Load) else ()
    parts = [x for e in (s.value, *index) for x in walk_expr(e) if x == s.target]
    return target_name(s) == name and len(parts) <= (0 if s.op else 1)


def _name(e: Expr) -> str | None:
    return e.name if isinstance(e, Var) else e.array if isinstance(e, Load) else None
