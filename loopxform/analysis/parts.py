"""Conjunctions in parts that share no names: there is a point of all if and only if each has one.

    0 <= i < M, 0 <= j < N, i = 4*q   ->   { 0 <= i < M, i = 4*q },  { 0 <= j < N }

A question about i is one about the first part, and the second was asked about before.
"""

from __future__ import annotations

from collections.abc import Iterable

from loopxform.analysis.linear import Conj, Constraint
from loopxform.analysis.system import feasible
from loopxform.ir.memo import Table

Part = tuple[frozenset[str], Conj]
"""The names of a part and what it says."""


def parts(conj: Iterable[Constraint]) -> tuple[Part, ...]:
    """The smallest parts, the constraints of each in the order that they had."""
    merged: list[tuple[set[str], list[int]]] = []
    constraints = tuple(conj)
    for n, c in enumerate(constraints):
        names = {name for name in c.lin if name}
        members, others = [n], []
        for part in merged:
            if names.isdisjoint(part[0]):
                others.append(part)
            else:
                names |= part[0]
                members = part[1] + members
        merged = [*others, (names, members)]
    return tuple((frozenset(a), tuple(constraints[n] for n in sorted(b))) for a, b in merged)


def possible(conj: Iterable[Constraint]) -> bool:
    """`feasible`, part by part."""
    return all(has_point(part) for _, part in parts(conj))


def both_possible(around: tuple[Part, ...], conj: Conj) -> bool:
    """Whether a conjunction has a point in a domain of these parts."""
    names = {name for c in conj for name in c.lin if name}
    near = [c for own, part in around if not own.isdisjoint(names) for c in part]
    far = [part for own, part in around if own.isdisjoint(names)]
    return has_point((*near, *conj)) and all(map(has_point, far))


_asked = Table[bool](8192)


def has_point(conj: Conj) -> bool:
    """`feasible`, of which the last answers are kept by what was asked: what the names are makes no
    difference, only where each of them stands."""
    number = dict[str, int]()
    key = tuple(
        (
            c.eq,
            tuple((name and number.setdefault(name, len(number)), n) for name, n in c.lin.items()),
        )
        for c in conj
    )
    known = _asked.get(key)
    if known is None:
        known = feasible(conj)
        _asked.put(key, known)
    return known
