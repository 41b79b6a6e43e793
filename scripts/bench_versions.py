"""Times the programs of a PolyBench/C 4.2 folder against what loopxform writes of them, where each
call chooses between the host and the device, and prints a table.

    python scripts/bench_versions.py polybench-c-4.2.1 [--datasets MINI,SMALL,MEDIUM,LARGE]
        [--only gemm,lu] [--profile generic] [--repeat 5] [--floor 3e-6] [--jobs 1]

Both are compiled with cc -O3 (CC, CFLAGS and LDLIBS say otherwise), and with loops aligned: where
else they happen to lie in memory makes some of the smallest programs half as fast or twice. Times
are those that the programs measure
themselves (POLYBENCH_TIME): of the one call of the kernel function, in which the device would have
to be found and its programs built. The two take turns; of each the best of several runs counts. A
cell is how many times as fast the written program is; a star says that the device ran it. Times
differ where they do so by more than the floor (seconds): the timer counts microseconds, and the
first call of a program is cold. The exit status is 1 where a program is below 0.9.

The device is measured before, by a run that calls a function until it is used (LOOPXFORM_CACHE is a
folder of its own). With --jobs several programs run at a time, which shares the memory and the
device among them. The suite is not part of this repository.
"""

from __future__ import annotations

import argparse
import os
import shlex
import subprocess
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

from suite import programs

import loopxform as lx

CC = (
    *shlex.split(os.environ.get("CC", "cc")),
    *("-O3", "-falign-loops=64", "-ffp-contract=off", "-DPOLYBENCH_TIME"),
    *shlex.split(os.environ.get("CFLAGS", "")),
)
LIBRARIES = shlex.split(os.environ.get("LDLIBS", "-lOpenCL -lm"))
LEAST = 0.9
LONG = 5
"""Seconds from which on a program runs once."""
FIRST = """
void scale(int n, const double *restrict a, double *restrict b)
{
  for (int i = 0; i < n; i++)
    b[i] = 0.5 * b[i] + a[i];
}
"""
MAIN = """
void scale(int n, const double *restrict a, double *restrict b);
static double a[1 << 24], b[1 << 24];
int main(void)
{
  for (int i = 0; i < 400; i++)
    scale(1 << 24, a, b);
}
"""
"""Calls that gain nothing but for the measurement: the device is used once there is time for it."""


def main() -> int:
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("folder", type=Path)
    p.add_argument("--datasets", default="MINI,SMALL,MEDIUM,LARGE")
    p.add_argument("--only", default="", help="names of programs, with commas")
    p.add_argument("--profile", default="generic", help="a device to fit, or a file NAME.toml")
    p.add_argument("--repeat", type=int, default=5, metavar="N", help="runs of each (5)")
    p.add_argument("--floor", type=float, default=3e-6, metavar="S", help="seconds (3e-6)")
    p.add_argument("--jobs", type=int, default=1, metavar="N", help="programs at a time (1)")
    args = p.parse_args()
    datasets = args.datasets.split(",")
    slow = 0
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name)
        os.environ |= {"LOOPXFORM_CACHE": str(scratch / "cache"), "LOOPXFORM_HOST": ""}
        _measure(scratch)
        print("| program | " + " | ".join(datasets) + " |\n" + "|---" * (len(datasets) + 1) + "|")
        with ProcessPoolExecutor(args.jobs, get_context("spawn")) as pool:
            rows = [
                pool.submit(_row, path, datasets, args, scratch)
                for path in programs(args.folder, args.only)
            ]
            for row in as_completed(rows):
                name, found = row.result()
                slow += sum(c.ratio < LEAST for c in found)
                print(f"| {name} | " + " | ".join(map(str, found)) + " |", flush=True)
    print(f"{slow} below {LEAST}")
    return min(slow, 1)


def _measure(scratch: Path) -> None:
    """Has the device measured."""
    (scratch / "scale.c").write_text(FIRST)
    (scratch / "first.c").write_text(MAIN)
    lx.load(scratch / "scale.c").offload().write(scratch)
    files = [str(scratch / name) for name in ("scale_opencl.c", "first.c")]
    subprocess.run([*CC, *files, "-o", str(scratch / "first"), *LIBRARIES], check=True)
    subprocess.run([str(scratch / "first")], capture_output=True, check=True)


@dataclass(frozen=True)
class Compared:
    """The seconds of a program as it is and as it is written, and whether the device ran it."""

    plain: float
    written: float
    device: bool
    floor: float

    @property
    def ratio(self) -> float:
        """How many times as fast what is written is."""
        return 1.0 if abs(self.written - self.plain) <= self.floor else self.plain / self.written

    def __str__(self) -> str:
        seconds = f" ({self.plain:.3g} s, {self.written:.3g} s)" if self.plain >= 1 else ""
        return f"{self.ratio:.2f}{'*' if self.device else ''}{seconds}"


def _row(
    path: Path, datasets: list[str], args: argparse.Namespace, scratch: Path
) -> tuple[str, list[Compared]]:
    return path.stem, [_compared(path, dataset, args, scratch) for dataset in datasets]


def _compared(path: Path, dataset: str, args: argparse.Namespace, scratch: Path) -> Compared:
    """Runs a program as it is, and as it is written."""
    here = scratch / f"{path.stem}_{dataset}"
    here.mkdir()
    utilities = str(args.folder / "utilities")
    file = lx.load(path, include=[utilities], define=(f"{dataset}_DATASET", "POLYBENCH_TIME"))
    name = next(r.name for r in file if r.name.startswith("kernel_"))
    file.offload(name, limits=args.profile, contract=False).write(here)
    flags = [f"-D{dataset}_DATASET", "-I", utilities, "-I", str(path.parent)]
    best = {str(path): float("inf"), str(here / f"{path.stem}_opencl.c"): float("inf")}
    for n, source in enumerate(best):
        more = [f"{utilities}/polybench.c", "-o", str(here / f"app{n}"), *LIBRARIES]
        subprocess.run([*CC, *flags, source, *more], check=True)
    for k in range(args.repeat):
        for n, source in enumerate(best):
            if k == 0 or best[source] < LONG:
                best[source] = min(best[source], _ran(here / f"app{n}", "0")[0])
    device = ": on the device" in _ran(here / "app1", "1")[1]
    plain, written = best.values()
    return Compared(plain, written, device, args.floor)


def _ran(app: Path, verbose: str) -> tuple[float, str]:
    """The seconds that a program measured, and what it said."""
    env = {**os.environ, "LOOPXFORM_VERBOSE": verbose}
    done = subprocess.run([str(app)], capture_output=True, text=True, check=True, env=env)
    return float(done.stdout.split()[-1]), done.stderr


if __name__ == "__main__":
    sys.exit(main())
