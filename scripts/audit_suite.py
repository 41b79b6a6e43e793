#!/usr/bin/env python3
"""Runs the OpenMP audit over a folder of C files labelled in their names: `...-yes.c` has a data
race, `...-no.c` has none (as the micro-benchmarks of DataRaceBench are).

    scripts/audit_suite.py FOLDER [-I DIR]... [-D NAME=VALUE]... [--limit SECONDS] [-v]

A file is refuted where a claim of it is, race-free where all of its claims are (proven is more
than that), and unknown otherwise: the codes of the doubts are counted. What `-I DIR` names is
looked up in FOLDER too. Exit status 1 if a file with a race is race-free, or one without is
refuted.
"""

from __future__ import annotations

import argparse
import re
import resource
import sys
from collections import Counter
from pathlib import Path

import loopxform as lx

ANSWERS = ("refuted", "race-free", "unknown")
LABELS = {"yes": "has a race", "no": "has none"}
WRONG = (("yes", "race-free"), ("no", "refuted"))


def main() -> int:
    args = arguments()
    folder = args.folder.resolve()
    include = [str(p if p.is_dir() else folder / p) for p in map(Path, args.include)]
    table: Counter[tuple[str, str]] = Counter()
    reasons: Counter[str] = Counter()
    wrong = []
    for path in sorted(folder.rglob("*.c")):
        label = re.search(r"-(yes|no)\.c$", path.name)
        if label is None:
            continue
        answer, codes = judge(path, include, args.define, args.limit)
        table[label[1], answer] += 1
        reasons.update(set(codes) if answer == "unknown" else ())
        if (label[1], answer) in WRONG:
            wrong.append(f"{path.name}: {answer} {' '.join(codes)}")
        if args.verbose:
            print(f"{path.name:<56} {answer:<10} {' '.join(sorted(set(codes)))}", flush=True)
    if not table:
        print(f"no file below {folder} ends in -yes.c or -no.c", file=sys.stderr)
        return 2
    print(f"{'':<12}" + "".join(f"{a:>11}" for a in ANSWERS))
    for label_, words in LABELS.items():
        print(f"{words:<12}" + "".join(f"{table[label_, a]:>11}" for a in ANSWERS))
    said = ", ".join(f"{code} in {n}" for code, n in reasons.most_common())
    print(f"unknown for {said}" if said else "nothing is unknown")
    seconds = resource.getrusage(resource.RUSAGE_SELF).ru_utime
    print(f"{sum(table.values())} files, {seconds:.0f} CPU s")
    print("\n".join(["WRONG:", *wrong]) if wrong else "none is wrong")
    return 1 if wrong else 0


def arguments() -> argparse.Namespace:
    p = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    p.add_argument("folder", type=Path)
    p.add_argument("-I", dest="include", action="append", default=[], metavar="DIR")
    p.add_argument("-D", dest="define", action="append", default=[], metavar="NAME=VALUE")
    p.add_argument("--limit", type=float, default=20, help="seconds for a function (default 20)")
    p.add_argument("-v", "--verbose", action="store_true", help="a line for each file")
    return p.parse_args()


def judge(path: Path, include: list[str], define: list[str], limit: float) -> tuple[str, list[str]]:
    """The answer for a file, and the codes of what speaks against race-free."""
    try:
        file = lx.load(path, include=include, define=define)
    except lx.LoopxformError as e:
        return "unknown", [e.code]
    claims = [c for routine in file for c in routine.audit(limit)]
    findings = [f.code for c in claims for f in c.findings]
    if findings:
        return "refuted", findings
    problems = [e.code for e in file.parsed.problems]
    if claims and not problems and all(c.race_free for c in claims):
        return "race-free", []
    return "unknown", [d.code for c in claims for d in c.doubts] + problems


if __name__ == "__main__":
    sys.exit(main())
