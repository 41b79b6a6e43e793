"""The ways in which a nest could have been mapped, what each costs, and why it is not the one that
was taken.

Recipes are tried in a fixed order, copies of arrays where the model of costs has them pay; costs of
the rest are told, and decide nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

from loopxform.floating_point import CONTRACT, FloatingPoint
from loopxform.model import cost
from loopxform.model.choice import Choice
from loopxform.model.coalescing import Estimate
from loopxform.model.layouts import one_each, turned
from loopxform.model.resources import demand
from loopxform.model.reuse import Staged
from loopxform.prepare.parallel_band import Nest, with_guards_inside
from loopxform.recipes import fitting
from loopxform.recipes.latency_hiding import wanted
from loopxform.recipes.registry import AUTOMATIC, ON_CPU, SELDOM, choices
from loopxform.recipes.tile import estimate
from loopxform.recipes.tiled import Tiled
from loopxform.records import record
from loopxform.schedule.params import PLAIN, RECIPES, Recipe
from loopxform.targets.target import Limits


@record
class Candidate:
    """A way to map a nest: its cost (None where it does not fit), and why it was not taken."""

    name: str
    cost: cost.Cost | None
    why: str


def candidates(done: Tiled, limits: Limits, fp: FloatingPoint = CONTRACT) -> tuple[Candidate, ...]:
    """That which was taken first, then the others: with other copies, by other recipes. `fp` is
    what is permitted of floating point. None where a reduction is split, of which the model knows
    nothing."""
    if "Rk" in done.sizes:
        return ()
    now = estimate(done, limits)
    taken = cost.cost(now, {array: now for array, _ in done.copied}, fp)
    copies = "".join(f", {array} transposed" for array, _ in done.copied)
    nest = with_guards_inside(done.plain or done.nest)
    others = (_recipe(done, nest, name, limits, fp) for name in RECIPES if name != done.recipe)
    first = Candidate(done.recipe + copies, taken, "taken")
    news = (x for x in others if x.cost is not None or x.name not in SELDOM)
    return (first, *_layouts(done, nest, limits, fp), *news)


def _layouts(done: Tiled, nest: Nest, limits: Limits, fp: FloatingPoint) -> Iterator[Candidate]:
    """The recipe that was taken, with other copies of arrays."""
    now = estimate(done, limits)
    if done.copied:
        before = _estimate(nest, done.recipe, limits)
        if isinstance(before, Estimate):
            after = cost.cost(now, {array: now for array, _ in done.copied}, fp)
            yield _without(done.recipe, cost.cost(before, fp=fp), after, limits)
        return
    for array, order in turned(now).items() if limits.warp > 1 else ():
        after = cost.cost(replace(now, layouts={array: order}), {array: now}, fp)
        ratio = _memory(cost.cost(now)) / max(Fraction(1), _memory(after))
        why = f"memory takes {float(ratio):.3g} times as long without the copy"
        if done.asked:
            why += ", which was not asked for"
        elif ratio < limits.costs.copy_pays:
            why += f", less than {limits.costs.copy_pays:g} times"
        yield Candidate(f"{done.recipe}, {array} transposed", after, why)


def _without(recipe: Recipe, plain: cost.Cost, after: cost.Cost, limits: Limits) -> Candidate:
    ratio = float(_memory(plain) / max(Fraction(1), _memory(after)))
    least = limits.costs.copy_pays
    why = "copies were asked for"
    if ratio >= least:
        why = f"memory takes {ratio:.3g} times as long as with the copies, {least:g} or more"
    return Candidate(f"{recipe}, no copies", plain, why)


def _memory(c: cost.Cost) -> Fraction:
    return c["global memory"] + c["copies"]


def _recipe(
    done: Tiled, nest: Nest, recipe: Recipe, limits: Limits, fp: FloatingPoint
) -> Candidate:
    """Another recipe, with the sizes that it would have."""
    e = _estimate(nest, recipe, limits)
    if isinstance(e, str):
        return Candidate(recipe, None, e)
    return Candidate(recipe, cost.cost(e, fp=fp), _why_not(done, nest, recipe, limits))


def _why_not(done: Tiled, nest: Nest, recipe: Recipe, limits: Limits) -> str:
    """Why a recipe that fits was not taken."""
    order = ON_CPU if limits.vector else AUTOMATIC
    if done.asked:
        return f"{done.recipe} was asked for"
    if recipe in dict(done.refused):
        return dict(done.refused)[recipe]
    if recipe == "naive":
        return "only where no other recipe fits"
    if recipe not in order:
        return "only on request"
    alike, why = choices(nest, None, limits, kept=False, automatic=(recipe,))
    return f"{done.recipe} fits too, and comes before it" if alike else why


def _estimate(nest: Nest, recipe: Recipe, limits: Limits) -> Estimate | str:
    """A nest mapped by a recipe, in sizes that fit; or why it cannot be."""
    fits, why = choices(nest, recipe, limits, kept=False)
    if not fits:
        return why
    choice = fits[0]
    needs = demand(nest, choice, wanted(PLAIN, limits, choice).stages or 1)
    sizes, _ = fitting.fitted(choice, needs, limits, {})
    broken = needs.broken(sizes, limits)
    if broken:
        return broken[0]
    if recipe == "naive":
        choice = one_each(nest, sizes, limits)
    return Estimate(nest, choice, sizes, limits, _staged(choice, limits))


def _staged(choice: Choice, limits: Limits) -> tuple[Staged, ...]:
    """The boxes of a choice, as if all steps were legal."""
    lanes = limits.vector > 0
    return tuple(Staged(s, bool(s.kept) and not lanes) for s in choice.stages)
