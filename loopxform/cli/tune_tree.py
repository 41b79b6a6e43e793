"""`loopxform tune --tree`: the forest of thresholds with the amounts of each data set."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from loopxform.api.facade import File, Routine
from loopxform.bench import sizes
from loopxform.bench.measure import text
from loopxform.cli import tiling
from loopxform.cli.options import chosen, numbers
from loopxform.cli.tune_subject import NOTHING, file_of
from loopxform.cli.versioned import versioned
from loopxform.errors import LimitError, UsageError
from loopxform.tune import drawing
from loopxform.tune.forest import Instance, paths, versions
from loopxform.tune.nests import Nests, nests_of
from loopxform.tune.thresholds import region_runs, runs


def main(args: argparse.Namespace) -> int:
    print("\n".join(_lines(args, file_of(args))))
    return 0


def _lines(args: argparse.Namespace, file: File) -> list[str]:
    """What is printed. Raises LoopxformError."""
    asked = sizes.every(numbers("--size", args.size), args.sizes)
    routine = chosen(file, args)
    nests = nests_of(versioned(args, file, routine, tiling.limits_for(args)))
    require_versions(nests, routine, args.file)
    given = [now for now in asked if now]
    datasets = [(text(now), instance(nests, now)) for now in given]
    if args.dot:
        return list(drawing.dot(routine.name, nests.forest, nests.defaults, datasets))
    return [
        f"thresholds of {routine.name}",
        *(f"  {line}" for line in drawing.text(nests.forest, nests.defaults, datasets)),
        f"  {counts(nests, [i for _, i in datasets])}",
    ]


def require_versions(nests: Nests, routine: Routine, subject: str) -> None:
    """Raises LimitError where there is nothing to choose between."""
    if not nests.forest:
        help = "sums of floats have versions with --fp reassociate (docs/tiling.md)"
        message = f"no nest of {routine.name} has versions to choose between"
        error = LimitError(message, help=help, subject=subject)
        error.status = NOTHING
        raise error


def counts(nests: Nests, datasets: Sequence[Instance]) -> str:
    """How many versions, paths and measurements there are."""
    every = [[i] for i in datasets]
    total = f"{len(versions(nests.forest))} versions, {paths(nests.forest)} paths"
    if not datasets:
        return total
    measured = region_runs if nests.are_several else runs
    planned = len(measured(nests.forest, every, nests.defaults))
    sets = "" if len(every) == 1 else f" for {len(every)} data sets"
    return f"{total}, {planned} measurements{sets}"


def instance(nests: Nests, now: sizes.Sizes) -> dict[str, int]:
    """What the thresholds are compared with. Raises UsageError for a size that is missing."""
    try:
        return nests.instance({name: int(value) for name, value in now.items()})
    except KeyError as e:
        help = f"--size {e.args[0]}=1024"
        message = f"thresholds are compared with '{e.args[0]}', which has no size"
        raise UsageError(message, help=help, subject="--size") from e
