"""Transactions as `tile` tells them: of each array, where layouts or staging change them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction

from loopxform.api.tile import TiledRoutine
from loopxform.ir.nodes import Decl
from loopxform.ir.stand_ins import is_view
from loopxform.model.coalescing import NOMINAL, Counts, Estimate
from loopxform.model.layouts import one_each
from loopxform.recipes.tile import estimate
from loopxform.recipes.tiled import Tiled
from loopxform.schedule.params import KINDS
from loopxform.targets.target import Limits


def lines(done: TiledRoutine) -> Iterator[str]:
    """A line for each array and one for all; none where nothing changes, and for devices whose
    work-items do not run in step."""
    before, after = transactions(done.tiled, done.limits)
    if before == after or done.limits.warp == 1:
        return
    each = f"{done.limits.costs.segment} bytes each, unknown sizes {NOMINAL}"
    yield f"  transactions           naive -> tiled, {each}"
    arrays = [*before, *(a for a in after if a not in before)]
    width = max(5, *map(len, arrays))
    for a in arrays:
        yield f"    {a:<{width}} {_number(before, a)} -> {_number(after, a)}"
    if len(arrays) > 1:
        totals = ({"total": sum(counts.values())} for counts in (before, after))
        yield f"    {'total':<{width}} " + " -> ".join(_number(t, "total") for t in totals)


def transactions(done: Tiled, limits: Limits) -> tuple[Counts, Counts]:
    """The transactions of each array: with one work-item for each iteration, and as tiled, copies
    in other layouts included. Nothing where the reduction is split: there are kernels that the
    estimate knows nothing of."""
    if done.plain is None:
        return {}, {}
    sizes, after = KINDS["naive"].tiles.numbers, estimate(done, limits)
    naively = Estimate(done.plain, one_each(done.plain, sizes, limits), sizes, limits)
    fn = done.nest.function
    views = {s.name: s.like for s in fn.body if isinstance(s, Decl) and s.like and is_view(fn, s)}
    counts = {views.get(name, name): count for name, count in after.counts.items()}
    for array, target in done.copied:
        for name in (array, target):
            counts[name] = counts.get(name, 0) + after.copied(array) // 2
    return naively.counts, counts


UNITS = ("", " k", " M", " G", " T", " P", " E")


def _number(counts: Mapping[str, int], array: str) -> str:
    return short(counts.get(array, 0))


def short(n: int | Fraction) -> str:
    """Four digits: 16.78 M."""
    power = min((len(str(int(n))) - 1) // 3, len(UNITS) - 1)
    return f"{float(n / 1000**power):.4g}{UNITS[power]}"
