"""`loopxform tune FILE.c --size M=1024,...`: the tile sizes that are quickest on a device."""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Callable, Sequence
from datetime import date
from math import ceil, isfinite
from pathlib import Path

from loopxform import __version__
from loopxform.api.facade import Routine
from loopxform.api.tile import TiledRoutine
from loopxform.bench import sizes
from loopxform.bench.measure import text
from loopxform.cli import running, tiling, tune_thresholds, tune_tree
from loopxform.cli.floating_point import permitted
from loopxform.cli.inputs import counter
from loopxform.cli.options import chosen, numbers, read
from loopxform.cli.tuned import digest_of, path_of, read_tuning
from loopxform.errors import DeviceError, LimitError, UsageError
from loopxform.files import Output, require_writable, write_all
from loopxform.runtime.device import DeviceInfo
from loopxform.schedule.tuning_file import Tuned, Tuning, written
from loopxform.tune.nests import nests_of, with_items
from loopxform.tune.race import STATISTICS
from loopxform.tune.session import Budget, Outcome, Session
from loopxform.tune.space import Space, space_of
from loopxform.tune.workers import Worker
from loopxform.written import whole

MOST_JOBS = 256
LEAST = 20
"""Measurements of a share of the candidates, at least."""


def main(args: argparse.Namespace) -> int:
    asked = sizes.every(numbers("--size", args.size), args.sizes)
    budget, limit = _budget(args.budget), _seconds("--limit", args.limit)
    repeat = running.launches("--repeat", args.repeat, 1)
    running.launches("--warmup", args.warmup, 0)
    jobs = whole("--jobs", args.jobs, 1, MOST_JOBS, "2")
    if args.file == "-":
        raise UsageError("what is tuned is a file", help="tune NAME.c", subject="-")
    tiling.require_taken(args, [tiling.recipe(args)])
    file = read(args)
    if args.tree or args.dot:
        print("\n".join(tune_tree.lines(args, file)))
        return 0
    if args.thresholds:
        judged = _statistic(args, tiling.device(args))
        return tune_thresholds.main(args, file, limit, judged)
    routine = chosen(file, args)
    running.require_numbers("--size", routine, asked, running.inputs(args))
    device = tiling.device(args)
    limits = running.limits_on(device, args)
    tiled = tiling.tiled(file, args, limits, permitted(args), tuned=False)
    space = space_of(tiled.tiled, limits, tiling.given_sizes(args))
    ordered = space.legal()
    if not ordered or not space.names:
        help = "choose a recipe with tiles: --recipe register"
        raise LimitError("there are no sizes to choose from", help=help, subject=args.file)
    wanted = budget(len(ordered))
    talk = sys.stderr if args.json == "-" else sys.stdout
    first = tuple(tiled.sizes[n] for n in space.names)
    path = path_of(file.name) if args.output is None else Path(args.output, f"{file.stem}.tuning")
    before = read_tuning(file, path)
    require_writable(Output(path, ""))
    for line in _plan(routine, device, space, len(ordered), wanted, len(asked)):
        print(line, file=talk, flush=True)
    if args.plan:
        return 0
    words = [*args.words[1:], *_where_sizes_count(tiled)]
    worker = Worker(words, limit)
    statistic = STATISTICS[_statistic(args, device)]
    bar = counter(wanted.measurements, "point")

    def told(best: float, last: float | None) -> None:
        bar.set_postfix(best=f"{best:.3f}", last="failed" if last is None else f"{last:.3f}")
        bar.update()

    builders = [Worker(words, limit) for _ in range(jobs if jobs > 1 else 0)]
    session = Session(space, len(asked), worker, statistic, repeat, args.fresh, told, builders)
    try:
        outcome = session.run(ordered, first, wanted)
    finally:
        bar.close()
        for process in (worker, *builders):
            process.stop()
    _require_measured(outcome, session)
    for line in _result(outcome, space, tiled):
        print(line, file=talk)
    outputs = []
    if outcome.best is not None:
        about = _about(routine.name, device, asked, outcome)
        own = Tuned(
            tiled.tiled.recipe,
            space.sizes(outcome.best),
            digest_of(routine),
            tiled.fp.level,
        )
        others = {} if before is None or before.device != limits.name else before.functions
        found = Tuning(limits.name, {**others, routine.name: own})
        outputs.append(Output(path, written(found, about)))
    if args.json == "-":
        print(json.dumps(session.rows, indent=2))
    elif args.json:
        report = json.dumps(session.rows, indent=2) + "\n"
        outputs.append(Output(Path(args.json), report, "--json"))
    for path in write_all(outputs, file.parsed.dependencies):
        print(f"wrote {path}", file=talk)
    return 1 if outcome.failures.get("wrong") else 0


# ---------------------------------------------------------------- what is asked


def _budget(written: str) -> Callable[[int], Budget]:
    """The budget for so many legal candidates. Raises UsageError."""
    m = re.fullmatch(r"(\d{1,6}(?:\.\d{1,3})?)(%|s|m|)", written, re.ASCII)
    amount = float(m[1]) if m else 0
    if m is None or not amount or (m[2] == "" and "." in m[1]) or (m[2] == "%" and amount > 100):
        message = f"'{written}' is no budget"
        help = "--budget 40, 5% of the candidates, 90s or 10m"
        raise UsageError(message, code="LX023", help=help, subject="--budget")
    unit = m[2]

    def budget(candidates: int) -> Budget:
        if unit in ("s", "m"):
            return Budget(candidates, amount * (60 if unit == "m" else 1))
        if unit == "%":
            return Budget(min(candidates, max(LEAST, ceil(candidates * amount / 100))))
        return Budget(min(candidates, int(amount)))

    return budget


def _where_sizes_count(tiled: TiledRoutine) -> list[str]:
    """Options with which the version of a nest runs that has the tile sizes."""
    values = with_items(nests_of(tiled.derivation))
    given = ",".join(f"{name}={value}" for name, value in values.items())
    return ["--threshold", given] if given and "Rk" not in tiled.sizes else []


def _seconds(option: str, written: str) -> float:
    try:
        seconds = float(written)
    except ValueError:
        seconds = 0.0
    if not (isfinite(seconds) and seconds > 0):
        message = f"'{written}' is not a number of seconds"
        raise UsageError(message, code="LX023", help=f"{option} 20", subject=option)
    return seconds


def _statistic(args: argparse.Namespace, device: DeviceInfo) -> str:
    auto = "median" if device.type == "gpu" else "faster-half"
    return auto if args.statistic == "auto" else str(args.statistic)


# ---------------------------------------------------------------- what is told


def _plan(
    routine: Routine, device: DeviceInfo, space: Space, legal: int, budget: Budget, datasets: int
) -> list[str]:
    sets = "" if datasets == 1 else f", each for {datasets} sets of sizes"
    most = str(budget.measurements)
    if budget.seconds is not None:
        most = f"as many as {budget.seconds:g} s allow"
    return [
        f"tuning {routine.name} on {device}",
        *(f"  {n:<4} {', '.join(map(str, v))}" for n, v in zip(space.names, space.values)),
        f"  {space.size} candidates, {legal} legal, {most} to measure{sets}",
    ]


def _result(outcome: Outcome, space: Space, tiled: TiledRoutine) -> list[str]:
    failures = ", ".join(f"{n} {status}" for status, n in sorted(outcome.failures.items()))
    lines = [f"  {outcome.measured} measured{'; ' + failures if failures else ''}"]
    if outcome.interrupted:
        lines.append("  interrupted: the best so far, without a race")
    if outcome.best is None:
        return [*lines, "  the defaults are the quickest: nothing is written"]
    best = ", ".join(f"{n}={v}" for n, v in space.sizes(outcome.best).items())
    lines.append(f"  {tiled.tiled.recipe}, {best}")
    for own, default in zip(outcome.times, outcome.defaults):
        lines.append(f"  {own:.4g} ms, {default:.4g} with the defaults: {default / own:.2f} times")
    return lines


def _require_measured(outcome: Outcome, session: Session) -> None:
    """Raises DeviceError where the defaults themselves cannot be measured."""
    if outcome.interrupted or all(session.baseline):
        return
    why = next((r["why"] for r in session.rows if r["status"] != "ok"), "no answer")
    raise DeviceError(
        f"the kernel with default sizes cannot be measured: {why}",
        help="loopxform run shows whether it is right; --limit gives it more time",
    )


# ---------------------------------------------------------------- what is written


def _about(
    name: str, device: DeviceInfo, asked: Sequence[sizes.Sizes], outcome: Outcome
) -> list[str]:
    """The comments of the file: where it was measured, and what."""
    lines = [f"loopxform {__version__}, tuned for {device}, {date.today().isoformat()}"]
    for now, best, default in zip(asked, outcome.times, outcome.defaults):
        lines.append(f"{name}, {text(now)}: {best:.4g} ms, defaults {default:.4g} ms")
    return lines
