"""The parameters of tiling, and the recipes that use them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Literal

from loopxform.errors import UsageError
from loopxform.floating_point import CONTRACT, FloatingPoint
from loopxform.records import record

Recipe = Literal[
    "register",
    "block",
    "coarsened",
    "one-sided",
    "lanes",
    "columns",
    "prefetched",
    "cache-block",
    "1-d",
    "stencil",
    "transposition",
    "exchange",
    "histogram",
    "elementwise",
    "vectors",
    "uneven",
    "reduce",
    "scan",
    "scan-tiles",
    "csr-stream",
    "group",
    "naive",
]


@record
class Options:
    """What a user may ask of tiling besides a recipe and sizes; `tiling_options` says what each
    means. None leaves the decision to the plan.

    `pad`, False: an epilogue (Cholewa-Madsen and Holst, section 7.3.2). `separate_full_tiles`:
    section 7.3.3. `relayout` names arrays with their dimensions in order, (): no copies
    (Henriksen); where it is None, the recipe is chosen with them. `Rk` is in tiles (Cholewa-Madsen
    and Holst, section 7.3.1). `warp_tile` is rows and columns, (0, 0) for rows of work-items.
    `block_cyclic` 1: all elements of a work-item at once; `single_columns`: one of a row at a time.
    `shift_inwards`: last tiles begin earlier, so that they are whole. `serpentine`, `pack`,
    `interleave_copies` and `bfloat_parts` 0: never. `threshold` are those that the guards of
    variants compare with (Rotendahl and Larsen, section 2.5), by name. `time_tile` is steps of
    time, rows, and work-items along each other dimension, `fuse_stages` rows and work-items,
    `tile_stages` sizes and work-items, (): none. `fp` is what is permitted of floating point."""

    pad: bool | None = None
    separate_full_tiles: bool = False
    relayout: tuple[tuple[str, str], ...] | None = None
    Rk: int | None = None
    reassociate: bool = False
    vector: int | None = None
    index: int | None = None
    warp_tile: tuple[int, int] | None = None
    stages: int | None = None
    specialise: tuple[tuple[str, int], ...] = ()
    swizzle_groups: int | None = None
    serpentine: int | None = None
    pack: int | None = None
    block_cyclic: int | None = None
    single_columns: bool = False
    shift_inwards: bool = False
    register_pipeline: bool | None = None
    interleave_copies: int | None = None
    async_copies: bool = False
    tensor_units: bool | None = None
    bfloat_parts: int | None = None
    threshold: tuple[tuple[str, int], ...] = ()
    time_tile: tuple[int, ...] | None = None
    fuse_stages: tuple[int, ...] | None = None
    tile_stages: tuple[int, ...] | None = None
    fp: FloatingPoint = CONTRACT

    def __post_init__(self) -> None:
        """Raises UsageError for wishes that contradict each other."""
        if self.async_copies and self.stages == 1:
            raise UsageError(
                "asynchronous copies need a second buffer",
                help="ask for 2 stages or more",
                subject="--stages",
            )

    def within(self, fp: FloatingPoint) -> Options:
        """What is permitted of them: sums in another order or not, and those tensor units whose
        results are as they may be. Parts of floats are multiplied by these."""
        units = True if self.bfloat_parts and self.tensor_units is None else self.tensor_units
        return replace(self, reassociate=fp.reassociate, fp=fp, tensor_units=units)

    def over(self, other: Options) -> Options:
        """Both, these where they differ: a tile of one form of fused stages is in the place of one
        of the other form. Raises UsageError where they contradict each other."""
        asked = {
            f.name: value for f in fields(self) if (value := getattr(self, f.name)) != f.default
        }
        for name in ("specialise", "threshold"):
            both = {**dict(getattr(other, name)), **dict(getattr(self, name))}
            asked[name] = tuple(both.items())
        for form, another in (FORMS, FORMS[::-1]):
            if getattr(self, form) and getattr(self, another) is None:
                asked[another] = None
        return replace(other, **asked)


FORMS = ("fuse_stages", "tile_stages")
"""The two ways to compute stages in one kernel."""

PLAIN = Options()


NAMES = ("Tz", "Ty", "Tx", "Tk", "Ry", "Rx")

THRESHOLDS = ("suff_outer_par", "suff_intra_par", "suff_group_par", "suff_inner_par")
"""Kinds of thresholds (`recipes.versions`); a number follows."""


@record
class Tiles:
    """Sizes of tiles: work-items of a group along the tiled loops (Tz, Ty, Tx, outermost first),
    elements of each work-item along the last two (Ry, Rx), and how much of a sequential loop is
    staged at a time (Tk). Cholewa-Madsen and Holst, section 2.1."""

    Ty: int = 16
    Tx: int = 16
    Tk: int = 16
    Ry: int = 8
    Rx: int = 8
    Tz: int = 1

    @property
    def numbers(self) -> dict[str, int]:
        return {name: getattr(self, name) for name in NAMES}

    def with_(self, given: Mapping[str, int]) -> Tiles:
        known = {f.name for f in fields(self)}
        return replace(self, **{n: v for n, v in given.items() if n in known})


Trait = Literal["tiles", "block", "registers", "register tile", "several elements", "moves"]
"""What a recipe has that options are about: tiles in local memory; work-items along two loops;
results in registers that operands are read for, along two loops; several elements a work-item;
little but addresses to compute."""


@record
class RecipeKind:
    """A recipe as users see it: its name, what reports call it, its sizes where nothing is given
    and the device has room, those that the user may give, its traits, and how many tiles a group
    has of what it reads once, where copies pass the registers (0: as many as the profile says).
    `recipes` has the module that says when it fits, and its steps."""

    name: Recipe
    title: str
    tiles: Tiles
    sizes: tuple[str, ...]
    traits: frozenset[Trait] = frozenset()
    buffers: int = 0


KINDS: Mapping[Recipe, RecipeKind] = {
    kind.name: kind
    for kind in (
        RecipeKind(
            "register",
            "register tiling",
            Tiles(),
            ("Ty", "Tx", "Tk", "Ry", "Rx"),
            frozenset({"tiles", "block", "registers", "register tile", "several elements"}),
        ),
        RecipeKind(
            "block",
            "block tiling",
            Tiles(Ry=1, Rx=1),
            ("Ty", "Tx", "Tk"),
            frozenset({"tiles", "block"}),
        ),
        RecipeKind(
            "coarsened",
            "thread coarsening",
            Tiles(Tz=4, Ty=8, Tx=4, Ry=2, Rx=4),
            ("Tz", "Ty", "Tx", "Ry", "Rx"),
            frozenset({"registers", "several elements"}),
        ),
        RecipeKind(
            "one-sided",
            "one-sided tiling",
            Tiles(Ty=1, Tx=128, Ry=16, Rx=1),
            ("Tx", "Tk", "Ry"),
            frozenset({"tiles"}),
        ),
        RecipeKind(
            "lanes",
            "sums in the lanes of vectors",
            Tiles(Ty=1, Tx=8, Tk=64, Ry=1, Rx=1),
            ("Tx",),
            frozenset({"tiles"}),
        ),
        RecipeKind(
            "columns",
            "neighbouring results in the lanes of vectors",
            Tiles(Ty=1, Tx=1, Tk=64, Ry=4, Rx=512),
            ("Tx", "Ry", "Rx"),
            frozenset({"tiles"}),
        ),
        RecipeKind(
            "prefetched",
            "sums of tiles that are copied ahead",
            Tiles(Ty=1, Tx=32, Tk=128, Ry=1, Rx=1),
            ("Tx", "Tk"),
            frozenset({"tiles", "moves"}),
            buffers=4,
        ),
        RecipeKind(
            "cache-block",
            "cache blocking",
            Tiles(Ty=1, Tx=1, Ry=32, Rx=32),
            ("Ty", "Tx", "Ry", "Rx"),
            frozenset({"moves"}),
        ),
        RecipeKind(
            "1-d",
            "tiling along one loop",
            Tiles(Ty=1, Tx=256, Tk=64, Ry=1, Rx=1),
            ("Tx", "Tk", "Rx"),
            frozenset({"tiles", "registers", "several elements"}),
            buffers=3,
        ),
        RecipeKind(
            "stencil",
            "tiling with halos",
            Tiles(Tz=4, Ty=4, Tx=32, Ry=8, Rx=1),
            ("Tz", "Ty", "Tx", "Tk", "Ry"),
            frozenset({"tiles", "block", "several elements"}),
        ),
        RecipeKind(
            "transposition",
            "transposition in local memory",
            Tiles(Ty=8, Tx=32, Ry=4, Rx=1),
            ("Ty", "Tx", "Ry"),
            frozenset({"tiles", "block", "several elements", "moves"}),
        ),
        RecipeKind(
            "exchange",
            "exchange through local memory",
            Tiles(Ty=8, Tx=32, Ry=4, Rx=1),
            ("Ty", "Tx", "Ry"),
            frozenset({"several elements", "moves"}),
        ),
        RecipeKind(
            "histogram",
            "a histogram in local memory for each group",
            Tiles(Ty=1, Tx=256, Ry=16, Rx=4),
            ("Tx", "Ry", "Rx"),
        ),
        RecipeKind(
            "elementwise",
            "several elements for each work-item",
            Tiles(Ty=2, Tx=128, Ry=4, Rx=1),
            ("Ty", "Tx", "Ry", "Rx"),
            frozenset({"several elements"}),
        ),
        RecipeKind(
            "vectors",
            "vectors of neighbouring elements for each work-item",
            Tiles(Ty=1, Tx=256, Ry=1, Rx=4),
            ("Tx", "Rx"),
            frozenset({"several elements"}),
        ),
        RecipeKind(
            "uneven",
            "several iterations of different length for each work-item",
            Tiles(Ty=1, Tx=256, Tk=64, Ry=16, Rx=1),
            ("Ty", "Tx", "Tk", "Ry"),
        ),
        RecipeKind(
            "reduce",
            "one group per result",
            Tiles(Ty=1, Tx=256, Tk=64, Ry=1, Rx=1),
            ("Tx", "Tk"),
        ),
        RecipeKind(
            "scan",
            "running values in chunks of groups",
            Tiles(Ty=1, Tx=256, Ry=1, Rx=1),
            ("Tx",),
        ),
        RecipeKind(
            "scan-tiles",
            "running values of tiles of rows",
            Tiles(Ty=1, Tx=64, Tk=64, Ry=1, Rx=1),
            ("Tx", "Tk"),
        ),
        RecipeKind(
            "csr-stream",
            "terms of rows in local memory",
            Tiles(Ty=128, Tx=4, Tk=4096, Ry=1, Rx=1),
            ("Ty", "Tx", "Tk"),
        ),
        RecipeKind(
            "group", "one group per iteration", Tiles(Ty=8, Tx=32, Ry=1, Rx=1), ("Ty", "Tx")
        ),
        RecipeKind("naive", "one work-item per iteration", Tiles(Ry=1, Rx=1), ("Ty", "Tx", "Tk")),
    )
}
RECIPES: tuple[Recipe, ...] = tuple(KINDS)

WINDOWS = Tiles(Ty=8, Tx=32, Tk=8, Ry=4, Rx=4)
"""The recipe register where a sum over a window is unrolled: less fits into registers."""

ROWS = Tiles(Ty=1, Tx=32, Tk=128, Ry=1, Rx=1)
"""The recipe 1-d where each work-item walks a row, which the group copies: Tk of 4 bytes each."""

SHORT_ROWS = Tiles(Ty=1, Tx=128, Tk=16, Ry=1, Rx=1)
"""The same where rows are shorter than that: 64 bytes of a row are whole transactions."""

ALONE = Tiles(Ty=1, Tx=256, Tk=64, Ry=1, Rx=1)
"""The recipe stencil along one loop."""

IN_A_ROW = Tiles(Ty=1, Tx=256, Ry=1, Rx=1)
"""The recipe group where no two loops are shared together."""

ON_CPU: dict[Recipe, Tiles] = {
    "register": Tiles(Ty=16, Tx=8, Tk=128),
    "histogram": Tiles(Ty=1, Tx=16, Ry=64, Rx=4096),
    "naive": Tiles(Ty=16, Tx=256, Ry=1, Rx=1),
}
"""Where tiled C runs on a CPU; Ry and Rx follow from its vector registers."""

MOST_ROWS = 8
"""Ry on a CPU: compilers unroll loops of so few iterations, which keeps results in registers."""
