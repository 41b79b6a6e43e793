"""Which neighbouring stages become one kernel, and its tile.

The nests are cut into runs that take the least time together: each run one kernel, or every nest of
it as it is (dynamic programming over the cuts; seed 002, algorithm 1).
"""

from __future__ import annotations

from collections.abc import Sequence

from loopxform.analysis.verdict import LoopVerdict
from loopxform.ir.nodes import Function
from loopxform.ir.typing import symbols
from loopxform.ir.visit import Path
from loopxform.model.streams import StreamModel, Tile, tiles
from loopxform.records import record
from loopxform.targets.target import Limits
from loopxform.transforms.overlapped.fuse_stages import Group
from loopxform.transforms.overlapped.refusal import NotStages

LONGEST = 16
"""Nests of a kernel: its text has each of them twice."""


@record
class Cut:
    """Nests from `first` on that become one kernel, and the tiles that it may have, the one that
    takes the least time first."""

    first: int
    count: int
    tiles: tuple[Tile, ...]

    @property
    def tile(self) -> Tile:
        return self.tiles[0]


def cuts(
    fn: Function,
    paths: Sequence[Path],
    verdicts: dict[Path, LoopVerdict],
    limits: Limits,
    asked: tuple[Tile, ...] = (),
    *,
    reassociate: bool = False,
) -> list[Cut]:
    """The runs of neighbouring nests at `paths` that are fused, with the tile that is `asked` for
    or the one that takes the least time: none where a device runs work-items one by one."""
    if limits.warp == 1 and not asked:
        return []
    best: list[tuple[float, list[Cut]]] = [(0.0, [])]
    for end in range(1, len(paths) + 1):
        options: list[tuple[float, list[Cut]]] = []
        for count in range(1, min(end, LONGEST) + 1):
            before, known = best[end - count]
            try:
                nests = tuple(paths[end - count : end])
                found = _fused(
                    fn, Group.of(fn, nests, verdicts, reassociate=reassociate), limits, asked
                )
            except NotStages:
                found = None
            if found is None:
                if count == 1:
                    options.append((before, known))
                continue
            alone, timed = found
            if count == 1:
                options.append((before + alone, known))
            if timed:
                cut = Cut(end - count, count, tuple(tile for _, tile in timed))
                options.append((before + timed[0][0], [*known, cut]))
        best.append(min(options, key=lambda x: x[0]))
    return best[-1][1]


def _fused(
    fn: Function, group: Group, limits: Limits, asked: tuple[Tile, ...]
) -> tuple[float, list[tuple[float, Tile]]]:
    """What nests take each on its own, and as one kernel with each tile that fits, the best
    first."""
    model = StreamModel(group.flow, group.templates, group.stored, symbols(fn), limits)
    again = any((*group.stream.low, *group.stream.high))
    tried = (asked or tiles(group.stream.rank)) if again or len(group.nests) > 1 else ()
    timed = [(time, tile) for tile in tried if (time := model.time(tile)) is not None]
    return model.untiled(), sorted(timed, key=lambda x: x[0])
