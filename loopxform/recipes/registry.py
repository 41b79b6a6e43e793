"""Every recipe, and the order in which they are tried.

    reuse along two parallel loops           register   a tile of both in a group, and in an item
    the same, in loops of few iterations     coarsened  a tile of both in an item, from caches
    reuse along one, coalesced on the other  one-sided  rows in registers, a column per work-item
    reuse along one                          1-d        the items of a group share what they read
    none, and results side by side           prefetched  what a group sums up is copied ahead of it
    overlapping footprints                   stencil    a box with its halo (register: in a sum)
    accesses along rows in different loops   transposition  a box turned in local memory
    the same, on a CPU          cache-block    a block of both is a work-item
    none                                     naive      an iteration is a work-item
    the same, written in both           exchange    what is turned passes through local memory
    atomic updates of a small array         histogram  a copy in local memory for each group
    few results, many terms, when asked for  reduce     a result is a group
    none, and nothing far apart         elementwise  several iterations are a work-item
    none, and data end a loop   uneven     an item goes on with its next iteration
    bytes, or every third element       vectors     neighbouring iterations are a work-item
    running values in chunks            scan       a chunk is a group
    rows of data, when asked for        csr-stream a group has their terms in local memory
    parallel loops inside, when asked for    group      an iteration is a group

(Cholewa-Madsen and Holst, section 2.4; Futhark issue 615; Henriksen.)
"""

from __future__ import annotations

from collections.abc import Mapping

from loopxform.model.choice import Choice
from loopxform.model.reuse import Facts
from loopxform.prepare.parallel_band import Nest
from loopxform.recipes.base import RARE, Question, TilingRecipe
from loopxform.recipes.block_tile import BlockTile
from loopxform.recipes.cache_block import CacheBlock
from loopxform.recipes.coarsened import Coarsened
from loopxform.recipes.columns import Columns
from loopxform.recipes.csr_stream import CsrStream
from loopxform.recipes.elementwise import Elementwise
from loopxform.recipes.exchange import Exchange
from loopxform.recipes.group_reduction import GroupReduction
from loopxform.recipes.histogram import Histogram
from loopxform.recipes.intra_group import IntraGroup
from loopxform.recipes.lanes import Lanes
from loopxform.recipes.naive import Naive
from loopxform.recipes.one_sided import OneSided
from loopxform.recipes.prefetched import Prefetched
from loopxform.recipes.register_tile import RegisterTile
from loopxform.recipes.scan_rows import RunningValues
from loopxform.recipes.scan_tiles import ScanTiles
from loopxform.recipes.stencil import Stencil
from loopxform.recipes.strip import Strip
from loopxform.recipes.transposition import Transposition
from loopxform.recipes.uneven import Uneven
from loopxform.recipes.vectors import Vectors
from loopxform.schedule.params import Recipe
from loopxform.targets.target import Limits

_EVERY: tuple[TilingRecipe, ...] = (
    RegisterTile(),
    BlockTile(),
    Coarsened(),
    OneSided(),
    Lanes(),
    Columns(),
    Prefetched(),
    CacheBlock(),
    Strip(),
    Stencil(),
    Transposition(),
    Exchange(),
    Histogram(),
    Vectors(),
    Elementwise(),
    Uneven(),
    GroupReduction(),
    RunningValues(),
    ScanTiles(),
    CsrStream(),
    IntraGroup(),
    Naive(),
)
RECIPES: Mapping[Recipe, TilingRecipe] = {r.name: r for r in _EVERY}

AUTOMATIC: tuple[Recipe, ...] = (
    "histogram",
    "scan",
    "register",
    "coarsened",
    "one-sided",
    "stencil",
    "lanes",
    "columns",
    "1-d",
    "cache-block",
    "transposition",
    "exchange",
    "vectors",
    "elementwise",
)
"""What is tried, in this order, where the user names no recipe."""

SELDOM: tuple[Recipe, ...] = (
    "cache-block",
    "columns",
    "prefetched",
    "lanes",
    "histogram",
    "scan",
    "transposition",
    "exchange",
    "vectors",
    "elementwise",
    "uneven",
    "scan-tiles",
    "csr-stream",
)
"""Those of which it is no news that they do not fit."""

ON_CPU: tuple[Recipe, ...] = ("histogram", "register", "lanes", "columns", "1-d", "cache-block")
"""The same where tiled C runs on a CPU: what a stencil or a strip reads again is in its caches."""


def choices(
    nest: Nest,
    recipe: Recipe | None,
    limits: Limits,
    *,
    kept: bool,
    few: bool = False,
    automatic: tuple[Recipe, ...] = AUTOMATIC,
) -> tuple[list[Choice], str]:
    """What fits a nest, best first, and why the rest does not; of one recipe where the user names
    it, else of those in `automatic`. `kept` asks for several elements per work-item where that is a
    question (1-d), `few` says that a group may compute a single result, `limits` what pays on
    the device."""
    question = Question(Facts(nest), limits, recipe is not None, kept, few)
    fitting, reason = list[Choice](), ""
    for name in (
        (recipe,) if recipe else (*(("lanes", "reduce", "scan") if few else ()), *automatic)
    ):
        answer = RECIPES[name].match(question)
        if isinstance(answer, Choice):
            fitting.append(answer)
        elif answer and (name not in SELDOM or not reason):
            reason = RARE if RARE in (answer, reason) else answer
    return fitting, reason
