"""A function that is not one nest, as `tile` writes it: as `offload` does, if all of its loops run
on the device or are around those that do.
"""

from __future__ import annotations

import argparse

from loopxform.api.facade import File
from loopxform.api.splice import OffloadedFile
from loopxform.cli import offload, tiling
from loopxform.cli.options import chosen
from loopxform.errors import LoopxformError
from loopxform.floating_point import FloatingPoint
from loopxform.schedule.offload_options import OF_PROGRAMS, OFFLOADING
from loopxform.schedule.params import Options
from loopxform.transforms import possible


def written(args: argparse.Namespace, file: File, fp: FloatingPoint) -> int | None:
    """Writes the function, says what each part became, and returns the exit status. None where a
    loop would stay on the host without any inside that do not, or where something is asked for
    that only one nest has."""
    args = _with_own(args)
    options = Options(**tiling.asked(args, OFFLOADING))
    asked = args.json or args.show_plan or args.target != "opencl" or tiling.recipe(args)
    if asked or options != tiling.details(args):
        return None
    names = [chosen(file, args).name]
    made = possible(lambda: offload.taken(args, file, names, fp), LoopxformError)
    if isinstance(made, LoopxformError):
        return None
    done, notes = made
    if not _is_parallel(done):
        return None
    if not args.quiet:
        print(notes, end="")
    return offload.written(args, file, done)


def _is_parallel(done: OffloadedFile) -> bool:
    """Whether each part has a kernel of many work-items, and no loop stays on the host but those
    around such parts."""
    taken = [x for x, is_taken in done.loops if is_taken]
    left = [x for x, is_taken in done.loops if not is_taken]
    spread = all(any(p.kind == "kernel" for p in r.done.parts) for r in done.regions)
    return spread and bool(taken) and all(any(x.is_around(y) for y in taken) for x in left)


def _with_own(args: argparse.Namespace) -> argparse.Namespace:
    """The command line with the options that `offload` has besides, none of them given."""
    own = dict.fromkeys(name.replace("-", "_") for name in OF_PROGRAMS)
    return argparse.Namespace(**{**own, "report": False, "scratch": (), **vars(args)})
