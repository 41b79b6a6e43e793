#!/usr/bin/env python3
"""Runs the OpenMP audit over a folder of C files labelled in their names: `...-yes.c` has a data
race, `...-no.c` has none (as the micro-benchmarks of DataRaceBench are).

    scripts/audit_suite.py FOLDER [-I DIR] [-D NAME=VALUE] [--limit SECONDS] [-v]

A file is refuted where a loop in it is, proven where every directive of it is accounted for by
proven loops, not modelled where no loop stands under a pragma, and unproven otherwise. Exit
status 1 if a file with a race is proven, or one without is refuted.
"""

from __future__ import annotations

import argparse
import re
import sys
import time
from collections import Counter
from pathlib import Path

import loopxform as lx
from loopxform.analysis.openmp.construct import is_loop
from loopxform.ir.directives import Directive

ANSWERS = ("refuted", "proven", "unproven", "not modelled")
REGIONS = frozenset(["parallel", "target", "teams", "data"])


def main() -> int:
    p = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    p.add_argument("folder", type=Path)
    p.add_argument("-I", dest="include", action="append", default=[])
    p.add_argument("-D", dest="define", action="append", default=[])
    p.add_argument("--limit", type=float, default=20, help="seconds for a claim (default 20)")
    p.add_argument("-v", "--verbose", action="store_true", help="a line for each file")
    args = p.parse_args()
    table: Counter[tuple[str, str]] = Counter()
    wrong, start = [], time.perf_counter()
    for path in sorted(args.folder.glob("*.c")):
        label = re.search(r"-(yes|no)\.c$", path.name)
        if label is None:
            continue
        answer, why = judge(path, args.include, args.define, args.limit)
        table[label[1], answer] += 1
        if (label[1], answer) in (("yes", "proven"), ("no", "refuted")):
            wrong.append(f"{path.name}: {answer}, {why}")
        if args.verbose:
            print(f"{path.name:<50} {answer:<13} {why}", flush=True)
    print(f"{'':<14}" + "".join(f"{a:>14}" for a in ANSWERS))
    for label_, words in (("yes", "has a race"), ("no", "has none")):
        print(f"{words:<14}" + "".join(f"{table[label_, a]:>14}" for a in ANSWERS))
    print(f"{sum(table.values())} files, {time.perf_counter() - start:.1f} s")
    print("\n".join(["WRONG:", *wrong]) if wrong else "none is wrong")
    return 1 if wrong else 0


def judge(path: Path, include: list[str], define: list[str], limit: float) -> tuple[str, str]:
    """The answer for a file, and the reason for it."""
    try:
        file = lx.load(path, include=include, define=define)
    except lx.LoopxformError as e:
        return "unproven", e.message
    claims = [c for routine in file for c in routine.audit(limit)]
    for c in claims:
        if c.findings:
            return "refuted", c.findings[0].message
    if not claims:
        return "not modelled", ""
    for c in claims:
        if c.doubts:
            return "unproven", c.doubts[0].message
    if file.parsed.problems:
        return "unproven", file.parsed.problems[0].message
    for directives in file.parsed.directives.values():
        other = unaccounted(directives)
        if other is not None:
            return "unproven", f"'{' '.join(other.words)}' is not part of a loop's claim"
    return "proven", ""


def unaccounted(directives: tuple[Directive, ...]) -> Directive | None:
    """A directive that is no loop, nor inside one, nor the region of one."""
    loops = [d for d in directives if is_loop(d)]
    for d in directives:
        inside = any(loop.governs(p) for loop in loops for p in d.paths)
        around = any(d.governs(p) for loop in loops for p in loop.paths)
        region = REGIONS.issuperset(d.words) and around
        if not (is_loop(d) or inside or region or d.has("threadprivate")):
            return d
    return None


if __name__ == "__main__":
    sys.exit(main())
