"""Which elements the iterations of a loop have for themselves, as an array of starts says: `Rows`.

    for r: for k = p[r] .. p[r + 1]: y[k] = ...        rows from start to start
    for r: for i = 0 .. n: y[p[r] + i] += ...          rows of one length (`rows_of_one_length`)

Where the starts ascend, by the length of a row if that is given, no two rows have elements in
common.
"""

from __future__ import annotations

from typing import Protocol

from loopxform.ir.affine import poly, value_of
from loopxform.ir.nodes import Bin, Const, Expr, For, Function, Load, Var
from loopxform.ir.typing import symbols
from loopxform.ir.visit import (
    Path,
    along,
    declared,
    loads,
    names,
    substitute,
    walk,
    writes,
)
from loopxform.records import record


class Rows(Protocol):
    """The rows of a loop that counts upwards by 1."""

    @property
    def array(self) -> str:
        """The array of starts."""
        ...

    @property
    def begin(self) -> Expr:
        """The first iteration that is asked."""
        ...

    def ascends(self, var: str) -> Expr:
        """Whether the rows of the iteration `var` and of its neighbour stand in order."""
        ...

    def holds(self, path: Path, index: Expr) -> bool:
        """Whether a subscript at `path` in the body is always in the row of the iteration."""
        ...


def moving(loop: For) -> frozenset[str]:
    """What an iteration changes."""
    inside = {s.var for _, s in walk(loop.body) if isinstance(s, For)}
    return frozenset(writes(loop.body) | declared(loop.body).keys() | inside)


# ---------------------------------------------------------------- from start to start


@record
class _Started:
    """Where a row begins, and where the next one does; the loops over rows, each with how far
    behind these it begins and ends."""

    loop: For
    start: Load
    end: Load
    loops: tuple[tuple[Path, int, int], ...]

    @property
    def array(self) -> str:
        return self.start.array

    @property
    def begin(self) -> Expr:
        return self.loop.lo

    def ascends(self, var: str) -> Expr:
        first, last = (substitute(x, {self.loop.var: Var(var)}) for x in (self.start, self.end))
        return Bin("<=", first, last)

    def holds(self, path: Path, index: Expr) -> bool:
        """Whether it is k + c, between the ends of the row."""
        for place, behind, beyond in self.loops:
            inner = along(self.loop.body, place)[-1]
            assert isinstance(inner, For)
            if path[: len(place)] != place or path == place or inner.var in writes(inner.body):
                continue
            gap = (poly(index) - poly(Var(inner.var))).value
            if gap is not None and behind + gap >= 0 and beyond + gap <= 0:
                return True
        return False


def started_rows(fn: Function, loop: For) -> _Started | None:
    """The rows of a loop that counts upwards by 1, each iteration of which certainly reads where
    its row begins and ends; with unsigned starts none that begins or ends before these, as that may
    wrap around."""
    if value_of(loop.step) != 1:
        return None
    types, changed = symbols(fn), moving(loop)
    found: dict[str, tuple[Load, Load]] = {}
    inside: dict[str, list[tuple[Path, int, int]]] = {}
    for path, s in walk(loop.body):
        ends = _ends(s, loop.var, changed) if isinstance(s, For) else None
        if ends is None or not isinstance(s, For):
            continue
        start, end, behind, beyond = ends
        kind = types[start.array]
        same = kind.is_unsigned == s.type.is_unsigned and kind.bytes <= s.type.bytes
        known = found.setdefault(start.array, (start, end))
        whole = not kind.is_unsigned or (behind >= 0 and beyond >= 0)
        if same and whole and kind.is_integer and _is_same(known[0], start):
            inside.setdefault(start.array, []).append((path, behind, beyond))
    surely = (a for a, places in inside.items() if any(len(p) == 1 for p, _, _ in places))
    array = next(surely, None)
    return None if array is None else _Started(loop, *found[array], tuple(inside[array]))


def _ends(s: For, var: str, changed: frozenset[str]) -> tuple[Load, Load, int, int] | None:
    """p[r], p[r + 1], and how far behind them a loop begins and ends."""
    step = value_of(s.step)
    if step not in (1, -1):
        return None
    low, high = (s.lo, s.hi) if step == 1 else (s.hi, s.lo)
    shift = 0 if step == 1 else 1
    first, last = list(loads(low)), list(loads(high))
    if len(first) != 1 or len(last) != 1 or first[0].array != last[0].array:
        return None
    (start,), (end,) = first, last
    if len(start.index) != 1 or (names(start) | names(end)) & changed:
        return None
    behind, beyond = ((poly(a) - poly(b)).value for a, b in ((low, start), (high, end)))
    gap = (poly(end.index[0]) - poly(start.index[0])).value
    following = substitute(start.index[0], {var: Bin("+", Var(var), Const(1))})
    along = (poly(following) - poly(start.index[0])).value
    if behind is None or beyond is None or gap != 1 or along != 1:
        return None
    return start, end, behind + shift, beyond + shift


def _is_same(x: Load, y: Load) -> bool:
    return x.array == y.array and poly(x.index[0]) == poly(y.index[0])
