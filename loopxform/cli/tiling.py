"""What `tile` and `run` share: tile options, the device's limits, and the tiled function."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from loopxform.api import File
from loopxform.cli.options import add_contract, chosen, positive
from loopxform.errors import UsageError, about
from loopxform.recipes.limits import PROFILES, Limits, profile
from loopxform.recipes.sizes import NAMES, RECIPES, Options
from loopxform.tiled import TiledRoutine, tile_routine

if TYPE_CHECKING:
    from loopxform.runtime.device import DeviceInfo


SIZES = {
    "Ty": "work-items of a group along the outer tiled loop",
    "Tx": "work-items of a group along the inner tiled loop",
    "Tk": "tile of the sequential loop",
    "Ry": "elements per work-item along the outer tiled loop",
    "Rx": "elements per work-item along the inner tiled loop",
    "Tz": "work-items along a third tiled loop (stencils)",
}


def add_options(p: argparse.ArgumentParser) -> None:
    g = p.add_argument_group("tiling", "defaults fit the device; see docs/tiling.md")
    for name, what in SIZES.items():
        g.add_argument(f"--{name}", metavar="N", help=what)
    g.add_argument(
        "--recipe",
        choices=("auto", *RECIPES),
        default="auto",
        help="what is tiled: found from what is used again (auto), or one of the named ways",
    )
    g.add_argument(
        "--variant",
        dest="recipe",
        choices=("auto", *RECIPES),
        default=argparse.SUPPRESS,
        help=argparse.SUPPRESS,
    )
    g.add_argument(
        "--pad",
        action="store_true",
        help="fill partial tiles of the sequential loop with numbers that change nothing, where "
        "that can be shown, in place of an epilogue",
    )
    g.add_argument(
        "--edge-versions",
        action="store_true",
        help="copy and write whole tiles in versions without the checks of partial ones",
    )
    g.add_argument(
        "--Rk",
        metavar="N",
        help="split the reduction into chunks of Tk*N terms that run at the same time (N is 256 "
        "where no loop is parallel)",
    )
    g.add_argument(
        "--reassociate",
        action="store_true",
        help="sums and products of floats may be computed in another order",
    )
    g.add_argument(
        "--manifest",
        action="append",
        default=[],
        metavar="A:1,0",
        help="read an array from a copy with its dimensions in this order, made first; "
        "none: make no copies, which else are made where they pay",
    )
    add_contract(g, "(tile: on; run: off, which is bit-exact)")
    d = p.add_argument_group("device")
    d.add_argument(
        "--device", metavar="SPEC", help="a device of `loopxform devices` to fit and use"
    )
    d.add_argument(
        "--profile", metavar="NAME", help=f"a named device to fit: {', '.join(PROFILES)}"
    )


def tiled(file: File, args: argparse.Namespace, limits: Limits, *, contract: bool) -> TiledRoutine:
    """Tiles the function that the command line asks for. Raises LoopxformError."""
    given = ((name, positive(f"--{name}", getattr(args, name))) for name in NAMES)
    sizes = {name: size for name, size in given if size is not None}
    routine = chosen(file, args)
    with about(f"--{next(iter(sizes), '')}"):
        recipe = None if args.recipe == "auto" else args.recipe
        options = Options(
            pad=args.pad,
            versions=args.edge_versions,
            layouts=_layouts(args.manifest),
            chunks=positive("--Rk", args.Rk),
            reassociate=args.reassociate,
        )
        return tile_routine(routine, sizes, recipe, limits, contract=contract, options=options)


def _layouts(texts: list[str]) -> tuple[tuple[str, str], ...] | None:
    """What --manifest asks for; None where that is left to tiling. Raises UsageError."""
    if not texts:
        return None
    return () if texts == ["none"] else tuple(map(_layout, texts))


def _layout(text: str) -> tuple[str, str]:
    """`A:1,0`. Raises UsageError."""
    array, _, order = text.partition(":")
    if array and order and all(n.isdecimal() for n in order.split(",")):
        return array, order
    raise UsageError(
        f"'{text}' is no layout",
        help="an array and its dimensions in order: --manifest A:1,0",
        subject="--manifest",
    )


def limits_for(args: argparse.Namespace) -> Limits:
    """The limits of --profile, of --device, or of the generic profile. Raises UsageError,
    DeviceError."""
    if args.profile and args.device:
        raise UsageError(
            "--profile and --device exclude each other", help="give one", subject="--profile"
        )
    if args.device:
        from loopxform.runtime.profiles import limits_of

        return limits_of(device(args))
    with about("--profile"):
        return profile(args.profile or "generic")


def device(args: argparse.Namespace) -> DeviceInfo:
    """The device of --device, or the first. Raises DeviceError."""
    from loopxform.runtime.device import choose

    with about("--device"):
        return choose(args.device)
