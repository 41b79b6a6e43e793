"""`loopxform bench FILE.c --size M=1024,...`: variants of a nest, timed side by side."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from loopxform import __version__
from loopxform.api.facade import File, Routine
from loopxform.bench import external, plot, sizes, variants
from loopxform.bench.external import Command
from loopxform.bench.lineup import Lineup
from loopxform.bench.measure import Bench, Contestant, Row, text
from loopxform.bench.programs import ProgramLineup
from loopxform.bench.report import Measured, as_json
from loopxform.cli import running, tiling
from loopxform.cli.bench_text import head, lines
from loopxform.cli.floating_point import permitted
from loopxform.cli.inputs import progress
from loopxform.cli.options import chosen, numbers, read
from loopxform.errors import UsageError, about, quoting
from loopxform.files import Output, Picture, write_all
from loopxform.model.operations import operations
from loopxform.records import record
from loopxform.runtime.device import DeviceInfo
from loopxform.runtime.peak import Peak, measured
from loopxform.runtime.queues import queue_on
from loopxform.schedule import tiling_options
from loopxform.verify.check_run import Reference


def main(args: argparse.Namespace) -> int:
    asked = sizes.every(numbers("--size", args.size), args.sizes)
    wanted = variants.every(args.variants, args.vary)
    recipes = [v.recipe for v in wanted]
    tiling.require_taken(args, recipes)
    tiling_options.require_taken((name for v in wanted for name, _ in v.varied), recipes)
    programs = external.commands(args.command, asked)
    external.require(programs, args.command)
    _require_pictures(args)
    file = read(args)
    option = "--sizes" if args.sizes else "--size"
    running.require_numbers(option, chosen(file, args), asked, running.inputs(args))
    setup = prepared(args, file)
    _require_operations(args, setup)
    entries = [*setup.lineup.variants(wanted), *setup.lineup.libraries(args.against), *programs]
    peak = measured(setup.device) if args.roofline else None
    # With `--json -` standard output is the report alone.
    talk = sys.stderr if args.json == "-" else sys.stdout
    for line in head(setup.routine.name, setup.device, setup.bench, peak):
        print(line, file=talk)
    results: list[Measured] = []
    for now in asked:
        results.append(_measured(setup, now, entries))
        for line in lines(results[-1], setup.bench.base.allowed, peak):
            print(line, file=talk, flush=True)
    report = as_json(_about(args, setup), results, peak)
    if args.json == "-":
        print(report, end="")
    outputs = [Output(Path(args.json), report, "--json")] if args.json not in (None, "-") else []
    outputs += _pictures(args, setup, results, peak)
    for path in write_all(outputs, setup.dependencies):
        print(f"wrote {path}", file=talk)
    return 0 if all(m.ok for m in results) else 1


@record
class Setup:
    """What the command line asks for, ready to run."""

    routine: Routine
    device: DeviceInfo
    lineup: Lineup
    bench: Bench

    @property
    def dependencies(self) -> tuple[str, ...]:
        return self.routine.file.parsed.dependencies


def prepared(args: argparse.Namespace, file: File) -> Setup:
    """Raises LoopxformError."""
    repeat = running.launches("--repeat", args.repeat, 1)
    warmup = running.launches("--warmup", args.warmup, 0)
    inputs, seed = running.inputs(args), running.seed(args)
    fp = permitted(args)
    tiles, details = tiling.given_sizes(args), tiling.details(args)
    device = tiling.device(args)
    limits = running.limits_on(device, args)
    routine = chosen(file, args)
    queue = queue_on(device)
    kind = ProgramLineup if getattr(args, "offload", False) else Lineup
    lineup = kind(routine, tiles, limits, details, fp, device, queue)
    tiled = lineup.base()
    base = lineup.kernels("naive", tiled)
    reference = Reference(running.reference(file, args), base.plan.written)
    start, fixed = tiled.derivation, details.specialise
    bench = Bench(base, base.plan, start, reference, seed, inputs, warmup, repeat, fixed)
    return Setup(routine, device, lineup, bench)


def _require_operations(args: argparse.Namespace, setup: Setup) -> None:
    """Fails before anything is timed. Raises UsageError."""
    found = operations(setup.bench.plan.start)
    if args.roofline and (found is None or not found.terms):
        message = f"{setup.routine.name} has no floating-point operations to draw a roofline of"
        help = "leave out --roofline; the table has the bytes in a second"
        raise UsageError(message, help=help, subject="--roofline")


def _measured(
    setup: Setup, now: sizes.Sizes, entries: list[Contestant | Row | Command]
) -> Measured:
    """One set of sizes. Raises UsageError, InputError."""
    with quoting(setup.routine.file.parsed.sources):
        with about("--size"):
            case = setup.bench.case(now)
        rows: list[Row] = []
        for x in progress(entries, text(now), "variant"):
            match x:
                case Row():
                    rows.append(x)
                case Command():
                    rows.append(x.row(now))
                case _:
                    rows.append(setup.bench.row(case, x))
    return Measured(case, tuple(rows))


# ---------------------------------------------------------------- files


def _require_pictures(args: argparse.Namespace) -> None:
    """Fails before anything is timed. Raises UsageError, InputError."""
    for option in ("--plot", "--roofline"):
        file = getattr(args, option[2:])
        if file is not None:
            plot.require(option, file)


def _about(args: argparse.Namespace, setup: Setup) -> dict[str, object]:
    """What was measured where."""
    return {
        "version": __version__,
        "file": args.file,
        "function": setup.routine.name,
        "device": setup.device.name,
        "platform": setup.device.platform,
        "driver": setup.device.driver_version,
        "fp": setup.lineup.fp.level,
        "contract": setup.lineup.fp.contract,
        "seed": setup.bench.seed,
        "warmup": setup.bench.warmup,
        "repeat": setup.bench.repeat,
    }


def _pictures(
    args: argparse.Namespace, setup: Setup, results: list[Measured], peak: Peak | None
) -> list[Output]:
    """Those that are asked for, drawn."""
    out: list[Output] = []
    title = f"{setup.routine.name} on {setup.device.name}"
    if args.plot:
        drawn = plot.bars(title, results, plot.format_of(args.plot))
        out.append(Picture(Path(args.plot), "", "--plot", drawn))
    if args.roofline and peak:
        drawn = plot.roofline(title, results, peak, plot.format_of(args.roofline))
        out.append(Picture(Path(args.roofline), "", "--roofline", drawn))
    return out
