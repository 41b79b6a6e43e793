"""What may be asked of `offload` besides sizes: options of tiling that make sense for all nests of
a file, and three of its own.

    --time-tile 8x128x256       8 steps of time a pass, tiles of 128 rows, 256 work-items a row
    --fuse-stages 32x256        stages of a pipeline in one kernel, tiles of 32 rows
    --tile-stages 16x64x256     the same with tiles of 16x64 elements, 256 work-items
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from loopxform.errors import UsageError
from loopxform.records import record
from loopxform.schedule.option_values import Kind
from loopxform.schedule.params import PLAIN, Options
from loopxform.schedule.tiling_options import NAMED, TilingOption
from loopxform.written import LARGEST_TILE


def _time_tile(option: str, text: str) -> tuple[int, ...]:
    sizes = _sizes(text, (3, 4, 5))
    if sizes is None:
        help = "steps x rows x work-items: 8x128x256, or x elements x work-items: 8x128x4x64"
        raise UsageError(f"'{text}' is no time tile", help=help, subject=option)
    return sizes


def _tile(option: str, text: str) -> tuple[int, ...]:
    sizes = _sizes(text, (2, 3, 4))
    if sizes is None:
        help = "rows x work-items: 32x256, or x elements x work-items: 32x4x64"
        raise UsageError(f"'{text}' is no tile of stages", help=help, subject=option)
    return sizes


def _blocks(option: str, text: str) -> tuple[int, ...]:
    sizes = _sizes(text, (2, 3, 4, 5, 6))
    if sizes is None:
        help = "size of a tile along each dimension x work-items: 16x64x256"
        raise UsageError(f"'{text}' is no block of stages", help=help, subject=option)
    return sizes


def _sizes(text: str, counts: tuple[int, ...]) -> tuple[int, ...] | None:
    """So many sizes; none for 0."""
    numbers = text.split("x")
    if text == "0":
        return ()
    if len(numbers) not in counts or not all(n.isascii() and n.isdecimal() for n in numbers):
        return None
    sizes = tuple(map(int, numbers))
    return sizes if all(0 < n <= LARGEST_TILE for n in sizes) else None


TIME = Kind("SxRxN", _time_tile)
TILE = Kind("RxN", _tile)
BLOCK = Kind("RxCxN", _blocks)

TIME_TILE = TilingOption(
    "time-tile",
    TIME,
    "temporal blocking of stencils: time steps of a pass, rows of a tile and work-items along the "
    "other dimensions, 8x128x256 (0: never)",
    on_device=True,
)

FUSE_STAGES = TilingOption(
    "fuse-stages",
    TILE,
    "fusion of pipelines with overlapped tiles: rows of a tile and work-items along the other "
    "dimensions, 32x256 (0: never)",
    on_device=True,
)

TILE_STAGES = TilingOption(
    "tile-stages",
    BLOCK,
    "fusion of pipelines with overlapped blocks in local memory: the size of a tile along each "
    "dimension and work-items, 16x64x256 (0: never)",
    on_device=True,
)

OFFLOAD = "offload"
"""What a function of several nests is mapped by, where a nest has a recipe."""

OF_PROGRAMS = {o.name: o for o in (TIME_TILE, FUSE_STAGES, TILE_STAGES)}
"""Those that say something of several nests."""


@record
class TileChoice:
    """The tiles that a kernel may have by an option (`time-tile`), as the option has them, the
    quickest by the model first."""

    option: str
    tiles: tuple[str, ...]


OFFLOADING = (
    *(NAMED[n] for n in ("pad", "no-pad", "separate-full-tiles", "reassociate", "threshold")),
    *OF_PROGRAMS.values(),
)
"""Those that `offload` takes for all nests of a file."""


def program_options(texts: Mapping[str, str]) -> Options:
    """Options of OF_PROGRAMS by name. Raises UsageError, KeyError."""
    known = [(OF_PROGRAMS[name], text) for name, text in texts.items()]
    return replace(PLAIN, **{o.field: o.kind.parse(o.name, text) for o, text in known})
