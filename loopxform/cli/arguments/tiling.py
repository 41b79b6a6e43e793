"""What may be asked of tiling, and the device or the profile to fit."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping
from typing import Any

from loopxform.cli.arguments.common import add_floating_point
from loopxform.schedule import tiling_options
from loopxform.schedule.option_values import FLAG
from loopxform.schedule.params import RECIPES
from loopxform.schedule.tiling_options import OPTIONS, TilingOption
from loopxform.targets.profile import PROFILES

GROUPS: Mapping[str, tuple[str, ...]] = {
    "stencils in time and pipelines": ("time-tile", "fuse-stages", "tile-stages"),
    "partial tiles": ("pad", "no-pad", "separate-full-tiles", "shift-inwards"),
    "reductions and floating point": ("Rk", "reassociate"),
    "layout of data": ("relayout", "pack", "vector", "index"),
    "order of work": (
        "block-cyclic",
        "single-columns",
        "serpentine",
        "swizzle-groups",
        "warp-tile",
    ),
    "latency": (
        *("stages", "async-copies", "register-pipeline", "no-register-pipeline"),
        "interleave-copies",
        *("tensor-units", "no-tensor-units", "bfloat-parts"),
    ),
    "versions": ("specialise", "threshold"),
}
"""Options of tiling by what they are about, as help shows them."""

NUMBERS = "reductions and floating point"


def add_options(p: argparse.ArgumentParser) -> None:
    g = add_sizes(p)
    g.add_argument(
        "--recipe",
        choices=("auto", *RECIPES),
        default="auto",
        help=tiling_options.RECIPE,
    )
    g.add_argument(
        "--variant",
        dest="recipe",
        choices=("auto", *RECIPES),
        default=argparse.SUPPRESS,
        help=argparse.SUPPRESS,
    )
    add_no_tuning(g)
    add_details(p)
    add_floating_point(
        titled(p, NUMBERS), "(tile: contract; run: nothing is fused, so results are identical)"
    )
    add_device(p)


def add_no_tuning(g: argparse._ArgumentGroup) -> None:
    """`--no-tuning`."""
    help = "ignore NAME.tuning, which loopxform tune writes next to NAME.c"
    g.add_argument("--no-tuning", action="store_true", help=help)


def add_details(p: argparse.ArgumentParser) -> None:
    """What else may be asked of tiling, whatever the recipe."""
    add_named(p, OPTIONS)


def add_named(p: argparse.ArgumentParser, options: Iterable[TilingOption]) -> None:
    """These options in their groups, and what they were called in earlier releases, which help does
    not show."""
    of_option = {name: title for title, names in GROUPS.items() for name in names}
    for o in sorted(options, key=lambda o: [*of_option].index(o.name)):
        g = titled(p, of_option[o.name])
        settings: dict[str, Any] = {"dest": o.name.replace("-", "_")}
        if o.kind is FLAG:
            settings |= {"action": "store_true"}
        elif o.kind.several:
            settings |= {"action": "append", "default": [], "metavar": o.kind.metavar}
        else:
            shown = {"choices": o.kind.choices} if o.kind.choices else {"metavar": o.kind.metavar}
            settings |= shown
        g.add_argument(f"--{o.name}", help=o.about, **settings)
        for name in o.former:
            former = g.add_argument(f"--{name}", help=argparse.SUPPRESS, **settings)
            former.current = f"--{o.name}"  # type: ignore[attr-defined]


def titled(p: argparse.ArgumentParser, title: str) -> argparse._ArgumentGroup:
    """The group of options with this title."""
    same = (g for g in p._action_groups if g.title == title)
    return next(same, None) or p.add_argument_group(title)


def add_sizes(p: argparse.ArgumentParser) -> argparse._ArgumentGroup:
    """The tile sizes; returns their group."""
    g = p.add_argument_group("tiling", "defaults fit the device; see docs/tiling.md")
    for name, what in tiling_options.SIZES.items():
        g.add_argument(f"--{name}", metavar="N", help=what)
    return g


def add_device(p: argparse.ArgumentParser) -> None:
    """The device, or the profile, to fit."""
    d = p.add_argument_group("device")
    d.add_argument(
        "--device", metavar="SPEC", help="a device of `loopxform devices` to fit and use"
    )
    d.add_argument(
        "--profile",
        metavar="NAME",
        help=f"a device to fit, by name or as a file NAME.toml: {', '.join(PROFILES)}",
    )
