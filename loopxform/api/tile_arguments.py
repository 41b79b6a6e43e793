"""What `Routine.tile`, `Routine.offload` and `File.offload` may be given: see `arguments`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields
from typing import Any

from loopxform.api.arguments import (
    FLAG,
    Check,
    is_whole,
    one_of,
    or_none,
    require,
    require_value,
    sizes_by_name,
    whole,
)
from loopxform.api.permitted import permission
from loopxform.errors import ArgumentError, IgnoredOption
from loopxform.floating_point import LEVELS, FloatingPoint
from loopxform.ir.types import INT_MAX
from loopxform.nearest import did_you_mean
from loopxform.schedule import option_values
from loopxform.schedule.option_values import Kind
from loopxform.schedule.params import NAMES, RECIPES, Options, Recipe
from loopxform.schedule.tiling_options import EVERY, OPTIONS, option, require_taken
from loopxform.targets.profile import PROFILES
from loopxform.targets.target import Limits
from loopxform.written import LARGEST_TILE, MOST_BUFFERS, VECTOR_WIDTHS


def asked(
    given: Mapping[str, Any], sizes: dict[str, int], checks: Mapping[str, Check]
) -> tuple[FloatingPoint, Options]:
    """What a call permits of floating point, and its options, of the names that it was `given`;
    takes older names out of the `sizes`. Raises ArgumentError, UsageError."""
    arguments = {name: value for name, value in given.items() if name in checks}
    arguments = current(sizes, arguments, checks)
    require(checks, **arguments)
    require_sizes(sizes, checks)
    if "recipe" in checks:
        recipe = arguments["recipe"] or arguments["variant"]
        require_taken_by(recipe, {**arguments, **sizes})
    names = ("fp", "contract", "reassociate")
    fp, contract, reassociate = (arguments[name] for name in names)
    allowed = permission(fp, contract=contract, reassociate=reassociate)
    return allowed, options_of({**arguments, "reassociate": allowed.reassociate})


def require_sizes(sizes: Mapping[str, object], options: Iterable[str]) -> None:
    """Raises ArgumentError for a keyword that is neither a tile size nor one of the `options`, and
    for a size that cannot be."""
    for name, size in sizes.items():
        if name not in NAMES:
            near, known = did_you_mean(name, (*NAMES, *options)), ", ".join(NAMES)
            help = f"{near}tile sizes are {known}; help() lists the other arguments"
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


@contextmanager
def as_arguments() -> Iterator[None]:
    """Raises ArgumentError for an option that turns out to be without effect."""
    try:
        yield
    except IgnoredOption as e:
        raise ArgumentError(e.message, help=e.help) from None


def current(
    others: dict[str, Any], arguments: Mapping[str, Any], checks: Mapping[str, Check]
) -> dict[str, Any]:
    """Takes those keywords out that are arguments by names of earlier releases, with a
    FutureWarning, and gives all `arguments` by the names that they have now. Raises ArgumentError
    where one is given by two names."""
    out = dict(arguments)
    given = {n for n, v in out.items() if v is not (False if n in _FLAGS - _OPEN else None)}
    if {"recipe", "variant"} <= given:
        raise ArgumentError("'variant' is 'recipe', which is given too", help="give recipe alone")
    for name in [n for n in others if n not in NAMES and not n.startswith("no")]:
        known = option(name)
        if known is None or known.field not in checks:
            continue
        if known.field in given:
            help = f"give {known.field} alone"
            raise ArgumentError(f"'{name}' is '{known.field}', which is given too", help=help)
        given.add(known.field)
        out[known.field] = others.pop(name)
    return out


def options_of(arguments: Mapping[str, Any]) -> Options:
    """The options that arguments of `Routine.tile` ask for. Raises UsageError where they contradict
    each other."""
    known = {f.name for f in fields(Options)}
    values = {name: value for name, value in arguments.items() if name in known}
    for name in ("specialise", "threshold"):
        values[name] = tuple((values.get(name) or {}).items())
    if values.get("relayout") is not None:
        orders = values["relayout"].items()
        values["relayout"] = tuple((array, ",".join(map(str, order))) for array, order in orders)
    return Options(**values)


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


_CHECKS: Mapping[Kind, Check] = {
    option_values.SIZE: whole(1, LARGEST_TILE),
    option_values.ROWS: whole(0, LARGEST_TILE),
    option_values.ITERATIONS: whole(0, LARGEST_TILE),
    option_values.BUFFERS: whole(1, MOST_BUFFERS),
    option_values.WIDTH: one_of(1, *VECTOR_WIDTHS),
    option_values.INDEX: one_of(32, 64),
    option_values.PARTS: one_of(0, 2, 3),
    option_values.RECTANGLE: _rectangle,
    option_values.LAYOUTS: _layouts,
    option_values.FIXED: sizes_by_name,
    option_values.LIMIT: sizes_by_name,
}


def _time_tile(value: Any) -> str | None:
    whole_numbers = isinstance(value, tuple) and all(is_whole(n, 1, LARGEST_TILE) for n in value)
    if whole_numbers and len(value) in (0, 3, 4, 5):
        return None
    return "steps, rows and work-items along each other dimension, (8, 128, 256), or () for none"


def _tile(value: Any) -> str | None:
    whole_numbers = isinstance(value, tuple) and all(is_whole(n, 1, LARGEST_TILE) for n in value)
    if whole_numbers and len(value) in (0, 2, 3, 4):
        return None
    return "rows and work-items along each other dimension, (32, 256), or () for none"


def _blocks(value: Any) -> str | None:
    whole_numbers = isinstance(value, tuple) and all(is_whole(n, 1, LARGEST_TILE) for n in value)
    if whole_numbers and len(value) != 1:
        return None
    return "the size of a tile along each dimension, and work-items, (16, 64, 256), or () for none"


_FLAGS = {o.field for o in OPTIONS if o.kind is option_values.FLAG}
_OPEN = {f.name for f in fields(Options) if f.default is None}
"""Flags; what None leaves to the plan."""

TILING: Mapping[str, Check] = {
    "recipe": or_none(one_of(*RECIPES)),
    "variant": or_none(one_of(*RECIPES)),
    "limits": _limits,
    "fp": or_none(one_of(*LEVELS)),
    "contract": FLAG,
    **{name: or_none(FLAG) if name in _OPEN else FLAG for name in sorted(_FLAGS)},
    **{o.field: or_none(_CHECKS[o.kind]) for o in OPTIONS if o.field not in _FLAGS},
}

OFFLOADING = {
    n: TILING[n]
    for n in (
        *("limits", "fp", "contract", "pad", "separate_full_tiles", "reassociate"),
        "threshold",
    )
} | {
    "time_tile": or_none(_time_tile),
    "fuse_stages": or_none(_tile),
    "tile_stages": or_none(_blocks),
}
