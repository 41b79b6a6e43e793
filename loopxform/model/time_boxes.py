"""Boxes in time: how many steps a pass computes, and how large a tile is (step `time-boxes`).

On a GPU a work-item takes every nth element of a box, in local memory. On a CPU a thread runs a
tile: its boxes stay in the cache of a core, and a row of them is as long as streams of memory and
vectors need.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import product
from math import prod

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

SIZES = ((1024,), (2048,), (4096,))
"""Elements of a tile of one dimension that are tried on a GPU."""

ON_CPU: dict[int, tuple[tuple[int, ...], ...]] = {
    1: tuple((1024 << n,) for n in range(7)),
    2: tuple(product((32, 64, 128, 256), (128, 256, 512))),
}
"""Those that are tried on a CPU, by the dimensions: rows are several vectors long. Boxes of three
dimensions that fit a cache took two to three times as long as the steps one by one."""

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
    """Those of arrays of one dimension on a GPU, or of any on a CPU whose cache is known, the ones
    that take less time a step first; none where the steps take less one by one."""
    on_cpu = limits.warp == 1
    room = limits.core_cache if on_cpu else limits.local_bytes
    timed: list[tuple[float, BoxTile]] = []
    for passes in _passes(fn, site):
        if not on_cpu and passes.stream.rank != 1:
            continue
        for sizes in ON_CPU.get(passes.stream.rank, ()) if on_cpu else SIZES:
            tile = BoxTile(sizes, 1 if on_cpu else ITEMS, passes.steps)
            time = _time(fn, passes, tile, limits, room)
            if time is not None:
                timed.append((time, tile))
    least = min((time for time, _ in timed), default=0.0)
    same = least if on_cpu else NEAR * least
    near = sorted(timed, key=lambda x: (x[0] > same, -x[1].steps, x[0]))
    yield from (tile for _, tile in near)


def _passes(fn: Function, site: LoopSite) -> Iterator[Passes]:
    """Passes of several numbers of steps."""
    try:
        found = stages_of(fn, site)
    except NotStages:
        return
    for steps in (n for n in (*STEPS, 24, 32) if n * len(found) <= MOST_STAGES):
        try:
            yield Passes.of(fn, site.loop, found, steps, boxed=True)
        except NotStages:
            continue


def _time(fn: Function, passes: Passes, tile: BoxTile, limits: Limits, room: int) -> float | None:
    """Multiply-adds for an element in a step; None where a tile does not fit, or the steps take
    less one by one."""
    types, costs, stream = symbols(fn), limits.costs, passes.stream
    bytes = {v.field: types[v.field.array].bytes for v in stream.versions}
    largest = _extent(tile, stream.low, stream.high)
    if largest * sum(bytes.values()) > room or limits.group_size < tile.items:
        return None
    work, alone = 0.0, 0.0
    byte = limits.core_balance if tile.items == 1 else costs.balance / 2
    for t in passes.templates:
        words = types[t.target.array].bytes / FLOAT.bytes
        read = sum(1 for e in t.values for _ in loads(e))
        own = arithmetic(t, types, limits)
        waiting = costs.row * tile.items / prod(tile.sizes) if tile.items > 1 else 0
        work += own + words * costs.shared_word * (read + 1) + waiting
        sources = {x.array for e in t.values for x in loads(e)}
        moved = sum(types[n].bytes for n in sources) + types[t.target.array].bytes
        alone += max(moved * byte / costs.stencil_bandwidth, own)
    others = {x.array for t in passes.templates for e in t.values for x in loads(e)}
    others -= {f.array for f in bytes}
    moved = sum(bytes[v.field] for v in stream.inputs) + sum(bytes[f] for f in passes.carried)
    memory = (moved / passes.steps + sum(types[n].bytes for n in others)) * byte
    written = [v for v in stream.versions if v.pieces]
    every = sum(_extent(tile, v.low, v.high) for v in written) / len(written)
    more = every / prod(tile.sizes)
    bound = work + memory if tile.items == 1 else max(work, memory)
    time = bound * more
    return time if time < alone else None


def _extent(tile: BoxTile, low: Iterable[int], high: Iterable[int]) -> int:
    return prod(n + a + b for n, a, b in zip(tile.sizes, low, high))
