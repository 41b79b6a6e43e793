"""Compaction: what a condition holds for is written one behind the other.

    if (c) out[k++] = a[i];        if (c) { out[k] = a[i]; idx[k] = i; k += 1; }

Wherever an iteration writes such elements, it counts them in the same list of statements: between
the counts before and after it, so that no other iteration writes them, and nothing reads them.
"""

from __future__ import annotations

from loopxform.analysis.domain import names_of
from loopxform.analysis.idioms.flow import Flow
from loopxform.ir.affine import constant, poly, value_of
from loopxform.ir.nodes import Assign, For, If, Load, Stmt, Var
from loopxform.ir.visit import bodies, loads, stmt_exprs, writes
from loopxform.records import record

WHOLE = 4
"""Bytes of an int: what counts with less may wrap around."""


def is_filled(flow: Flow, array: str, counter: str) -> bool:
    """Whether all that the loop does with an array is to write elements that `counter` counts."""
    written = list(flow.of(array))
    used = [x for s in flow.sites for e in stmt_exprs(s.stmt) for x in loads(e) if x.array == array]
    plain = all(isinstance(s.stmt, Assign) and not s.stmt.op for s in written)
    if not plain or len(used) != len(written):
        return False
    wide = _width(used[0], counter)
    if wide < 1 or not _only_grows(flow, counter):
        return False
    return any(_Filled(array, counter, wide, k).fits(flow.loop.body) for k in (0, 1))


def _only_grows(flow: Flow, counter: str) -> bool:
    """Whether the loop never counts back, nor beyond what the type of the counter holds."""
    type, loop = names_of(flow.fn).types[counter], flow.loop
    sites = list(flow.of(counter))
    steps = [counts(s.stmt, counter) for s in sites]
    if not all(steps) or type.bytes < WHOLE or not isinstance(loop, For):
        return False
    once = steps == [1] and not sites[0].loops and loop.type.bytes <= type.bytes
    return not type.is_unsigned or type.bytes > WHOLE or once


def counts(s: Stmt, counter: str) -> int:
    """By how much a statement counts; 0 where that is no number above 0."""
    match s:
        case Assign(Var(name), value, "+") if name == counter:
            return max(value_of(value) or 0, 0)
        case _:
            return 0


def _width(x: Load, counter: str) -> int:
    """How many elements there are for each one that is counted; 0 where it is not by the count."""
    widths = (poly(i).coefficient(counter).value for i in x.index)
    return next((w for w in widths if w), 0)


@record
class _Filled:
    """An array with elements for each number that is counted, the first of which is the count
    before, or the next one (`out[++k]`)."""

    array: str
    counter: str
    width: int
    first: int

    def fits(self, body: tuple[Stmt, ...]) -> bool:
        """Whether the elements that a list of statements writes are among those that it counts."""
        steps = [counts(s, self.counter) for s in body]
        if not any(steps):
            inner = (x for s in body for x in bodies(s))
            direct = any(isinstance(s, Assign) and self.array in writes((s,)) for s in body)
            return not direct and all(map(self.fits, inner))
        before, begin, end = 0, self.width * self.first, self.width * (self.first + sum(steps))
        for s, step in zip(body, steps):
            if not step and self.counter in writes((s,)):
                return False
            for place in self._places(s):
                if place is None or not begin <= self.width * before + place < end:
                    return False
            before += step
        return True

    def _places(self, s: Stmt) -> list[int | None]:
        """Which elements a statement writes, from that of the count on; None for others."""
        match s:
            case Assign(Load(name, index)) if name == self.array:
                own = constant(self.width) * poly(Var(self.counter))
                found = (poly(i) - own for i in index)
                return [next((x.constant for x in found if x.constant is not None), None)]
            case If() | For():
                return [x for body in bodies(s) for y in body for x in self._places(y)]
            case _:
                return []
