"""Times the programs of a PolyBench/C 4.2 folder against what loopxform writes of them, where each
call chooses between the host and the device, and prints a table.

    python scripts/bench_versions.py polybench-c-4.2.1 [--datasets MINI,SMALL,MEDIUM,LARGE]
        [--only gemm,lu] [--profile generic] [--repeat 5] [--floor 3e-6]

Both are compiled with cc -O3, and with loops aligned: where else they happen to lie in memory makes
some of the smallest programs half as fast or twice. Times are those that the programs measure
themselves (POLYBENCH_TIME): of the one call of the kernel function, in which the device would have
to be found and its programs built. The two take turns; of each the best of several runs counts. A
cell is how many times as fast the written program is; a star says that the device ran it. Times
differ where they do so by more than the floor (seconds): the timer counts microseconds, and the
first call of a program is cold. The exit status is 1 where a program is below 0.9.

The device is measured before, by a run that calls a function until it is used (LOOPXFORM_CACHE is a
folder of its own). The suite is not part of this repository.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from suite import programs

import loopxform as lx

CC = ("cc", "-O3", "-falign-loops=64", "-ffp-contract=off", "-DPOLYBENCH_TIME")
LEAST = 0.9
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
    args = p.parse_args()
    datasets = args.datasets.split(",")
    slow = 0
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name)
        os.environ |= {"LOOPXFORM_CACHE": str(scratch / "cache"), "LOOPXFORM_HOST": ""}
        _measure(scratch)
        print("| program | " + " | ".join(datasets) + " |\n" + "|---" * (len(datasets) + 1) + "|")
        for path in programs(args.folder, args.only):
            cells = []
            for dataset in datasets:
                ratio, device = _compared(path, dataset, args, scratch)
                slow += ratio < LEAST
                cells.append(f"{ratio:.2f}{'*' if device else ''}")
            print(f"| {path.stem} | " + " | ".join(cells) + " |", flush=True)
    print(f"{slow} below {LEAST}")
    return min(slow, 1)


def _measure(scratch: Path) -> None:
    """Has the device measured."""
    (scratch / "scale.c").write_text(FIRST)
    (scratch / "first.c").write_text(MAIN)
    lx.load(scratch / "scale.c").offload().write(scratch)
    files = [str(scratch / name) for name in ("scale_opencl.c", "first.c")]
    subprocess.run([*CC, *files, "-o", str(scratch / "first"), "-lOpenCL", "-lm"], check=True)
    subprocess.run([str(scratch / "first")], capture_output=True, check=True)


def _compared(
    path: Path, dataset: str, args: argparse.Namespace, scratch: Path
) -> tuple[float, bool]:
    """How many times as fast what is written is, and whether the device ran it."""
    utilities = str(args.folder / "utilities")
    file = lx.load(path, include=[utilities], define=(f"{dataset}_DATASET", "POLYBENCH_TIME"))
    name = next(r.name for r in file if r.name.startswith("kernel_"))
    file.offload(name, limits=args.profile, contract=False).write(scratch)
    flags = [f"-D{dataset}_DATASET", "-I", utilities, "-I", str(path.parent)]
    best = {str(path): float("inf"), str(scratch / f"{path.stem}_opencl.c"): float("inf")}
    for n, source in enumerate(best):
        more = [f"{utilities}/polybench.c", "-o", str(scratch / f"app{n}"), "-lm", "-lOpenCL"]
        subprocess.run([*CC, *flags, source, *more], check=True)
    for _ in range(args.repeat):
        for n, source in enumerate(best):
            time, _ = _ran(scratch / f"app{n}", "0")
            best[source] = min(best[source], time)
    device = ": on the device" in _ran(scratch / "app1", "1")[1]
    plain, written = best.values()
    if abs(written - plain) <= args.floor:
        return 1.0, device
    return plain / written, device


def _ran(app: Path, verbose: str) -> tuple[float, str]:
    """The seconds that a program measured, and what it said."""
    env = {**os.environ, "LOOPXFORM_VERBOSE": verbose}
    done = subprocess.run([str(app)], capture_output=True, text=True, check=True, env=env)
    return float(done.stdout.split()[-1]), done.stderr


if __name__ == "__main__":
    sys.exit(main())
