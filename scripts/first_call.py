"""How long the first call of the written C takes, on a device that has built nothing yet.

    python scripts/first_call.py --profile h100 --sizes 1000,1003,4096

Each size is a process with an empty cache, then one that finds the binaries on disk; at last one
process calls all sizes, one after the other. The driver's own cache is off. Seconds of wall time
from the start of `main`; "call" is the second call, when everything is there. CC, CFLAGS and LDLIBS
say how C is built.
"""

from __future__ import annotations

import argparse
import os
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

MAIN = """
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
void mm(int M, int U, int N, float A[M][U], float B[U][N], float C[M][N]);

static double now(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(int count, char **sizes)
{
  for (int s = 1; s < count; s++) {
    const int n = atoi(sizes[s]);
    const size_t bytes = sizeof(float) * (size_t)n * (size_t)n;
    float *a = calloc(1, bytes), *b = calloc(1, bytes), *c = malloc(bytes);
    const double start = now();
    mm(n, n, n, (float (*)[n])a, (float (*)[n])b, (float (*)[n])c);
    const double first = now();
    mm(n, n, n, (float (*)[n])a, (float (*)[n])b, (float (*)[n])c);
    printf("%d %.3f %.4f\\n", n, first - start, now() - first);
    free(a), free(b), free(c);
  }
  return 0;
}
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--profile", default="h100")
    parser.add_argument("--sizes", default="1000,1003,4096")
    args = parser.parse_args()
    sizes = args.sizes.split(",")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        app = built(folder, args.profile)
        print("size        first      call    first, from disk      call    programs")
        for size in sizes:
            cache = folder / f"cache_{size}"
            ((_, first, call),) = timed(app, cache, [size])
            ((_, again, later),) = timed(app, cache, [size])
            programs = cache / "programs"
            kept = len(list(programs.iterdir())) if programs.is_dir() else 0
            print(f"{size:>6} {first:>8} s {call:>8} s {again:>15} s {later:>8} s {kept:>8}")
        print("one process, all sizes:")
        for size, first, call in timed(app, folder / "cache", sizes):
            print(f"{size:>6} {first:>8} s {call:>8} s")


def built(folder: Path, profile: str) -> Path:
    """The drop-in for corpus/mm.c and a program that times it."""
    import loopxform as lx

    lx.load(ROOT / "corpus/mm.c")["mm"].tile(limits=profile).write(folder)
    (folder / "main.c").write_text(MAIN)
    options = shlex.split(os.environ.get("CFLAGS", "-O2"))
    libraries = shlex.split(os.environ.get("LDLIBS", "-lOpenCL -lm"))
    compiler = shlex.split(os.environ.get("CC", "cc"))
    files = ["main.c", "mm_opencl.c", "-o", "app"]
    subprocess.run([*compiler, *options, *files, *libraries], cwd=folder, check=True)
    return folder / "app"


def timed(app: Path, cache: Path, sizes: list[str]) -> list[list[str]]:
    """Size, first and second call of each size in one process."""
    env = {**os.environ, "LOOPXFORM_CACHE": str(cache), "CUDA_CACHE_DISABLE": "1"}
    env |= {"LOOPXFORM_VERBOSE": "1", "POCL_KERNEL_CACHE": "0"}
    done = subprocess.run(
        [str(app), *sizes], env=env, check=True, capture_output=True, text=True, timeout=600
    )
    if done.stderr:
        sys.exit(done.stderr)
    return [line.split() for line in done.stdout.splitlines()]


if __name__ == "__main__":
    main()
