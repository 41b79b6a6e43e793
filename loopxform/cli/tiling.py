"""What `tile` and `run` share: tile options, the device's limits, and the tiled function."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

from loopxform.api.facade import File
from loopxform.api.tile import TiledRoutine, tile_routine
from loopxform.cli import streams
from loopxform.cli.options import chosen, positive
from loopxform.errors import DeviceError, IgnoredOption, UsageError, about
from loopxform.schedule import requests, used_options
from loopxform.schedule.params import NAMES, Options, Recipe
from loopxform.targets.profile import profile
from loopxform.targets.target import Limits

if TYPE_CHECKING:
    from loopxform.runtime.device import DeviceInfo


def tiled(file: File, args: argparse.Namespace, limits: Limits, *, contract: bool) -> TiledRoutine:
    """Tiles the function that the command line asks for. Raises LoopxformError."""
    sizes, routine = given_sizes(args), chosen(file, args)
    with about(f"--{next(iter(sizes), '')}"):
        options = details(args)
        done = tile_routine(
            routine, sizes, recipe(args), limits, contract=contract, options=options
        )
    if recipe(args) is not None:
        for name in unused(done, args):
            message = f"the recipe {args.recipe} has no use for --{name} in this nest"
            help = f"leave out --{name}: its sizes here are {', '.join(done.sizes)}"
            raise IgnoredOption(message, help=help, subject=f"--{name}")
    return done


def unused(done: TiledRoutine, args: argparse.Namespace) -> list[str]:
    """The sizes that were given, and that no nest has."""
    used = {name for part in (done.tiled, *done.tiled.rest) for name in part.sizes}
    return [name for name, size in given_sizes(args).items() if name not in used and size > 1]


def recipe(args: argparse.Namespace) -> Recipe | None:
    """The recipe that is asked for; None: any that fits."""
    return None if args.recipe == "auto" else args.recipe


def require_taken(
    args: argparse.Namespace,
    recipes: Sequence[Recipe | None],
    target: used_options.Target = "opencl",
) -> None:
    """Raises IgnoredOption for an option that the recipes or the target have no use for."""
    given = {n: getattr(args, n.replace("-", "_"), None) for n in used_options.EVERY}
    names = (f"--{name}" for name, value in given.items() if value not in (None, False, []))
    used_options.require_taken(names, recipes, target)


def asked(args: argparse.Namespace, name: str) -> bool | None:
    """Whether --NAME or --no-NAME was given; None: neither. Raises UsageError."""
    yes, no = getattr(args, name), getattr(args, f"no_{name}")
    if yes and no:
        what = f"--{name} and --no-{name} say the opposite"
        raise UsageError(what, help="leave out one of them", subject=f"--{name}")
    return False if no else yes or None


def details(args: argparse.Namespace) -> Options:
    """What is asked of tiling besides a recipe and sizes. Raises UsageError."""
    return Options(
        pad=asked(args, "pad"),
        versions=args.edge_versions,
        layouts=_layouts(args.manifest),
        chunks=positive("--Rk", args.Rk),
        reassociate=args.reassociate,
        vector=None if args.vector is None else requests.vector("--vector", args.vector),
        narrow=None if args.index is None else args.index == "32",
        fixed=requests.fixed("--specialise", args.specialise),
        bands=positive("--group-order", args.group_order),
        cyclic=positive("--cyclic", args.cyclic),
        serpentine=None
        if args.serpentine is None
        else requests.rows("--serpentine", args.serpentine),
        preload=asked(args, "preload"),
        asynchronous=args.async_copies,
        pack=None if args.pack is None else requests.iterations("--pack", args.pack),
        stages=None if args.stages is None else requests.stages("--stages", args.stages),
        lanes=None
        if args.item_layout is None
        else requests.lanes("--item-layout", args.item_layout),
    )


def given_sizes(args: argparse.Namespace) -> dict[str, int]:
    """The tile sizes of the command line. Raises UsageError."""
    given = ((name, positive(f"--{name}", getattr(args, name))) for name in NAMES)
    return {name: size for name, size in given if size is not None}


def _layouts(texts: list[str]) -> tuple[tuple[str, str], ...] | None:
    """What --manifest asks for; None where that is left to tiling. Raises UsageError."""
    if not texts:
        return None
    return () if texts == ["none"] else tuple(requests.layout(t, "--manifest") for t in texts)


def limits_for(args: argparse.Namespace, default: str = "generic") -> Limits:
    """The limits of --profile, of --device, or of the profile `default`. Raises UsageError,
    DeviceError."""
    if args.profile and args.device:
        raise UsageError(
            "--profile and --device exclude each other", help="give one", subject="--profile"
        )
    if args.device:
        from loopxform.runtime.profiles import limits_of

        return limits_of(device(args))
    with about("--profile"):
        return profile(default if args.profile is None else args.profile)


def device(args: argparse.Namespace) -> DeviceInfo:
    """The device of --device, or the first that builds kernels; what does not is named. Raises
    DeviceError."""
    from loopxform.runtime.selection import choose

    with about("--device"):
        return choose(args.device, _named)


def _named(device: DeviceInfo, error: DeviceError) -> None:
    notes = "".join(f"\n   = {note}" for note in error.notes[:4])
    streams.complain(f"loopxform: note: {device} is not used: {error.message}{notes}")
