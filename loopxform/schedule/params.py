"""The parameters of tiling, and the recipes that use them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Literal

from loopxform.errors import UsageError
from loopxform.records import record

Recipe = Literal["register", "block", "one-sided", "1-d", "stencil", "reduce", "naive"]


@record
class Options:
    """What a user may ask of tiling besides a recipe and sizes.

    `pad` fills the last, partial tile of a sequential loop with numbers that change nothing, in
    place of an epilogue (None: in small groups that fetch tiles of words ahead); with `versions`
    whole tiles are worked on in versions without the checks of partial ones (seed 000, sections
    7.3.2 and 7.3.3).
    `layouts` are arrays to be read from a copy in another layout, with its dimensions in order
    (seed 004, manifest); None leaves it to tiling, where it also chooses the recipe. `chunks`
    splits a reduction into chunks of so many tiles (Rk; seed 000, section 7.3.1), where
    `reassociate` allows
    sums and products of floats to round differently. Copies move `vector` neighbours at once; with
    `narrow` offsets have 32 bits in a version for sizes that allow it;
    `lanes` (rows, columns) is the rectangle of the work-items that run in lockstep, (0, 0) for rows
    of them; with 2 `stages` (buffers of a tile) tiles are fetched while the group computes with the
    ones before, with more of them, or where that is to be `asynchronous`, by copies that hardware
    makes on its own; with `preload` so is what work-items read of tiles; None leaves any of these
    to the plan. Sizes that are `fixed` become numbers, for which the kernels are made. Groups are
    walked in `bands` of so many rows, register tiles there and back in `serpentine` rows (0: in the
    order of the program). Work-items get their elements `cyclic` at a time (1: all at once). Arrays
    whose rows are no vectors are copied into longer ones where each of their elements serves `pack`
    iterations of a loop over groups (0: never)."""

    pad: bool | None = None
    versions: bool = False
    layouts: tuple[tuple[str, str], ...] | None = None
    chunks: int | None = None
    reassociate: bool = False
    vector: int | None = None
    narrow: bool | None = None
    lanes: tuple[int, int] | None = None
    stages: int | None = None
    fixed: tuple[tuple[str, int], ...] = ()
    bands: int | None = None
    serpentine: int | None = None
    pack: int | None = None
    cyclic: int | None = None
    preload: bool | None = None
    asynchronous: bool = False

    def __post_init__(self) -> None:
        """Raises UsageError for wishes that contradict each other."""
        if self.asynchronous and self.stages == 1:
            raise UsageError(
                "asynchronous copies need a second buffer",
                help="ask for 2 stages or more",
                subject="--stages",
            )


PLAIN = Options()


RECIPES: tuple[Recipe, ...] = (
    *("register", "block", "one-sided", "1-d", "stencil", "reduce", "naive"),
)
NAMES = ("Tz", "Ty", "Tx", "Tk", "Ry", "Rx")


@record
class Tiles:
    """Sizes of tiles: work-items of a group along the tiled loops (Tz, Ty, Tx, outermost first),
    elements of each work-item along the last two (Ry, Rx), and how much of a sequential loop is
    staged at a time (Tk). Seed 000, section 2.1."""

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


DEFAULTS: dict[Recipe, Tiles] = {
    "register": Tiles(),
    "block": Tiles(Ry=1, Rx=1),
    "one-sided": Tiles(Ty=1, Tx=128, Ry=16, Rx=1),
    "1-d": Tiles(Ty=1, Tx=256, Tk=64, Ry=1, Rx=1),
    "stencil": Tiles(Tz=4, Ty=4, Tx=32, Ry=8, Rx=1),
    "reduce": Tiles(Ty=1, Tx=256, Tk=64, Ry=1, Rx=1),
    "naive": Tiles(Ry=1, Rx=1),
}
"""Where nothing is given and the device has room."""

WINDOWS = Tiles(Ty=8, Tx=32, Tk=8, Ry=4, Rx=4)
"""The recipe register where a sum over a window is unrolled: less fits into registers."""

ROWS = Tiles(Ty=1, Tx=32, Tk=128, Ry=1, Rx=1)
"""The recipe 1-d where each work-item walks a row, which the group copies: Tk of 4 bytes each."""

ALONE = Tiles(Ty=1, Tx=256, Tk=64, Ry=1, Rx=1)
"""The recipe stencil along one loop."""

ON_CPU: dict[Recipe, Tiles] = {
    "register": Tiles(Ty=16, Tx=8, Tk=128),
    "naive": Tiles(Ty=16, Tx=256, Ry=1, Rx=1),
}
"""Where tiled C runs on a CPU; Ry and Rx follow from its vector registers."""

MOST_ROWS = 8
"""Ry on a CPU: compilers unroll loops of so few iterations, which keeps results in registers."""
