"""What may be measured of a function: tile sizes of a nest, or tiles of several nests."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from math import prod

from loopxform.api.mapped import MappedRoutine
from loopxform.api.offload import offload_routine
from loopxform.api.tile import TiledRoutine
from loopxform.cli import tiling
from loopxform.cli.floating_point import permitted
from loopxform.cli.tune_subject import NOTHING, Subject
from loopxform.cli.tuned import shape_of
from loopxform.errors import LimitError, LoopxformError, UnsupportedC, UsageError
from loopxform.ir.device_facts import WARP
from loopxform.nearest import did_you_mean
from loopxform.records import record
from loopxform.schedule.params import Recipe
from loopxform.schedule.tiling_options import NAMED, OPTIONS, TAKEN, TUNED
from loopxform.targets.database import nearest
from loopxform.tune.nests import nests_of, where_sizes_count
from loopxform.tune.program_space import program_space
from loopxform.tune.space import Point, Space, space_of


@record
class Candidates:
    """The function mapped with the defaults, the space around it with the legal points in the order
    in which they are measured, how many `times` as many there are with options that vary, and
    `words` that a process needs which measures them."""

    mapped: MappedRoutine
    space: Space
    ordered: Sequence[Point]
    times: int
    words: Sequence[str]


def candidates_of(args: argparse.Namespace, subject: Subject) -> Candidates:
    """Those of a nest, or of a function of several nests, which `tile` refuses. Raises
    LoopxformError."""
    if args.offload:
        return _of_program(args, subject)
    try:
        return _of_nest(args, subject)
    except UnsupportedC as e:
        if e.code not in SEVERAL_NESTS:
            raise
        with suppress(LoopxformError):
            return _of_program(args, subject)
        raise


SEVERAL_NESTS = ("LX061", "LX062")
"""Why `tile` refuses functions that `offload` takes: a second nest, a loop around nests."""


def _of_nest(args: argparse.Namespace, subject: Subject) -> Candidates:
    """The tile sizes of a nest. Raises LoopxformError."""
    limits = subject.limits
    tiled = tiling.tiled(subject.file, args, limits, permitted(args), tuned=False)
    options = _options(args, tiled.tiled.recipe)
    near = nearest(shape_of(subject.routine), subject.family)
    seeds = [e.sizes for e in near if e.recipe == tiled.tiled.recipe]
    space = space_of(tiled.tiled, limits, tiling.given_sizes(args), options, seeds)
    ordered = _ordered(space, seeds)
    if not ordered or not space.names:
        raise _nothing_to_choose(args, "choose a recipe with tiles: --recipe register")
    times = prod(len(TUNED[n]) + 1 for n in options)
    return Candidates(tiled, space, ordered, times, _where_sizes_count(tiled))


def _of_program(args: argparse.Namespace, subject: Subject) -> Candidates:
    """The tiles of pipelines and of loops over time. Raises LoopxformError."""
    for option in ("--tune", "--contribute"):
        if getattr(args, option[2:]) is not None:
            help = f"leave out {option}, or tune a function of one nest"
            message = f"{option} is for nests, and this function is tuned as a whole"
            raise UsageError(message, help=help, subject=option)
    limits, sizes, fp = subject.limits, tiling.given_sizes(args), permitted(args)
    mapped = partial(offload_routine, subject.routine, sizes, fp=fp, options=tiling.details(args))
    done = tiled = mapped(limits=limits)
    if limits.warp == 1:  # none is chosen there; those for other devices may pay all the same
        tiled = mapped(limits=replace(limits, warp=WARP.value))
    space = program_space(p.choice for p in tiled.parts if p.choice is not None)
    if not space.names:
        help = "loopxform offload --report shows what the loops became"
        raise _nothing_to_choose(args, help)
    words = () if args.offload else ("--offload",)
    return Candidates(done, space, space.legal(), 1, words)


def _nothing_to_choose(args: argparse.Namespace, help: str) -> LimitError:
    error = LimitError("there are no sizes to choose from", help=help, subject=args.file)
    error.status = NOTHING
    return error


def _where_sizes_count(tiled: TiledRoutine) -> list[str]:
    """Options with which the version of a nest runs that has the tile sizes."""
    values = where_sizes_count(nests_of(tiled.derivation))
    given = ",".join(f"{name}={value}" for name, value in values.items())
    return ["--threshold", given] if given and "Rk" not in tiled.sizes else []


def _ordered(space: Space, seeds: Sequence[Mapping[str, int]]) -> list[Point]:
    """The legal points: what was found on other devices first, then the best by the model."""
    legal = space.legal()
    known = set(legal)
    points = (tuple(seed.get(n, v[0]) for n, v in zip(space.names, space.values)) for seed in seeds)
    return list(dict.fromkeys([*(p for p in points if p in known), *legal]))


def _options(args: argparse.Namespace, recipe: Recipe) -> list[str]:
    """The options that vary. Raises UsageError for one that cannot, or that the command line or
    the recipe settle."""
    if args.tune is None:
        return []
    given = {o.field for o in OPTIONS if getattr(args, o.name.replace("-", "_"))}
    able = [n for n in TUNED if n in TAKEN[recipe]]
    if args.tune == "all":
        return [n for n in able if NAMED[n].field not in given]
    names = list(dict.fromkeys(args.tune.split(",")))
    for name in names:
        if name not in able:
            what = f"the recipe {recipe} has no use for {name}"
            if name not in TUNED:
                what = f"'{name}' is no option that can be tuned"
            help = f"{did_you_mean(name, able)}the options are: {', '.join(able)}, or all"
            raise UsageError(what, help=help, subject="--tune")
        if NAMED[name].field in given:
            message = f"--{name} is given, and cannot vary"
            raise UsageError(message, help=f"leave out one of them, --{name}", subject="--tune")
    return names
