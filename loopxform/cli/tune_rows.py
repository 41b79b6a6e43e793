"""Measurements that were kept: of a C file, or in a file that `tune --shard` has written."""

from __future__ import annotations

import argparse
from pathlib import Path

from loopxform.errors import InputError
from loopxform.tune.memo import Measurement, Memo, measurement
from loopxform.tune.results import Result, results


def rows_of(name: str) -> list[Measurement]:
    """The measurements of a file; lines that were cut off are none. Raises InputError."""
    try:
        lines = Path(name).read_bytes().split(b"\n")
    except OSError as e:
        message = f"cannot read '{name}': {e.strerror or e}"
        help = "give a file that tune --shard has written"
        raise InputError(message, help=help, subject=name) from e
    return list(filter(None, map(measurement, lines)))


def nothing_in(what: str, subject: str) -> InputError:
    """There are no measurements in it."""
    help = "loopxform tune NAME.c --size ... measures, and keeps what it has measured"
    return InputError(
        f"there are no measurements in {what}", code="LX073", help=help, subject=subject
    )


def asked_of(args: argparse.Namespace) -> list[Result]:
    """What was measured of a C file, or of one of its functions, or on some devices, as it was
    last: one result for each function and device. Raises InputError."""
    if args.file.endswith(".jsonl"):
        rows = rows_of(args.file)
    else:
        rows = Memo.of(Path(args.file).stem, args.shared).every
    last = {(r.subject["function"], r.subject["device"]): r for r in results(rows)}
    found = [r for (name, _), r in last.items() if args.function in (None, name)]
    if not found:
        what = args.file if args.function is None else f"{args.file} of '{args.function}'"
        raise nothing_in(what, args.file if args.function is None else "--function")
    there = [r for r in found if (args.device or "") in r.subject["device"]]
    if not there:
        names = ", ".join(dict.fromkeys(r.subject["device"] for r in found))
        error = nothing_in(f"{args.file} on a device with '{args.device}' in its name", "--device")
        error.help = f"there are those of: {names}"
        raise error
    return there
