"""Loops that only assign the members of records, all of them in each iteration:

    for i < R: { p[b + i].x = e(i);  p[b + i].y = f(i);  p[b + i].z = g(i); }

Where the members are numbers of one type, and nothing lies between them, records that follow one
another are a row of such numbers, which vectors store (step `store-vectors`).
"""

from __future__ import annotations

from collections.abc import Iterable

from loopxform.ir.nodes import Assign, Const, Expr, For, Load, Struct
from loopxform.ir.types import Scalar
from loopxform.ir.visit import loads, substitute
from loopxform.records import record


@record
class RecordStores:
    """The first member that an iteration assigns, and the values of all members in order."""

    first: Load
    values: tuple[Expr, ...]

    def numbers(self, var: str, iterations: int) -> tuple[Expr, ...]:
        """What the iterations of the loop over `var` assign, from its first one on, in order."""
        return tuple(substitute(e, {var: Const(n)}) for n in range(iterations) for e in self.values)


def record_stores(structs: Iterable[Struct], loop: For) -> RecordStores | None:
    """What the body of a loop assigns to the members of records; None where it does anything else,
    or leaves a member alone."""
    found = dict[str, Assign]()
    for s in loop.body:
        if not isinstance(s, Assign) or not isinstance(s.target, Load) or s.op or s.atomic:
            return None
        found[s.target.array] = s
    names = {array.rpartition(".")[0] for array in found}
    owner = next((s for s in structs if {s.name} == names), None)
    order = () if owner is None else row_of_members(owner)
    every = (found.get(f"{min(names)}.{m}") for m in order)
    assigned = [a for a in every if a is not None]
    targets = [a.target for a in assigned if isinstance(a.target, Load)]
    if not order or len(order) != len(targets) or len(order) != len(loop.body):
        return None
    if any(t.index != targets[0].index for t in targets):
        return None
    values = tuple(a.value for a in assigned)
    read = (e for x in (*values, *targets[0].index) for e in loads(x))
    if any(e.array in found for e in read):
        return None
    return RecordStores(targets[0], values)


def row_of_members(owner: Struct) -> tuple[str, ...]:
    """The members of a record that are a row of numbers of one type; () where they are none."""
    members = owner.type.members
    kind = members[0].type if members else None
    if not isinstance(kind, Scalar) or any(m.type != kind or m.shape for m in members):
        return ()
    return tuple(m.name for m in members) if owner.type.bytes == kind.bytes * len(members) else ()
