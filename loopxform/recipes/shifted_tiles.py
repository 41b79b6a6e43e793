"""A variant of register tiles of which the last one in each dimension begins earlier, for sizes of
at least a tile (the step `shift-inwards`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from loopxform.errors import LimitError, TransformError, UnsupportedC
from loopxform.model.choice import Choice
from loopxform.prepare.parallel_band import Nest
from loopxform.recipes.mapped_nest import map_choice
from loopxform.recipes.tiled import Tiled
from loopxform.recipes.variants import Draft
from loopxform.schedule.params import Options
from loopxform.targets.target import Limits
from loopxform.transforms import ShiftInwards, possible


def without_shift(options: Options) -> Options:
    return replace(options, shift_inwards=False)


def shifted_tiles(
    nest: Nest,
    choice: Choice,
    given: Mapping[str, int],
    limits: Limits,
    options: Options,
    plain: Draft,
) -> Draft | None:
    """The variant beside the `plain` one; None where no tile can begin earlier."""
    if limits.vector or not choice.has("register tile"):
        return None
    options = replace(options, shift_inwards=True)
    done = possible(
        lambda: map_choice(nest, choice, given, limits, options),
        *(TransformError, LimitError, UnsupportedC),
    )
    if not isinstance(done, Tiled) or not any(
        isinstance(r.step, ShiftInwards) for r in done.derivation.records
    ):
        return None
    known = nest.derivation.function.assumes
    asked = tuple(e for e in done.derivation.function.assumes if e not in known)
    label = ", ".join(x for x in (plain.label, "shifted inwards") if x)
    about = ("loops are as long as a tile",) if asked else ()
    guard = (*plain.guard, *asked)
    return replace(
        plain, label=label, derivation=done.derivation, guard=guard, about=(*plain.about, *about)
    )
