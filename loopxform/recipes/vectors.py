"""Vectors between memories, tiles fetched ahead, offsets in 32 bits, and which work-items are
neighbours."""

from __future__ import annotations

from loopxform.ir.nodes import Copy, Stmt
from loopxform.ir.visit import loops
from loopxform.recipes.limits import Limits
from loopxform.recipes.sizes import Options
from loopxform.recipes.work import Work
from loopxform.transforms import Lanes, Narrow, Pipeline, Vectorise, Version
from loopxform.transforms.vectors import copies, widest


def vectors(w: Work, group: str, options: Options, limits: Limits | None) -> None:
    """Copies move `options.vector` elements at once where they may, in a version of the nest over
    groups where only the sizes say whether they may; offsets have 32 bits in a version where the
    sizes allow it (`options.narrow`); work-items stand in rectangles of `options.lanes`. What the
    options leave open is as `limits` has it, if these are given."""
    narrow, wanted, stages = options.narrow, options.vector, options.stages
    if limits is not None:
        narrow = limits.narrow if narrow is None else narrow
        wanted = limits.at_once if wanted is None else wanted
        stages = limits.stages if stages is None else stages
    first = group
    if narrow:
        w.stage("Offsets in 32 bits")
        first = f"{group}#1" if w.attempt(Narrow(group)) else group
    if wanted is not None and wanted > 1:
        w.stage("Vectors")
        w.attempt(Version(first, str(wanted)))
        for tile in dict.fromkeys(_tiles(w)):
            width = widest(w.fn, tile, wanted)
            while width > 1 and not w.attempt(Vectorise(tile, str(width))):
                width //= 2
    if stages is not None and stages > 1:
        w.stage("Tiles fetched ahead")
        for path in [s.path for s in loops(w.fn) if any(map(_is_tile, s.loop.body))]:
            w.attempt(Pipeline(w.ref(path)))
    rows, columns = options.lanes or (0, 0)
    if rows:
        w.stage("Neighbours in a rectangle")
        w.attempt(Lanes(f"{group}*", str(rows), str(columns)))


def _is_tile(s: Stmt) -> bool:
    return isinstance(s, Copy) and s.collective


def _tiles(w: Work) -> list[str]:
    return [f.copy.target for f in copies(w.fn) if f.copy.collective]
