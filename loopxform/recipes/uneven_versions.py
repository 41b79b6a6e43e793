"""Versions of a nest whose iterations take as long as data say:

    forall i < n: { A; while (c) S; B }
      n >= suff_outer_par_0    several   a work-item goes on with its next iteration when it is done
      else                     items     a work-item for each iteration

There must be enough iterations for several a work-item to fill the device.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial, reduce

from loopxform.errors import LoopxformError, TransformError
from loopxform.ir.nodes import Bin
from loopxform.ir.visit import perfect_nest
from loopxform.model.saturation import filling_items
from loopxform.prepare.parallel_band import Nest
from loopxform.recipes import scan_versions
from loopxform.recipes.tile_nest import one_nest
from loopxform.recipes.tiled import Tiled
from loopxform.recipes.uneven import pays
from loopxform.recipes.version_choice import Thresholds, Version, choice, taken_at_all
from loopxform.recipes.versions import REFUSALS, is_counted, times
from loopxform.schedule.params import Options
from loopxform.targets.target import Limits
from loopxform.transforms import possible, thresholds_of
from loopxform.transforms.edges.bounds import trip_count


def in_versions(
    nest: Nest, plain: Tiled, given: Mapping[str, int], limits: Limits, options: Options
) -> Tiled:
    """The nest as it is tiled (`plain`, with the sizes that are `given`), or a choice between that
    and other versions: with more parallelism, or with less where iterations are uneven. Raises
    TransformError."""
    done = scan_versions.in_versions(nest, plain, given, limits, options)
    is_open = done is plain and plain.recipe == "naive" and not given and not limits.vector
    return _several(nest, plain, limits, options) if is_open and pays(nest, limits) else done


def _several(nest: Nest, plain: Tiled, limits: Limits, options: Options) -> Tiled:
    """With several iterations a work-item where there are many; `plain` where that is refused, or
    the host cannot count the iterations."""
    chain = perfect_nest(nest.outermost)[: len(nest.parallel)]
    if not all(is_counted(nest.function, x) for x in chain):
        return plain
    alone = nest.alone()
    derive = partial(one_nest, alone, {}, "uneven", limits, options, strict=True)
    several = possible(derive, *REFUSALS)
    if isinstance(several, LoopxformError):
        return plain
    named = Thresholds(len(thresholds_of(nest.derivation)), nest.taken, dict(options.threshold))
    enough = named("suff_outer_par", filling_items(limits) * several.sizes["Ry"])
    many = Bin(">=", reduce(times, map(trip_count, chain)), enough)
    items = one_nest(alone, {}, None, limits, options, strict=False)
    mapped = {"several": several, "items": items}
    abouts = "several iterations for each work-item, one loop", "a work-item for each iteration"
    guards = (many,), ()
    rows = [
        Version(label, about, mapped[label].derivation, guard)
        for label, about, guard in zip(mapped, abouts, guards)
    ]
    taken = taken_at_all(rows)
    if len(taken) == 1:
        only = mapped[taken[0].label]
        if only is items:
            return plain
        return replace(only, derivation=nest.derivation.extended(only.derivation), nest=nest)
    step = choice(nest.parallel[0], taken, named)
    derivation = nest.derivation.titled("Versions").tried(step)
    if isinstance(derivation, TransformError):
        return plain
    return replace(plain, derivation=derivation, nest=nest)
