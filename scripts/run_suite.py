"""Offloads the files of a PolyBench/C 4.2 folder as they are, compiles what is written with cc,
compares the arrays that both programs print, and prints a table.

    python scripts/run_suite.py polybench-c-4.2.1 [--dataset MINI] [--only gemm,lu] [--oclgrind]
        [--profile h100]

    kernels, launches, copies   of the function that the suite times, and copies of arrays
    one item                    parts of it that one work-item runs in order
    seconds                     from the file to the written C
    x plain                     time of that function, over that of the C compiled with -O2; of a
                                second run, when the kernels are in the cache of the OpenCL compiler

All calls are the device's (bench_versions.py lets them choose).

With --oclgrind the written program runs in the simulator, which looks for races and accesses out of
bounds. (Not for what is not set: after a copy to the middle of a buffer Oclgrind 21.10 takes other
bytes for set than those.) The suite is not part of this repository.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from suite import programs, sizes_of

import loopxform as lx
from loopxform.api.splice import OffloadedFile
from loopxform.errors import LoopxformError
from loopxform.runtime.schedule import launched, not_known

CC = ("cc", "-O2", "-ffp-contract=off", "-DPOLYBENCH_DUMP_ARRAYS", "-DPOLYBENCH_TIME")
FINDINGS = ("Data race", "Invalid", "divergence", "ERROR")


@dataclass(frozen=True)
class Row:
    """One program of the suite."""

    name: str
    kernels: str = ""
    launches: str = ""
    copies: str = ""
    single: str = ""
    seconds: str = ""
    ratio: str = ""
    result: str = ""

    HEAD = ("program", "kernels", "launches", "copies", "one item", "seconds", "x plain", "result")

    def text(self) -> str:
        cells = (self.kernels, self.launches, self.copies, self.single, self.seconds, self.ratio)
        aligned = "  ".join(x.rjust(len(h)) for x, h in zip(cells, self.HEAD[1:]))
        return f"{self.name:<15} {aligned}  {self.result}"


def main() -> int:
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("folder", type=Path)
    p.add_argument("--dataset", default="MINI")
    p.add_argument("--only", default="", help="names of programs, with commas")
    p.add_argument("--profile", default="generic", help="a device to fit, or a file NAME.toml")
    p.add_argument("--oclgrind", action="store_true", help="run the written programs in Oclgrind")
    args = p.parse_args()
    os.environ["LOOPXFORM_HOST"] = "never"
    print(f"{'program':<15} " + "  ".join(Row.HEAD[1:]))
    wrong = 0
    for path in programs(args.folder, args.only):
        with tempfile.TemporaryDirectory() as scratch:
            row = judged(path, args, Path(scratch))
        wrong += row.result not in ("identical", "identical, no finding")
        print(row.text(), flush=True)
    return min(wrong, 1)


def judged(path: Path, args: argparse.Namespace, scratch: Path) -> Row:
    utilities = str(args.folder / "utilities")
    begin = time.perf_counter()
    try:
        macros = (f"{args.dataset}_DATASET", "POLYBENCH_DUMP_ARRAYS", "POLYBENCH_TIME")
        file = lx.load(path, include=[utilities], define=macros)
        name = next(r.name for r in file if r.name.startswith("kernel_"))
        done = file.offload(name, limits=args.profile, contract=False)
        done.write(scratch)
    except LoopxformError as e:
        return Row(path.stem, result=f"refused: {e.message}")
    seconds = time.perf_counter() - begin
    flags = [f"-D{args.dataset}_DATASET", "-I", utilities, "-I", str(path.parent)]
    sources = {"plain": str(path), "written": str(scratch / f"{path.stem}_opencl.c")}
    for made, source in sources.items():
        more = [f"{utilities}/polybench.c", "-o", str(scratch / made), "-lm", "-lOpenCL"]
        subprocess.run([*CC, *flags, source, *more], check=True)
    plain, before = ran([str(scratch / "plain")])
    found, _ = ran([str(scratch / "written")])
    _, after = ran([str(scratch / "written")])
    result = "identical" if found == plain else "DIFFERENT"
    if args.oclgrind and result == "identical":
        simulated, _ = ran(
            ["oclgrind", "--data-races", "--uninitialized", str(scratch / "written")]
        )
        result += finding(simulated, plain)
    kernels, launches, copies, single = counted(path, done, file[name], args.dataset)
    ratio = f"{after / before:.1f}" if before else ""
    return Row(path.stem, kernels, launches, copies, single, f"{seconds:.1f}", ratio, result)


def ran(command: list[str]) -> tuple[str, float]:
    """The arrays that a program prints, and the seconds that it measured."""
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return done.stderr, float(done.stdout.split()[-1])


def finding(text: str, plain: str) -> str:
    lines = [x for x in text.splitlines() if any(word in x for word in FINDINGS)]
    if lines:
        return f", but {lines[0].strip()}"
    return ", no finding" if plain in text else ", DIFFERENT in the simulator"


def counted(path: Path, done: OffloadedFile, routine: lx.Routine, dataset: str) -> tuple[str, ...]:
    """Kernels, launches, copies and parts on one work-item."""
    sizes = sizes_of(routine, path, dataset)
    integers = {n: v for n, v in sizes.items() if isinstance(v, int)}
    plans = [r.entry.plan for r in done.regions]
    launches = sum(1 for p in plans for _ in launched(p, integers, not_known))
    copies = sum(x is not None for p in plans for b in p.buffers for x in (b.into, b.back))
    single = sum(part.kind == "one work-item" for r in done.regions for part in r.done.parts)
    kernels = sum(len(p.kernels) for p in plans)
    return str(kernels), str(launches), str(copies), str(single)


if __name__ == "__main__":
    sys.exit(main())
