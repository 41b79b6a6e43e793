"""`loopxform tile FILE.c`: the main job."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from loopxform.api.facade import File
from loopxform.cli import plan_text, tiling, transactions_text
from loopxform.cli.colour import painter
from loopxform.cli.floating_point import permitted
from loopxform.cli.makerule import inputs, require_rule, with_rule
from loopxform.cli.options import chosen, limited, read
from loopxform.cli.script import FittedTo, saved
from loopxform.cli.steps_text import steps
from loopxform.cli.summary import lines
from loopxform.cli.validating import require_kernels, validated
from loopxform.errors import EmitError, TransformError, UnsupportedC
from loopxform.files import Output, in_folder, write_all
from loopxform.schedule.params import PLAIN
from loopxform.targets.target import Limits

if TYPE_CHECKING:
    from loopxform.api.boxed import BoxedRoutine
    from loopxform.api.tile import TiledRoutine


def main(args: argparse.Namespace) -> int:
    tiling.require_taken(args, [tiling.recipe(args)], args.target)
    require_rule(args)
    require_kernels(args, written=args.target == "opencl" and not args.dry_run)
    limits = tiling.limits_for(args, "cpu" if args.target == "openmp" else "generic")
    with limited(args):
        file = read(args)
        with chosen(file, args).contained():
            return _tile(args, file, limits)


def _tile(args: argparse.Namespace, file: File, limits: Limits) -> int:
    """Tiles the function, writes the files, prints what was asked for."""
    fp = permitted(args)
    if args.target == "openmp":
        fp = replace(fp, exact=False)  # your own compiler and library compute everything
        from loopxform.api.boxed import in_boxes  # loads what only loops over time need

        boxed = in_boxes(chosen(file, args), limits, fp) if _is_automatic(args) else None
        if boxed is not None:
            return _boxed(args, file, boxed)
    try:
        tiled = tiling.tiled(file, args, limits, fp)
        tiled = replace(tiled, host=tiling.hosts(file, args, limits).get(tiled.routine.name))
        made = tiled.openmp if args.target == "openmp" else tiled.opencl
    except (UnsupportedC, TransformError, EmitError):
        from loopxform.cli import whole_function  # loads what only several nests need

        status = whole_function.written(args, file, fp)
        if status is None:
            raise
        return status
    script = saved(tiled.derivation, fp=tiled.fp, fitted=_fitted(tiled))
    outputs = [] if args.dry_run else _outputs(args, made.files, script)
    written = write_all(with_rule(args, file, outputs), inputs(args, file))
    # With `--json -` standard output is the script alone.
    talk = sys.stderr if args.json == "-" else sys.stdout
    if args.show_steps:
        print("\n".join(steps(tiled.derivation)), file=talk)
    if args.show_plan:
        rest = transactions_text.lines(tiled) if args.quiet else ()  # else in the summary
        print("\n".join([*plan_text.lines(tiled), *rest]), file=talk)
    if args.json == "-":
        print(script, end="")
    if not args.quiet:
        paint = painter(args.words, talk)
        for line in lines(tiled, made.plan, tiling.unused(tiled, args), paint):
            print(line, file=talk)
        for path in written:
            print(f"wrote {path}", file=talk)
    return validated(written, args)


def _is_automatic(args: argparse.Namespace) -> bool:
    """Whether nothing is asked for that only kernels of one nest have."""
    unasked = tiling.recipe(args) is None and not tiling.given_sizes(args)
    return unasked and tiling.details(args) == PLAIN


def _boxed(args: argparse.Namespace, file: File, boxed: BoxedRoutine) -> int:
    """Writes a function whose loops over time run in boxes."""
    script = saved(boxed.derivation, fp=boxed.fp)
    outputs = [] if args.dry_run else _outputs(args, boxed.openmp.files, script)
    written = write_all(with_rule(args, file, outputs), inputs(args, file))
    talk = sys.stderr if args.json == "-" else sys.stdout
    if args.show_steps:
        print("\n".join(steps(boxed.derivation)), file=talk)
    if args.json == "-":
        print(script, end="")
    if not args.quiet:
        print(*boxed.lines(), *(f"wrote {path}" for path in written), sep="\n", file=talk)
    return validated(written, args)


def _fitted(tiled: TiledRoutine) -> FittedTo:
    """What the sizes were fitted to."""
    found = tiled.tiled.fitted
    uses = found.needs.uses(tiled.sizes, tiled.limits) if found else ()
    constraints = tuple(dict.fromkeys(u.constraint for u in uses))
    return FittedTo(tiled.tiled.recipe, tiled.limits.name, tiled.sizes, constraints)


def _outputs(args: argparse.Namespace, files: Mapping[str, str], script: str) -> list[Output]:
    """What is written, without the rule for make."""
    outputs = in_folder(args.output, files)
    if args.json and args.json != "-":
        outputs.append(Output(Path(args.json), script, "--json"))
    return outputs
