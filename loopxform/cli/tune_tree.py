"""`loopxform tune --tree`: the forest of thresholds with the amounts of each data set."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from functools import partial

from loopxform.api.facade import File, Routine
from loopxform.bench import sizes
from loopxform.bench.measure import text
from loopxform.cli import tiling
from loopxform.cli.options import chosen, numbers
from loopxform.cli.tune_subject import NOTHING, file_of
from loopxform.cli.versioned import versioned
from loopxform.errors import LimitError, LoopxformError, UsageError
from loopxform.targets.target import Limits
from loopxform.transforms import possible, thresholds_of
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
    limits = tiling.limits_for(args)
    nests = nests_of(versioned(args, file, routine, limits))
    require_versions(nests, args, file, routine, limits)
    given = [now for now in asked if now]
    datasets = [(text(now), instance(nests, now)) for now in given]
    if args.dot:
        return list(drawing.dot(routine.name, nests.forest, nests.defaults, datasets))
    return [
        f"thresholds of {routine.name}",
        *(f"  {line}" for line in drawing.text(nests.forest, nests.defaults, datasets)),
        f"  {counts(nests, [i for _, i in datasets])}",
    ]


def require_versions(
    nests: Nests, args: argparse.Namespace, file: File, routine: Routine, limits: Limits
) -> None:
    """Raises LimitError where there is nothing to choose between."""
    if not nests.forest:
        help = "sums and running values of rows have versions, and loops that hold parallel ones"
        if _has_versions_reassociated(args, file, routine, limits):
            help = "with --fp reassociate, which permits sums in another order, there are versions"
        message = f"no nest of {routine.name} has versions to choose between"
        help += " (docs/tiling.md#versions)"
        error = LimitError(message, help=help, subject=args.file)
        error.status = NOTHING
        raise error


def _has_versions_reassociated(
    args: argparse.Namespace, file: File, routine: Routine, limits: Limits
) -> bool:
    permitting = argparse.Namespace(**{**vars(args), "fp": "reassociate"})
    derivation = possible(partial(versioned, permitting, file, routine, limits), LoopxformError)
    return not isinstance(derivation, LoopxformError) and bool(thresholds_of(derivation))


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
