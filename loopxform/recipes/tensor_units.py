"""Products of doubles by tensor units: in the tiles that the profile of the device has for them,
copied asynchronously into several buffers, by work-items that stand as the units have them.

Where a test on the device does not give the bits of fused multiply-adds, or there are no such
units, the host builds the same kernels without them (the step `tensorise`).
"""

from __future__ import annotations

from dataclasses import replace

from loopxform.ir.types import DOUBLE
from loopxform.ir.visit import loops
from loopxform.model.choice import Choice
from loopxform.model.waves import Tiling
from loopxform.prepare.parallel_band import Nest
from loopxform.schedule.params import PLAIN, Options
from loopxform.transforms import Derivation

SWIZZLE = 8
"""Rows of the bands that groups are walked in (docs/performance.md)."""


def multiplies_tiles(nest: Nest, choice: Choice, asked: Options) -> bool:
    """Whether tensor units could compute a nest: two operands of doubles in register tiles, for
    which the user asks for nothing else, and does not forbid it."""
    free = replace(
        asked, reassociate=False, tensor_units=None, specialise=(), threshold=(), relayout=None
    )
    if asked.tensor_units is False or free != PLAIN or asked.relayout:
        return False
    doubles = all(s.type == DOUBLE and not s.converted and s.tiled for s in choice.stages)
    flat = len(nest.parallel) == 2 and len(choice.strips) == 1 and len(choice.stages) == 2
    return choice.has("register tile") and flat and doubles


def by_tensor_units(asked: Options, tile: Tiling) -> Options:
    """How a tile is worked on."""
    return replace(
        asked,
        tensor_units=True,
        async_copies=True,
        stages=tile.buffers,
        register_pipeline=True,
        pad=False,
        pack=0,
        serpentine=0,
        swizzle_groups=SWIZZLE,
    )


def is_tensorised(derivation: Derivation) -> bool:
    """Whether the step was legal."""
    return any(s.loop.tensor for s in loops(derivation.function))
