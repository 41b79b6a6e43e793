"""What the written files of a program share: several files and functions, many threads, the device
and the queue that the program asks for, C++."""

from __future__ import annotations

import subprocess
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from c_project import (
    PLAIN,
    STRICT,
    assert_same,
    cc,
    environment,
    project_of,
    require_opencl,
    run_app,
)
from calling_threads import threads_calling
from harness import CORPUS, tiled

import loopxform as lx
from loopxform.schedule.params import Tiles
from loopxform.transforms import Derivation

LIBRARIES = ["-lOpenCL", "-lm", "-pthread"]
HEAD = """
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "mm_flat/mm_flat_opencl.h"
#include "jacobi_time/jacobi_time_opencl.h"
#include "jacobi_time/jacobi_time_opencl.h"
"""

WORK = """
enum { N = 6, SIZE = N * N };
void user_mm_flat(int M, int U, int N, float *A, float *B, float *C);
void user_jacobi_time(int steps, int n, double A[n][n], double B[n][n]);

/* Whether one of the functions computes something else on the device. */
static int wrong(int which)
{
  float a[SIZE], c[SIZE], expected[SIZE];
  double p[2][N][N], q[2][N][N];
  for (int x = 0; x < SIZE; x++) {
    a[x] = (float)(x % 11) * 0.37f;
    for (int twice = 0; twice < 2; twice++)
      p[twice][x / N][x % N] = q[twice][x / N][x % N] = x % 7 * 0.37 + which;
  }
  if (which % 2) {
    user_mm_flat(N, N, N, a, a, expected);
    mm_flat(N, N, N, a, a, c);
    return memcmp(c, expected, sizeof c) != 0;
  }
  user_jacobi_time(3, N, p[0], q[0]);
  jacobi_time(3, N, p[1], q[1]);
  return memcmp(p[0], p[1], sizeof p[0]) != 0 || memcmp(q[0], q[1], sizeof q[0]) != 0;
}
"""

THREADS = threads_calling("wrong(round + *(int *)first)", threads=6, rounds=60, release=20)

CHOICES = """
static int fail(int line) { return printf("line %d\\n", line), 1; }
#define EXPECT(cond) if (!(cond)) return fail(__LINE__)

/* Whether ours holds the queue: the driver lets go of commands that have ended when it likes. */
static int held(cl_command_queue queue)
{
  cl_uint count = 2;
  for (int n = 0; n < 1000 && count != 1; n++) {
    clGetCommandQueueInfo(queue, CL_QUEUE_REFERENCE_COUNT, sizeof count, &count, NULL);
    sched_yield();
  }
  return count != 1;
}

int main(void)
{
  char name[256] = "";
  cl_platform_id platform;
  cl_device_id device;
  clGetPlatformIDs(1, &platform, NULL);
  clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL);
  clGetDeviceInfo(device, CL_DEVICE_NAME, sizeof name - 1, name, NULL);
  cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
  cl_command_queue queue =
      clCreateCommandQueue(context, device, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, NULL);
  EXPECT(!wrong(0) && !held(queue));
  EXPECT(loopxform_use(queue) == CL_SUCCESS && held(queue));
  EXPECT(!wrong(0) && !wrong(1) && held(queue));
  EXPECT(!loopxform_device("no such device") && held(queue));
  EXPECT(loopxform_use(NULL) == CL_SUCCESS && !held(queue) && !wrong(0));
  EXPECT(loopxform_use(queue) == CL_SUCCESS && !wrong(1));
  EXPECT(loopxform_device(name) && !held(queue) && !wrong(0));
  EXPECT(loopxform_device(NULL) && !wrong(1));
  EXPECT(loopxform_use(queue) == CL_SUCCESS && !wrong(1));
  loopxform_release();
  EXPECT(!held(queue) && !wrong(1));
  loopxform_release();
  loopxform_release();
  clReleaseCommandQueue(queue);
  clReleaseContext(context);
  puts("same");
  return 0;
}
"""


def written(folder: Path, *options: str) -> list[str]:
    """A file with one nest, another with a whole function, each in a static library; the libraries,
    and the objects of the user's own functions."""
    programs: dict[str, tuple[Derivation, Path]] = {
        "mm_flat": (tiled("mm_flat", Tiles(4, 4, 8, 2, 2)).derivation, CORPUS / "mm_flat.c"),
    }
    file = CORPUS / "programs" / "jacobi_time.c"
    done = lx.load(file)["jacobi_time"].offload(contract=False).derivation
    programs["jacobi_time"] = (done, file)
    for name, (derivation, source) in programs.items():
        own = folder / name
        own.mkdir()
        project_of(own, derivation, source)
        made = cc(own, *STRICT, *PLAIN, *options, "-c", f"{name}_opencl.c")
        assert made.returncode == 0, made.stderr
        archive = ["ar", "rcs", f"lib{name}.a", f"{name}_opencl.o"]
        subprocess.run(archive, cwd=own, check=True)
    names = list(programs)
    return [*(f"{n}/user.o" for n in names), *(f"{n}/lib{n}.a" for n in names)]


def build(folder: Path, caller: str, *options: str) -> Path:
    require_opencl()
    (folder / "main.c").write_text(HEAD + WORK + caller)
    parts = ["main.c", *written(folder, *options), "-o", "app", *LIBRARIES]
    done = cc(folder, *STRICT, *PLAIN, *options, *parts)
    assert done.returncode == 0, done.stderr
    return folder / "app"


@pytest.mark.slow
def test_threads(tmp_path: Path) -> None:
    """Whose first calls race, while one of them frees what is shared: silent although verbose, the
    device did it all; silent under the sanitizer for threads."""
    app = build(tmp_path, THREADS, "-g", "-fsanitize=thread")
    assert_same(run_app(app, LOOPXFORM_VERBOSE="1"))


def test_the_device_and_the_queue_that_the_program_asks_for(tmp_path: Path) -> None:
    assert_same(run_app(build(tmp_path, CHOICES), LOOPXFORM_VERBOSE="1"))


IN_CPP = """
#include "mm_flat/mm_flat_opencl.h"
#include <cstdio>
int main()
{
  float a[4] = {1, 2, 3, 4}, c[4] = {0, 0, 0, 0};
  mm_flat(2, 2, 2, a, a, c);
  loopxform_release();
  std::puts(c[0] == 7 && c[1] == 10 && c[2] == 15 && c[3] == 22 ? "same" : "differs");
}
"""


def test_callers_in_cpp(tmp_path: Path) -> None:
    require_opencl()
    parts = written(tmp_path)
    (tmp_path / "main.cpp").write_text(IN_CPP)
    command = ["g++", "-Wall", "-Wextra", "-pedantic", "-Werror", "main.cpp", *parts]
    subprocess.run([*command, "-o", "app", *LIBRARIES], cwd=tmp_path, check=True)
    assert_same(run_app(tmp_path / "app", LOOPXFORM_VERBOSE="1"))


def test_no_warning_at_all(tmp_path: Path) -> None:
    """Of those that are not asked for either: each would be an error."""
    require_opencl()
    more = ["-Wshadow", "-Wconversion", "-Wmissing-prototypes", "-Wstrict-prototypes", "-Wundef"]
    parts = written(tmp_path, *more, "-Wredundant-decls", "-Wwrite-strings", "-Wnull-dereference")
    assert [(tmp_path / name).stat().st_size > 0 for name in parts] == [True] * len(parts)


ONCE = """
int main(void)
{
  const int found = wrong(0) + wrong(1);
  loopxform_release();
  puts(found ? "differs" : "same");
  return 0;
}
"""


@pytest.mark.slow
def test_memcheck(tmp_path: Path) -> None:
    """No invalid access with ours on the stack, nothing that ours allocated is lost: what the
    compiler of the OpenCL driver does is its own affair."""
    assert_no_error_of_ours(build(tmp_path, ONCE, "-g"))


def assert_no_error_of_ours(app: Path, **more: str) -> None:
    """Valgrind finds none in written files."""
    folder = app.parent
    tool = [
        "--xml=yes",
        f"--xml-file={folder}/found.xml",
        "--num-callers=60",
        "--leak-check=full",
    ]
    command = ["valgrind", *tool, "--show-leak-kinds=all", str(app)]
    env = {**environment(), "POCL_CACHE_DIR": str(folder / "cache"), **more}
    # The kernels, for the processor that valgrind simulates, are compiled before it looks.
    subprocess.run(["valgrind", "-q", "--tool=none", str(app)], env=env, check=True)
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "same\n")
    found = ET.parse(folder / "found.xml").getroot()
    assert found.find("status") is not None
    assert [e for e in map(_of_ours, found.iter("error")) if e] == []


def _of_ours(error: ET.Element) -> str:
    """What kind of error it is, and where it happened in a written file; nothing where it did
    not."""
    kind, stack = error.findtext("kind", ""), error.find("stack")
    assert stack is not None
    frames = list(stack.iter("frame"))
    files = [f.findtext("file") or "" for f in frames]
    if kind.startswith("Leak"):
        files = files[1:2]
    ours = [n for n, file in enumerate(files) if file.endswith(("_opencl.c", "main.c"))]
    calls = {f.findtext("fn") for f in frames[: ours[0]]} if ours else set()
    if not ours or "clBuildProgram" in calls or "clGetPlatformIDs" in calls:
        return ""
    return f"{kind} at {files[ours[0]]}"
