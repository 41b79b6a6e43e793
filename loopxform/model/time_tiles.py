"""Tiles in time: how many steps of a loop over time a pass computes, and the work-items of a group.

More steps a pass move fewer bytes, but a tile computes more that belongs to its neighbours, and
needs more registers and local memory (`model.streams`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from math import inf

from loopxform.ir.nodes import Function
from loopxform.ir.typing import symbols
from loopxform.ir.visit import LoopSite, loads
from loopxform.model.streams import ITEMS, StreamModel, Tile, tiles
from loopxform.targets.target import Limits
from loopxform.transforms.overlapped.clock import runs
from loopxform.transforms.overlapped.passes import Passes
from loopxform.transforms.overlapped.refusal import NotStages
from loopxform.transforms.overlapped.stages import period
from loopxform.transforms.overlapped.templates import Template, stages_of

STEPS = (2, 3, 4, 6, 8, 12, 16)
"""Steps that are tried."""

STEPS_OF_SUMS = (*STEPS, 10)
"""And where sums are computed row by row, so that less is kept of a step."""

MOST_IN_STEP = 10
"""Steps of a pass whose work-items wait after each stage: 12 took 1.04 of the time of 10."""

MOST_STAGES = 48
"""Stages of a pass: the text of a kernel has each of them three times."""

MOST_READS = 1024
"""Elements that the stages of a pass read, each where it is written."""


LEFT_OVER = 4
"""How many times as many steps a pass has as those for what it leaves over."""


def numbers_of_steps(fn: Function, site: LoopSite, steps: int) -> tuple[int, ...]:
    """Those of the passes of a loop: `steps`, and fewer for what is left over."""
    try:
        turn = period(stages_of(fn, site), runs(fn, site.loop)[0])
    except NotStages:
        return (steps,)
    fewer = steps // LEFT_OVER // turn * turn
    return (steps, fewer) if fewer > 1 else (steps,)


def shapes(
    fn: Function, site: LoopSite, limits: Limits, *, reassociate: bool = False
) -> Iterator[Tile]:
    """Those that fit the device, the ones that take less time a step first; none where the steps
    take less one by one, and where a device runs work-items one by one."""
    if limits.warp == 1:
        return
    try:
        found = stages_of(fn, site)
    except NotStages:
        return
    reads = sum(1 for t in found for e in t.values for _ in loads(e))
    most = min(MOST_STAGES // len(found), MOST_READS // max(1, reads))
    timed: dict[Tile, tuple[float, Tile]] = {}
    tried = (n for n in (STEPS_OF_SUMS if reassociate else STEPS) if n <= most)
    for steps, in_step in product(tried, (False, True)):
        model = _model(fn, site, limits, found, steps, reassociate=reassociate, in_step=in_step)
        if model is None or model.flow.rank not in ITEMS:
            continue
        for tile in tiles(model.flow.rank, in_step=in_step):
            time, plain = model.time(tile), replace(tile, steps=steps)
            if time is not None and time < model.untiled().time:
                other = timed.get(plain, (time / steps, plain))
                mine = time / steps, replace(plain, in_step=in_step)
                timed[plain] = min(mine, other, key=lambda x: x[0])
    yield from (tile for _, tile in sorted(timed.values(), key=lambda x: x[0]))


def as_pays(fn: Function, site: LoopSite, limits: Limits, tile: Tile, *, reassociate: bool) -> Tile:
    """A tile of which nobody said whether its work-items are in step: as `shapes` would have it."""
    if not reassociate or tile not in _plain(tiles(1 + len(tile.items), in_step=True), tile):
        return tile
    try:
        found = stages_of(fn, site)
    except NotStages:
        return tile
    times: list[float] = []
    for in_step in (False, True):
        model = _model(fn, site, limits, found, tile.steps, reassociate=True, in_step=in_step)
        time = None if model is None else model.time(tile)
        times.append(inf if time is None else time)
    return replace(tile, in_step=times[1] < times[0])


def _plain(every: Iterator[Tile], like: Tile) -> Iterator[Tile]:
    """Tiles with as many rows and steps as another."""
    return (replace(tile, rows=like.rows, steps=like.steps) for tile in every)


def _model(
    fn: Function,
    site: LoopSite,
    limits: Limits,
    found: tuple[Template, ...],
    steps: int,
    *,
    reassociate: bool,
    in_step: bool,
) -> StreamModel | None:
    """What passes of so many steps take; None where there are none."""
    if in_step and (steps > MOST_IN_STEP or not reassociate):
        return None
    kind = {"reassociate": reassociate, "in_step": in_step}
    try:
        passes = Passes.of(fn, site.loop, found, steps, **kind)
    except NotStages:
        return None
    if in_step and not any(v.split for v in passes.flow(1).versions):
        return None  # as many elements are kept as otherwise
    return StreamModel(passes.flow, found, passes.carried, symbols(fn), limits)
