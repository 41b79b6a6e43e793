"""Which values the elements of arrays may have so that every subscript computed from them stays
inside its array.

    x[idx[i]], j = idx[i]; x[j]                       elements of idx lie in 0 .. extent of x - 1
    for (e = row[i]; e < row[i+1]; e++) x[e]          those of row in 0 .. extent of x, ascending

A subscript is followed back through scalars, `?:`, sums with known numbers and loop bounds to the
elements it is made of. A subscript that no data decide is left alone. What cannot be followed is
refused: the user gives the values then.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

from loopxform.analysis.accesses import touched
from loopxform.errors import UsageError
from loopxform.ir.nodes import (
    Bin,
    Cast,
    Expr,
    For,
    Function,
    If,
    Load,
    Select,
    Stmt,
    Var,
)
from loopxform.ir.printer import expr_text
from loopxform.ir.visit import loads, names, stmt_exprs, walk, writes
from loopxform.verify.known import Facts, Guards, Known, counts_down, is_fixed
from loopxform.verify.ranges import ANY, Interval, of_type
from loopxform.verify.values import Values


def needs(
    fn: Function,
    scalars: Mapping[str, float],
    extents: Mapping[str, tuple[int, ...]],
    given: Mapping[str, Values],
    floats: Interval,
) -> dict[str, Values]:
    """The values of the arrays of `fn` whose elements decide subscripts, for these numbers and
    extents. Those of the arrays in `given` are the user's choice; other floats lie in `floats`.
    Raises UsageError where those of another cannot be told, or the given ones do not fit.
    """
    search = _Search(Known(fn, scalars, extents, given, floats))
    for s, around in _statements(fn.body):
        for whole in stmt_exprs(s):
            for e, guards in touched(whole):
                if isinstance(e, Load):
                    search.load(e, (*around, *guards))
    ascending = _row_bounds(fn)
    return {a: Values(within, a in ascending) for a, within in search.found.items()}


def _statements(body: tuple[Stmt, ...], around: Guards = ()) -> Iterator[tuple[Stmt, Guards]]:
    """Every statement with the conditions around it."""
    for s in body:
        yield s, around
        match s:
            case For():
                yield from _statements(s.body, _unchanged(around, s.body))
            case If(cond, then, orelse):
                for part, holds in ((then, True), (orelse, False)):
                    yield from _statements(part, _unchanged((*around, (cond, holds)), part))
            case _:
                pass


def _unchanged(guards: Guards, body: tuple[Stmt, ...]) -> Guards:
    """The conditions on what a body does not change."""
    changed = writes(body) | {s.var for _, s in walk(body) if isinstance(s, For)}
    return tuple(g for g in guards if not names(g[0]) & changed)


def _row_bounds(fn: Function) -> set[str]:
    """Arrays whose elements are both the start and the end of a loop."""
    found = set()
    for _, s in walk(fn.body):
        if isinstance(s, For):
            found |= {x.array for x in loads(s.lo)} & {x.array for x in loads(s.hi)}
    return found


class _Search:
    def __init__(self, known: Known) -> None:
        self.known = known
        self.found: dict[str, Interval] = {}

    def load(self, e: Load, guards: Guards) -> None:
        """Every subscript of an access is inside its dimension."""
        for index, extent in zip(e.index, self.known.extents.get(e.array, ())):
            size = ANY if extent is None else self.known.interval(extent, ())
            if size.is_point and not guards:
                self._scalar(e, index, size.high)
            if size.is_point and self.known.elements(index):
                facts = self.known.facts_of(guards)
                self._need(index, Interval(0, size.high - 1), facts, index, ())

    def _scalar(self, e: Load, index: Expr, size: float) -> None:
        """A subscript that only the scalars of the function decide."""
        if not names(index) <= self.known.scalars.keys() - self.known.values.keys():
            return
        found = self.known.interval(index, ())
        if size > 0 and found.is_point and not 0 <= found.low < size:
            place = ", ".join(expr_text(i) for i in e.index)
            raise UsageError(
                f"{e.array}[{place}] is outside of {e.array}: {expr_text(index)} is "
                f"{found.low:g}, and there are {size:g}",
                loc=e.origin.loc,
                code="LX064",
                help="give other numbers",
            )

    def _need(
        self, e: Expr, want: Interval, facts: Facts, whole: Expr, seen: tuple[str, ...]
    ) -> None:
        """`e` must lie in `want`, so that `whole` is inside its array."""
        if want.holds(self.known.interval(e, facts)) or not self.known.elements(e):
            return
        match e:
            case Load(array):
                self._element(array, want, whole, seen)
            case Var(name) if name in self.known.loops and name not in seen:
                for loop in self.known.loops[name]:
                    self._loop(loop, want, whole, (*seen, name))
            case Var(name) if name in self.known.values and name not in seen:
                for value in self.known.values[name]:
                    self._need(value, want, (), whole, (*seen, name))
            case Select(cond, then, orelse):
                for part, holds in ((then, True), (orelse, False)):
                    new = (*facts, *self.known.facts_of(((cond, holds),)))
                    self._need(part, want, new, whole, seen)
            case Cast(t, operand) if t.is_integer and self.known.type_of(operand).is_integer:
                self._need(operand, want.both(of_type(t)), facts, whole, seen)
            case Bin("min" | "max", left, right):
                self._need(left, want, facts, whole, seen)
                self._need(right, want, facts, whole, seen)
            case Bin():
                self._operand(e, want, facts, whole, seen)
            case _:
                self._refuse(whole)

    def _operand(
        self, e: Bin, want: Interval, facts: Facts, whole: Expr, seen: tuple[str, ...]
    ) -> None:
        """The operand that is not known makes up for the one that is."""
        left, right = self.known.interval(e.left, facts), self.known.interval(e.right, facts)
        low, high = want.low, want.high
        match e.op:
            case "+" if right.is_finite:
                inside = Interval(low - right.low, high - right.high)
                self._need(e.left, inside, facts, whole, seen)
            case "+" if left.is_finite:
                inside = Interval(low - left.low, high - left.high)
                self._need(e.right, inside, facts, whole, seen)
            case "-" if right.is_finite:
                inside = Interval(low + right.high, high + right.low)
                self._need(e.left, inside, facts, whole, seen)
            case "-" if left.is_finite:
                inside = Interval(left.high - high, left.low - low)
                self._need(e.right, inside, facts, whole, seen)
            case "*" if right.is_point and right.low > 0:
                inside = Interval(low / right.low, high / right.low)
                self._need(e.left, _integers(inside), facts, whole, seen)
            case "*" if left.is_point and left.low > 0:
                inside = Interval(low / left.low, high / left.low)
                self._need(e.right, _integers(inside), facts, whole, seen)
            case "/" if right.is_point and right.low > 0 and low >= 0:
                inside = Interval(low * right.low, high * right.low + right.low - 1)
                self._need(e.left, inside, facts, whole, seen)
            case "%" if right.is_point and 0 < right.low <= high + 1 and low <= 0:
                self._need(e.left, Interval(low=0), facts, whole, seen)
            case _:
                self._refuse(whole)

    def _loop(self, loop: For, want: Interval, whole: Expr, seen: tuple[str, ...]) -> None:
        """Every value that a loop variable takes is wanted."""
        down = counts_down(loop)
        first, past = (loop.hi, loop.lo) if down else (loop.lo, loop.hi)
        self._need(first, Interval(low=want.low - down), (), whole, seen)
        self._need(past, Interval(high=want.high + 1 - down), (), whole, seen)

    def _element(self, array: str, want: Interval, whole: Expr, seen: tuple[str, ...]) -> None:
        """Every element of an array is wanted: those that are written, and those it starts with."""
        for value in self.known.values.get(array, ()):
            if array in seen:
                self._refuse(whole)
            self._need(value, want, (), whole, (*seen, array))
        param = self.known.params.get(array)
        if param is None or is_fixed(param):
            return
        if array in self.known.given:
            low, high = want.low, want.high
            raise UsageError(
                f"an element of {array} is a subscript, and only {low:g} to {high:g} are inside "
                "the array it is for",
                loc=param.origin.loc,
                code="LX065",
                help=f"--input {array}={low:g}:{high + 1:g}",
            )
        if not param.type.is_integer:
            self._refuse(whole)
        self.found[array] = self.found.get(array, self.known.drawn(param)).both(want)

    def _refuse(self, whole: Expr) -> None:
        arrays = sorted(self.known.elements(whole) & self.known.params.keys())
        known = [a for a in arrays if a in self.known.given]
        if known and known == arrays:
            return
        array = next(a for a in arrays if a not in self.known.given)
        raise UsageError(
            f"which elements of {array} keep a subscript inside its array cannot be told",
            loc=self.known.params[array].origin.loc,
            code="LX065",
            help=f"give their least value and one past the greatest: --input {array}=0:8",
        )


def _integers(x: Interval) -> Interval:
    """The whole numbers of an interval."""
    low = math.ceil(x.low) if math.isfinite(x.low) else x.low
    return Interval(low, math.floor(x.high) if math.isfinite(x.high) else x.high)
