"""What `loopxform tune` measures where: a function and sets of sizes, on a device."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from math import isfinite
from typing import TypeAlias

from loopxform.api.facade import File, Routine
from loopxform.bench import sizes
from loopxform.cli import running, tiling
from loopxform.cli.options import chosen, numbers, read
from loopxform.errors import UsageError
from loopxform.records import record
from loopxform.runtime.device import DeviceInfo
from loopxform.runtime.profiles import family_of
from loopxform.targets.database import Family
from loopxform.targets.target import Limits

NOTHING, WRONG, NOISY = 3, 4, 5
"""Exit statuses of `tune`: nothing can be measured, results differ, times vary too much."""


@record
class Place:
    """Where is measured: a device, what kernels are fitted to, and of what kind it is."""

    device: DeviceInfo
    limits: Limits
    family: Family


def place_here(args: argparse.Namespace) -> Place:
    """A device of this machine. Raises LoopxformError."""
    device = tiling.device(args)
    return Place(device, running.limits_on(device, args), family_of(device))


Placed: TypeAlias = Callable[[argparse.Namespace], Place]


@record
class Subject:
    """What is tuned, sizes or thresholds: a function, for a device and sets of sizes; `limit` in
    seconds and `repeat` launches for each measurement."""

    file: File
    routine: Routine
    device: DeviceInfo
    limits: Limits
    family: Family
    datasets: Sequence[sizes.Sizes]
    limit: float
    repeat: int


def subject_of(args: argparse.Namespace, placed: Placed = place_here) -> Subject:
    """Raises LoopxformError."""
    asked = sizes.every(numbers("--size", args.size), args.sizes)
    limit, repeat = _seconds("--limit", args.limit), running.launches("--repeat", args.repeat, 1)
    running.launches("--warmup", args.warmup, 0)
    file = file_of(args)
    routine = chosen(file, args)
    running.require_numbers("--size", routine, asked, running.inputs(args))
    place = placed(args)
    return Subject(file, routine, place.device, place.limits, place.family, asked, limit, repeat)


def file_of(args: argparse.Namespace) -> File:
    """The file. Raises LoopxformError, also for options of tiling that the recipe does not take."""
    if args.file == "-":
        raise UsageError("what is tuned is a file", help="tune NAME.c", subject="-")
    tiling.require_taken(args, [tiling.recipe(args)])
    return read(args)


def _seconds(option: str, written: str) -> float:
    try:
        seconds = float(written)
    except ValueError:
        seconds = 0.0
    if not (isfinite(seconds) and seconds > 0):
        message = f"'{written}' is not a number of seconds"
        raise UsageError(message, code="LX023", help=f"{option} 20", subject=option)
    return seconds
