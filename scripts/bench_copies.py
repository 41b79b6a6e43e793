"""What the caller of a drop-in function waits for: a product of n x n floats in its own memory.

    python scripts/bench_copies.py --profile h100 --sizes 32,256,1024,2048,4096,8192

For each size, medians in milliseconds of calls in one process:

    call       the written C, arrays from malloc
    copied     the same, each copy as one call of OpenCL (LOOPXFORM_COPIES=whole)
    pinned     arrays registered with loopxform_pin
    bound      copies from and to pinned memory of the driver, then the kernels alone
    cublasXt   cublasXtSgemm on the same pointers, where that library is found

and the ratios bound / call and cublasXt / call. Below, the rate of copies between the caller's
memory and the device: bytes of the arrays over what a call takes besides the kernels.
`--redefine LX_COPIERS=4,LX_PIECE_BYTES=1048576` times other sizes of copies, as often as it is
given, and `--accumulate` a product that is added to C. CC, CFLAGS and LDLIBS say how C is built.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

from opencl_device import DEVICE

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

MAIN = r"""
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "mm_opencl.h"

enum { MOST = 25 };
static int n;
static float *a, *b, *c;
static cl_context context;
static cl_command_queue queue;
static cl_mem room[3], pinned[3];
static float *held[3];

static double now(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int order(const void *x, const void *y)
{
  return (*(const double *)x > *(const double *)y) - (*(const double *)x < *(const double *)y);
}

/* Milliseconds, the median of some calls. */
static double median(void (*call)(void))
{
  double times[MOST];
  const int count = n < 1000 ? MOST : 9;
  call();
  for (int turn = 0; turn < count; turn++) {
    const double start = now();
    call();
    times[turn] = 1e3 * (now() - start);
  }
  qsort(times, (size_t)count, sizeof *times, order);
  return times[count / 2];
}

static void drop_in(void) { mm(n, n, n, (float (*)[n])a, (float (*)[n])b, (float (*)[n])c); }

static void kernels(void)
{
  mm_cl(queue, n, n, n, room[0], room[1], room[2]);
  clFinish(queue);
}

static void bound(void)
{
  const size_t bytes = sizeof(float) * (size_t)n * (size_t)n;
  for (int each = 0; each < 2; each++)
    clEnqueueWriteBuffer(queue, room[each], CL_FALSE, 0, bytes, held[each], 0, NULL, NULL);
  mm_cl(queue, n, n, n, room[0], room[1], room[2]);
  clEnqueueReadBuffer(queue, room[2], CL_TRUE, 0, bytes, held[2], 0, NULL, NULL);
}

static void *xt;
static int (*sgemm)(void *, int, int, size_t, size_t, size_t, const float *, const float *, size_t,
                    const float *, size_t, const float *, float *, size_t);

static void library(void)
{
  const float one = 1, zero = 0;
  const size_t size = (size_t)n;
  sgemm(xt, 0, 0, size, size, size, &one, b, size, a, size, &zero, c, size);
}

/* Whether cublasXt is there. */
static int load(void)
{
  const char *name = getenv("CUBLAS");
  int (*create)(void **), (*choose)(void *, int, int *);
  int device = 0;
  void *from = name != NULL ? dlopen(name, RTLD_NOW) : NULL;
  if (from == NULL)
    return 0;
  *(void **)&create = dlsym(from, "cublasXtCreate");
  *(void **)&choose = dlsym(from, "cublasXtDeviceSelect");
  *(void **)&sgemm = dlsym(from, "cublasXtSgemm");
  return create(&xt) == 0 && choose(xt, 1, &device) == 0;
}

DEVICE
static void open_device(const size_t bytes)
{
  if (context == NULL) {
    cl_device_id device = chosen();
    context = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
    queue = clCreateCommandQueue(context, device, 0, NULL);
  }
  for (int each = 0; each < 3; each++) {
    room[each] = clCreateBuffer(context, CL_MEM_READ_WRITE, bytes, NULL, NULL);
    pinned[each] = clCreateBuffer(context, CL_MEM_ALLOC_HOST_PTR, bytes, NULL, NULL);
    held[each] = clEnqueueMapBuffer(queue, pinned[each], CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0,
                                    bytes, 0, NULL, NULL, NULL);
    memset(held[each], 0, bytes);
  }
}

static void close_device(void)
{
  for (int each = 0; each < 3; each++) {
    clEnqueueUnmapMemObject(queue, pinned[each], held[each], 0, NULL, NULL);
    clFinish(queue);
    clReleaseMemObject(pinned[each]);
    clReleaseMemObject(room[each]);
  }
}

int main(int count, char **sizes)
{
  const int has_library = load();
  for (int s = 1; s < count; s++) {
    n = atoi(sizes[s]);
    const size_t size = (size_t)n * (size_t)n, bytes = sizeof(float) * size;
    double took, alone, least, xts = 0, registered = 0;
    a = malloc(bytes), b = malloc(bytes), c = malloc(bytes);
    for (size_t x = 0; x < size; x++)
      a[x] = (float)(x % 13), b[x] = (float)(x % 7), c[x] = 0;
    took = median(drop_in);
#ifdef PINNED
    if (loopxform_pin(a, bytes) && loopxform_pin(b, bytes) && loopxform_pin(c, bytes))
      registered = median(drop_in);
    loopxform_unpin(a), loopxform_unpin(b), loopxform_unpin(c);
#endif
    open_device(bytes);
    alone = median(kernels);
    least = median(bound);
    close_device();
    if (has_library)
      xts = median(library);
    printf("%d %.4f %.4f %.4f %.4f %.4f\n", n, took, registered, least, alone, xts);
    fflush(stdout);
    free(a), free(b), free(c);
  }
  return 0;
}
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--profile", default="h100")
    parser.add_argument("--sizes", default="32,256,1024,2048,4096,8192")
    parser.add_argument("--redefine", action="append", default=[])
    parser.add_argument("--accumulate", action="store_true")
    args = parser.parse_args()
    sizes = args.sizes.split(",")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        app = built(folder, args.profile, accumulate=args.accumulate)
        ours = timed(app, sizes, folder)
        whole = timed(app, sizes, folder, LOOPXFORM_COPIES="whole", CUBLAS="none")
        print("   size      call    copied    pinned     bound  cublasXt   bound  cublasXt    GB/s")
        for x, (_, copied, *_rest) in zip(ours, whole):
            size, took, pinned, least, _, xt = x
            row = f"{size:7.0f} {took:9.3f} {copied:9.3f} {pinned:9.3f} {least:9.3f} {xt:9.3f}"
            print(f"{row} {least / took:7.2f} {xt / took:9.2f} {rate(x):7.1f}", flush=True)
        for numbers in args.redefine:
            redefine(folder / "mm_opencl.c", numbers)
            rows = timed(linked(folder), sizes, folder, CUBLAS="none")
            print(numbers, *(f"{x[0]:.0f}: {x[1]:.3f} ms, {rate(x):.1f} GB/s" for x in rows))


def rate(row: list[float]) -> float:
    """Bytes of the three arrays over what a call takes besides the kernels, in GB/s."""
    size, took, _, _, alone, _ = row
    return 3 * 4 * size * size / 1e6 / max(took - alone, 1e-6)


def redefine(written: Path, numbers: str) -> None:
    """Sizes of copies, in place of those in the written C."""
    text = written.read_text()
    for name, number in (x.split("=") for x in numbers.split(",")):
        text = re.sub(rf"#define {name} .*", f"#define {name} {number}", text)
    written.write_text(text)


def built(folder: Path, profile: str, *, accumulate: bool) -> Path:
    """The drop-in for corpus/mm.c with a program that times it."""
    import loopxform as lx

    source = (ROOT / "corpus/mm.c").read_text()
    (folder / "mm.c").write_text(source.replace("] = acc", "] += acc" if accumulate else "] = acc"))
    lx.load(folder / "mm.c")["mm"].tile(limits=profile).write(folder)
    (folder / "main.c").write_text(MAIN.replace("DEVICE", DEVICE, 1))
    return linked(folder)


def linked(folder: Path) -> Path:
    pins = "loopxform_pin" in (folder / "mm_opencl.h").read_text()
    options = [*shlex.split(os.environ.get("CFLAGS", "-O2")), *(["-DPINNED"] if pins else [])]
    libraries = shlex.split(os.environ.get("LDLIBS", "-lOpenCL -lm"))
    compiler = shlex.split(os.environ.get("CC", "cc"))
    files = ["main.c", "mm_opencl.c", "-o", "app", "-ldl"]
    subprocess.run([*compiler, *options, *files, *libraries], cwd=folder, check=True)
    return folder / "app"


def timed(app: Path, sizes: list[str], folder: Path, **more: str) -> list[list[float]]:
    """Size, drop-in, registered, bound, kernels alone, cublasXt for each size, in one process."""
    kept = {"LOOPXFORM_CACHE": str(folder / "kept"), "LOOPXFORM_HOST": "never"}
    told = {"LOOPXFORM_VERBOSE": "1", **library()}
    env = {**os.environ, **kept, **told, **more}
    done = subprocess.run(
        [str(app), *sizes], env=env, check=True, capture_output=True, text=True, timeout=600
    )
    if "on the host" in done.stderr:
        sys.exit(done.stderr)
    return [[float(x) for x in line.split()] for line in done.stdout.splitlines()]


def library() -> dict[str, str]:
    """Where cuBLAS is: PyTorch's packages have it, or the loader finds it."""
    folders = [Path(x) / "nvidia" for x in sys.path]
    found = [x for f in folders if f.is_dir() for x in sorted(f.rglob("libcublas.so.*"))]
    needed = sorted({str(x.parent) for f in folders if f.is_dir() for x in f.rglob("lib*.so*")})
    path = os.pathsep.join([*needed, os.environ.get("LD_LIBRARY_PATH", "")])
    return {"CUBLAS": str(found[0]) if found else "libcublas.so", "LD_LIBRARY_PATH": path}


if __name__ == "__main__":
    main()
