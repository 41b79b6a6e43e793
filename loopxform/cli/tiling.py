"""What `tile` and `run` share: tile options, the device's limits, and the tiled function."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from loopxform.api import File
from loopxform.cli.options import add_contract, chosen, positive
from loopxform.errors import UsageError, about
from loopxform.recipes.limits import PROFILES, Limits, profile
from loopxform.recipes.sizes import NAMES
from loopxform.tiled import TiledRoutine

if TYPE_CHECKING:
    from loopxform.runtime.device import DeviceInfo


def add_options(p: argparse.ArgumentParser) -> None:
    g = p.add_argument_group("tiling", "defaults fit the device; see docs/tiling.md")
    g.add_argument("--Ty", metavar="N", help="work-items of a group along the outer loop (16)")
    g.add_argument("--Tx", metavar="N", help="work-items of a group along the inner loop (16)")
    g.add_argument("--Tk", metavar="N", help="tile of the sequential loop (16)")
    g.add_argument("--Ry", metavar="N", help="elements per work-item along the outer loop (8)")
    g.add_argument("--Rx", metavar="N", help="elements per work-item along the inner loop (4 or 8)")
    g.add_argument(
        "--variant",
        choices=("register", "block", "naive"),
        help="register tiling (default), block tiling only, or one work-item per iteration",
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
    options = ((name, positive(f"--{name}", getattr(args, name))) for name in NAMES)
    sizes = {name: size for name, size in options if size is not None}
    routine = chosen(file, args)
    with about(f"--{next(iter(sizes), '')}"):
        return routine.tile(variant=args.variant, limits=limits, contract=contract, **sizes)


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
