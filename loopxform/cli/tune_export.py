"""`loopxform tune export FILE.c`: what was measured, for other programs.

Kernel Tuner: its cache files, version 1.1.0 of their schema (kernel_tuner/schema/cache); times are
milliseconds.
"""

from __future__ import annotations

import argparse
import csv
import io
import json
from pathlib import Path
from typing import Any

from loopxform.bench.measure import text
from loopxform.cli.options import numbers
from loopxform.cli.tune_rows import asked_of
from loopxform.errors import UsageError
from loopxform.files import Output, write_all
from loopxform.tune.results import Result, statistic_of

FAILED = {"refused": "CompilationFailedConfig"}
"""What Kernel Tuner calls those that do not run; others failed as they ran."""


def main(args: argparse.Namespace) -> int:
    found = asked_of(args)
    shown = _csv(found) if args.format == "csv" else _kernel_tuner(args, found)
    if args.output is None:
        print(shown, end="")
    else:
        for path in write_all([Output(Path(args.output), shown, "-o")]):
            print(f"wrote {path}")
    return 0


def _csv(found: list[Result]) -> str:
    """A line for each candidate and set of sizes."""
    rows = [(r, row) for r in found for row in r.rows]
    sizes = list(dict.fromkeys(n for _, row in rows for n in row["sizes"] or {}))
    data = list(dict.fromkeys(n for _, row in rows for n in row["data"]))
    subject = list(dict.fromkeys(n for r in found for n in r.subject))
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    head = [*subject, *data, *sizes, "status", "milliseconds", "ratio", "runs", "predicted", "why"]
    writer.writerow(head)
    for result, row in rows:
        times = row.get("milliseconds", [])
        time = statistic_of(row)(times) if times else ""
        baseline = row.get("baseline")
        writer.writerow(
            [
                *(result.subject[n] for n in subject),
                *(row["data"].get(n, "") for n in data),
                *((row["sizes"] or {}).get(n, "") for n in sizes),
                row["status"],
                time,
                time / baseline if times and baseline else "",
                " ".join(map(str, times)),
                "" if row.get("predicted") is None else row["predicted"],
                row.get("why", ""),
            ]
        )
    return file.getvalue()


def _kernel_tuner(args: argparse.Namespace, found: list[Result]) -> str:
    """One function on one device for one set of sizes. Raises UsageError."""
    if len(found) != 1:
        what = ", ".join(f"{r.subject['function']} on {r.subject['device']}" for r in found)
        help = f"choose one with --function and --device: {what}"
        message = "a cache of Kernel Tuner is of one function on one device"
        raise UsageError(message, help=help, subject="--format")
    (result,) = found
    wanted = numbers("--size", args.size)
    datasets = [d for d, given in result.datasets.items() if wanted.items() <= given.items()]
    if len(datasets) != 1:
        what = "; ".join(map(text, result.datasets.values()))
        message = "a cache of Kernel Tuner is of one set of sizes"
        raise UsageError(message, help=f"choose one with --size: {what}", subject="--size")
    given = result.datasets[datasets[0]]
    rows = [r for r in result.rows if r["data"] == given and r["sizes"]]
    names = list(rows[0]["sizes"]) if rows else []
    about = {
        "schema_version": "1.1.0",
        "device_name": result.subject["device"],
        "kernel_name": result.subject["function"],
        "problem_size": list(given.values()) if _are_whole(given.values()) else text(given),
        "tune_params_keys": names,
        "tune_params": {n: sorted({r["sizes"][n] for r in rows}) for n in names},
        "objective": "time",
        "cache": {",".join(str(r["sizes"][n]) for n in names): _entry(r) for r in rows},
    }
    return json.dumps(about, indent=1) + "\n"


def _are_whole(values: Any) -> bool:
    return all(isinstance(v, int) for v in values)


def _entry(row: dict[str, Any]) -> dict[str, Any]:
    """A measurement; what was not timed on its own is 0."""
    times = row.get("milliseconds", [])
    time = statistic_of(row)(times) if times else FAILED.get(row["status"], "RuntimeFailedConfig")
    return {
        **row["sizes"],
        "time": time,
        **({"times": times} if times else {}),
        "compile_time": 0,
        "verification_time": 0,
        "benchmark_time": sum(times),
        "strategy_time": 0,
        "framework_time": 0,
        "timestamp": row.get("time", "1970-01-01 00:00:00+00:00"),
    }
