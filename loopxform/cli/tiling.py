"""What `tile` and `run` share: tile options, the device's limits, and the tiled program."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass

from loopxform.cli.options import choose_function, complain, positive, with_sources
from loopxform.errors import LoopxformError
from loopxform.frontend import Parsed
from loopxform.ir.nodes import Function
from loopxform.recipes import fit
from loopxform.recipes.limits import PROFILES, Limits, profile
from loopxform.recipes.sizes import Tiles, Variant
from loopxform.recipes.tile import Tiled, demand_of, tile

NAMES = ("Ty", "Tx", "Tk", "Ry", "Rx")


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
    g.add_argument(
        "--fp-contract",
        choices=("on", "off"),
        default=None,
        help="let the device fuse a*b + c (tile: on; run: off, which is bit-exact)",
    )
    d = p.add_argument_group("device")
    d.add_argument(
        "--device", metavar="SPEC", help="a device of `loopxform devices` to fit and use"
    )
    d.add_argument(
        "--profile", metavar="NAME", help=f"a named device to fit: {', '.join(PROFILES)}"
    )


@dataclass(frozen=True)
class Request:
    """A tiled function and what it was fitted to."""

    function: Function
    tiles: Tiles
    tiled: Tiled
    limits: Limits


def request(
    parsed: Parsed, args: argparse.Namespace, argv: Sequence[str], limits: Limits
) -> Request:
    """Tiles the function that the command line asks for. Raises LoopxformError with its place."""
    given = {n: v for n in NAMES if (v := positive(argv, f"--{n}", getattr(args, n))) is not None}
    wanted: Variant = args.variant or "register"
    try:
        fn = choose_function(parsed, args.function)
        demand = demand_of(fn)
        sizes = fit.defaults(limits, given, demand, wanted)
        fit.require(sizes, demand, limits, wanted)
        tiled = tile(fn, sizes, wanted, strict=args.variant in ("register", "block"))
    except LoopxformError as e:
        raise with_sources(e, parsed) from None
    return Request(fn, sizes, tiled, limits)


def limits_for(args: argparse.Namespace, argv: Sequence[str]) -> Limits:
    """The limits of --profile, of --device, or of the generic profile."""
    if args.profile and args.device:
        raise complain(argv, "--profile", "--profile and --device exclude each other", "give one")
    if args.device:
        from loopxform.runtime.device import choose
        from loopxform.runtime.profiles import limits_of

        return limits_of(choose(args.device))
    return profile(args.profile or "generic")
