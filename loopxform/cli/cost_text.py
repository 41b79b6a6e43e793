"""Costs as `tile --show-plan` tells them: the terms of what was taken, the sums of all candidates,
and the waves that tiles of each shape take."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from loopxform.api.tile import TiledRoutine
from loopxform.cli import permission_text
from loopxform.cli.transactions_text import short
from loopxform.ir.permitted import permitted
from loopxform.model.coalescing import NOMINAL
from loopxform.model.cost import Cost, microseconds, operand_packing
from loopxform.model.tile_shapes import ITERATIONS
from loopxform.model.waves import Tiling, packed_shapes, shapes
from loopxform.recipes.candidates import Candidate, candidates
from loopxform.recipes.tile import estimate
from loopxform.recipes.variants import known_iterations
from loopxform.targets.target import Limits
from loopxform.transforms import Dispatch

NAMES = (
    *("global memory", "copies", "local memory", "arithmetic"),
    *("quotients", "quotients by constants", "square roots", "functions", "waves", "launches"),
)


def lines(done: TiledRoutine) -> Iterator[str]:
    """The costs of one nest; none for devices whose work-items do not run in step."""
    limits, fp = done.limits, permitted(done.fp, done.routine.function)
    every = candidates(done.tiled, limits, fp) if limits.warp > 1 else ()
    yield from permission_text.lines(done, every)
    if not every or every[0].cost is None:
        return
    unit = "segments from caches" if microseconds(limits) is None else "us"
    yield f"  cost in {unit}, unknown sizes {NOMINAL}"
    yield from _terms(every[0].cost, limits)
    yield from _sums(every, limits)
    yield from _waves(done)


def _time(time: Fraction, limits: Limits) -> str:
    scale = microseconds(limits)
    if scale is None:
        return short(time)
    us = float(time) * scale
    return f"{us:.0f}" if us >= 1000 else f"{us:.4g}"


def _terms(cost: Cost, limits: Limits) -> Iterator[str]:
    """A line for each term of what was taken: so many, each of which takes so long."""
    rows = [(t.name, short(t.amount), t.unit, t.formula, _time(t.time, limits)) for t in cost.terms]
    a, b, c, d, e = (max(len(r[n]) for r in rows) for n in range(5))
    for name, amount, unit, formula, time in rows:
        yield f"    {name:<{a}}  {amount:>{b}} {unit:<{c}} x {formula:<{d}} = {time:>{e}}"


def _sums(every: Sequence[Candidate], limits: Limits) -> Iterator[str]:
    """A line for each candidate: its terms and their sum, and why it was not taken."""
    used = {t.name for c in every if c.cost for t in c.cost.terms}
    names = [n for n in NAMES if n in used]
    rows = [("candidate", *names, "sum", "")]
    for c in every:
        times = ["-"] * (len(names) + 1)
        if c.cost:
            times = [_time(x, limits) for x in (*(c.cost[n] for n in names), c.cost.time)]
        rows.append((c.name, *times, c.why))
    yield from _table(rows)


def _table(rows: Sequence[tuple[str, ...]]) -> Iterator[str]:
    """The first column to the left, the last as it comes, those between to the right."""
    widths = [max(len(r[n]) for r in rows) for n in range(len(rows[0]) - 1)]
    for name, *numbers, last in rows:
        columns = "  ".join(f"{x:>{w}}" for x, w in zip(numbers, widths[1:]))
        yield f"    {name:<{widths[0]}}  {columns}  {last}".rstrip()


def _waves(done: TiledRoutine) -> Iterator[str]:
    """The shapes of tiles that the host chooses from, and the time of their waves."""
    tiled, limits = done.tiled, done.limits
    steps = (r.step for r in done.derivation.records)
    variants = [v for s in steps if isinstance(s, Dispatch) for v in s.variants]
    in_shapes = tiled.choice.has("register tile") and any(v.cost for v in variants)
    if tiled.fitted is None or not in_shapes:
        return
    loops, needs = tiled.nest.parallel, tiled.fitted.needs
    packed = packed_shapes(tiled.choice, needs, tiled.sizes, limits, loops)
    plain = shapes(tiled.choice, needs, tiled.sizes, {}, limits, loops)
    labels = {v.label for v in variants}
    tilings = [t for t in packed if f"{t.label}, packed operands, async copies" in labels]
    tilings += [t for t in plain if t.label in labels]
    trips = estimate(tiled, limits).trips
    rows = list(_shapes(tilings, [trips[v] for v in loops], known_iterations(tiled.nest), limits))
    title = f"tiles of {limits.compute_units} units"
    times = "wave, start, epilogue"
    yield from _table([(title, "tiles", "waves", times, "sum", ""), *rows])


def _shapes(
    tilings: Sequence[Tiling], trips: Sequence[int], iterations: int, limits: Limits
) -> Iterator[tuple[str, ...]]:
    """A line for each shape, with where its times come from."""
    times = {name for name, *_ in limits.tile_times}
    taken = [t.shape.taken(trips, limits.compute_units, iterations) // ITERATIONS for t in tilings]
    plain = [time for t, time in zip(tilings, taken) if t.buffers == 1]
    for t, time in zip(tilings, taken):
        tiles = t.shape.tiles(trips)
        label = t.label
        waves = str(-(-tiles // limits.compute_units))
        source = "measured" if t.name in times else "modelled"
        note = f"{source}, the quickest of these" if time == min(plain, default=0) else source
        if t.buffers > 1:
            label = f"{t.label}, {t.buffers} buffers"
            iterations = operand_packing(limits)
            note = f"{source}, packed operands, async copies: from {iterations} iterations on"
        yield label, str(tiles), waves, t.shape.numbers, str(time), note
