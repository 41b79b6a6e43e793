"""Transactions as `tile` tells them: of each array, where layouts or staging change them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from loopxform.recipes.tile import transactions
from loopxform.recipes.transactions import NOMINAL, SEGMENT
from loopxform.tiled import TiledRoutine


def lines(done: TiledRoutine) -> Iterator[str]:
    """A line for each array and one for all; none where nothing changes, and for devices whose
    work-items do not run in step."""
    before, after = transactions(done.tiled, done.limits.warp)
    if done.limits.warp < 2 or before == after:
        return
    yield f"  transactions           naive -> tiled, {SEGMENT} bytes each, unknown sizes {NOMINAL}"
    arrays = [*before, *(a for a in after if a not in before)]
    width = max(5, *map(len, arrays))
    for a in arrays:
        yield f"    {a:<{width}} {_number(before, a)} -> {_number(after, a)}"
    if len(arrays) > 1:
        totals = ({"total": sum(counts.values())} for counts in (before, after))
        yield f"    {'total':<{width}} " + " -> ".join(_number(t, "total") for t in totals)


UNITS = ("", " k", " M", " G", " T", " P", " E")


def _number(counts: Mapping[str, int], array: str) -> str:
    """Four digits: 16.78 M."""
    n = counts.get(array, 0)
    power = min((len(str(n)) - 1) // 3, len(UNITS) - 1)
    return f"{n / 1000**power:.4g}{UNITS[power]}"
