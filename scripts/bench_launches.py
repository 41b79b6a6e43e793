"""How much longer many launches take than their kernels: functions of a PolyBench/C 4.2 folder, as
C writes them, on arrays that are on the device.

    python scripts/bench_launches.py polybench-c-4.2.1 [--datasets MEDIUM,LARGE] [--only lu,...]

For each function, medians in milliseconds of calls of NAME_cl in a C program:

    wall       from the call until its kernels have ended, on a queue without events
    enqueued   from the call until it returns
    kernels    the sum of what the events of its kernels say, on another queue
    span       from the start of the first kernel to the end of the last, by the same events
    region     each of ten calls of NAME, from arrays of the host in a data region
    call       the same without a region: arrays are copied to the device and back
    best       the shortest of these calls

and wall / kernels, region / wall, and the gigabytes in a second that a call copies in what it takes
longer than wall, and the best one. No call of the ten copies an array: one before them does. CC,
CFLAGS and LDLIBS say how C is built; the suite is not part of this repository.
`--file F.c --size n=4096,steps=10` times the first function of another file.
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
from typing import Any

import numpy as np
from opencl_device import DEVICE
from suite import kernel_of, macros, programs, sizes_of

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import loopxform as lx  # noqa: E402
from loopxform.verify.check_run import arguments  # noqa: E402

MANY = "floyd-warshall,lu,cholesky,seidel-2d,ludcmp,gramschmidt,nussinov,fdtd-2d"
SEED = 1

MAIN = r"""
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "HEADER"

enum { MOST = 1 << 18 };
static cl_event events[MOST];
static int recording, launches;

/* What the written C calls in place of clEnqueueNDRangeKernel. */
cl_int recorded(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions, const size_t *offset,
                const size_t *items, const size_t *group, cl_uint count, const cl_event *after,
                cl_event *event)
{
  if (recording && launches < MOST)
    event = &events[launches];
  launches++;
  return clEnqueueNDRangeKernel(queue, kernel, dimensions, offset, items, group, count, after,
                                event);
}

static double now(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

static int order(const void *x, const void *y)
{
  return (*(const double *)x > *(const double *)y) - (*(const double *)x < *(const double *)y);
}

static double median(double *times, int count)
{
  qsort(times, (size_t)count, sizeof *times, order);
  return times[count / 2];
}

/* Numbers from 1 to 2 in some order: doubles, floats or ints. */
static void fill(void *memory, size_t bytes, char kind)
{
  unsigned state = 1;
  for (size_t n = 0; n < bytes / (kind == 'd' ? sizeof(double) : 4); n++) {
    state = 1664525u * state + 1013904223u;
    if (kind == 'd')
      ((double *)memory)[n] = 1 + state / 4294967296.0;
    else if (kind == 'f')
      ((float *)memory)[n] = 1 + (float)(state >> 8) / 16777216.0f;
    else
      ((int *)memory)[n] = 1 + (int)(state >> 31);
  }
}

static const size_t bytes[ARRAYS] = {BYTES};
static const char kinds[ARRAYS] = {KINDS};
static void *before[ARRAYS], *host[ARRAYS];
static cl_mem room[ARRAYS];

static void restore(cl_command_queue queue)
{
  for (int n = 0; n < ARRAYS; n++)
    clEnqueueWriteBuffer(queue, room[n], CL_TRUE, 0, bytes[n], before[n], 0, NULL, NULL);
  clFinish(queue);
}

/* Milliseconds from the start of one kernel to the end of another. */
static double between(cl_event first, cl_event last)
{
  cl_ulong start = 0, end = 0;
  clGetEventProfilingInfo(first, CL_PROFILING_COMMAND_START, sizeof start, &start, NULL);
  clGetEventProfilingInfo(last, CL_PROFILING_COMMAND_END, sizeof end, &end, NULL);
  return 1e-6 * (double)(end - start);
}

/* What the written C calls in place of clEnqueueWriteBuffer and clEnqueueReadBuffer, by threads. */
static size_t copied;

cl_int written(cl_command_queue queue, cl_mem room, cl_bool blocks, size_t at, size_t size,
               const void *from, cl_uint count, const cl_event *after, cl_event *event)
{
  __atomic_fetch_add(&copied, size, __ATOMIC_RELAXED);
  return clEnqueueWriteBuffer(queue, room, blocks, at, size, from, count, after, event);
}

cl_int taken(cl_command_queue queue, cl_mem room, cl_bool blocks, size_t at, size_t size, void *to,
             cl_uint count, const cl_event *after, cl_event *event)
{
  __atomic_fetch_add(&copied, size, __ATOMIC_RELAXED);
  return clEnqueueReadBuffer(queue, room, blocks, at, size, to, count, after, event);
}

/* Milliseconds of a call of NAME, ten of which follow one another in a data region. */
static double in_a_region(void)
{
  enum { CALLS = 10 };
  double start = 0;
  for (int n = 0; n < ARRAYS; n++) {
    host[n] = malloc(bytes[n]);
    memcpy(host[n], before[n], bytes[n]);
    loopxform_enter(host[n], bytes[n]);
  }
  for (int call = 0; call <= CALLS; call++) {
    if (call == 1)
      start = now();
    CALL_HOST;
  }
  const double each = (now() - start) / CALLS;
  for (int n = 0; n < ARRAYS; n++) {
    loopxform_exit(host[n], bytes[n], 0);
    free(host[n]);
  }
  return each;
}

/* Milliseconds of calls that copy: their median, and the shortest. */
static double without_a_region(double *best)
{
  enum { CALLS = 9 };
  double each[CALLS];
  for (int n = 0; n < ARRAYS; n++) {
    host[n] = malloc(bytes[n]);
    memcpy(host[n], before[n], bytes[n]);
  }
  /* Memory is pinned bit by bit: for each thread that copies once 16 MiB have been. */
  for (int call = 0; call < 1 || (call < 20 && copied >> 28 == 0); call++)
    CALL_HOST;
  for (int call = 0; call < CALLS; call++) {
    copied = 0;
    const double start = now();
    CALL_HOST;
    each[call] = now() - start;
  }
  for (int n = 0; n < ARRAYS; n++)
    free(host[n]);
  const double middle = median(each, CALLS);
  *best = each[0];
  return middle;
}

DEVICE
int main(void)
{
  enum { TURNS = 5 };
  cl_device_id device = chosen();
  double walls[TURNS], enqueued[TURNS], sums[TURNS], spans[TURNS];
  cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
  cl_command_queue queue = clCreateCommandQueue(context, device, 0, NULL);
  cl_command_queue timed = clCreateCommandQueue(context, device, CL_QUEUE_PROFILING_ENABLE, NULL);
  for (int n = 0; n < ARRAYS; n++) {
    before[n] = malloc(bytes[n]);
    fill(before[n], bytes[n], kinds[n]);
    room[n] = clCreateBuffer(context, CL_MEM_READ_WRITE, bytes[n], NULL, NULL);
  }
  for (int turn = -1; turn < TURNS; turn++) {
    restore(queue);
    launches = 0;
    const double start = now();
    const int status = CALL(queue);
    const double middle = now();
    clFinish(queue);
    if (status != 0)
      return fprintf(stderr, "status %d\n", status), 1;
    if (turn >= 0)
      enqueued[turn] = middle - start, walls[turn] = now() - start;
  }
  for (int turn = 0; turn < TURNS; turn++) {
    restore(timed);
    launches = 0, recording = 1;
    CALL(timed);
    clFinish(timed);
    recording = 0, sums[turn] = 0;
    for (int n = 0; n < launches; n++)
      sums[turn] += between(events[n], events[n]);
    spans[turn] = between(events[0], events[launches - 1]);
    for (int n = 0; n < launches; n++)
      clReleaseEvent(events[n]);
  }
  double best;
  const double region = in_a_region(), call = without_a_region(&best);
  printf("%d %.4f %.4f %.4f %.4f %.4f %.4f %.4f %zu\n", launches, median(walls, TURNS),
         median(enqueued, TURNS), median(sums, TURNS), median(spans, TURNS), region, call, best,
         copied);
  return 0;
}
"""


def main() -> None:
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("folder", type=Path, nargs="?")
    p.add_argument("--datasets", default="MEDIUM,LARGE")
    p.add_argument("--only", default=MANY, help="names of programs, with commas")
    p.add_argument("--file", type=Path, help="another file in place of the suite")
    p.add_argument("--size", default="", help="its numbers: n=4096,steps=10")
    p.add_argument("--profile", default="h100")
    args = p.parse_args()
    print(
        "function        size      launches      wall  enqueued   kernels      span    region"
        "      call      best  wall/kernels  region/wall  GB/s of copies"
    )
    if args.file:
        numbers = {n: float(v) for n, v in (x.split("=") for x in args.size.split(","))}
        sizes = {n: int(v) if v.is_integer() else v for n, v in numbers.items()}
        _row(args.file.stem, "", next(iter(lx.load(args.file))), sizes, args.profile)
        return
    for path in programs(args.folder, args.only):
        for dataset in args.datasets.split(","):
            routine = kernel_of(path, args.folder, dataset)
            sizes = sizes_of(routine, path, dataset)
            _row(path.stem, dataset, routine, sizes, args.profile)


def _row(name: str, dataset: str, routine: Any, sizes: dict[str, Any], profile: str) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        written(folder, routine, sizes, profile)
        app = built(folder, [f"-D{m}" for m in macros(dataset)] if dataset else [])
        done = subprocess.run(
            [str(app)],
            cwd=folder,
            env={**os.environ, "LOOPXFORM_HOST": "never"},
            text=True,
            capture_output=True,
            timeout=600,
        )
    if done.returncode:
        print(f"{name:<15} {dataset:<9} {done.stderr.strip()}", flush=True)
        return
    launches, *times, copied = map(float, done.stdout.split())
    row = " ".join(f"{t:9.3f}" for t in times)
    wall, _enqueued, kernels, _span, region, call, best = times
    rates = (1e-6 * copied / (t - wall) if t > wall else float("nan") for t in (call, best))
    ratios = f"{wall / kernels:13.2f} {region / wall:12.2f} " + " ".join(f"{r:7.1f}" for r in rates)
    print(f"{name:<15} {dataset:<9} {launches:8.0f} {row} {ratios}", flush=True)


def written(folder: Path, routine: Any, sizes: dict[str, Any], profile: str) -> None:
    """The C that loopxform writes, and a program that calls it."""
    routine.offload(limits=profile).write(folder)
    _write_main(folder, arguments(routine.function, sizes, SEED))


def _write_main(folder: Path, values: dict[str, Any]) -> None:
    """A program that calls what was written there, and the arrays that it begins with."""
    header = next(folder.glob("*_opencl.h"))
    call = re.search(r"int (\w+_cl)\(cl_command_queue lx_queue, (.*?)\);", header.read_text(), re.S)
    assert call is not None
    arrays = {name: a for name, a in values.items() if isinstance(a, np.ndarray)}
    room = {name: f"room[{number}]" for number, name in enumerate(arrays)}
    host = {name: f"host[{number}]" for number, name in enumerate(arrays)}
    taken = [parameter.split()[-1] for parameter in re.split(r",\s*", call.group(2))]
    on_device = [room.get(name) or str(values[name]) for name in taken]
    on_host = [host.get(name) or str(value) for name, value in values.items()]
    defined = {
        "CALL(queue)": f"{call.group(1)}({', '.join(['queue', *on_device])})",
        "CALL_HOST": f"{call.group(1).removesuffix('_cl')}({', '.join(on_host)})",
        "ARRAYS": len(arrays),
        "BYTES": ", ".join(str(a.nbytes) for a in arrays.values()),
        "KINDS": ", ".join(f"'{a.dtype.char}'" for a in arrays.values()),
    }
    macro = "".join(f"#define {name} {text}\n" for name, text in defined.items())
    text = MAIN.replace("HEADER", header.name).replace("DEVICE", DEVICE, 1)
    (folder / "main.c").write_text(macro + text)


def built(folder: Path, defined: list[str]) -> Path:
    options = [*shlex.split(os.environ.get("CFLAGS", "-O2")), *defined]
    libraries = shlex.split(os.environ.get("LDLIBS", "-lOpenCL -lm"))
    compiler = shlex.split(os.environ.get("CC", "cc"))
    source = next(folder.glob("*_opencl.c")).name
    subprocess.run([*compiler, *options, "-c", "main.c"], cwd=folder, check=True)
    (folder / "recorded.h").write_text(RECORDED)
    seen = ["-include", "recorded.h"]
    subprocess.run([*compiler, *options, *seen, "-c", source], cwd=folder, check=True)
    parts = ["main.o", source.replace(".c", ".o")]
    subprocess.run([*compiler, *parts, "-o", "app", *libraries], cwd=folder, check=True)
    return folder / "app"


RECORDED = """
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
cl_int recorded(cl_command_queue, cl_kernel, cl_uint, const size_t *, const size_t *,
                const size_t *, cl_uint, const cl_event *, cl_event *);
#define clEnqueueNDRangeKernel recorded
cl_int written(cl_command_queue, cl_mem, cl_bool, size_t, size_t, const void *, cl_uint,
               const cl_event *, cl_event *);
#define clEnqueueWriteBuffer written
cl_int taken(cl_command_queue, cl_mem, cl_bool, size_t, size_t, void *, cl_uint, const cl_event *,
             cl_event *);
#define clEnqueueReadBuffer taken
"""


if __name__ == "__main__":
    main()
