"""Rows of a pair of accesses: how many iterations they span, and a point where they occur."""

from __future__ import annotations

from collections.abc import Sequence

from loopxform.analysis.dependence import Distance
from loopxform.analysis.directions import OPEN, SAME, Row
from loopxform.analysis.pairs import Witness
from loopxform.analysis.region import Loop
from loopxform.records import slotted


@slotted
class Solution:
    """A row of a pair of accesses, how many iterations it spans, a point where it occurs, and the
    names in that which may not be able to have these values."""

    row: Row
    distance: Distance
    level: int | None
    point: Witness | None = None
    computed: tuple[str, ...] = ()


def _iterations(distance: Distance, loops: Sequence[Loop]) -> Distance:
    """How far the loop variables are apart, as a number of iterations."""
    return tuple(
        d if not d else d // x.step if x.sign and d % x.step == 0 else None
        for d, x in zip(distance, loops)
    )


def joined_rows(a: Row, b: Row) -> Row:
    """One row for the same pattern of two systems."""
    same = (x if x == y else None for x, y in zip(a.distance, b.distance))
    return Row(a.pattern, tuple(same), a.tight or b.tight)


def solution_of(
    row: Row, loops: Sequence[Loop], point: Witness | None = None, computed: tuple[str, ...] = ()
) -> Solution:
    level = next((n for n, d in enumerate(row.pattern) if d != "="), None)
    return Solution(row, _iterations(row.distance, loops), level, point, computed)


def any_direction(n: int, private: int, *, forward: bool) -> list[Row]:
    """Every direction a pair with `n` common loops can have, none of them proven; iterations of the
    outer `private` ones have objects of their own."""
    levels = range(private, n)
    rows = [Row((*SAME * k, "<", *OPEN * (n - k - 1)), (None,) * n, False) for k in levels]
    return [*rows, Row(SAME * n, (0,) * n, False)] if forward else rows
