"""Times stencils on a GPU against the CUDA programs of AN5D, in one run.

    git clone AN5D-Artifact; cd AN5D-Artifact/compiled/float      # github.com/khaki3/AN5D-Artifact
    nvcc -arch=sm_90 -O3 --use_fast_math -Xcompiler -fopenmp -D SB_TYPE=float -I ../.. \\
      j2d5pt-256-10-256_host.cu j2d5pt-256-10-256_kernel.cu -o BIN/j2d5pt-256-10-256    # and others
    python scripts/compare_an5d.py AN5D-Artifact BIN [NAME ...] --device 0:0

FOLDER has AN5D's inputs (NAME.c), which are read as they are: the loops between `#pragma scop` and
`#pragma endscop`. BIN has executables, NAME-CONFIGURATION: the best of an input counts. Ours is
`--fp fast`, the tile that is chosen, or each of those that `--tile` names; event times of all
kernels of a call, the best of several. A figure is 10^9 elements in a step of time, per second.
"""

from __future__ import annotations

import argparse
import math
import multiprocessing
import re
import subprocess
from pathlib import Path
from typing import Any

import numpy as np

import loopxform as lx

LOOPS = re.compile(r"#pragma scop(.*?)#pragma endscop", re.DOTALL)


def main() -> int:
    p = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    p.add_argument("folder", type=Path)
    p.add_argument("binaries", type=Path)
    p.add_argument("names", nargs="*", metavar="NAME", help="inputs (all that have executables)")
    p.add_argument("--size", type=int, default=8192, help="of planes (8192)")
    p.add_argument("--cube", type=int, default=512, help="of spaces (512)")
    p.add_argument("--steps", type=int, default=120, help="of time (120)")
    p.add_argument("--tile", action="append", default=[], metavar="NAME:TILE", help="more tiles")
    p.add_argument("--device", default=None)
    p.add_argument("--profile", default="h100", help="(h100)")
    p.add_argument("--repeat", type=int, default=3, metavar="N", help="runs (3)")
    p.add_argument("--jobs", type=int, default=8, metavar="N", help="inputs at a time (8)")
    args = p.parse_args()
    every = sorted(f.name for f in args.binaries.iterdir() if f.is_file() and not f.suffix)
    names = args.names or sorted({f.rsplit("-", 3)[0] for f in every} | _tiled(args))
    lock = multiprocessing.get_context("spawn").Manager().Lock()
    jobs = [(name, [f for f in every if f.rsplit("-", 3)[0] == name], args, lock) for name in names]
    with multiprocessing.get_context("spawn").Pool(args.jobs) as pool:
        found = [x for x in pool.imap(_compared, jobs, chunksize=1) if x]
    if found:
        mean = math.exp(sum(map(math.log, found)) / len(found))
        print(f"{len(found)} inputs, geometric mean {mean:.2f}, least {min(found):.2f}")
    return 0


def _tiled(args: argparse.Namespace) -> set[str]:
    return {t.split(":")[0] for t in args.tile}


def _compared(job: tuple[str, list[str], argparse.Namespace, Any]) -> float | None:
    """Times an input, and says how many times as fast ours is. Only one is timed at a time."""
    name, binaries, args, lock = job
    text = (args.folder / f"{name}.c").read_text()
    numbers = dict(re.findall(r"#define BENCH_(\w+) (\d+)", text))
    rank, radius = int(numbers["DIM"]), int(numbers["RAD"])
    size = args.size if rank == 2 else args.cube
    cells = size**rank * args.steps
    lines: list[str] = []
    theirs = 0.0
    tiles = ["", *(t.split(":")[1] for t in args.tile if t.split(":")[0] == name)]
    calls = [_compiled(name, text, rank, radius, tile, args) for tile in tiles]
    with lock:
        for binary in binaries:
            ms = _theirs(args.binaries / binary, size, args.steps)
            rate = cells / ms / 1e6 if ms else 0.0
            theirs = max(theirs, rate)
            lines.append(f"    {binary:24} {rate:8.1f}")
        extent = size + 2 * radius
        array = _planes(rank, extent)
        rates = []
        for call, about in calls:
            if call is None:
                lines.append(f"    {about}")
                continue
            times = call.again(args.repeat, timestep=args.steps, dimsize=extent, A=array)
            rates.append(cells / min(times))
            lines.append(f"    {rates[-1]:8.1f}  {about}")
    ratio = rates[0] / theirs if rates and theirs else None
    shown = "" if ratio is None else f"ours / AN5D {ratio:.2f}"
    print("\n".join([f"{name:12} {shown}", *lines]), flush=True)
    return ratio


def _compiled(
    name: str, text: str, rank: int, radius: int, tile: str, args: argparse.Namespace
) -> tuple[Any, str]:
    """A call, and what it is; None, and why there is none."""
    found = LOOPS.search(text)
    loops = found[1] if found else ""
    params = f"int timestep, int dimsize, float A[2]{'[dimsize]' * rank}"
    source = f"#include <math.h>\n#define BENCH_RAD {radius}\nvoid f({params}) {{{loops}}}\n"
    asked = None if not tile else () if tile == "0" else tuple(map(int, tile.split("x")))
    try:
        done = lx.loads(source)["f"].offload(limits=args.profile, fp="fast", time_tile=asked)
        about = "; ".join(part.about for part in done.parts if part.about) or "each step a kernel"
        return done.compile(args.device), about
    except lx.LoopxformError as e:
        return None, f"{name} {tile}: {e}".splitlines()[0]


def _theirs(binary: Path, size: int, steps: int) -> float:
    """The least time of an executable, in milliseconds; 0 where it fails."""
    command = [str(binary), "-s", str(size), "-t", str(steps), "-n", "2"]
    out = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    return min((float(t) for t in re.findall(r"GFLOPS,\s+([\d.]+) ms", out)), default=0.0)


def _planes(rank: int, extent: int) -> Any:
    some = np.random.default_rng(1).random(1_000_003, dtype=np.float32)
    plane = np.resize(some, (1, *(extent,) * rank))
    return np.concatenate([plane, plane])


if __name__ == "__main__":
    raise SystemExit(main())
