"""Products by tensor units: in the tiles that the profile of the device has for them, copied
asynchronously into several buffers or made words of on the way, by work-items that stand as the
units have them.

Where a test on the device does not give the results that it should, or there are no such units,
the host builds the same kernels without them (the step `tensorise`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from loopxform.floating_point import CONTRACT, PERMITTED
from loopxform.ir.nodes import For, Function
from loopxform.ir.tensor_tiles import MATRIX, TENSOR_TILES, TensorTile
from loopxform.ir.types import Scalar
from loopxform.ir.typing import symbols
from loopxform.ir.visit import loops, walk
from loopxform.model.choice import Choice
from loopxform.model.reuse import Stage
from loopxform.prepare.parallel_band import Nest
from loopxform.recipes.tiled import Tiled
from loopxform.schedule.params import PLAIN, Options
from loopxform.targets.target import Limits
from loopxform.transforms import Derivation, Tensorise
from loopxform.transforms.mapping.dispatch import skipped
from loopxform.transforms.mapping.tile_product import are_sums_of

SWIZZLE = 8
"""Rows of the bands that groups are walked in (docs/experiments.md)."""


def multiplied(nest: Nest, choice: Choice, limits: Limits, asked: Options) -> TensorTile | None:
    """The product of tiles by which tensor units could compute a nest: two operands in register
    tiles, for which the user asks for nothing else, and does not forbid it. None where they cannot,
    or do so only where the user asks for them."""
    free = replace(
        asked,
        reassociate=False,
        tensor_units=None,
        bfloat_parts=None,
        specialise=(),
        threshold=(),
        relayout=None,
        fp=CONTRACT,
    )
    if asked.tensor_units is False or free != PLAIN or asked.relayout:
        return None
    choice = as_multiplied(choice, limits, replace(asked, tensor_units=True))
    whole = all(not s.converted and s.tiled for s in choice.stages)
    flat = len(choice.strips) == 1 and len(choice.stages) > 1
    if not (choice.has("register tile") and flat and whole):
        return None
    tile = tensor_tile(choice, limits, asked)
    if tile is not None and tile.terms > 1 and not _adds(nest, tile, asked):
        return None
    return tile if asked.tensor_units or (tile is not None and tile.by_default) else None


def _adds(nest: Nest, tile: TensorTile, asked: Options) -> bool:
    """Whether iterations add as many products to each result as those of a tile, in an order that
    is permitted."""
    inside = [s for _, s in walk(nest.innermost.body) if isinstance(s, For)]
    in_order = not asked.fp.reassociate
    return len(inside) == 1 and are_sums_of(tile.terms, inside[0].body, in_order=in_order)


def units(limits: Limits) -> list[TensorTile]:
    """The products of tiles that the units of a device may compute: by the functions that its
    profile names, or by instructions, of which the host tries whether it has them."""
    every = TENSOR_TILES.values()
    named = [t for t in every if t.function and t.name in dict(limits.tensor_tiles)]
    return named or [t for t in every if not t.function]


def units_multiply(fn: Function, arrays: Sequence[str], limits: Limits, asked: Options) -> bool:
    """Whether the device may have units for products of elements of these arrays."""
    kinds = symbols(fn)
    known = (TENSOR_TILES[name] for name, _ in limits.tensor_tiles if name in TENSOR_TILES)
    fitting = (t for t in known if t.multiplies(kinds[x] for x in arrays))
    return any(t.permitted(asked.fp) and (asked.tensor_units or t.by_default) for t in fitting)


def tensor_tile(choice: Choice, limits: Limits, asked: Options) -> TensorTile | None:
    """The product of tiles for the types of what is staged, where its results may be as they
    are."""
    found = (t for t in units(limits) if _fits(t, choice.stages))
    return next((t for t in found if t.permitted(asked.fp)), None)


def _fits(tile: TensorTile, stages: Sequence[Stage]) -> bool:
    """Whether numbers of these types are multiplied so, and an iteration may add as many products
    to a result."""
    several = len(stages) > 2 or any(len(s.reads) > 1 for s in stages)
    return (
        bool(stages)
        and tile.warps == 1
        and tile.multiplies(_types(stages))
        and several == (tile.terms > 1)
    )


def as_multiplied(choice: Choice, limits: Limits, asked: Options) -> Choice:
    """The choice, whose tiles keep numbers as the units that are asked for take them, where these
    convert them: to the type of sums."""
    own = replace(choice, stages=tuple(map(_unconverted, choice.stages)))
    tile = tensor_tile(own, limits, asked) if asked.tensor_units else None
    sums = {s.type for s in choice.stages if s.converted}
    return choice if tile is None or not sums <= set(tile.sums) else own


def _unconverted(s: Stage) -> Stage:
    return s if s.source is None else replace(s, type=s.source, converted=False, source=None)


def by_tensor_units(asked: Options, tile: TensorTile, buffers: int, *, rows: bool) -> Options:
    """How a tile is worked on; `rows` are copied whole, by the device."""
    return replace(
        asked,
        tensor_units=True,
        vector=MATRIX // tile.operands[0].bytes if rows else asked.vector,
        async_copies=tile.alone or rows,
        stages=buffers,
        register_pipeline=tile.alone,
        pad=not (tile.alone or rows),
        pack=0,
        serpentine=0,
        swizzle_groups=SWIZZLE,
    )


def is_tensorised(derivation: Derivation) -> bool:
    """Whether the step was legal."""
    return any(s.loop.tensor for s in loops(derivation.function))


def with_reason(done: Tiled, limits: Limits, asked: Options) -> Tiled:
    """The same; where tensor units are asked for in vain, its reason says why."""
    if not asked.tensor_units or is_tensorised(done.derivation):
        return done
    why = f"no tensor units: {_why_none([done, *done.rest], limits, asked)}"
    return replace(done, reason="; ".join(x for x in (done.reason, why) if x))


def _why_none(parts: Sequence[Tiled], limits: Limits, asked: Options) -> str:
    tiled = [p for p in parts if p.choice.has("register tile")]
    if any(_added_first(p, limits, asked) for p in tiled):
        return "products that are added to each other first need --fp reassociate"
    products = [p.choice for p in tiled if len(p.choice.stages) == 2]
    if not products:
        return "nothing here is a product of two arrays in register tiles"
    permissive = replace(asked, fp=PERMITTED["fast"])
    kinds = [as_multiplied(c, limits, permissive).stages for c in products]
    alone = [t for t in units(limits) if t.warps == 1]
    fitting = [t for t in alone if any(t.multiplies(_types(k)) for k in kinds)]
    if not fitting:
        types = " and ".join(dict.fromkeys(t.c for t in _types(kinds[0])))
        return f"there are none for products of {types}"
    if not any(t.permitted(asked.fp) for t in fitting):
        given = {t for k in kinds for t in _types(k)}
        types = " or ".join(dict.fromkeys(t.c for f in fitting for t in f.operands if t in given))
        return f"products of {types} need --fp {fitting[0].needs}"
    named = {t.name for t in fitting}
    every = [x for p in parts for x in skipped(p.derivation)]
    own = (x.reason for x in every if isinstance(x.step, Tensorise) and x.step.tile in named)
    return next(own, "what is summed up is not a product of two elements alone")


def _added_first(done: Tiled, limits: Limits, asked: Options) -> bool:
    """Whether the only thing in the way is the order of sums."""
    freely, stages = replace(asked, fp=PERMITTED["reassociate"]), done.choice.stages
    several = (t for t in units(limits) if t.terms > 1 and _fits(t, stages))
    return any(_adds(done.nest, t, freely) and not _adds(done.nest, t, asked) for t in several)


def _types(stages: Sequence[Stage]) -> list[Scalar]:
    return [s.type for s in stages]
