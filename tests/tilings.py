"""Tiling with the sizes a test names, whatever a device has room for."""

from __future__ import annotations

from loopxform.ir.nodes import Function
from loopxform.recipes.tile import tile as with_limits
from loopxform.recipes.tiled import Tiled
from loopxform.schedule.params import PLAIN, Options, Recipe, Tiles
from loopxform.targets.target import Limits

ROOM = Limits("any", 1 << 30, 1 << 40, 1 << 30, 1, item_sizes=(1 << 30, 1 << 30, 1 << 30))

__all__ = ["ROOM", "Options", "Recipe", "Tiled", "Tiles", "tile", "with_limits"]


def tile(
    fn: Function,
    sizes: Tiles,
    recipe: Recipe = "register",
    *,
    strict: bool = False,
    options: Options = PLAIN,
) -> Tiled:
    """The nest of `fn` tiled by one recipe, mapped naively where that does not fit."""
    return with_limits(fn, sizes.numbers, recipe, ROOM, strict=strict, options=options)
