"""What `Routine.tile`, `Routine.offload` and `File.offload` may be given: see `arguments`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from loopxform.api.arguments import (
    FLAG,
    Check,
    is_whole,
    one_of,
    or_none,
    require_value,
    sizes_by_name,
    whole,
)
from loopxform.errors import ArgumentError, IgnoredOption
from loopxform.ir.types import INT_MAX
from loopxform.ir.written import LARGEST_TILE
from loopxform.nearest import did_you_mean
from loopxform.schedule.params import NAMES, RECIPES, Recipe
from loopxform.schedule.used_options import EVERY, require_taken
from loopxform.targets.profile import PROFILES
from loopxform.targets.target import Limits
from loopxform.transforms.latency.asynchronous import MOST_BUFFERS
from loopxform.transforms.latency.vectorise import WIDTHS


def require_sizes(sizes: Mapping[str, object], options: Iterable[str]) -> None:
    """Raises ArgumentError for a keyword that is neither a tile size nor one of the `options`, and
    for a size that cannot be."""
    for name, size in sizes.items():
        if name not in NAMES:
            help = f"{did_you_mean(name, (*NAMES, *options))}tile sizes are {', '.join(NAMES)}"
            raise ArgumentError(f"there is no argument '{name}'", help=help)
        require_value(name, size, whole(1, LARGEST_TILE), "LX023")


def require_taken_by(recipe: Recipe | None, given: Mapping[str, object]) -> None:
    """Raises ArgumentError for the first argument that the recipe (None: any) has no use for."""
    asked = (
        name
        for name, value in given.items()
        if value is not None and (value is not False or TILING.get(name) is not FLAG)
    )
    try:
        require_taken((name for name in asked if name.replace("_", "-") in EVERY), (recipe,))
    except IgnoredOption as e:
        raise ArgumentError(e.message, help=e.help) from None


def _limits(value: Any) -> str | None:
    if isinstance(value, (str, Limits)):
        return None
    return f"the name of a profile ({', '.join(PROFILES)}), a file NAME.toml, or Limits"


def _layouts(value: Any) -> str | None:
    good = isinstance(value, Mapping) and all(
        isinstance(array, str) and isinstance(order, Sequence) and not isinstance(order, str)
        for array, order in value.items()
    )
    if good and all(is_whole(n, 0, INT_MAX) for order in value.values() for n in order):
        return None
    return "orders of dimensions by array: {'A': (1, 0)}"


def _rectangle(value: Any) -> str | None:
    good = isinstance(value, tuple) and len(value) == 2 and all(is_whole(n, 0, 9999) for n in value)
    return None if good else "the rows and columns of a rectangle: (4, 8)"


_SIZE = or_none(whole(1, LARGEST_TILE))
_COUNT = or_none(whole(0, LARGEST_TILE))
_RECIPE = or_none(one_of(*RECIPES))

TILING: Mapping[str, Check] = {
    "recipe": _RECIPE,
    "variant": _RECIPE,
    "limits": _limits,
    "contract": FLAG,
    "pad": or_none(FLAG),
    "edge_versions": FLAG,
    "layouts": or_none(_layouts),
    "Rk": _SIZE,
    "reassociate": FLAG,
    "vector": or_none(one_of(1, *map(int, WIDTHS))),
    "index": or_none(one_of(32, 64)),
    "item_layout": or_none(_rectangle),
    "stages": or_none(whole(1, MOST_BUFFERS)),
    "async_copies": FLAG,
    "preload": or_none(FLAG),
    "group_order": _SIZE,
    "serpentine": _COUNT,
    "cyclic": _SIZE,
    "pack": _COUNT,
    "specialise": or_none(sizes_by_name),
}

OFFLOADING = {n: TILING[n] for n in ("limits", "contract", "pad", "edge_versions", "reassociate")}
