"""Privatisation: may each iteration of a loop have its own copy of a scalar or array?

    legal  iff  each read in an iteration is preceded by a write of the same element in the same
                iteration, on every path, and the value is not used after the loop.

For scalars the paths are walked (`liveness`); what that cannot show, and all arrays, is a question
about sets: { reads } is covered by the union of { elements written earlier in the iteration }, over
writes that certainly happen. (Allen and Kennedy, section 5.3; Cholewa-Madsen and Holst, step 0:
"acc is private".)
"""

from __future__ import annotations

from loopxform.analysis import liveness, sets
from loopxform.analysis.accesses import Access, Subscripts
from loopxform.analysis.declared_shapes import declared_shape, inside
from loopxform.analysis.directions import SAME, pattern_conj, signed
from loopxform.analysis.linear import Conj, Constraint, conj_names, plus, times
from loopxform.analysis.pairs import Comparison, Pair, exclusive
from loopxform.analysis.region import Instance, Region, region, visible
from loopxform.analysis.system import eliminate, feasible
from loopxform.errors import Obstacle
from loopxform.ir.memo import remembered
from loopxform.ir.nodes import For, Function
from loopxform.ir.visit import Path, enclosing, names
from loopxform.records import slotted
from loopxform.source import Loc


@slotted
class Privacy:
    """The answer in parts. `exposed`: a read that may see an earlier iteration; `live`: it may be
    read after the loop (at `live_at`); `caller`: it belongs to the caller; `last_value`: every
    iteration writes it, so copying the last one out makes it private all the same."""

    exposed: Loc | bool | None
    live: bool
    live_at: Loc | None
    caller: bool
    last_value: bool

    @property
    def private(self) -> bool:
        return self.exposed is None and not self.live and not self.caller

    @property
    def with_copy(self) -> bool:
        """Private, if need be with its last value copied out."""
        return self.private or (self.exposed is None and self.last_value)


@remembered(64)
def privacy(fn: Function, path: Path, name: str) -> Privacy:
    """Everything about `name` as a private variable of the loop at `path`."""
    loop = enclosing(fn, path)[-1]
    assert isinstance(loop, For)
    rank, caller = _kind(fn, path, name)
    use = liveness.first_use(fn, loop.body, path, name)
    exposed: Loc | bool | None = None
    if rank and caller:
        return Privacy(None, True, None, True, False)
    if rank or use == "read":
        where = region(fn, path)
        unwritten = not rank and name not in where.facts.assigned
        exposed = True if unwritten else _exposed(where, name)
    if name in names(loop.hi) | names(loop.step):
        exposed = loop.origin.loc or True
    if rank:
        after = liveness.array_read_elsewhere(fn, path, name)
    else:
        after = liveness.live_after(fn, path, name)
    live = after is not False
    last = not rank and use == "written"
    return Privacy(exposed, live, after or None, caller, last)


def _kind(fn: Function, path: Path, name: str) -> tuple[int, bool]:
    """The rank of an object, and whether its final value belongs to the caller."""
    found = visible(fn, path).get(name)
    if found is None:
        return 0, True
    owner = next((p for p in fn.objects if p.name == name), None) if found.decl is None else None
    return found.rank, owner is not None and (owner.is_global or owner.array)


def private_obstacles(fn: Function, path: Path, name: str) -> tuple[Obstacle, ...]:
    """Why `name` may not be private to each iteration of the loop at `path`; () where it may."""
    loop = enclosing(fn, path)[-1]
    assert isinstance(loop, For)
    found = privacy(fn, path, name)
    place = loop.origin.loc
    out = []
    if found.exposed is not None:
        at = found.exposed if isinstance(found.exposed, Loc) else place
        message = f"'{name}' may be read before it is written in an iteration of '{loop.var}'"
        remedy = f"write {name} first in the body of the loop"
        out.append(Obstacle("LX143", message, at, remedy=remedy))
    if found.caller:
        message = f"'{name}' belongs to the caller, who sees its last value"
        out.append(Obstacle("LX144", message, place, remedy="use a local variable"))
    elif found.live:
        message = f"'{name}' may be read after the loop over '{loop.var}'"
        remedy = "use another variable there, or copy the last value out"
        out.append(Obstacle("LX144", message, found.live_at or place, remedy=remedy))
    return tuple(out)


def exposed_read(fn: Function, path: Path, name: str) -> Loc | bool | None:
    """A read of the array `name` in an iteration of the loop at `path` that no write of the same
    iteration covers, the caller's arrays included: its place (True if unknown)."""
    return _exposed(region(fn, path), name)


def is_private(fn: Function, path: Path, name: str) -> bool:
    return not private_obstacles(fn, path, name)


# ---------------------------------------------------------------- coverage


def _exposed(where: Region, name: str) -> Loc | bool | None:
    """A read of `name` that no write of the same iteration covers: its place (True if unknown)."""
    uses = [(n, i, a) for n, i in enumerate(where.instances) if i.loops for a in i.accesses]
    uses = [
        u for u in uses if u[2].storage.name == name and u[2].storage.decl not in _inside(where)
    ]
    writes = [u for u in uses if u[2].write and u[1].sure and u[2].known]
    compared = Comparison()
    shape = declared_shape(where.fn, where.scope, name) or ()
    for n, instance, read in uses:
        if read.write:
            continue
        try:
            elements = [
                (s, (*c, *inside(where, read, shape, m))) for m, (s, c) in enumerate(read.cases)
            ]
            covered = _covered(n, instance, read, elements, writes, compared)
        except sets.TooHard:
            covered = False
        if not covered:
            return instance.loc or True
    return None


def _inside(where: Region) -> frozenset[Path]:
    decls = (a.storage.decl for i in where.instances for a in i.accesses)
    at = where.scope
    return frozenset(d for d in decls if d is not None and d[: len(at)] == at)


def _covered(
    n: int,
    instance: Instance,
    read: Access,
    elements: list[tuple[Subscripts, Conj]],
    writes: list[tuple[int, Instance, Access]],
    compared: Comparison,
) -> bool:
    """Whether the elements that a statement reads, by cases, were written before in all of them."""
    if any(x is None for s, _ in elements for x in s):
        return False
    parts = [
        part
        for m, other, write in writes
        for part in _earlier(
            compared.pair(instance, read, other, write),
            before=m < n and not exclusive(instance.path, other.path),
        )
    ]
    if not parts:
        return not any(feasible((*d, *c)) for d in instance.domain for _, c in elements)
    for domain in instance.domain:
        for _, when in elements:
            whole = (*domain, *when)
            if any(_within(whole, part) for part in parts):
                continue
            dims = sorted(conj_names(whole) | _outer_names(instance, parts))
            if not sets.covers((whole,), [(part,) for part in parts], dims):
                return False
    return True


def _outer_names(instance: Instance, parts: list[Conj]) -> frozenset[str]:
    """Parameters, and loop variables of the read, as they occur in the parts."""
    own = {x.var for x in instance.loops}
    found = frozenset(k for part in parts for k in conj_names(part))
    return frozenset(k for k in found if k in own or (k[0] != "$" and k[-1] not in "~'"))


def _earlier(pair: Pair, *, before: bool) -> list[Conj]:
    """The reads an earlier write of the same iteration of the outermost loop precedes, one
    conjunction per loop in which the write is earlier: in the names of the read, `i~` leads from
    the read back to the write; `before` says that it is earlier in the same iteration of all."""
    orders: list[Conj] = []
    for level in range(1, len(pair.loops)):
        same = pattern_conj(pair.steps[:level], SAME * level)
        orders.append((*same, *signed(pair.steps[level], ">")))
    if before:
        orders.append(pattern_conj(pair.steps, SAME * len(pair.loops)))
    return [(*system, *order) for system in pair.systems() for order in orders]


def _within(whole: Conj, part: Conj) -> bool:
    """Whether every point of `whole` lies in one part, where exact elimination can tell."""
    own = conj_names(whole)
    keep = own | frozenset(k for k in conj_names(part) if k[0] != "$" and k[-1] not in "~'")
    condition = eliminate(part, keep)
    if condition is None or not conj_names(condition) <= keep:
        return False
    return not any(feasible((*whole, *negated)) for c in condition for negated in _negated(c))


def _negated(c: Constraint) -> list[Conj]:
    below = Constraint(False, plus(times(c.lin, -1), {"": -1}))
    if not c.eq:
        return [(below,)]
    return [(below,), (Constraint(False, plus(c.lin, {"": -1})),)]
