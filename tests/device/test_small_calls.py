"""Calls that do less than starting a device takes: written C leaves them to the user's loops."""

from __future__ import annotations

from pathlib import Path

import pytest
from c_project import PLAIN, STRICT, cc, require_opencl, run_app

import loopxform as lx

ADD = """
void add(int n, const float *restrict a, float *restrict b)
{
  for (int i = 0; i < n; i++)
    b[i] += a[i];
}
"""
MAIN = """
#include <stdio.h>
#include <stdlib.h>
void add(int n, const float *restrict a, float *restrict b);
int main(int count, char **words)
{
  const int n = atoi(words[1]), calls = atoi(words[2]);
  float *a = malloc(sizeof(float) * (size_t)n), *b = calloc((size_t)n, sizeof(float));
  int wrong = 0;
  for (int i = 0; i < n; i++)
    a[i] = (float)(i % 7);
  for (int c = 0; c < calls; c++)
    add(n, a, b);
  for (int i = 0; i < n; i++)
    wrong += b[i] != (float)calls * (float)(i % 7);
  free(a), free(b);
  return printf("%d wrong%s\\n", wrong, count > 3 ? "!" : ""), wrong != 0;
}
"""
SHIM = """
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdio.h>
cl_int own_clEnqueueNDRangeKernel(cl_command_queue q, cl_kernel k, cl_uint n, const size_t *a,
                                  const size_t *b, const size_t *c, cl_uint m, const cl_event *e,
                                  cl_event *f)
{
  fprintf(stderr, "launched\\n");
  return clEnqueueNDRangeKernel(q, k, n, a, b, c, m, e, f);
}
"""


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Path:
    require_opencl()
    folder = tmp_path_factory.mktemp("small")
    for name, text in (("add.c", ADD), ("main.c", MAIN), ("shim.c", SHIM)):
        (folder / name).write_text(text)
    lx.load(folder / "add.c").offload().write(folder)
    own = "-DclEnqueueNDRangeKernel=own_clEnqueueNDRangeKernel"
    assert cc(folder, *PLAIN, "-c", own, "add_opencl.c").returncode == 0
    files = ["add_opencl.o", "shim.c", "main.c", "-o", "app"]
    built = cc(folder, *STRICT, *PLAIN, *files, "-lOpenCL", "-lm")
    assert built.returncode == 0, built.stderr
    return folder / "app"


@pytest.mark.parametrize(
    ("n", "calls", "launches"),
    [
        (1000, 1, 0),
        (1000, 50, 0),
        (30_000_000, 1, 1),
        (8_000_000, 40, range(15, 25)),
    ],
)
def test_where_calls_run(app: Path, n: int, calls: int, launches: int | range) -> None:
    """Many small calls become too much for the host, from where on all of them are the device's."""
    done = run_app(app, n, calls, LOOPXFORM_HOST="", LOOPXFORM_VERBOSE="1")
    assert done.stdout == "0 wrong\n"
    found = done.stderr.count("launched")
    assert found == launches if isinstance(launches, int) else found in launches
    said = "on the host" in done.stderr
    assert said == (found < calls)
    if said:
        assert done.stderr.count("add.c:2: add: on the host: ") == 1
        assert "operations at most are done before a device has begun" in done.stderr


def test_never_on_the_host(app: Path) -> None:
    done = run_app(app, 10, 3, LOOPXFORM_HOST="never", LOOPXFORM_VERBOSE="1")
    assert done.stdout == "0 wrong\n"
    assert done.stderr == "launched\n" * 3


def test_silent_unless_asked(app: Path) -> None:
    assert run_app(app, 10, 1, LOOPXFORM_HOST="").stderr == ""
