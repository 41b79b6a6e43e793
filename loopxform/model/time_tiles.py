"""Tiles in time: how many steps of a loop over time a pass computes, and the work-items of a group.

More steps a pass move fewer bytes, but a tile computes more that belongs to its neighbours, and
needs more registers and local memory (`model.streams`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product

from loopxform.ir.nodes import Function
from loopxform.ir.typing import symbols
from loopxform.ir.visit import LoopSite, loads
from loopxform.model.streams import StreamModel, Tile, tiles
from loopxform.targets.target import Limits
from loopxform.transforms.overlapped.clock import runs
from loopxform.transforms.overlapped.passes import Passes
from loopxform.transforms.overlapped.refusal import NotStages
from loopxform.transforms.overlapped.stages import period
from loopxform.transforms.overlapped.templates import stages_of

STEPS = (2, 3, 4, 6, 8, 12, 16)
"""Steps that are tried."""

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
    timed: list[tuple[float, Tile]] = []
    reads = sum(1 for t in found for e in t.values for _ in loads(e))
    most = min(MOST_STAGES // len(found), MOST_READS // max(1, reads))
    for steps, in_step in product((n for n in STEPS if n <= most), (False, True)):
        kind = {"reassociate": reassociate, "in_step": in_step}
        try:
            passes = Passes.of(fn, site.loop, found, steps, **kind)
        except NotStages:
            continue
        model = StreamModel(passes.flow, found, passes.carried, symbols(fn), limits)
        for tile in tiles(passes.stream.rank):
            time = model.time(tile)
            if time is not None and time < model.untiled().time:
                timed.append((time / steps, replace(tile, steps=steps, in_step=in_step)))
    yield from (tile for _, tile in sorted(timed, key=lambda x: x[0]))
