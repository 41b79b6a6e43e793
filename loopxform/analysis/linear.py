"""Linear expressions and constraints over named integers: the form every question is put in.

A `Lin` maps names to coefficients, "" to the constant. Names are those of the program; `i'` is the
variable of the later of two iterations, `i~` the step from one to the other, `$n` an auxiliary
integer (a quotient, an iteration number). A conjunction is a tuple of constraints, a formula in
disjunctive normal form (`Dnf`) a tuple of conjunctions: () is false, ((),) is true.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple, TypeAlias

Lin: TypeAlias = dict[str, int]


class Constraint(NamedTuple):
    """`lin == 0` where `eq`, else `lin >= 0`."""

    eq: bool
    lin: Lin


Conj: TypeAlias = tuple[Constraint, ...]
Dnf: TypeAlias = tuple[Conj, ...]

TRUE: Dnf = ((),)
FALSE: Dnf = ()


def const(n: int) -> Lin:
    return {"": n} if n else {}


def variable(name: str) -> Lin:
    return {name: 1}


def plus(a: Lin, b: Lin, factor: int = 1) -> Lin:
    """a + factor * b, without zero coefficients."""
    out = dict(a)
    for name, c in b.items():
        total = out.get(name, 0) + factor * c
        if total:
            out[name] = total
        else:
            out.pop(name, None)
    return out


def times(a: Lin, factor: int) -> Lin:
    return {name: c * factor for name, c in a.items()} if factor else {}


def constant_of(a: Lin) -> int | None:
    """The value of an expression without names, else None."""
    if not a:
        return 0
    return a[""] if len(a) == 1 and "" in a else None


def replaced(a: Lin, name: str, by: Lin) -> Lin:
    """`a` with `name` replaced by a linear expression."""
    c = a.get(name)
    if c is None:
        return a
    rest = {k: v for k, v in a.items() if k != name}
    return plus(rest, by, c)


def renamed(a: Lin, new: Callable[[str], str]) -> Lin:
    return {new(k) if k else k: v for k, v in a.items()}


def rename_conj(conj: Iterable[Constraint], new: Callable[[str], str]) -> Conj:
    return tuple(Constraint(c.eq, renamed(c.lin, new)) for c in conj)


def equal(a: Lin, b: Lin) -> Constraint:
    return Constraint(True, plus(a, b, -1))


def at_least(a: Lin, b: Lin, gap: int = 0) -> Constraint:
    """a >= b + gap."""
    return Constraint(False, plus(plus(a, b, -1), const(-gap)))


def conjoin(a: Dnf, b: Dnf) -> Dnf:
    """Both hold; every pair of cases, so the callers keep the cases few."""
    if a == TRUE:
        return b
    if b == TRUE:
        return a
    return tuple(x + y for x in a for y in b)


def conj_names(conj: Iterable[Constraint]) -> frozenset[str]:
    return frozenset(name for c in conj for name in c.lin if name)
