"""What one conjunction says of another."""

from __future__ import annotations

from loopxform.analysis.linear import Conj, Constraint, conj_names, plus, times
from loopxform.analysis.system import feasible


def covers(conj: Conj, part: Conj) -> bool:
    """Whether every point of `part` is one of `conj`."""
    if not conj_names(conj) <= conj_names(part):
        return False
    return not any(feasible((*part, n)) for c in conj for n in negated(c))


def identity(conj: Conj) -> tuple[object, ...]:
    """The same for those that have the same constraints, in whatever order."""
    return tuple(sorted((c.eq, tuple(sorted(c.lin.items()))) for c in conj))


def negated(c: Constraint) -> list[Constraint]:
    """Of which one holds wherever a constraint does not."""
    out = [Constraint(False, plus(times(c.lin, -1), {"": -1}))]
    if c.eq:
        out.append(Constraint(False, plus(c.lin, {"": -1})))
    return out
