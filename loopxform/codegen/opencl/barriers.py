"""Where the work-items of a group have to wait for each other, and only there.

    forall t: x[t] = ...; | forall t: ... x[t + 1] ...        | is a barrier
    for kk: | x_loc = x[...]; | forall t: ... x_loc[...] ...

What one of them writes to memory, another may read or write in a later statement, unless every
access is to an element that only one work-item has. In a collective copy any of them may write any
element of the tile.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property

from loopxform.codegen.opencl.launch import Mapping
from loopxform.ir.affine import Poly, poly, value_of
from loopxform.ir.nodes import Assign, Copy, Decl, For, Load, Stmt, Var
from loopxform.ir.types import Space
from loopxform.ir.updates import atomic_word
from loopxform.ir.visit import loads, stmt_exprs, walk, writes
from loopxform.records import record
from loopxform.transforms.edges.bounds import fixed_trips

ITEM = "local id"
"""Stands for the number of a work-item."""

APART = "LX_APART"
"""Keeps a branch of the work-items apart from a barrier that the group may leave out
(templates/kernels.cl.j2)."""


@record
class Access:
    """An element that a statement touches; `index` None is any of the array. Those of one
    `atomic` operator ("" is none) do not wait for each other."""

    array: str
    index: tuple[Poly, ...] | None
    write: bool
    atomic: str = ""


@record
class Since:
    """What may have been touched since the last barrier, `pending`; and since some place without
    any barrier in between, `exposed`: not in the memory (local, or not) that is `closed`."""

    pending: tuple[Access, ...] = ()
    exposed: tuple[Access, ...] = ()
    closed: frozenset[bool] = frozenset()

    def either(self, other: Since) -> Since:
        """After one of two branches."""
        pending = tuple(dict.fromkeys((*self.pending, *other.pending)))
        exposed = tuple(dict.fromkeys((*self.exposed, *other.exposed)))
        return Since(pending, exposed, self.closed & other.closed)


@dataclass
class Fences:
    """Where barriers stand in the kernel `body`, which is looked at in the order of its text; those
    that are looked at now are `conditional` where the group may leave them out."""

    mapping: Mapping
    body: tuple[Stmt, ...]
    since: Since = field(default=Since())
    conditional: bool = False
    _own: dict[tuple[Poly, ...], bool] = field(default_factory=dict)

    def before(self, s: Stmt) -> str:
        """The barrier that must stand before a statement of the group ("": none), which is then
        among what was touched."""
        now = tuple(self.accesses((s,)))
        needed = self.meeting(now)
        self.touched(now)
        return needed

    def meeting(self, accesses: tuple[Access, ...]) -> str:
        """The barrier that must stand in front of accesses."""
        needed = self.met(self.since.pending, accesses)
        if not needed:
            return ""
        spaces = {a in self.local for a in needed}  # a barrier orders all accesses to such memory
        rest = (a for a in self.since.pending if (a.array in self.local) not in spaces)
        self.since = replace(self.since, pending=tuple(rest), closed=self.since.closed | spaces)
        apart = f" {APART}();" if self.conditional else ""
        return barrier(needed, self.local) + apart

    def touched(self, first: tuple[Access, ...], last: tuple[Access, ...] | None = None) -> None:
        """Accesses come next: `first` those that no barrier stands in front of, `last` (default:
        the same) those that none stands behind."""
        open_ones = (a for a in first if (a.array in self.local) not in self.since.closed)
        new = Since(first if last is None else last, tuple(open_ones), self.since.closed)
        self.since = self.since.either(new)

    def met(self, first: tuple[Access, ...], then: tuple[Access, ...]) -> frozenset[str]:
        """Arrays of which work-items may touch the same element, one of them writing."""
        written = {a.array for a in (*first, *then) if a.write}
        return frozenset(
            a.array
            for a in first
            for b in then
            if a.array == b.array in written and (a.write or b.write)
            if not a.atomic == b.atomic != "" and not self.own(a, b)
        )

    def own(self, a: Access, b: Access) -> bool:
        """Whether both are of an element that no other work-item has."""
        if a.index is None or a.index != b.index:
            return False
        if a.index not in self._own:
            self._own[a.index] = all(self._told_apart(a.index, d) for d in range(3))
        return self._own[a.index]

    def _told_apart(self, index: tuple[Poly, ...], dimension: int) -> bool:
        """Whether the subscripts differ between work-items along a dimension of the group: one of
        them grows from item to item by more than everything else in it varies."""
        if value_of(self.mapping.group_shape[dimension]) == 1:
            return True
        found = {t.loop.var: t.loop for t in self.mapping.threads if t.dimension == dimension}
        for var, loop in found.items():
            values = {poly(t.value(ITEM)) for t in self.mapping.threads if t.loop.var == var}
            if len(values) == 1 and any(self._steps_over(p, loop) for p in index):
                return True
        return False

    def _steps_over(self, p: Poly, loop: For) -> bool:
        """Whether a loop over threads moves a subscript further than everything else in it does."""
        split = _linear(p, loop.var)
        width = None if split is None else self._width(split[1])
        step = value_of(loop.step) or 0
        return split is not None and width is not None and width < abs(split[0] * step)

    def _width(self, p: Poly) -> int | None:
        """How far apart the values are that a polynomial takes in a group, if that is known."""
        if any(p.mentions(name) for name in writes(self.body)):
            return None
        total = 0
        for var in (v for v in self.moving if p.mentions(v)):
            split, spans = _linear(p, var), {_span(s) for s in self.moving[var]}
            (span,) = spans if len(spans) == 1 else (None,)
            if split is None or span is None:
                return None
            total += abs(split[0]) * span
        return total

    def accesses(self, body: tuple[Stmt, ...]) -> Iterator[Access]:
        """What statements touch of the memory that the kernel writes."""
        for _, s in walk(body):
            target = s.target if isinstance(s, Assign) else None
            if isinstance(target, Load) and target.array in self.written:
                yield _access(target, write=True, atomic=_atomic(s))
            for x in (x for e in stmt_exprs(s) for x in loads(e)):
                if x.array in self.written and (x is not target or _reads(s)):
                    atomic = _atomic(s) if x is target else ""
                    yield _access(x, write=False, atomic=atomic)
            if isinstance(s, Copy) and s.source in self.written:
                yield Access(s.source, None, write=False)
            if isinstance(s, Copy) and s.collective:
                yield Access(s.target, None, write=True)

    @cached_property
    def local(self) -> frozenset[str]:
        return frozenset(t.decl.name for t in self.mapping.tiles)

    @cached_property
    def written(self) -> frozenset[str]:
        """Arrays in memory that several work-items see, and that some of them write."""
        own = (s for _, s in walk(self.body) if isinstance(s, Decl))
        private = {s.name for s in own if s.space is not Space.LOCAL}
        targets = (s.target for _, s in walk(self.body) if isinstance(s, Assign))
        filled = (s.target for _, s in walk(self.body) if isinstance(s, Copy) and s.collective)
        return frozenset({*filled, *(t.array for t in targets if isinstance(t, Load))}) - private

    @cached_property
    def moving(self) -> dict[str, list[For]]:
        """The loops inside the group, by their variable."""
        grid = {x.var for x in self.mapping.grid}
        out: dict[str, list[For]] = {}
        for _, s in walk(self.body):
            if isinstance(s, For) and s.var not in grid:
                out.setdefault(s.var, []).append(s)
        return out


def _linear(p: Poly, var: str) -> tuple[int, Poly] | None:
    """The number that `var` is multiplied by, if it is one and not 0, and the rest."""
    factor, rest = p.coefficient(var), p.without(var)
    if not factor.value or rest + factor * poly(Var(var)) != p:
        return None
    return factor.value, rest


def _span(loop: For) -> int | None:
    """The last value of a loop in a work-item less the first one, 0, if both are known."""
    fixed = fixed_trips(loop)
    if loop.level is not None or poly(loop.lo).value != 0 or fixed is None:
        return None
    return ((fixed[0].value or 1) - 1) * (value_of(loop.step) or 0)


def may_not_run(loop: For) -> bool:
    """Whether a loop, but for one over tiles, may have no iterations."""
    if value_of(loop.step) != 1:
        return False
    fixed = fixed_trips(loop)
    return fixed is None or bool(fixed[1]) or (fixed[0].value or 0) < 1


def barrier(arrays: frozenset[str], local: frozenset[str]) -> str:
    """A barrier that orders what is done to these arrays."""
    flags = ["CLK_LOCAL_MEM_FENCE"] if arrays & local else []
    flags += ["CLK_GLOBAL_MEM_FENCE"] if arrays - local else []
    return f"barrier({' | '.join(flags)});"


def with_local(needed: str) -> str:
    """A barrier that orders accesses to local memory besides what the barrier `needed` orders."""
    return barrier(frozenset({"", "global"} if "GLOBAL" in needed else {""}), frozenset({""}))


def _access(x: Load, *, write: bool, atomic: str) -> Access:
    return Access(x.array, tuple(map(poly, x.index)), write, atomic)


def _atomic(s: Stmt) -> str:
    """What an atomic update, or store, does."""
    return atomic_word(s) if isinstance(s, Assign) and s.atomic else ""


def _reads(s: Stmt) -> bool:
    """Whether an assignment reads its target."""
    return isinstance(s, Assign) and bool(s.op)
