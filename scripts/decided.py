"""How many loops of other people's programs `check` decides, and why not the others.

python scripts/decided.py FOLDER... [--files N] [--seed S] [-I DIR]... [-D NAME]... [-j N]

Of each folder, N of the .c files that hold loops are drawn at random (all without --files), and
judged, each in a process of its own, with the folder as its program, and every folder below it
that holds headers as -I; a header that it lacks is taken to be empty. A file that cannot be read is
counted, with its first diagnostic. Per folder and in all: files, loops, the share that is decided,
and the CPU seconds per 1,000 lines that are read (the file, and the headers of the folder): in all,
of the median file, and of the one that nine in ten do not exceed; then the files that need most,
and the reasons for undecided loops, by their frequency.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fuzz import warm
from sweep_files import includes, run

LOOP = re.compile(r"\b(for|while)\s*\(")


@dataclass(frozen=True)
class Judged:
    """What `check --stats` says of a file, and what that took."""

    path: Path
    report: dict[str, Any]
    cpu: float
    lines: int

    @property
    def each(self) -> float:
        """CPU seconds per 1,000 lines."""
        return 1000 * self.cpu / max(1, self.lines)


def drawn(folder: Path, files: int | None, seed: int) -> list[Path]:
    """The C files of a folder that hold loops, or some of them."""
    found = [f for f in sorted(folder.rglob("*.c")) if LOOP.search(f.read_text(errors="replace"))]
    random.Random(seed).shuffle(found)
    return sorted(found[:files])


def judged(path: Path, options: Sequence[str], folder: Path, args: argparse.Namespace) -> Judged:
    with tempfile.TemporaryDirectory() as empty, tempfile.NamedTemporaryFile() as report:
        argv = ["check", "--stats", "--format", "json", str(path), *options]
        outcome = run(argv, Path(empty), args, report.name)
        text = report.read()
    for line in outcome.said.splitlines():
        if " error: " in line and "also:" not in line:
            print(f"  not read: {line}")
            break
    return Judged(path, json.loads(text) if text else {}, outcome.cpu, read(path, options, folder))


def read(path: Path, options: Sequence[str], folder: Path) -> int:
    """The lines of a file and of the headers of its folder that it includes."""
    command = ["cc", "-MM", "-MG", "-w", *options, str(path)]
    rule = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    words = rule.replace("\\\n", " ").split()[1:]
    files = {Path(w).resolve() for w in words if (Path(w).resolve()).is_relative_to(folder)}
    return sum(len(f.read_text(errors="replace").splitlines()) for f in files | {path})


def main() -> int:
    args = options()
    os.environ["LOOPXFORM_CACHE"] = "off"
    print(f"seed {args.seed}")
    every: list[Judged] = []
    with tempfile.TemporaryDirectory() as name, ThreadPoolExecutor(args.jobs) as pool:
        warm(Path(name))
        for folder in map(Path.resolve, args.folder):
            given = [*includes(folder), *(x for d in args.include for x in ("-I", d))]
            given += ["--program", str(folder)]
            given += [x for d in args.define for x in ("-D", d)]
            paths = drawn(folder, args.files, args.seed)
            found = list(pool.map(lambda p, g=given, f=folder: judged(p, g, f, args), paths))
            print(f"{folder.name:<24}{_line(found)}", flush=True)
            every += found
    print(f"{'all':<24}{_line(every)}")
    for j in sorted(every, key=lambda j: -j.cpu)[:10]:
        print(f"{j.cpu:>6.1f}  CPU s for {j.lines} lines: {j.path}")
    for text, count in _reasons(every).most_common(20):
        print(f"{count:>6}  {text}")
    return 0


def options() -> argparse.Namespace:
    p = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    p.add_argument("folder", type=Path, nargs="+")
    p.add_argument("--files", type=int, metavar="N", help="how many files of each folder")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("-I", dest="include", action="append", default=[], metavar="DIR")
    p.add_argument("-D", dest="define", action="append", default=[], metavar="NAME")
    p.add_argument("-j", dest="jobs", type=int, default=2, metavar="N")
    p.add_argument("--limit", type=float, metavar="SECONDS", default=200.0)
    p.add_argument("--memory", type=float, metavar="MIB", default=2048.0)
    return p.parse_args()


def _reasons(every: Sequence[Judged]) -> Counter[str]:
    reasons = Counter[str]()
    for j in every:
        for r in j.report.get("unknown_for", ()):
            reasons[f"{r['code']} {r['reason']}"] += r["loops"]
    return reasons


def _line(found: Sequence[Judged]) -> str:
    verdicts = Counter[str]()
    for j in found:
        verdicts.update(j.report.get("verdicts", {}))
    total = verdicts.total()
    decided = 100 * (1 - verdicts["unknown"] / total) if total else 100
    each = ", ".join(f"{n} {v}" for v, n in verdicts.items() if n)
    times = " ".join(f"{x:.2f}" for x in _times(found))
    return f"{len(found):>5} files {total:>6} loops {decided:>5.1f} % ({each}); CPU s: {times}"


def _times(found: Sequence[Judged]) -> Iterator[float]:
    """Of all lines; of the median file, and what nine in ten do not exceed."""
    yield 1000 * sum(j.cpu for j in found) / max(1, sum(j.lines for j in found))
    each = sorted(j.each for j in found) or [0.0]
    yield each[len(each) // 2]
    yield each[len(each) * 9 // 10]


if __name__ == "__main__":
    raise SystemExit(main())
