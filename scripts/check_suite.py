"""Judges every C file of a folder and says what each took, as a whole process.

python scripts/check_suite.py FOLDER [-I DIR]... [-D NAME]... [--limit SECONDS] [--skip DIR]...
    [--not-over VARIABLE]...

Per file: loops, how many have each verdict, how many of those that are `no` or `unknown` have a
name or steps that make them parallel, and CPU and wall seconds of `loopxform check`; then the
reasons of what is unknown, and the median, worst and total time. Exit status 1 where a file failed.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

VERDICTS = ("yes", "reduction", "privatizable", "no", "unknown")
COLUMNS = (*VERDICTS, "named")


@dataclass
class Result:
    """What `check` said of one file; `failure` is set where it said nothing."""

    name: str
    cpu: float
    wall: float
    counts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(COLUMNS, 0))
    unknown: list[str] = field(default_factory=list)
    failure: str = ""

    @property
    def loops(self) -> int:
        return sum(self.counts[v] for v in VERDICTS)

    def line(self) -> str:
        numbers = "".join(f"{self.counts[v]:>{max(5, len(v) + 2)}}" for v in COLUMNS)
        return f"{self.name:<34}{self.loops:>6}{numbers}{self.cpu:>8.2f}{self.wall:>8.2f}"


def check(file: Path, name: str, options: list[str], limit: float, left_out: list[str]) -> Result:
    """One run of the command line; its CPU time is that of the children that ended meanwhile."""
    command = [sys.executable, "-m", "loopxform", "check", "--format", "json", str(file), *options]
    began, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    output, failure = "", ""
    with tempfile.TemporaryFile("w+") as out:
        try:
            # The output goes to a file: the time of reading a pipe is not the program's.
            done = subprocess.run(
                command, stdout=out, stderr=subprocess.PIPE, text=True, timeout=limit
            )
            failure = "" if done.returncode == 0 else done.stderr.strip()[-400:]
        except subprocess.TimeoutExpired:
            failure = f"more than {limit:g} s"
        out.seek(0)
        output = out.read()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    result = Result(name, cpu, time.perf_counter() - began, failure=failure)
    if output and not failure.startswith("more than"):
        _count(result, json.loads(output), left_out)
    return result


def _count(result: Result, report: dict[str, Any], left_out: list[str]) -> None:
    for fn in report["functions"]:
        for loop in fn["loops"]:
            if loop["var"] in left_out:
                continue
            result.counts[loop["parallel"]] += 1
            if loop["parallel"] in ("no", "unknown"):
                result.counts["named"] += bool(loop.get("idioms") or loop.get("after"))
            if loop["parallel"] == "unknown":
                reasons = "; ".join(sorted({r["message"] for r in loop["reasons"]})) or "no reason"
                result.unknown.append(f"{fn['name']}:{loop['line']} {reasons}")


def arguments() -> argparse.Namespace:
    p = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    p.add_argument("folder", type=Path)
    p.add_argument("-I", dest="include", action="append", default=[], metavar="DIR",
                   help="as for cc; a relative DIR is looked up in FOLDER too")  # fmt: skip
    p.add_argument("-D", dest="define", action="append", default=[], metavar="NAME")
    p.add_argument("--skip", action="append", default=[], metavar="DIR", help="folder to leave out")
    p.add_argument("--limit", type=float, default=60.0, metavar="SECONDS", help="per file")
    p.add_argument("--not-over", action="append", default=[], metavar="VARIABLE",
                   help="leave out loops over it, which only repeat a kernel")  # fmt: skip
    return p.parse_args()


def main() -> int:
    args = arguments()
    folder = args.folder.resolve()
    places = [p if os.path.isabs(p) or Path(p).is_dir() else str(folder / p) for p in args.include]
    options = [x for p in places for x in ("-I", p)] + [x for d in args.define for x in ("-D", d)]
    skipped = [folder / s for s in args.skip]
    files = [
        f for f in sorted(folder.rglob("*.c")) if not any(f.is_relative_to(s) for s in skipped)
    ]
    if not files:
        print(f"there is no C file below {folder}", file=sys.stderr)
        return 2
    heads = "".join(f"{v:>{max(5, len(v) + 2)}}" for v in COLUMNS)
    print(f"{'file':<34}{'loops':>6}{heads}{'cpu s':>8}{'wall s':>8}")
    results = []
    for f in files:
        results.append(
            check(f, str(f.relative_to(folder))[-33:], options, args.limit, args.not_over)
        )
        print(results[-1].line(), flush=True)
    _summary(results)
    return 1 if any(r.failure for r in results) else 0


def _summary(results: list[Result]) -> None:
    for r in results:
        for text in r.unknown:
            print(f"unknown  {r.name}: {text}")
        if r.failure:
            print(f"failed   {r.name}: {r.failure}")
    total = Result(
        f"{len(results)} files", sum(r.cpu for r in results), sum(r.wall for r in results)
    )
    for r in results:
        for v in COLUMNS:
            total.counts[v] += r.counts[v]
    print(total.line())
    times = [r.cpu for r in results]
    print(f"CPU seconds per file: median {median(times):.2f}, worst {max(times):.2f}")


if __name__ == "__main__":
    raise SystemExit(main())
