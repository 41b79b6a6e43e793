"""A reduction in chunks: a kernel for their partial results, and one that combines them.

(Cholewa-Madsen and Holst, section 7.3.1.)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from loopxform.model.choice import naive
from loopxform.model.resources import demand
from loopxform.prepare.parallel_band import Nest, with_guards_inside
from loopxform.recipes import fitting
from loopxform.recipes.deriving import Work
from loopxform.recipes.group_reduction import in_group
from loopxform.recipes.registry import choices
from loopxform.recipes.split_k import combined, split_reduction
from loopxform.recipes.tile_nest import one_nest
from loopxform.recipes.tiled import Tiled
from loopxform.schedule.params import KINDS, Options, Recipe
from loopxform.targets.target import Limits


def in_chunks(
    nest: Nest,
    given: Mapping[str, int],
    recipe: Recipe | None,
    limits: Limits,
    options: Options,
    *,
    strict: bool,
) -> Tiled:
    """Partial results of chunks of the reduction, tiled as any nest, then their combination.
    Raises UnsupportedC, TransformError, LimitError."""
    tiles = {
        "Tk": _chunk_tile(nest, given, recipe, limits),
        "Rk": options.Rk or 1,
    }
    w = Work(nest.derivation, tiles)
    w.derivation = w.derivation.with_tiles({n: v for n, v in tiles.items() if n not in nest.taken})
    named = replace(nest, derivation=w.derivation)
    split = split_reduction(named, w.size("Tk", "Rk"), reassociate=options.reassociate)
    sizes = {**given, "Tk": tiles["Tk"]}
    done = one_nest(split.chunks, sizes, recipe, limits, options, strict=strict, few=True)
    if done.recipe == "reduce":
        w = Work(done.derivation, {**KINDS["naive"].tiles.numbers, **done.sizes})
        results = replace(split.results, derivation=w.derivation)
        in_group(w, results, limits, options)
        derivation = w.derivation
    else:
        derivation = combined(done.derivation, split, done.sizes, limits.costs)
    return replace(done, derivation=derivation, sizes={**done.sizes, **tiles})


def _chunk_tile(nest: Nest, given: Mapping[str, int], recipe: Recipe | None, limits: Limits) -> int:
    """The tile of the reduction (Tk) in the recipe that the whole nest would be tiled by."""
    inside = with_guards_inside(nest)
    found, _ = choices(inside, recipe, limits, kept=given.get("Rx", 1) > 1, few=True)
    choice = found[0] if found else naive(inside)
    return fitting.defaults(choice, demand(inside, choice), limits, given)["Tk"]
