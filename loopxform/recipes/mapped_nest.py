"""A choice for a nest mapped: by its recipe, in sizes that fit the device."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TypeVar

from loopxform.errors import TransformError, UnsupportedC
from loopxform.ir.affine import value_of
from loopxform.ir.nodes import For, If
from loopxform.ir.visit import names, perfect_nest, walk
from loopxform.model.choice import Choice
from loopxform.model.resources import demand
from loopxform.model.waves import filled
from loopxform.prepare.parallel_band import Nest, with_guards_inside
from loopxform.recipes import fitting
from loopxform.recipes.base import Uncopied
from loopxform.recipes.deriving import Work
from loopxform.recipes.indexed_arrays import in_local_columns
from loopxform.recipes.latency_hiding import in_registers, wanted
from loopxform.recipes.private_arrays import in_item_registers
from loopxform.recipes.registry import RECIPES, choices
from loopxform.recipes.tensor_units import as_multiplied, tensor_tile
from loopxform.recipes.tiled import Fitted, Tiled
from loopxform.recipes.variants import known_iterations
from loopxform.schedule.params import Options
from loopxform.targets.target import Limits
from loopxform.transforms import possible
from loopxform.transforms.edges.bounds import trip_count

T = TypeVar("T")


def copied(choice: Choice, tiled: Callable[[Choice], T | Uncopied]) -> T:
    """What `tiled` makes of a choice; without the boxes of which it turns out that they cannot be
    copied. Raises TransformError where that leaves none."""
    while isinstance(done := tiled(choice), Uncopied):
        choice = choice.without(done.stage)
        if not choice.stages:
            raise done.refusal
    return done


def map_choice(
    nest: Nest,
    choice: Choice,
    given: Mapping[str, int],
    limits: Limits,
    options: Options,
    reason: str = "",
) -> Tiled | Uncopied:
    """The steps of a choice, for sizes that fit."""
    units = bool(options.tensor_units) and tensor_tile(choice, limits, options) is not None
    needs = demand(nest, choice, options.stages or 1, moved=units)
    sizes, notes = fitting.fitted(choice, needs, limits, given)
    sizes, more = filled(choice, needs, sizes, given, limits, trips(nest), known_iterations(nest))
    fitting.require(sizes, choice.names, needs, limits)
    options = in_registers(options, limits, choice, sizes, guarded=_has_guards(nest))
    tiles = {n: sizes[n] for n in choice.names if n not in nest.taken}
    w = Work(nest.derivation.with_tiles(tiles), sizes)
    used = {n: sizes[n] for n in choice.names}
    mapped = RECIPES[choice.recipe].map(w, nest, choice, options, limits)
    if isinstance(mapped, Uncopied):
        return mapped
    in_item_registers(w, limits)
    in_local_columns(w, limits)
    text = "; ".join(x for x in (reason, mapped.remark) if x)
    fitted = Fitted(needs, (*notes, *more)) if mapped.group else None
    return Tiled(
        w.derivation,
        mapped.choice,
        used,
        nest,
        mapped.staged,
        mapped.kept,
        text,
        fitted=fitted,
        group=mapped.group,
    )


def _has_guards(nest: Nest) -> bool:
    """Whether parallel iterations decide which terms of a sum there are, as in a triangle."""
    inside = (s for _, s in walk(nest.innermost.body) if isinstance(s, For))
    guards = (g for s in inside for g in s.body if isinstance(g, If))
    return any(names(g.cond) & set(nest.parallel) for g in guards)


def trips(nest: Nest) -> dict[str, int | None]:
    """The iterations of the parallel loops, where they are known."""
    loops = perfect_nest(nest.outermost)[: len(nest.parallel)]
    return {x.var: value_of(trip_count(x)) for x in loops}


def in_register_tiles(
    nest: Nest, sizes: Mapping[str, int], limits: Limits, options: Options
) -> Tiled:
    """The nest in register tiles. Raises UnsupportedC, TransformError, LimitError."""
    inside = with_guards_inside(nest)
    found, problem = choices(inside, "register", limits, kept=sizes["Rx"] > 1, few=False)
    for choice in (as_multiplied(c, limits, options) for c in found):
        asked = wanted(options, limits, choice)
        mapped = partial(map_choice, inside, given=sizes, limits=limits, options=asked)
        done = possible(partial(copied, choice, mapped), TransformError)
        if isinstance(done, Tiled):
            return done
        problem = done.message
    raise UnsupportedC(problem, loc=nest.innermost.origin.loc, code="LX063")
