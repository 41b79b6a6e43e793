"""Vectors between memories, tiles fetched ahead, offsets in 32 bits, and which work-items are
neighbours."""

from __future__ import annotations

from dataclasses import replace

from loopxform.ir.nodes import Copy, Stmt
from loopxform.ir.visit import loops, resolve
from loopxform.recipes.choice import Choice
from loopxform.recipes.limits import Limits
from loopxform.recipes.sizes import Options
from loopxform.recipes.work import Work
from loopxform.transforms import Bands, Lanes, Narrow, Pipeline, Vectorise, Version
from loopxform.transforms.vectors import copies, widest


def wanted(options: Options, limits: Limits, choice: Choice) -> Options:
    """The options, what they leave open as the device has it for tiles of registers."""
    if choice.recipe != "register":
        return options
    return replace(
        options,
        narrow=limits.narrow if options.narrow is None else options.narrow,
        vector=limits.at_once if options.vector is None else options.vector,
        stages=limits.stages if options.stages is None else options.stages,
    )


def faster(w: Work, group: str, options: Options) -> None:
    """Copies move `options.vector` elements at once where they may, in a version of the nest over
    groups where only the sizes say whether they may; offsets have 32 bits in a version where the
    sizes allow it (`options.narrow`); with two `options.stages` tiles are fetched ahead; groups are
    walked in `options.bands`; work-items stand in rectangles of `options.lanes`."""
    first = group
    if options.narrow:
        w.stage("Offsets in 32 bits")
        w.attempt(Narrow(group))
        first = w.ref(resolve(w.fn, group)[0].path)
    width = options.vector or 1
    if width > 1:
        w.stage("Vectors")
        w.attempt(Version(first, str(width)))
        for tile in dict.fromkeys(_tiles(w)):
            most = widest(w.fn, tile, width)
            while most > 1 and not w.attempt(Vectorise(tile, str(most))):
                most //= 2
    if options.stages == 2:
        w.stage("Tiles fetched ahead")
        for path in [s.path for s in loops(w.fn) if any(map(_is_tile, s.loop.body))]:
            w.attempt(Pipeline(w.ref(path)))
    if options.bands:
        w.stage("Groups in bands")
        w.attempt(Bands(f"{group}*", str(options.bands)))
    rows, columns = options.lanes or (0, 0)
    if rows:
        w.stage("Neighbours in a rectangle")
        w.attempt(Lanes(f"{group}*", str(rows), str(columns)))


def _is_tile(s: Stmt) -> bool:
    return isinstance(s, Copy) and s.collective


def _tiles(w: Work) -> list[str]:
    return [f.copy.target for f in copies(w.fn) if f.copy.collective]
