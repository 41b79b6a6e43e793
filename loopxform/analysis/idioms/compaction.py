"""Compaction: what a condition holds for is written one behind the other.

    if (c) out[k++] = a[i];        if (c) { out[k] = a[i]; idx[k] = i; k += 1; }
    if (c) out[--k] = a[i];        if (c) a[k++] = a[i];     in place

Wherever an iteration writes such elements, it counts them in the same list of statements: between
the counts before and after it, so that no other iteration writes them. Nothing reads them; in place
iterations read elements that none has written.
"""

from __future__ import annotations

from loopxform.analysis.domain import names_of
from loopxform.analysis.idioms.flow import Flow, sources
from loopxform.ir.affine import constant, poly, value_of
from loopxform.ir.nodes import Assign, Decl, For, If, Load, Stmt, Var
from loopxform.ir.visit import bodies, enclosing, loads, writes
from loopxform.records import record

WHOLE = 4
"""Bytes of an int: what counts with less may wrap around."""


def is_filled(flow: Flow, array: str, counter: str) -> bool:
    """Whether all that the loop writes of an array are elements that `counter` counts."""
    written = list(flow.of(array))
    targets = [s.stmt.target for s in written if isinstance(s.stmt, Assign)]
    if not all(isinstance(s.stmt, Assign) and not s.stmt.op for s in written) or not targets:
        return False
    first = targets[0]
    wide = _width(first, counter) if isinstance(first, Load) else 0
    down = _counts_down(flow, counter)
    if wide < 1 or not _goes_one_way(flow, counter, down=down):
        return False
    sign = -1 if down else 1
    return any(_Filled(array, counter, wide, k, sign).fits(flow.loop.body) for k in (0, 1))


def is_read(flow: Flow, array: str) -> bool:
    """Whether the loop reads an array."""
    return any(x.array == array for s in flow.sites for e in sources(s.stmt) for x in loads(e))


def _counts_down(flow: Flow, counter: str) -> bool:
    return all(isinstance(s.stmt, Assign) and s.stmt.op == "-" for s in flow.of(counter))


def _goes_one_way(flow: Flow, counter: str, *, down: bool) -> bool:
    """Whether the loop never counts back, nor beyond what the type of the counter holds."""
    type, loop = names_of(flow.fn).types[counter], flow.loop
    sites = list(flow.of(counter))
    steps = [counts(s.stmt, counter, -1 if down else 1) for s in sites]
    if not all(steps) or type.bytes < WHOLE or not isinstance(loop, For):
        return False
    if down:
        return not type.is_unsigned
    once = steps == [1] and not sites[0].loops and loop.type.bytes <= type.bytes
    return not type.is_unsigned or type.bytes > WHOLE or once


def is_in_place(flow: Flow, array: str, counter: str) -> bool:
    """Whether the elements that iterations read of an array they do not write before: only `a[i]`,
    where at most one for each iteration is kept, from no later an element on."""
    loop, sites = flow.loop, list(flow.of(counter))
    lo = value_of(loop.lo) if isinstance(loop, For) and value_of(loop.step) == 1 else None
    start = _start(flow, counter)
    if not isinstance(loop, For) or start is None or lo is None or start > lo:
        return False
    if len(sites) != 1 or sites[0].loops or counts(sites[0].stmt, counter) != 1:
        return False
    read = (x for s in flow.sites for e in sources(s.stmt) for x in loads(e) if x.array == array)
    if not all(x.index == (Var(loop.var),) for x in read) or not is_filled(flow, array, counter):
        return False
    firsts = (k for k in (0, 1) if start + k <= lo)
    return any(_Filled(array, counter, 1, k).fits(loop.body) for k in firsts)


def _start(flow: Flow, counter: str) -> int | None:
    """The number that a counter has in front of the loop, where a statement there says so."""
    *around, at = flow.path
    body = flow.fn.body
    if around:
        parent = enclosing(flow.fn, tuple(around))[-1]
        body = next((b for b in bodies(parent) if flow.loop in b), ())
    at = next((n for n, s in enumerate(body) if s is flow.loop), 0)
    for s in reversed(body[:at]):
        match s:
            case Assign(Var(name), value, "") if name == counter:
                return value_of(value)
            case Assign() | Decl() if counter not in writes((s,)):
                continue
            case _:
                return None
    return None


def counts(s: Stmt, counter: str, sign: int = 1) -> int:
    """By how much a statement counts, up or down as `sign` says; 0 where that is no number above
    0."""
    match s:
        case Assign(Var(name), value, op) if name == counter and op == ("+" if sign > 0 else "-"):
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
    before, or the next one (`out[++k]`); counting down (`sign` is -1) the count itself, or the one
    before (`out[--k]`)."""

    array: str
    counter: str
    width: int
    first: int
    sign: int = 1

    def fits(self, body: tuple[Stmt, ...]) -> bool:
        """Whether the elements that a list of statements writes are among those that it counts."""
        steps = [counts(s, self.counter, self.sign) for s in body]
        if not any(steps):
            inner = (x for s in body for x in bodies(s))
            direct = any(isinstance(s, Assign) and self.array in writes((s,)) for s in body)
            return not direct and all(map(self.fits, inner))
        before, begin, end = 0, self.width * self.first, self.width * (self.first + sum(steps))
        for s, step in zip(body, steps):
            if not step and self.counter in writes((s,)):
                return False
            for place in self._places(s):
                if place is None or not begin <= self._element(before, place) < end:
                    return False
            before += step
        return True

    def _element(self, before: int, place: int) -> int:
        """The number of an element `place` behind the count, `before` which so much was counted."""
        if self.sign > 0:
            return self.width * before + place
        return self.width * (before + 1) - 1 - place

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
