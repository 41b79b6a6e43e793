"""The work of a nest for given sizes: operations, and bytes if every array were touched once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from loopxform.codegen.plan import Plan
from loopxform.model.access_counts import Term, exact, naive, text, total
from loopxform.model.operations import operations
from loopxform.runtime.structs import with_numbers
from loopxform.transforms import Derivation


@dataclass(frozen=True)
class Work:
    """Operations on floating-point numbers (None where their number depends on data; at most so
    many where not `exact`), as a formula too, and in which type; and the bytes that have to be read
    and written at least."""

    operations: int | None
    exact: bool
    formula: str
    type: str
    bytes: int

    @property
    def intensity(self) -> float | None:
        """Operations for each byte."""
        return self.operations / self.bytes if self.operations and self.bytes else None


def work_of(plan: Plan, given: Mapping[str, Any]) -> Work:
    """The work of the program with these arguments."""
    scalars = _scalars(plan, given)
    found = operations(plan.start)
    count = None if found is None else _total(found.terms, scalars)
    type = "double" if found is not None and found.double else "float"
    if found is None or count is None:
        return Work(None, False, "", type, _bytes(plan, scalars))
    return Work(count, exact(found.terms), text(found.terms), type, _bytes(plan, scalars))


def accesses(derivation: Derivation, sizes: Mapping[str, int | float]) -> int | None:
    """How many accesses to arrays the user's program makes: what it costs to run it on the host.
    None where that depends on data."""
    found = naive(derivation)
    whole = {n: v for n, v in sizes.items() if isinstance(v, int)}
    return _total((*found.global_reads, *found.global_writes), whole)


def _total(terms: tuple[Term, ...], scalars: Mapping[str, int]) -> int | None:
    try:
        return round(total(terms, scalars))
    except (KeyError, ZeroDivisionError):
        return None


def _scalars(plan: Plan, given: Mapping[str, Any]) -> dict[str, int]:
    """The whole numbers among the arguments, by their plain names."""
    plain = {plan.plain_names.get(n, n): v for n, v in given.items()}
    values = with_numbers(plan.written, plan.plain_names, plain)
    numbers = {p.name for p in plan.start.objects if not p.array and p.type.is_integer}
    return {n: int(values[n]) for n in numbers if n in values}


def _bytes(plan: Plan, scalars: Mapping[str, int]) -> int:
    """What is read before it is written has to come from memory, what is written goes there; each
    array from its first element that is touched to its last."""
    out = 0
    for b in plan.buffers:
        parts = [b.into] if b.exposed else []
        for part in (*parts, b.back):
            begin, end = b.elements(part, scalars)
            out += max(0, end - begin) * b.param.type.bytes
    return out
