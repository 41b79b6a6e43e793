"""Runs `check` and `offload` over C files of others, each in a process of its own.

python scripts/sweep_files.py FOLDER... [--command check|offload] [-D NAME]... [--sample N]
                              [--seed N] [--limit SECONDS] [--memory MIB] [--jobs N]

Every folder is a project: its folders with headers are searched for includes, and a header that it
lacks (written by its configure script, say) is taken to be empty. A file fails where a command ends
with a status that is none of ours (0, 1, 2), needs more CPU seconds than the limit, or more memory.
Exit status 1 where one failed.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random

from fuzz import LIMIT, Outcome, Tally, forked, warm
from tqdm import tqdm

MISSING = re.compile(r"include file '([^']+)' not found")
MOST_MISSING = 20
"""Headers of a file that may be missing."""


def includes(project: Path) -> list[str]:
    """-I for each folder with headers."""
    folders = sorted({p.parent for p in project.rglob("*.h")})
    return [word for folder in (project, *folders) for word in ("-I", str(folder))]


def run(
    argv: list[str], empty: Path, args: argparse.Namespace, report: str = os.devnull
) -> Outcome:
    """The command, with an empty header in place of each that is not there."""
    given: set[str] = set()
    while True:
        outcome = forked([*argv, "-I", str(empty)], 0, args.limit, args.memory, report)
        absent = MISSING.search(outcome.said)
        name = os.path.normpath(absent[1]).lstrip("./") if absent else ""
        if not name or name in given or len(given) == MOST_MISSING:
            return outcome
        given.add(name)
        (empty / name).parent.mkdir(parents=True, exist_ok=True)
        (empty / name).touch()


def options() -> argparse.Namespace:
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("folders", type=Path, nargs="+", metavar="FOLDER")
    p.add_argument("--command", choices=("check", "offload"), default="check")
    p.add_argument("-D", dest="define", action="append", default=[], metavar="NAME")
    p.add_argument(
        "--sample", type=int, metavar="N", help="so many files of each folder, by chance"
    )
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--limit", type=float, metavar="SECONDS", default=90.0)
    p.add_argument("--memory", type=float, metavar="MIB", default=1024.0)
    p.add_argument("--jobs", type=int, default=1)
    return p.parse_args()


def main() -> int:
    args = options()
    os.environ["LOOPXFORM_CACHE"] = "off"
    tally = Tally()
    with tempfile.TemporaryDirectory() as name, ThreadPoolExecutor(args.jobs) as pool:
        warm(Path(name))
        given = [w for d in args.define for w in ("-D", d)]
        given += ["-o", name] if args.command == "offload" else ["--format", "json"]
        given += ["--time-limit", f"{args.limit * LIMIT:g}"]
        for project in args.folders:
            files = sorted(project.rglob("*.c"))
            if args.sample is not None:
                files = Random(args.seed).sample(files, min(args.sample, len(files)))
            folders, empty = includes(project), Path(name, "empty", project.name)
            empty.mkdir(parents=True, exist_ok=True)
            commands = [[args.command, str(file), *folders, *given] for file in files]
            outcomes = pool.map(lambda argv, empty=empty: run(argv, empty, args), commands)
            progress = tqdm(outcomes, project.name, len(files), unit="file", mininterval=5)
            for file, outcome in zip(files, progress, strict=True):
                tally.add(str(file), outcome)
    print(f"{args.command}: {tally}")
    return int(tally.failed > 0)


if __name__ == "__main__":
    sys.exit(main())
