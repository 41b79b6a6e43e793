"""Products by tensor units: in the tiles that the profile of the device has for them, copied
asynchronously into several buffers or made words of on the way, by work-items that stand as the
units have them.

Where a test on the device does not give the results that it should, or there are no such units,
the host builds the same kernels without them (the step `tensorise`).
"""

from __future__ import annotations

from dataclasses import replace

from loopxform.floating_point import CONTRACT
from loopxform.ir.tensor_tiles import TENSOR_TILES, TensorTile
from loopxform.ir.visit import loops
from loopxform.model.choice import Choice
from loopxform.model.reuse import Stage
from loopxform.prepare.parallel_band import Nest
from loopxform.schedule.params import PLAIN, Options
from loopxform.transforms import Derivation

SWIZZLE = 8
"""Rows of the bands that groups are walked in (docs/performance.md)."""


def multiplied(nest: Nest, choice: Choice, asked: Options) -> TensorTile | None:
    """The product of tiles by which tensor units could compute a nest: two operands in register
    tiles, for which the user asks for nothing else, and does not forbid it. None where they cannot,
    or do so only where the user asks for them."""
    free = replace(
        asked,
        reassociate=False,
        tensor_units=None,
        specialise=(),
        threshold=(),
        relayout=None,
        fp=CONTRACT,
    )
    if asked.tensor_units is False or free != PLAIN or asked.relayout:
        return None
    choice = as_multiplied(choice, replace(asked, tensor_units=True))
    whole = all(not s.converted and s.tiled for s in choice.stages)
    flat = len(nest.parallel) == 2 and len(choice.strips) == 1 and len(choice.stages) == 2
    if not (choice.has("register tile") and flat and whole):
        return None
    tile = tensor_tile(choice, asked)
    return tile if asked.tensor_units or (tile is not None and tile.by_default) else None


def tensor_tile(choice: Choice, asked: Options) -> TensorTile | None:
    """The product of tiles for the types of what is staged, where its results may be as they
    are."""
    kinds = [s.type for s in choice.stages]
    found = (t for t in TENSOR_TILES.values() if kinds and t.multiplies(kinds))
    return next((t for t in found if t.permitted(asked.fp)), None)


def as_multiplied(choice: Choice, asked: Options) -> Choice:
    """The choice, whose tiles keep numbers as the units that are asked for take them, where these
    convert them: to the type of sums."""
    own = replace(choice, stages=tuple(map(_unconverted, choice.stages)))
    tile = tensor_tile(own, asked) if asked.tensor_units else None
    sums = {s.type for s in choice.stages if s.converted}
    return choice if tile is None or not sums <= set(tile.sums) else own


def _unconverted(s: Stage) -> Stage:
    return s if s.source is None else replace(s, type=s.source, converted=False, source=None)


def by_tensor_units(asked: Options, tile: TensorTile, buffers: int) -> Options:
    """How a tile is worked on."""
    return replace(
        asked,
        tensor_units=True,
        async_copies=tile.alone,
        stages=buffers,
        register_pipeline=tile.alone,
        pad=not tile.alone,
        pack=0,
        serpentine=0,
        swizzle_groups=SWIZZLE,
    )


def is_tensorised(derivation: Derivation) -> bool:
    """Whether the step was legal."""
    return any(s.loop.tensor for s in loops(derivation.function))
