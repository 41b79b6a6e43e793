"""What may be asked of `offload` besides sizes: options of tiling that make sense for all nests of
a file, and one of its own.

    --time-tile 8x128x256       8 steps of time a pass, tiles of 128 rows, 256 work-items a row
"""

from __future__ import annotations

from loopxform.errors import UsageError
from loopxform.schedule.tiling_options import NAMED, Kind, TilingOption
from loopxform.written import LARGEST_TILE


def _time_tile(option: str, text: str) -> tuple[int, ...]:
    numbers = text.split("x")
    if text == "0":
        return ()
    if len(numbers) in (3, 4) and all(n.isascii() and n.isdecimal() for n in numbers):
        sizes = tuple(map(int, numbers))
        if all(0 < n <= LARGEST_TILE for n in sizes):
            return sizes
    help = "steps x rows x work-items: 8x128x256 for arrays of 2 dimensions, 4x32x8x32 for 3"
    raise UsageError(f"'{text}' is no time tile", help=help, subject=option)


TIME = Kind("SxRxN", _time_tile)

TIME_TILE = TilingOption(
    "time-tile",
    TIME,
    "temporal blocking of stencils: steps of time a pass, rows of a tile and work-items along the "
    "other dimensions, 8x128x256 (0: never)",
    on_device=True,
)

OFFLOADING = (
    *(NAMED[n] for n in ("pad", "no-pad", "separate-full-tiles", "reassociate", "threshold")),
    TIME_TILE,
)
"""Those that `offload` takes for all nests of a file."""
