"""Tiles in time: how many steps of a loop over time a pass computes, and the work-items of a group.

More steps a pass move fewer bytes, but a tile computes more that belongs to its neighbours, and
needs more registers and local memory (`model.streams`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from loopxform.ir.nodes import Function
from loopxform.ir.typing import symbols
from loopxform.ir.visit import LoopSite
from loopxform.model.streams import StreamModel, Tile, tiles
from loopxform.targets.target import Limits
from loopxform.transforms.overlapped.passes import Passes
from loopxform.transforms.overlapped.refusal import NotStages
from loopxform.transforms.overlapped.templates import stages_of

STEPS = (2, 3, 4, 6, 8, 12, 16)
"""Steps that are tried."""

MOST_STAGES = 48
"""Stages of a pass: the text of a kernel has each of them twice."""


def shapes(fn: Function, site: LoopSite, limits: Limits) -> Iterator[Tile]:
    """Those that fit the device, the ones that take less time a step first; none where the steps
    take less one by one, and where a device runs work-items one by one."""
    if limits.warp == 1:
        return
    try:
        found = stages_of(fn, site)
    except NotStages:
        return
    timed: list[tuple[float, Tile]] = []
    for steps in (n for n in STEPS if n * len(found) <= MOST_STAGES):
        try:
            passes = Passes.of(fn, site.loop, found, steps)
        except NotStages:
            continue
        model = StreamModel(passes.flow, found, passes.carried, symbols(fn), limits)
        for tile in tiles(passes.stream.rank):
            time = model.time(tile)
            if time is not None and time < model.untiled():
                timed.append((time / steps, replace(tile, steps=steps)))
    yield from (tile for _, tile in sorted(timed, key=lambda x: x[0]))
