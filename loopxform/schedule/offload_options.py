"""What may be asked of `offload` besides sizes: options of tiling that make sense for all nests of
a file, and two of its own.

    --time-tile 8x128x256       8 steps of time a pass, tiles of 128 rows, 256 work-items a row
    --fuse-stages 32x256        stages of a pipeline in one kernel, tiles of 32 rows
"""

from __future__ import annotations

from loopxform.errors import UsageError
from loopxform.schedule.tiling_options import NAMED, Kind, TilingOption
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

TIME_TILE = TilingOption(
    "time-tile",
    TIME,
    "temporal blocking of stencils: steps of time a pass, rows of a tile and work-items along the "
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

OFFLOADING = (
    *(NAMED[n] for n in ("pad", "no-pad", "separate-full-tiles", "reassociate", "threshold")),
    TIME_TILE,
    FUSE_STAGES,
)
"""Those that `offload` takes for all nests of a file."""
