"""The function of which `tune` shows or tunes the versions: tiled, or as a whole."""

from __future__ import annotations

import argparse
from functools import partial

from loopxform.api.facade import File, Routine
from loopxform.api.offload import offload_routine
from loopxform.cli import tiling
from loopxform.cli.floating_point import permitted
from loopxform.errors import LimitError, LoopxformError, TransformError, UnsupportedC
from loopxform.targets.target import Limits
from loopxform.transforms import Derivation, possible, thresholds_of


def versioned(args: argparse.Namespace, file: File, routine: Routine, limits: Limits) -> Derivation:
    """The function tiled, or offloaded where that is asked for, or it is more than a nest that has
    versions: with the sizes that were tuned, where they leave it versions. Raises
    LoopxformError."""
    fp, options = permitted(args), tiling.details(args)
    for tuned in () if args.offload else (True, False):
        use = partial(tiling.tiled, file, args, limits, fp, tuned=tuned, thresholds=False)
        tiled = possible(use, UnsupportedC, TransformError, LimitError)
        if not isinstance(tiled, LoopxformError) and thresholds_of(tiled.derivation):
            return tiled.derivation
    whole = offload_routine(routine, tiling.given_sizes(args), limits, fp=fp, options=options)
    return whole.derivation
