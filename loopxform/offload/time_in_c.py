"""Loops over steps of time in tiled C: several steps a pass, in boxes that stay in the cache of a
core (step `time-boxes`), which threads share."""

from __future__ import annotations

from loopxform.ir.nodes import Function
from loopxform.ir.visit import loops, resolve
from loopxform.model.time_boxes import BoxTile, boxes
from loopxform.model.time_tiles import numbers_of_steps
from loopxform.offload.time_tiles import TITLE, counting_up, signed
from loopxform.recipes.deriving import Work
from loopxform.records import record
from loopxform.targets.target import Limits
from loopxform.transforms import Derivation, TimeBoxes


@record
class TimeInC:
    """The derivation, and the tiles of the loops, by their names."""

    derivation: Derivation
    tiles: tuple[tuple[str, BoxTile], ...]


def time_in_c(fn: Function, limits: Limits) -> TimeInC | None:
    """Gives the outermost loops of a function passes of several steps; None where there are none
    that pay."""
    w, tiles = Work(Derivation(fn).titled(TITLE), {}), list[tuple[str, BoxTile]]()
    for var in dict.fromkeys(s.loop.var for s in loops(fn) if len(s.path) == 1):
        before = w.derivation
        if len(resolve(w.fn, var)) != 1:
            continue
        site = signed(w, counting_up(w, resolve(w.fn, var)[0]))
        for tile in boxes(w.fn, site, limits):
            steps = tuple(map(str, numbers_of_steps(w.fn, site, tile.steps)))
            if w.attempt(TimeBoxes(var, steps, tuple(map(str, tile.sizes)), str(tile.items))):
                tiles.append((var, tile))
                break
        else:
            w.derivation = before
    return TimeInC(w.derivation, tuple(tiles)) if tiles else None
