"""What `loopxform tune` costs besides what no tuner can do without.

python scripts/tune_overhead.py [--budget 40] [-j 2] [FILE.c] [OPTION of tune ...]

Tunes twice in an empty cache: once a single candidate, for what every tuning takes (a process
starts, reads the C and runs it), and once as many as the budget says. The difference, divided by
the candidates, is what one more candidate takes: building its kernel, verifying it, its launches,
and the rest, which is the overhead. Deriving the text of the kernel counts as overhead as far as it
is not done while another kernel is built. With -j the same is timed with builders side by side.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

MM = str(Path(__file__).parents[1] / "corpus" / "mm.c")
NEEDED = ("build", "verify", "run")
TITLES = {"build": "building", "verify": "verifying", "run": "launches", "derive": "deriving"}


@dataclass(frozen=True)
class Cost:
    """Seconds of a run of `tune`, in all and by phase, and how many candidates it measured."""

    wall: float
    phases: dict[str, float]
    candidates: int

    @property
    def rest(self) -> float:
        return self.wall - sum(self.phases[name] for name in NEEDED)


def cost(words: Sequence[str], budget: int) -> Cost:
    """Of one run, of which nothing is known yet."""
    with tempfile.TemporaryDirectory() as folder:
        kept = Path(folder, "pocl")
        kept.mkdir()
        places = {"LOOPXFORM_CACHE": str(Path(folder, "cache")), "POCL_CACHE_DIR": str(kept)}
        environment = {**os.environ, **places, "PYOPENCL_NO_CACHE": "1", "CUDA_CACHE_DISABLE": "1"}
        report = Path(folder, "all.json")
        command = [sys.executable, "-m", "loopxform", "tune", *words, "--budget", str(budget)]
        began = time.monotonic()
        done = subprocess.run(
            [*command, "--json", str(report), "-o", folder],
            env=environment,
            capture_output=True,
            text=True,
        )
        wall = time.monotonic() - began
        if not report.exists():
            sys.exit(done.stdout + done.stderr)
        rows = json.loads(report.read_text())
    own = [row.get("phases", {}) for row in rows if not row.get("kept")]
    phases = {name: sum(p.get(name, 0.0) for p in own) for name in TITLES}
    candidates = {json.dumps(row["sizes"], sort_keys=True) for row in rows if row["sizes"]}
    return Cost(wall, phases, len(candidates))


def main(argv: list[str]) -> int:
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    p.add_argument("--budget", type=int, default=40)
    p.add_argument("-j", "--jobs", type=int, default=1)
    args, words = p.parse_known_args(argv)
    words = words or [MM, "--size", "M=N=U=128"]
    first, every = (cost(words, n) for n in (1, args.budget))
    more = every.candidates - first.candidates
    if more < 1:
        sys.exit("no candidate but the first was measured: give a larger --budget")

    def each(seconds: float) -> str:
        return f"{1e3 * seconds / more:9.1f} ms for each further candidate"

    load = os.getloadavg()[0]
    print(f"{every.candidates} candidates in {every.wall:.1f} s; load {load:.1f}")
    print(f"  {'start':<10}{1e3 * first.wall:9.1f} ms, with the first candidate")
    for name, title in TITLES.items():
        print(f"  {title:<10}{each(every.phases[name] - first.phases[name])}")
    print(f"  {'overhead':<10}{each(every.rest - first.rest)}")
    alone = every.wall - first.wall
    print(f"  {'in all':<10}{each(alone)}")
    if args.jobs > 1:
        jobs = ["-j", str(args.jobs)]
        together = cost([*words, *jobs], args.budget).wall - cost([*words, *jobs], 1).wall
        print(f"  -j {args.jobs:<7}{each(together)}: {alone / together:.2f} times as fast")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
