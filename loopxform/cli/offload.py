"""`loopxform offload FILE.c`: the loops of a file on the device."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

from loopxform.api.facade import File
from loopxform.api.source import SourceFile
from loopxform.api.splice import OffloadedFile, offload_file
from loopxform.budget import Exhausted
from loopxform.cli import failures, offload_summary, offload_text, pipeline_text, tiling
from loopxform.cli.colour import painter
from loopxform.cli.floating_point import permitted
from loopxform.cli.makerule import inputs, require_rule, with_rule
from loopxform.cli.options import limited, read
from loopxform.cli.steps_text import steps
from loopxform.cli.tuned import tuned_for
from loopxform.cli.users_names import UsersNames
from loopxform.cli.validating import require_kernels, validated
from loopxform.errors import InputError, LoopxformError, about, quoting
from loopxform.files import Output, in_folder, write_all
from loopxform.floating_point import FloatingPoint
from loopxform.schedule.offload_options import OFFLOADING
from loopxform.schedule.params import Options
from loopxform.schedule.tuning_file import Tuned
from loopxform.source import Loc
from loopxform.targets.target import Limits
from loopxform.transforms import thresholds_of


def main(args: argparse.Namespace) -> int:
    require_rule(args)
    require_kernels(args, written=not args.dry_run)
    with limited(args):
        file, done = _offloaded(args)
    return written(args, file, done)


def written(args: argparse.Namespace, file: File, done: OffloadedFile) -> int:
    """Writes what became of a file, and says what that is. Returns the exit status."""
    limits = tiling.limits_for(args)
    plan = pipeline_text.as_json(done, limits) if args.json else ""
    outputs = [] if args.dry_run else _outputs(args, done.files, plan)
    paths = write_all(with_rule(args, file, outputs), inputs(args, file))
    # With `--json -` standard output is the plan alone.
    talk = sys.stderr if args.json == "-" else sys.stdout
    for line in _told(args, done, limits):
        print(line, file=talk)
    if args.json == "-":
        print(plan, end="")
    if not args.quiet:
        for line in (*_lines(args, done), *(f"wrote {path}" for path in paths)):
            print(line, file=talk)
        for line in offload_summary.lines(done):
            print(line, file=talk)
    failed = failures.told(done.broken, file.parsed.sources, painter(args.words, sys.stderr))
    return failed or validated(paths, args)


def _outputs(args: argparse.Namespace, files: Mapping[str, str], plan: str) -> list[Output]:
    """What is written, without the rule for make."""
    outputs = in_folder(args.output, files)
    if args.json and args.json != "-":
        outputs.append(Output(Path(args.json), plan, "--json"))
    return outputs


def _told(args: argparse.Namespace, done: OffloadedFile, limits: Limits) -> Iterator[str]:
    """What is asked for besides the summary."""
    if args.show_steps:
        yield from (line for r in done.regions for line in steps(r.done.derivation))
    if args.show_plan:
        yield from pipeline_text.lines(done, limits)


def _lines(args: argparse.Namespace, done: OffloadedFile) -> Iterator[str]:
    paint = painter(args.words, sys.stdout)
    return offload_text.file_lines(done, whole=args.report, paint=paint)


def _offloaded(args: argparse.Namespace) -> tuple[File, OffloadedFile]:
    """The file, and what became of it. Raises the first reason where nothing became of it."""
    file = read(args)
    names = [_known(file, name) for name in args.function]
    with about(f"--{next(iter(tiling.given_sizes(args)), '')}"):
        done, notes = taken(args, file, names, permitted(args))
        if not args.quiet:
            talk = sys.stderr if args.json == "-" else sys.stdout
            print(notes, end="", file=talk)
        with quoting(file.parsed.sources):
            try:
                _require_all(done, names)
            except LoopxformError as e:
                if len(done.left) > 1 and not args.quiet:
                    print("\n".join([*_lines(args, done), *offload_summary.lines(done)]))
                raise UsersNames(file).in_error(e) from e
    return file, done


def taken(
    args: argparse.Namespace, file: File, names: list[str], fp: FloatingPoint
) -> tuple[OffloadedFile, str]:
    """The functions called `names`, or all of the file, as the command line and what was tuned ask
    for it, with notes about that. Raises LoopxformError."""
    limits, sizes = tiling.limits_for(args), tiling.given_sizes(args)
    more = Options(**tiling.asked(args, OFFLOADING))
    notes = {} if sizes or args.no_tuning else _tuned(args, file, limits, fp)
    done = offload_file(
        file,
        names,
        sizes,
        limits,
        fp=fp,
        options=more,
        tuned={name: found for name, (found, _) in notes.items() if found is not None},
        hosts=tiling.hosts(file, args, limits),
        scratch=args.scratch,
    )
    return done, "".join(_tuning_notes(done, notes))


def _tuned(
    args: argparse.Namespace, file: File, limits: Limits, fp: FloatingPoint
) -> dict[str, tuple[Tuned | None, str]]:
    """What was tuned for the functions that are not annotated, with a note about it. Raises
    UsageError, InputError."""
    device = limits.name if args.device or args.profile else None
    find = partial(tuned_for, file, device=device, fp=fp, architecture=limits.architecture)
    return {r.name: find(r) for r in file if not r.annotations}


def _tuning_notes(
    done: OffloadedFile, notes: Mapping[str, tuple[Tuned | None, str]]
) -> Iterator[str]:
    """Whose sizes are tuned, and what is not used."""
    for name, (tuned, note) in notes.items():
        own = [r.done for r in done.regions if r.region.owner.name == name]
        tiled = [p.tiled.sizes for d in own for p in d.parts if p.tiled is not None]
        asked = () if tuned is None else tuned.sizes.items()
        if asked and not any(asked <= s.items() for s in tiled):
            note += ", not used: they do not fit, or it is not one nest"
        compared = {x for d in own for x in thresholds_of(d.derivation)}
        stale = [] if tuned is None else [x for x in tuned.thresholds if x not in compared]
        if stale:
            note += f", without {', '.join(stale)}, which no guard compares with"
        if note:
            yield f"note: {name}: {note}\n"


def _known(file: File, name: str) -> str:
    """Raises InputError where the file has no such function."""
    try:
        return file.routine(name).name
    except InputError as e:
        if e.code == "LX052":  # the place is the name on the command line, not the file
            e.loc, e.subject = None, name
        raise


def _require_all(done: OffloadedFile, names: list[str]) -> None:
    """Raises a reason why nothing is offloaded, of the file or of a function that is asked for: the
    limits, where more of it may be had with larger ones, else the first."""
    offloaded = {r.region.owner.name for r in done.regions}
    for name in names:
        if name not in offloaded:
            whys = [e for n, e in offload_summary.by_work(done) if n == name]
            raise _reason(whys, _no_loops(done.file, name))
    if not done.regions and not done.original.data:
        whys = [*done.broken, *(e for _, e in offload_summary.by_work(done))]
        raise _reason(whys, _no_loops(done.file, ""))


def _reason(whys: Sequence[LoopxformError], else_why: LoopxformError) -> LoopxformError:
    late = (e for e in whys if isinstance(e, Exhausted))
    return next(late, next(iter(whys), else_why))


def _no_loops(file: SourceFile, name: str) -> LoopxformError:
    functions = [f for f in file.parsed.unit.functions if not name or f.name == name]
    what = f"function '{name}'" if name else "no function of the file"
    return InputError(
        f"{what} has {'no' if name else 'a'} loop nest",
        loc=functions[0].origin.loc if functions else Loc(file.name, 1, 1),
        code="LX060",
        help="give a file with a for loop over arrays",
    )
