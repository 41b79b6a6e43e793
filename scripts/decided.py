"""How many loops of other people's programs `check` decides, and why not the others.

python scripts/decided.py FOLDER... [--files N] [--seed S] [-I DIR]... [-j N]

Of each folder, N of the .c files that hold loops are drawn at random (all without --files), and
judged with every folder below it that holds headers as -I. A file that cannot be read is counted,
with its first diagnostic. Per folder and in all: files, loops, the share that is decided; then the
reasons for the others, by their frequency.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

LOOP = re.compile(r"\b(for|while)\s*\(")


def drawn(folder: Path, files: int | None, seed: int) -> list[Path]:
    """The C files of a folder that hold loops, or some of them."""
    found = [f for f in sorted(folder.rglob("*.c")) if LOOP.search(f.read_text(errors="replace"))]
    random.Random(seed).shuffle(found)
    return sorted(found[:files])


def statistics(folder: Path, paths: list[Path], args: argparse.Namespace) -> dict[str, Any]:
    """What `check --stats --format json` says of files of a folder."""
    headers = sorted({str(h.parent) for h in folder.rglob("*.h")} | {str(folder)})
    options = [x for d in (*headers, *args.include) for x in ("-I", d)]
    command = [sys.executable, "-m", "loopxform", "check", "--stats", "--format", "json"]
    command += ["-j", str(args.jobs), *options, *map(str, paths)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    for line in done.stderr.splitlines():
        if " error: " in line and "also:" not in line:
            print(f"  not read: {line}")
    report: dict[str, Any] = json.loads(done.stdout) if done.stdout else {}
    return report


def main() -> int:
    p = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    p.add_argument("folder", type=Path, nargs="+")
    p.add_argument("--files", type=int, metavar="N", help="how many files of each folder")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("-I", dest="include", action="append", default=[], metavar="DIR")
    p.add_argument("-j", dest="jobs", type=int, default=2, metavar="N")
    args = p.parse_args()
    print(f"seed {args.seed}")
    loops, reasons = Counter[str](), Counter[str]()
    for folder in args.folder:
        paths = drawn(folder, args.files, args.seed)
        report = statistics(folder, paths, args) if paths else {}
        verdicts = Counter[str](report.get("verdicts", {}))
        loops.update(verdicts)
        for r in report.get("unknown_for", ()):
            reasons[f"{r['code']} {r['reason']}"] += r["loops"]
        print(f"{folder.name:<24}{len(paths):>5} files {_share(verdicts)}", flush=True)
    print(f"{'all':<24}{'':>11} {_share(loops)}")
    for text, count in reasons.most_common(20):
        print(f"{count:>6}  {text}")
    return 0


def _share(verdicts: Counter[str]) -> str:
    total = verdicts.total()
    decided = 100 * (1 - verdicts["unknown"] / total) if total else 100
    each = ", ".join(f"{n} {v}" for v, n in verdicts.items() if n)
    return f"{total:>6} loops {decided:>6.1f} % decided  ({each})"


if __name__ == "__main__":
    raise SystemExit(main())
