"""Kernels as one: forall group: A; B; forall group, thread (one of each): S
-> B; forall group: { A; forall thread: S }.

What one work-item does becomes part of another kernel of the same body, at the place of the later
of the two: a launch less. Legal where no dependence leads from the earlier one to the statements in
between, and

- the other kernel has one group: its work-items wait for each other, in the order of the text; or
- no dependence leads from one of the two to the other, and there is always a first group, which
  does it: groups do not wait for each other.
"""

from __future__ import annotations

from dataclasses import replace
from functools import reduce
from typing import ClassVar

from loopxform.analysis.context import always
from loopxform.analysis.deps import dependences
from loopxform.errors import Obstacle
from loopxform.ir.nodes import Bin, Copy, Decl, Expr, For, Function, If, Opaque, Stmt, Var
from loopxform.ir.visit import (
    LoopSite,
    Path,
    at,
    declared,
    reads,
    replace_at,
    substitute_body,
    walk,
    writes,
)
from loopxform.records import record
from loopxform.transforms.base import Step
from loopxform.transforms.edges.bounds import fixed_trips
from loopxform.transforms.sites import is_outermost, one_loop, trusted


@record
class JoinKernels(Step):
    """Makes one kernel of those of two loops, one of which is that of one work-item."""

    first: str
    second: str

    verb: ClassVar[str] = "join-kernels"
    usage: ClassVar[str] = "join-kernels LOOP LATER-LOOP   (loops that are mapped to groups)"

    def check(self, fn: Function) -> tuple[Obstacle, ...]:
        found = (one_loop(fn, self.first), one_loop(fn, self.second))
        sites = tuple(s for s in found if isinstance(s, LoopSite))
        if len(sites) < 2:
            return tuple(s for s in found if isinstance(s, Obstacle))[:1]
        a, b = sites
        problem = _apart(fn, a, b) or _strange(a, b) or _dependent(fn, a, b)
        if problem is None:
            return ()
        text, remedy = problem
        return (Obstacle("LX265", text, b.loop.origin.loc, remedy=remedy),)

    def rewrite(self, fn: Function) -> Function:
        a, b = (trusted(one_loop(fn, x)) for x in (self.first, self.second))
        if is_single(a.loop):
            joined = _with(b.loop, _item(a.loop, b.loop), front=True)
        else:
            joined = _with(a.loop, _item(b.loop, a.loop), front=False)
        joined = replace(joined, origin=joined.origin.then(str(self)))
        return replace_at(replace_at(fn, b.path, (joined,)), a.path, ())

    def reason(self, fn: Function) -> str:
        a, b = (trusted(one_loop(fn, x)) for x in (self.first, self.second))
        if has_one_group(b.loop if is_single(a.loop) else a.loop):
            return "one group runs both, in order"
        return "neither touches what the other writes, and there is always a first group"


def is_single(nest: For) -> bool:
    """Whether a nest is mapped to one work-item of one group."""
    inner = nest.body[0] if len(nest.body) == 1 else None
    if not _is_grid(nest) or not isinstance(inner, For) or inner.level is None:
        return False
    return inner.level.kind == "group" and _is_once(nest) and _is_once(inner)


def has_one_group(nest: For) -> bool:
    """Whether a nest is mapped to one group."""
    return all(map(_is_once, _grid(nest)))


def _is_once(loop: For) -> bool:
    trips = fixed_trips(loop)
    return trips is not None and not trips[1] and trips[0].value == 1


def _is_grid(s: Stmt | None) -> bool:
    return isinstance(s, For) and s.level is not None and s.level.kind == "grid"


def _grid(nest: For) -> list[For]:
    """The loops over groups of a nest, from the outermost."""
    found = [nest]
    while len(found[-1].body) == 1 and _is_grid(found[-1].body[0]):
        inner = found[-1].body[0]
        assert isinstance(inner, For)
        found.append(inner)
    return found


def _apart(fn: Function, a: LoopSite, b: LoopSite) -> tuple[str, str] | None:
    """Why they are not two kernels of one body, and a remedy."""
    remedy = "name the outermost loops of two kernels, the earlier one first"
    for s in (a, b):
        if not _is_grid(s.loop) or not is_outermost(fn, s):
            return f"the loop over '{s.loop.var}' is not a kernel", remedy
    if a.path[:-1] != b.path[:-1] or a.path >= b.path:
        return f"'{b.loop.var}' does not stand behind '{a.loop.var}' in the same body", remedy
    return None


def _strange(a: LoopSite, b: LoopSite) -> tuple[str, str] | None:
    """Why they cannot have one text, and a remedy."""
    if not (is_single(a.loop) or is_single(b.loop)):
        return "neither of the kernels is one work-item's", "join what one work-item does"
    for x, y in ((a.loop, b.loop), (b.loop, a.loop)):
        shared = declared((x,)).keys() & (declared((y,)).keys() | reads((y,)) | writes((y,)))
        if shared:
            return f"both use the name '{min(shared)}', one of them for its own", "rename it"
    return None


def _dependent(fn: Function, a: LoopSite, b: LoopSite) -> tuple[str, str] | None:
    """Which dependence, or empty grid, stands in the way, and a remedy."""
    for n in range(a.path[-1] + 1, b.path[-1]):
        other = at(fn, (*a.path[:-1], n))
        if _meet(fn, a.path, n):
            where = f" (line {other.origin.loc.line})" if other.origin.loc else ""
            text = f"a statement in between{where} depends on the loop over '{a.loop.var}'"
            return text, "join it with a kernel in front of that statement"
    larger = b if is_single(a.loop) else a
    if has_one_group(larger.loop):
        return None
    if _meet(fn, a.path, b.path[-1]):
        return "groups would wait for what the work-item does", "leave them apart"
    grid = _grid(larger.loop)
    path = larger.path
    for g in grid:
        if g.chained or not always(fn, path, Bin("<", g.lo, g.hi)):
            return f"the loop over '{g.var}' may have no groups", "assume that its bounds differ"
        path = (*path, 0)
    return None


def _meet(fn: Function, path: Path, n: int) -> bool:
    """Whether a dependence may lead between the statement at `path` and the n-th of its body, in
    one iteration of the loops around."""
    body, other = at(fn, path), at(fn, (*path[:-1], n))
    mine, others = (body,), (other,)
    if any(isinstance(s, Opaque) for _, s in walk((body, other))):
        return True
    meeting = (writes(mine) & (reads(others) | writes(others))) | (reads(mine) & writes(others))
    if isinstance(other, Decl):
        return other.name in reads(mine) | writes(mine)
    if not meeting or any(isinstance(s, Copy) for _, s in walk((body, other))):
        return bool(meeting)
    alone, last = fn, n
    for m in reversed(range(path[-1] + 1, n)):
        if _is_grid(at(alone, (*path[:-1], m))):
            alone, last = replace_at(alone, (*path[:-1], m), ()), last - 1
    cut = len(path) - 1
    places = {path, (*path[:-1], last)}
    return any(
        d.carrier is None and {d.source.path[: cut + 1], d.sink.path[: cut + 1]} == places
        for d in dependences(alone)
    )


def _item(single: For, larger: For) -> Stmt:
    """What the work-item does, in the first group of another kernel."""
    (inner,) = substitute_body(single.body, {single.var: single.lo})
    tests: list[Expr] = [Bin("==", Var(g.var), g.lo) for g in _grid(larger) if not _is_once(g)]
    if not tests:
        return inner
    return If(reduce(lambda x, y: Bin("&&", x, y), tests), (inner,), origin=single.origin)


def _with(nest: For, item: Stmt, *, front: bool) -> For:
    """A nest with a statement more in the body of its innermost loop over groups."""
    if len(nest.body) == 1 and _is_grid(nest.body[0]):
        (inner,) = nest.body
        assert isinstance(inner, For)
        return replace(nest, body=(_with(inner, item, front=front),))
    return replace(nest, body=(item, *nest.body) if front else (*nest.body, item))
