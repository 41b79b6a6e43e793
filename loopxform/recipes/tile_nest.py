"""Tiling one nest: by the first recipe that fits and whose steps are legal, in sizes that fit the
device, in variants for sizes of the program that allow more.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

from loopxform.errors import LimitError, LoopxformError, TransformError, UnsupportedC
from loopxform.ir.affine import value_of
from loopxform.ir.tensor_tiles import TensorTile
from loopxform.model.choice import Choice
from loopxform.model.resources import demand
from loopxform.model.tile_shapes import Shape, quickest
from loopxform.model.waves import Tiling, shapes, split_shapes, tensor_shapes
from loopxform.prepare.parallel_band import Nest, with_guards_inside
from loopxform.recipes import fitting, tile_forms
from loopxform.recipes.base import Uncopied
from loopxform.recipes.deriving import Work
from loopxform.recipes.latency_hiding import of_single_columns, wanted
from loopxform.recipes.mapped_nest import copied, in_register_tiles, map_choice, trips
from loopxform.recipes.operand_packing import (
    PackedOperands,
    asynchronous,
    packed_operands,
)
from loopxform.recipes.registry import AUTOMATIC, ON_CPU, choices
from loopxform.recipes.relayout_kernels import mapped_copy
from loopxform.recipes.split_k import combined, split_reduction
from loopxform.recipes.split_products import split_products
from loopxform.recipes.tensor_units import (
    as_multiplied,
    by_tensor_units,
    is_tensorised,
    multiplied,
)
from loopxform.recipes.tiled import Fitted, Tiled
from loopxform.recipes.variants import (
    ALWAYS,
    Draft,
    copies_pay,
    dispatched,
    known_iterations,
    of_rows,
    sequential_iterations,
    variants,
    when_quickest,
    whole_rows,
)
from loopxform.schedule.params import PLAIN, Options, Recipe
from loopxform.targets.target import Limits
from loopxform.transforms import possible


def one_nest(
    nest: Nest,
    given: Mapping[str, int],
    recipe: Recipe | None,
    limits: Limits,
    options: Options,
    *,
    strict: bool,
    few: bool = False,
    several: bool = False,
) -> Tiled:
    """Tiles a prepared nest by the first choice whose steps are all legal; `few` as `choices` has
    it. With `strict` that the recipe does not fit is an error, else the nest is mapped naively. In
    `several` shapes of tiles where sizes are not known, and that helps.

    Raises UnsupportedC, TransformError, LimitError."""
    inside = with_guards_inside(nest)
    tried = ON_CPU if limits.vector else AUTOMATIC
    kept = given.get("Rx", 1) > 1
    found, problem = choices(inside, recipe, limits, kept=kept, few=few, automatic=tried)
    refused: tuple[tuple[Recipe, str], ...] = ()
    for choice in found:
        tiled = partial(_staged, inside, choice, given, limits, options, several)
        done = tiled() if strict else possible(tiled, TransformError)
        if isinstance(done, Tiled):
            return replace(done, asked=recipe is not None, refused=refused)
        problem = done.message if strict else done.obstacles[0].message
        refused = (*refused, (choice.recipe, done.message))
    if strict:
        help = "leave out the recipe: one that fits is taken, or one work-item per iteration"
        raise UnsupportedC(problem, loc=nest.innermost.origin.loc, code="LX063", help=help)
    (plain,), _ = choices(nest, "naive", limits, kept=kept)
    done = copied(plain, lambda c: _apply(nest, c, given, limits, options, reason=problem))
    return replace(done, refused=refused)


def _staged(
    nest: Nest,
    choice: Choice,
    given: Mapping[str, int],
    limits: Limits,
    options: Options,
    several: bool,
) -> Tiled:
    """The steps of a choice, in `several` shapes of tiles where that helps."""
    if several:
        found = copied(choice, lambda c: _in_shapes(nest, c, given, limits, options))
        if found is not None:
            return found
    return copied(choice, lambda c: _apply(nest, c, given, limits, options))


def _in_shapes(
    nest: Nest, choice: Choice, given: Mapping[str, int], limits: Limits, asked: Options
) -> Tiled | Uncopied | None:
    """The nest in several shapes of tiles, and from packed operands for large sizes; None where
    it needs no more than one shape, or cannot have others."""
    formed, asked = tile_forms.asked(asked, limits), tile_forms.plain(asked)
    tensorised = None if given else _by_tensor_units(nest, choice, limits, asked)
    if tensorised is not None:
        return tensorised
    options = wanted(asked, limits, choice)
    needs = demand(nest, choice, options.stages or 1)
    sizes, notes = fitting.fitted(choice, needs, limits, given)
    found = shapes(choice, needs, sizes, given, limits, nest.parallel, single=True)
    if len(found) == 1:
        return None
    counts = trips(nest)
    copies = packed_operands(nest, choice, needs, sizes, counts, limits, asked)
    alone = nest.alone()
    split = split_shapes(choice, needs, sizes, limits, nest.parallel, found)
    if None not in counts.values():
        chunked = _in_best_chunks(nest, found, split, limits, options)
        if chunked is not None or copies is None:
            return chunked
    when = when_quickest(alone, [t.shape for t in found], limits.compute_units)
    if when is None:
        return None
    tilings: list[tuple[Mapping[str, int], Options]] = [
        (t.sizes, of_single_columns(options, t.sizes, limits) if t.single else options)
        for t in found
    ]
    if None not in counts.values():
        tilings, when = [(given, options)], ALWAYS
    done = possible(
        lambda: (
            [] if copies is None else _packed(alone, copies, limits, asked),
            [map_choice(alone, choice, own, limits, how) for own, how in tilings],
        ),
        *(TransformError, LimitError, UnsupportedC),
    )
    if isinstance(done, LoopxformError):
        return None
    packed, attempts = done
    if (uncopied := next((x for x in attempts if isinstance(x, Uncopied)), None)) is not None:
        return uncopied
    rows = [x for x in attempts if isinstance(x, Tiled)]
    copying = copies_pay(nest, limits) if asked.pack is None else None
    drafts = [
        Draft(t.label, d.derivation, d.group, cost=t.shape.cost, copying=copying)
        for d, t in zip(rows, found)
    ]
    others = [
        tile_forms.forms(alone, choice, own, limits, tile_forms.as_in(formed, how), d)
        for (own, how), d in zip(tilings, drafts)
    ]
    chunks, told = list[Draft](), None
    if None in counts.values():
        chunks = _split(alone, split, [t.shape for t in found], limits, options)
        told = of_rows(alone, found, limits)
    plain = variants(drafts, options, when, told, others)
    derivation = dispatched(nest, [*chunks, *packed, *plain])
    return replace(rows[0], derivation=derivation, nest=nest, fitted=Fitted(needs, notes))


def _by_tensor_units(nest: Nest, choice: Choice, limits: Limits, asked: Options) -> Tiled | None:
    """The nest in tiles that tensor units compute, in several shapes where sizes are not known;
    None where they cannot, or the profile has none."""
    tile = multiplied(nest, choice, limits, asked)
    if tile is None:
        return None
    choice = as_multiplied(choice, limits, replace(asked, tensor_units=True))
    alone = nest.alone()
    plain, rows = (
        _tensor_variants(alone, choice, limits, asked, tile, rows=rows) for rows in (False, True)
    )
    if plain is None:
        return None
    done, drafts = plain
    whole = rows[1] if rows is not None else []
    drafts = whole if whole and not whole[-1].guard else [*whole, *drafts]
    found = split_products(alone, choice, limits, asked) if tile.split else None
    if found is not None:
        split = _tensor_variants(found.nest, found.choice, limits, asked, found.tile, rows=True)
        drafts = [*found.with_copies(split[1] if split else ()), *drafts]
    return replace(done, derivation=dispatched(nest, drafts), nest=nest)


def _tensor_variants(
    nest: Nest, choice: Choice, limits: Limits, asked: Options, tile: TensorTile, *, rows: bool
) -> tuple[Tiled, list[Draft]] | None:
    """The variants in the tiles of the profile, those for whole `rows` or for any, and the first of
    them; None where it has none, or they cannot be."""
    needs, counts = demand(nest, choice, moved=True), trips(nest)
    found = tensor_shapes(choice, needs, limits, nest.parallel, tile.name, rows=rows)
    when = when_quickest(nest, [t.shape for t in found], limits.compute_units)
    known = [n for n in counts.values() if n is not None]
    if found and len(known) == len(counts):
        times = [t.shape for t in found], known, limits.compute_units
        found, when = [found[quickest(*times, known_iterations(nest))]], [()]
    if not found or when is None:
        return None
    ways = [by_tensor_units(asked, tile, t.buffers, rows=rows) for t in found]
    done = possible(
        lambda: [in_register_tiles(nest, t.sizes, limits, way) for t, way in zip(found, ways)],
        *(TransformError, LimitError, UnsupportedC),
    )
    if isinstance(done, LoopxformError) or not all(is_tensorised(x.derivation) for x in done):
        return None
    drafts = [
        Draft(f"{t.label}, tensor units", d.derivation, d.group, cost=t.shape.cost)
        for d, t in zip(done, found)
    ]
    options = wanted(ways[0], limits, done[0].choice)
    return done[0], (whole_rows if rows else variants)(drafts, options, when)


def _packed(nest: Nest, found: PackedOperands, limits: Limits, asked: Options) -> list[Draft]:
    """Variants for large sizes, from packed operands that the device copies on its own. Raises
    TransformError, LimitError, UnsupportedC."""
    when = when_quickest(nest, [t.shape for t in found.shapes], limits.compute_units)
    if when is None:
        return []
    reading = found.applied(nest)
    drafts = []
    for t in found.shapes:
        options = asynchronous(asked, t, limits)
        done = in_register_tiles(reading, t.sizes, limits, options)
        w = Work(done.derivation, {})
        for name in found.copies(w.fn):
            w.derivation = mapped_copy(w.derivation, name)
        label, guard = f"{t.label}, packed operands, async copies", (*found.assumed, *found.pays)
        about = (found.about(limits),)
        drafts.append(Draft(label, w.derivation, done.group, guard, about, t.shape.cost))
    options = asynchronous(asked, found.shapes[0], limits)
    return variants(drafts, wanted(options, limits, done.choice), when)


def _split(
    nest: Nest, tilings: Sequence[Tiling], plain: Sequence[Shape], limits: Limits, options: Options
) -> list[Draft]:
    """Variants for few results of long sums: chunks of the sum are tiles of their own, and a second
    kernel combines their results (split-K). None where the steps are refused."""
    drafts = list[Draft]()
    for n, t in enumerate(tilings):
        shapes = [*plain, *(x.shape for x in tilings[:n]), t.shape]
        when = when_quickest(nest, shapes, limits.compute_units)
        if when is None or sequential_iterations(nest) is None:
            return []
        tiled = possible(
            partial(_in_chunks, nest, t, limits, options),
            *(TransformError, LimitError, UnsupportedC),
        )
        if isinstance(tiled, LoopxformError):
            return []
        about = (f"sums in chunks of {t.chunk}, the quickest of {len(shapes)} shapes",)
        label = f"{t.label}, split-K by {t.chunk}"
        draft = Draft(label, tiled.derivation, tiled.group, when[-1], about, t.shape.cost)
        narrow = variants([draft], replace(options, pack=0))
        drafts = [*(d for d in narrow if d.guard != draft.guard), *drafts]
    return drafts


def _in_best_chunks(
    nest: Nest,
    whole: Sequence[Tiling],
    split: Sequence[Tiling],
    limits: Limits,
    options: Options,
) -> Tiled | None:
    """The nest in chunks of its sum, where all of its iterations are known, and that is quicker
    than whole sums; None where it is not, or the steps are refused."""
    count = sequential_iterations(nest)
    iterations = None if count is None else value_of(count)
    counts = [n for n in trips(nest).values() if n is not None]
    if iterations is None or not split:
        return None
    tilings = [*whole, *split]
    best = quickest([t.shape for t in tilings], counts, limits.compute_units, iterations)
    if best < len(whole):
        return None
    steps = partial(_in_chunks, nest.alone(), tilings[best], limits, options)
    tiled = possible(steps, TransformError, LimitError, UnsupportedC)
    if isinstance(tiled, LoopxformError):
        return None
    drafts = variants([Draft("", tiled.derivation, tiled.group)], replace(options, pack=0))
    return replace(tiled, derivation=dispatched(nest, drafts), nest=nest)


def _in_chunks(nest: Nest, t: Tiling, limits: Limits, options: Options) -> Tiled:
    """The partial results of chunks in register tiles, and their combination. Raises UnsupportedC,
    TransformError, LimitError."""
    w = Work(nest.derivation, t.sizes)
    w.derivation = w.derivation.with_tiles({n: t.sizes[n] for n in ("Tk", "Rk")})
    named = replace(nest, derivation=w.derivation)
    split = split_reduction(named, w.size("Tk", "Rk"), reassociate=options.reassociate)
    done = in_register_tiles(split.chunks, t.sizes, limits, options)
    return replace(done, derivation=combined(done.derivation, split, done.sizes, limits.costs))


def _apply(
    nest: Nest,
    choice: Choice,
    given: Mapping[str, int],
    limits: Limits,
    options: Options = PLAIN,
    reason: str = "",
) -> Tiled | Uncopied:
    """The steps of a choice, for sizes that fit, in variants for sizes that allow more."""
    copying = copies_pay(nest, limits) if options.pack is None else None
    choice = as_multiplied(choice, limits, options)
    options = wanted(options, limits, choice)
    formed, options = tile_forms.asked(options, limits), tile_forms.plain(options)
    done = map_choice(nest.alone(), choice, given, limits, options, reason)
    if isinstance(done, Uncopied):
        return done
    draft = Draft("", done.derivation, done.group, copying=copying)
    drafts = variants([draft], options) if done.group else [draft]
    others = tile_forms.forms(nest.alone(), choice, given, limits, formed, draft)
    for form in reversed(others):
        drafts = [*variants([form], options), *(drafts if form.guard else ())]
    return replace(done, derivation=dispatched(nest, drafts), nest=nest)
