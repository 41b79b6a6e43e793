"""Other tiles of a nest with a work-item for each result: for versions that `versions` chooses
between.
"""

from __future__ import annotations

from functools import partial

from loopxform.errors import LimitError, LoopxformError, TransformError, UnsupportedC
from loopxform.ir.visit import loads, stmt_exprs, walk
from loopxform.prepare.parallel_band import Nest
from loopxform.recipes.tile_nest import one_nest
from loopxform.recipes.tiled import Tiled
from loopxform.schedule.params import SHORT_ROWS, Options
from loopxform.targets.target import Limits
from loopxform.transforms import possible

REFUSALS = (TransformError, LimitError, UnsupportedC)
WITHOUT_REUSE = ("naive", "1-d", "elementwise")
"""Recipes that read most of the data once: tiles of others are used again."""


def prefetched(nest: Nest, items: Tiled, limits: Limits, options: Options) -> Tiled | None:
    """The nest in this recipe, where copies pass the registers, some of what is copied follows one
    another along the results, and `items`, a work-item for each of these, use nothing again."""
    if not limits.async_copies or items.recipe not in WITHOUT_REUSE:
        return None
    derive = partial(one_nest, nest, {}, "prefetched", limits, options, strict=True)
    done = possible(derive, *REFUSALS)
    return None if isinstance(done, LoopxformError) else done


def short_rows(nest: Nest, plain: Tiled, limits: Limits, options: Options) -> Tiled | None:
    """Tiles of few terms, where work-items walk rows of subscripts that a group copies (ELLPACK,
    lists of neighbours): these are short, and most of a tile would be copied in vain."""
    rows = plain.choice.read_once
    if plain.recipe != "1-d" or not {s.array for s in rows} & _subscripts(nest):
        return None
    bytes = max(4, *(s.item_bytes for s in rows))
    sizes = {"Tx": SHORT_ROWS.Tx, "Tk": SHORT_ROWS.Tk * 4 // bytes}
    if sizes["Tk"] >= plain.sizes["Tk"]:
        return None
    derive = partial(one_nest, nest, sizes, None, limits, options, strict=False)
    done = possible(derive, *REFUSALS)
    return None if isinstance(done, LoopxformError) else done


def _subscripts(nest: Nest) -> set[str]:
    """The arrays that say which elements of others are read."""
    every = (x for _, s in walk(nest.innermost.body) for e in stmt_exprs(s) for x in loads(e))
    return {inner.array for x in every for e in x.index for inner in loads(e)}
