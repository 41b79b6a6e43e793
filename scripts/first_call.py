"""How long the first call of the written C takes, on a device that has built nothing yet.

    python scripts/first_call.py --profile h100 --sizes 1000,1003,4096

Seconds of wall time, of the first call in a process, for each size:

    new        nothing is kept anywhere: neither our binaries nor what the driver keeps
    kept       a second process of the same user: both are there
    binaries   our binaries are there, what the driver keeps is not
    call       the second call in a process

and last, all sizes in one process. Above stands what an OpenCL program takes that does nothing but
copy a byte to the device (empty). NVIDIA's driver compiles a program of its own for
each context, which its cache keeps: with that cache disabled the empty program takes longer than
all of ours (disabled). CC, CFLAGS and LDLIBS say how C is built.
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


EMPTY = """
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdio.h>
#include <time.h>

static double now(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* The first GPU, else the first device. */
static cl_device_id chosen(void)
{
  cl_platform_id platforms[16];
  cl_uint platform_count = 0, n;
  cl_device_id device = NULL;
  clGetPlatformIDs(16, platforms, &platform_count);
  for (n = 0; n < platform_count && n < 16; n++)
    if (clGetDeviceIDs(platforms[n], CL_DEVICE_TYPE_GPU, 1, &device, NULL) == CL_SUCCESS)
      return device;
  for (n = 0; n < platform_count && n < 16; n++)
    if (clGetDeviceIDs(platforms[n], CL_DEVICE_TYPE_ALL, 1, &device, NULL) == CL_SUCCESS)
      return device;
  return NULL;
}

int main(void)
{
  const double start = now();
  cl_device_id device = chosen();
  cl_int status = CL_SUCCESS;
  cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &status);
  cl_command_queue queue;
  cl_mem buffer;
  const char byte = 1;
  if (status != CL_SUCCESS)
    return 1;
  queue = clCreateCommandQueue(context, device, 0, &status);
  buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, 1, NULL, &status);
  status = clEnqueueWriteBuffer(queue, buffer, CL_TRUE, 0, 1, &byte, 0, NULL, NULL);
  if (status != CL_SUCCESS || clFinish(queue) != CL_SUCCESS)
    return 1;
  printf("0 %.3f 0\\n", now() - start);
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
        app, empty = built(folder, args.profile)
        timed(empty, folder / "none", folder / "driver", [])  # wakes the device
        for case, place in (("new", "fresh"), ("kept", "driver"), ("disabled", "")):
            caches = folder / place if place else None
            ((_, took, _),) = timed(empty, folder / "none", caches, [])
            print(f"empty program, {case}: {took} s")
        print("  size       new      kept  binaries      call  programs")
        for size in sizes:
            ours, driver = folder / f"ours_{size}", folder / f"driver_{size}"
            ((_, new, call),) = timed(app, ours, driver, [size])
            ((_, kept, _),) = timed(app, ours, driver, [size])
            ((_, binaries, _),) = timed(app, ours, folder / f"other_{size}", [size])
            programs = ours / "programs"
            count = len(list(programs.iterdir())) if programs.is_dir() else 0
            print(f"{size:>6} {new:>9} {kept:>9} {binaries:>9} {call:>9} {count:>9}")
        print("one process, all sizes: first call, second call")
        for size, first, call in timed(app, folder / "all", folder / "driver_all", sizes):
            print(f"{size:>6} {first:>9} {call:>9}")


def built(folder: Path, profile: str) -> tuple[Path, Path]:
    """The drop-in for corpus/mm.c with a program that times it, and the program that does nothing
    but copy a byte."""
    import loopxform as lx

    lx.load(ROOT / "corpus/mm.c")["mm"].tile(limits=profile).write(folder)
    (folder / "main.c").write_text(MAIN)
    options = shlex.split(os.environ.get("CFLAGS", "-O2"))
    libraries = shlex.split(os.environ.get("LDLIBS", "-lOpenCL -lm"))
    compiler = shlex.split(os.environ.get("CC", "cc"))
    (folder / "empty.c").write_text(EMPTY)
    for files in (["main.c", "mm_opencl.c", "-o", "app"], ["empty.c", "-o", "empty"]):
        subprocess.run([*compiler, *options, *files, *libraries], cwd=folder, check=True)
    return folder / "app", folder / "empty"


def timed(app: Path, ours: Path, driver: Path | None, sizes: list[str]) -> list[list[str]]:
    """Size, first and second call of each size in one process. `ours` and `driver` are the folders
    that programs are kept in; None: the driver keeps nothing."""
    kept = {"CUDA_CACHE_DISABLE": "1"} if driver is None else {"CUDA_CACHE_PATH": str(driver)}
    pocl = {"POCL_KERNEL_CACHE": "0"} if driver is None else {"POCL_CACHE_DIR": str(driver)}
    ours_env = {"LOOPXFORM_CACHE": str(ours), "LOOPXFORM_VERBOSE": "1", "LOOPXFORM_HOST": "never"}
    env = {**os.environ, **ours_env, **kept, **pocl}
    done = subprocess.run(
        [str(app), *sizes], env=env, check=True, capture_output=True, text=True, timeout=600
    )
    if "on the host" in done.stderr:
        sys.exit(done.stderr)
    return [line.split() for line in done.stdout.splitlines()]


if __name__ == "__main__":
    main()
