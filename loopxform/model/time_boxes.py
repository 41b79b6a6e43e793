"""Boxes in time: how many steps a pass computes, and how large a tile is (step `time-boxes`).

On a GPU a work-item takes every nth element of a box, in local memory. On a CPU a thread runs a
tile: its boxes stay in the cache of a core, and a row of them is as long as streams of memory and
vectors need.
"""

from __future__ import annotations

from collections.abc import Iterator

from loopxform.ir.nodes import Function
from loopxform.ir.types import FLOAT
from loopxform.ir.typing import symbols
from loopxform.ir.visit import LoopSite, loads
from loopxform.model.streams import arithmetic
from loopxform.model.time_tiles import MOST_STAGES, STEPS
from loopxform.records import record
from loopxform.targets.target import Limits
from loopxform.transforms.overlapped.passes import Passes
from loopxform.transforms.overlapped.refusal import NotStages
from loopxform.transforms.overlapped.templates import stages_of

SIZES = (1024, 2048, 4096)
"""Elements of a tile of one dimension that are tried."""

ITEMS = 256
"""Work-items of a group."""


NEAR = 1.05
"""Times that are taken for the same: then more steps a pass are better, as launches are fewer."""


@record
class BoxTile:
    """The elements that a tile stores along each dimension, the work-items of a group, and the
    steps of a pass."""

    sizes: tuple[int, ...]
    items: int = 1
    steps: int = 1

    @property
    def option(self) -> str:
        """As options have it, without the steps."""
        return "x".join(map(str, (*self.sizes, self.items)))

    @property
    def text(self) -> str:
        """As reports have it."""
        return f"boxes of {'x'.join(map(str, self.sizes))}, {self.items} items"


def boxes(fn: Function, site: LoopSite, limits: Limits) -> Iterator[BoxTile]:
    """Those of arrays of one dimension on a GPU, the ones that take less time a step first; none
    where the steps take less one by one."""
    if limits.warp == 1:
        return
    timed: list[tuple[float, BoxTile]] = []
    for passes in _passes(fn, site):
        for size in SIZES:
            time = _time(fn, passes, size, limits)
            if time is not None:
                timed.append((time, BoxTile((size,), ITEMS, passes.steps)))
    least = min((time for time, _ in timed), default=0.0)
    near = sorted(timed, key=lambda x: (x[0] > NEAR * least, -x[1].steps, x[0]))
    yield from (tile for _, tile in near)


def _passes(fn: Function, site: LoopSite) -> Iterator[Passes]:
    """Passes of several numbers of steps over arrays of one dimension."""
    try:
        found = stages_of(fn, site)
    except NotStages:
        return
    for steps in (n for n in (*STEPS, 24, 32) if n * len(found) <= MOST_STAGES):
        try:
            passes = Passes.of(fn, site.loop, found, steps, boxed=True)
        except NotStages:
            continue
        if passes.stream.rank == 1:
            yield passes


def _time(fn: Function, passes: Passes, size: int, limits: Limits) -> float | None:
    """Multiply-adds for an element in a step; None where a tile does not fit, or the steps take
    less one by one."""
    types, costs, stream = symbols(fn), limits.costs, passes.stream
    extent = size + stream.low[0] + stream.high[0]
    fields = {v.field for v in stream.versions}
    bytes = {f: types[f.array].bytes for f in fields}
    if extent * sum(bytes.values()) > limits.local_bytes or limits.group_size < ITEMS:
        return None
    work, alone = 0.0, 0.0
    for t in passes.templates:
        words = types[t.target.array].bytes / FLOAT.bytes
        read = sum(1 for e in t.values for _ in loads(e))
        own = arithmetic(t, types, limits)
        work += own + words * costs.shared_word * (read + 1) + costs.row * ITEMS / size
        sources = {x.array for e in t.values for x in loads(e)}
        moved = sum(types[n].bytes for n in sources) + types[t.target.array].bytes
        alone += max(moved * costs.balance / 2 / costs.stencil_bandwidth, own)
    others = {x.array for t in passes.templates for e in t.values for x in loads(e)}
    others -= {f.array for f in fields}
    moved = sum(bytes[v.field] for v in stream.inputs) + sum(bytes[f] for f in passes.carried)
    memory = (moved / passes.steps + sum(types[n].bytes for n in others)) * costs.balance / 2
    time = max(work, memory) * extent / size
    return time if time < alone else None
