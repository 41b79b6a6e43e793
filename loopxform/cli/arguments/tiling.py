"""What may be asked of tiling, and the device or the profile to fit."""

from __future__ import annotations

import argparse

from loopxform.cli.arguments.common import add_contract
from loopxform.schedule import option_texts
from loopxform.schedule.params import RECIPES
from loopxform.targets.profile import PROFILES


def add_options(p: argparse.ArgumentParser) -> None:
    g = add_sizes(p)
    g.add_argument(
        "--recipe",
        choices=("auto", *RECIPES),
        default="auto",
        help=option_texts.RECIPE,
    )
    g.add_argument(
        "--variant",
        dest="recipe",
        choices=("auto", *RECIPES),
        default=argparse.SUPPRESS,
        help=argparse.SUPPRESS,
    )
    add_details(g)
    add_contract(g, "(tile: on; run: off, which is bit-exact)")
    add_device(p)


def add_details(g: argparse._ArgumentGroup) -> None:
    """What else may be asked of tiling, whatever the recipe."""
    add_edges(g)
    g.add_argument("--Rk", metavar="N", help=option_texts.CHUNKS)
    add_reassociate(g)
    g.add_argument(
        "--manifest",
        action="append",
        default=[],
        metavar="A:1,0",
        help=option_texts.LAYOUT,
    )
    g.add_argument("--vector", metavar="N", help=option_texts.VECTOR)
    g.add_argument("--index", choices=("32", "64"), help=option_texts.INDEX)
    g.add_argument(
        "--specialise", action="append", default=[], metavar="M=N", help=option_texts.FIXED
    )
    g.add_argument("--stages", metavar="N", help=option_texts.STAGES)
    add_flags(g, "async-copies")
    add_flags(g, "preload", "no-preload")
    g.add_argument("--serpentine", metavar="ROWS", help=option_texts.SERPENTINE)
    g.add_argument("--cyclic", metavar="N", help=option_texts.CYCLIC)
    g.add_argument("--pack", metavar="N", help=option_texts.PACK)
    g.add_argument("--group-order", metavar="N", help=option_texts.BANDS)
    g.add_argument("--item-layout", metavar="RxC", help=option_texts.LANES)


def add_sizes(p: argparse.ArgumentParser) -> argparse._ArgumentGroup:
    """The tile sizes; returns their group."""
    g = p.add_argument_group("tiling", "defaults fit the device; see docs/tiling.md")
    for name, what in option_texts.SIZES.items():
        g.add_argument(f"--{name}", metavar="N", help=what)
    return g


def add_edges(g: argparse._ArgumentGroup) -> None:
    """What else than bounds checks there may be in partial tiles."""
    add_flags(g, "pad", "no-pad", "edge-versions")


def add_flags(g: argparse._ArgumentGroup, *names: str) -> None:
    """Options without a value."""
    for name in names:
        g.add_argument(f"--{name}", action="store_true", help=option_texts.FLAGS[name])


def add_reassociate(g: argparse._ArgumentGroup) -> None:
    """That results may round differently."""
    add_flags(g, "reassociate")


def add_device(p: argparse.ArgumentParser) -> None:
    """The device, or the profile, to fit."""
    d = p.add_argument_group("device")
    d.add_argument(
        "--device", metavar="SPEC", help="a device of `loopxform devices` to fit and use"
    )
    d.add_argument(
        "--profile",
        metavar="NAME",
        help=f"a device to fit, by name or by a file NAME.toml: {', '.join(PROFILES)}",
    )
